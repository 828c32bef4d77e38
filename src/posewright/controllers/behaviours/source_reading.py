"""Readers of the sources of inputs: a sensor, a view of a scan, a joint, a clock and others."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from posewright.charts import Chart, FloatType, IntType, Type
from posewright.controllers.behaviours.scan import COURSE_STEP_RAD, Side
from posewright.controllers.behaviours.sources import (
    BearingSource,
    ChannelSource,
    ClockSource,
    CorridorSource,
    Direction,
    FallenSource,
    FarthestSource,
    FreeCourseSource,
    HeadingChannel,
    JointSource,
    PlayingSource,
    Quantity,
    RandomSource,
    Scanner,
    Source,
)
from posewright.documents import Node
from posewright.errors import UnknownNameError
from posewright.recordings.falls import FallenSide
from posewright.robots import COUNT, Accelerometer, FlashLidar, Imu, RangeScan, RangeSensor, Robot, SensorSpec
from posewright.units import RAD_PER_DEG

_QUANTITIES: Mapping[str, Quantity] = {
    "m": Quantity.LENGTH,
    "rad": Quantity.ANGLE,
    "rad/s": Quantity.TURN_RATE,
    "m/s^2": Quantity.ACCELERATION,
    "ticks": Quantity.NUMBER,
    COUNT: Quantity.NUMBER,
    "": Quantity.FLAG,
}

_COMPONENTS: Mapping[Quantity, tuple[str, ...]] = {Quantity.ANGLE: ("roll", "pitch", "yaw")}
"""Names of the three numbers of an IMU's channel, where they are not x, y, z."""


class SensorChannels:
    """The channels and scanners of sensors by name: `laser_front`, `imu.orientation.yaw`, `ring`."""

    def __init__(self, sensors: Iterable[SensorSpec]) -> None:
        sensors = tuple(sensors)
        self._sources = {name: source for sensor in sensors for name, source in _sources_of(sensor)}
        self._scanners = {s.name: Scanner.of(s) for s in sensors if isinstance(s, RangeScan)}
        self._inertial_sensors = {s.name: s for s in sensors if isinstance(s, Imu | Accelerometer)}
        self._unusable_names = {s.name for s in sensors if not s.channels or isinstance(s, FlashLidar)}

    def source(self, node: Node) -> ChannelSource:
        """Return the source named by a node."""
        name = node.text()
        if name in self._sources:
            return self._sources[name]
        components = [source_name for source_name in self._sources if source_name.startswith(f"{name}.")]
        if components:
            node.fail(f"{name} has several readings", hint=f"choose one of {', '.join(components)}")
        if name in self._scanners:
            node.fail(f"{name} has many beams", hint="add corridor, free_course or farthest_along")
        if name in self._unusable_names:
            node.fail(f"{name} has no reading that a chart can use")
        raise UnknownNameError.among("sensor", name, {*self._sources, *self._scanners}, where=node.where)

    def scanner(self, node: Node) -> Scanner:
        """Return the scanner named by a node."""
        name = node.text()
        if name in self._sources:
            node.fail(f"{name} is not a scanner", hint="this needs a sensor of the kind range_scan")
        return self._scanners[node.choice("scanner", self._scanners)]

    def fallen(self, node: Node, side: FallenSide | None) -> FallenSource:
        """Return the source for whether the robot lies, by the IMU or accelerometer named by a node."""
        name = node.choice("imu or accelerometer", self._inertial_sensors)
        if isinstance(self._inertial_sensors[name], Imu):
            return FallenSource(f"{name}.orientation", is_orientation=True, side=side)
        return FallenSource(name, is_orientation=False, side=side)

    def heading(self, node: Node) -> HeadingChannel:
        """Return the channel of the heading named by a node."""
        source = self.source(node)
        if source.quantity is not Quantity.ANGLE:
            node.fail(f"{node.text()} reads {source.quantity.value}", hint="a compass reads an angle")
        return HeadingChannel(source.channel, source.index)


