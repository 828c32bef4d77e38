"""Read the description of a sensor, as robot cards and behaviours carry it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from posewright.documents import Node
from posewright.robots.geometry import parse_vector
from posewright.robots.sensors import (
    Accelerometer,
    AnalogTouch,
    Camera,
    Compass,
    FootContact,
    Imu,
    Position,
    RangeScan,
    RangeSensor,
    SensorSpec,
    TouchSwitch,
    VibrationSensor,
)

MAX_BEAMS = 4096
"""More than any scanner a small robot could carry."""


def parse_sensor(name: str, node: Node) -> SensorSpec:
    """Read one entry of a `sensors:` block.

    Raises:
        DocumentError: a key is missing or its value is not what it should be.
        UnknownNameError: the kind or a key is unknown.
    """
    kind = node.fields(required=("kind",))["kind"].choice("kind of sensor", PARSERS)
    return PARSERS[kind](name, node)


def _range(name: str, node: Node) -> RangeSensor:
    optional = ("min_range_m", "position_m", "yaw_deg", "pitch_deg", "fan_deg", "beams")
    fields = _fields(node, ("mount", "max_range_m"), optional)
    farthest = fields["max_range_m"].number(low=0.001)
    return RangeSensor(
        name=name,
        mount=fields["mount"].text(),
        max_range_m=farthest,
        min_range_m=_number(fields, "min_range_m", low=0.0, high=farthest),
        position_m=_position(fields),
        yaw_deg=_number(fields, "yaw_deg", low=-180.0, high=180.0),
        pitch_deg=_number(fields, "pitch_deg", low=-90.0, high=90.0),
        fan_deg=_number(fields, "fan_deg", low=0.0, high=180.0),
        beams=fields["beams"].integer(low=1, high=MAX_BEAMS) if "beams" in fields else 1,
    )


def _range_scan(name: str, node: Node) -> RangeScan:
    fields = _fields(
        node, ("mount", "max_range_m", "start_deg", "step_deg", "beams"), ("position_m", "pitch_deg")
    )
    return RangeScan(
        name=name,
        mount=fields["mount"].text(),
        max_range_m=fields["max_range_m"].number(low=0.001),
        start_deg=fields["start_deg"].number(low=-360.0, high=360.0),
        step_deg=fields["step_deg"].number(low=-180.0, high=180.0),
        beams=fields["beams"].integer(low=1, high=MAX_BEAMS),
        position_m=_position(fields),
        pitch_deg=_number(fields, "pitch_deg", low=-90.0, high=90.0),
    )


def _accelerometer(name: str, node: Node) -> Accelerometer:
    fields = _fields(node, ("mount", "range_m_s2"))
    return Accelerometer(name, fields["mount"].text(), fields["range_m_s2"].number(low=0.001))


def _analog_touch(name: str, node: Node) -> AnalogTouch:
    fields = _fields(node, ("place", "on_above", "off_below"))
    on_above = fields["on_above"].number(low=0.0)
    off_below = fields["off_below"].number(low=0.0, high=on_above)
    return AnalogTouch(name, fields["place"].text(), on_above, off_below)


def _camera(name: str, node: Node) -> Camera:
    fields = _fields(node, ("mount", "width", "height"), ("vertical_fov_deg", "frame_rate_hz"))
    rate = fields.get("frame_rate_hz")
    return Camera(
        name=name,
        mount=fields["mount"].text(),
        width=fields["width"].integer(low=1, high=8192),
        height=fields["height"].integer(low=1, high=8192),
        vertical_fov_deg=_number(fields, "vertical_fov_deg", default=45.0, low=1.0, high=179.0),
        frame_rate_hz=rate.number(low=0.001, high=10_000.0) if rate else None,
    )


PARSERS: Mapping[str, Callable[[str, Node], SensorSpec]] = {
    RangeSensor.kind: _range,
    RangeScan.kind: _range_scan,
    Imu.kind: lambda name, node: Imu(name, _only(node, "mount")),
    Compass.kind: lambda name, node: Compass(name, _only(node, "mount")),
    Accelerometer.kind: _accelerometer,
    FootContact.kind: lambda name, node: FootContact(name, _only(node, "foot")),
    TouchSwitch.kind: lambda name, node: TouchSwitch(name, _only(node, "place")),
    AnalogTouch.kind: _analog_touch,
    VibrationSensor.kind: lambda name, node: VibrationSensor(name, _only(node, "place")),
    Camera.kind: _camera,
}


def _fields(node: Node, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Node]:
    return node.fields(required=("kind", *required), optional=(*optional, "source"))


def _only(node: Node, key: str) -> str:
    """Return the one thing that a simple sensor says besides its kind."""
    return _fields(node, (key,))[key].text()


def _number(fields: Mapping[str, Node], key: str, *, low: float, high: float, default: float = 0.0) -> float:
    return fields[key].number(low=low, high=high) if key in fields else default


def _position(fields: Mapping[str, Node]) -> Position:
    return parse_vector(fields["position_m"]) if "position_m" in fields else (0.0, 0.0, 0.0)