def _sources_of(sensor: SensorSpec) -> Iterator[tuple[str, ChannelSource]]:
    """Yield the numbers that a chart can read from a sensor, each as a source with its name.

    A channel of three numbers, such as an acceleration, gives a source for each of its components. A scan
    gives none, as it has too many numbers.
    """
    if isinstance(sensor, RangeScan | FlashLidar):
        return
    # a range sensor that detects nothing reads its greatest range
    no_reading = sensor.max_range_m if isinstance(sensor, RangeSensor) else math.nan
    for channel in sensor.channels:
        quantity = _QUANTITIES[channel.unit]
        if channel.shape == (3,):
            for index, component in enumerate(_COMPONENTS.get(quantity, ("x", "y", "z"))):
                yield f"{channel.name}.{component}", ChannelSource(channel.name, quantity, index)
        else:
            yield channel.name, ChannelSource(channel.name, quantity, no_reading=no_reading)


Outputs = Mapping[str, Type]
"""The types of a chart's outputs by name."""

Compass = HeadingChannel | None
"""Channel of a heading; None where directions are relative to the robot."""


def _read_view(node: Node, sensors: SensorChannels, outputs: Outputs) -> SourceAndKeys:
    """Read a source that evaluates a scan; return it with the keys that belong to it besides `sensor`."""
    fields = node.fields()
    views = [view for view in _VIEW_READERS if view in fields]
    if len(views) != 1:
        node.fail(f"{' and '.join(views)} are both given", hint="give one of them")
    (view,) = views
    scanner = sensors.scanner(fields["sensor"])
    compass = sensors.heading(fields["compass"]) if "compass" in fields else None
    return _VIEW_READERS[view](fields[view], scanner, compass, outputs), (view, "compass")


def _read_corridor(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    """Read a source that measures the free length of a corridor in a direction."""
    fields = node.fields(required=("width_m",), optional=("towards_deg",))
    direction = _read_view_direction(fields, compass, outputs)
    return CorridorSource(scanner, direction, fields["width_m"].number(low=0.0))


def _read_free_course(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    """Read a source that finds the smallest turn to one side into a free corridor.

    Args:
        node: its side, the corridor's `width_m` and `length_m`, the direction it starts from, and how finely
            and how far it searches.
        scanner: the sensor that measures distances around the robot.
        compass: the sensor of the heading; None if the direction is relative to the robot.
        outputs: the outputs of the chart, one of which may be the direction.
    """
    fields = node.fields(
        required=("side", "width_m", "length_m"), optional=("towards_deg", "step_deg", "up_to_deg")
    )
    sides = {side.name.lower(): side for side in Side}
    return FreeCourseSource(
        scanner,
        _read_view_direction(fields, compass, outputs),
        sides[fields["side"].choice("side", sides)],
        width_m=fields["width_m"].number(low=0.0),
        length_m=fields["length_m"].number(low=0.0),
        step_rad=_read_angle(fields, "step_deg", COURSE_STEP_RAD, low=0.5, high=90.0),
        up_to_rad=_read_angle(fields, "up_to_deg", math.pi, low=0.0, high=180.0),
    )


def _read_farthest(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(required=("within_deg",), optional=("towards_deg",))
    within_rad = fields["within_deg"].number(low=0.0, high=90.0) * RAD_PER_DEG
    return FarthestSource(scanner, _read_view_direction(fields, compass, outputs), within_rad)


def _read_view_direction(fields: Mapping[str, Node], compass: Compass, outputs: Outputs) -> Direction:
    """Read `towards_deg`; straight ahead by default."""
    if "towards_deg" not in fields:
        return Direction(0.0, compass)
    return _read_direction(fields["towards_deg"], compass, outputs)


def _read_direction(node: Node, compass: Compass, outputs: Outputs) -> Direction:
    """Read a direction: a number of degrees, or the name of a numeric output of the chart."""
    if not isinstance(node.value, str):
        return Direction(node.number(low=-360.0, high=360.0) * RAD_PER_DEG, compass)
    numbers = [name for name, kind in outputs.items() if isinstance(kind, IntType | FloatType)]
    if node.text() not in numbers:
        raise UnknownNameError.among("numeric output of the chart", node.text(), numbers, where=node.where)
    return Direction(node.text(), compass)


def _read_angle(fields: Mapping[str, Node], key: str, default: float, *, low: float, high: float) -> float:
    """Read an angle in degrees; return it in radians."""
    return fields[key].number(low=low, high=high) * RAD_PER_DEG if key in fields else default


_VIEW_READERS: Mapping[str, Callable[[Node, Scanner, Compass, Outputs], Source]] = {
    "corridor": _read_corridor,
    "free_course": _read_free_course,
    "farthest_along": _read_farthest,
}
"""Readers of the sources that evaluate a scan, by their key."""


@dataclass(frozen=True)
class NamesInScope:
    """The names that an input may refer to."""

    robot: Robot  # for its joints
    sensors: SensorChannels  # the channels of all sensors
    motions: Collection[str]  # names of motions and gaits
    chart: Chart  # for its outputs


SourceAndKeys = tuple[Source, Collection[str]]
"""A source, and the keys of the entry that belong to it."""


def _read_sensor(node: Node, names: NamesInScope) -> SourceAndKeys:
    """Read the source of an entry with the key `sensor`.

    It is a view of a scan, or a heading relative to a direction, or a reading of the sensor itself.

    Returns:
        The source, and the keys of the entry that belong to it besides `sensor`.

    Raises:
        DocumentError: the keys do not fit the sensor.
        UnknownNameError: there is no such sensor.
    """
    fields = node.fields()
    if any(view in fields for view in _VIEW_READERS):
        return _read_view(node, names.sensors, names.chart.outputs)
    if "fallen" in fields:
        sides = {"any": None, **{side.value: side for side in FallenSide}}
        side = sides[fields["fallen"].choice("side", sides)]
        return names.sensors.fallen(fields["sensor"], side), ("fallen",)
    if "relative_to_deg" in fields:
        heading = names.sensors.heading(fields["sensor"])
        direction = _read_direction(fields["relative_to_deg"], heading, names.chart.outputs)
        return BearingSource(direction), ("relative_to_deg",)
    return names.sensors.source(fields["sensor"]), ()


_KINDS = ("sensor", "joint", "load", "clock", "playing", "standing", "random")


def read_source(node: Node, names: NamesInScope) -> SourceAndKeys:
    """Read the source of an input from its entry.

    Raises:
        DocumentError: the entry is not valid.
        UnknownNameError: a name in it is unknown.
    """
    fields = node.fields()
    kinds = [key for key in _KINDS if key in fields]
    if len(kinds) != 1:
        node.fail("an input has exactly one source", hint=f"one of {', '.join(_KINDS)}")
    (kind,) = kinds
    if kind == "sensor":
        source, keys = _read_sensor(node, names)
        return source, {kind, *keys}
    return _read_simple_source(kind, fields[kind], names), {kind}


def _read_simple_source(kind: str, node: Node, names: NamesInScope) -> Source:
    """Read a source that has one key only: `kind` is the key, `node` its value."""
    match kind:
        case "joint" | "load":
            joint = node.choice("joint", names.robot.joint_names)
            return JointSource(names.robot.index(joint), load=kind == "load")
        case "clock":
            node.choice("clock", ("since_start",))
            return ClockSource()
        case "playing":
            return PlayingSource(node.choice("motion", names.motions))
        case "random":
            node.choice("distribution", ("uniform",))
            return RandomSource()
    if not node.boolean():
        node.fail("expected true", hint="write `not` in the chart instead")
    return PlayingSource(None)
