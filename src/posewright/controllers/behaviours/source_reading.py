"""Read what an input is wired to: a sensor, a view of a scan, a joint, a clock, ..."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from posewright.charts import Chart, FloatType, IntType, Type
from posewright.controllers.behaviours.scan import COURSE_STEP_RAD, Side
from posewright.controllers.behaviours.sources import (
    BearingSource,
    ChanceSource,
    ChannelSource,
    ClockSource,
    CorridorSource,
    Direction,
    FarthestSource,
    FreeCourseSource,
    JointSource,
    PlayingSource,
    Quantity,
    Scanner,
    Source,
)
from posewright.documents import Node
from posewright.errors import UnknownNameError
from posewright.robots import COUNT, Channel, FlashLidar, RangeScan, RangeSensor, Robot, SensorSpec
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

_PARTS: Mapping[Quantity, tuple[str, ...]] = {Quantity.ANGLE: ("roll", "pitch", "yaw")}
"""What the three numbers of an IMU's channel are called, where it is not x, y, z."""


class SensorChannels:
    """Sources and scanners by name: `laser_front`, `imu.orientation.yaw`, `ring`."""

    def __init__(self, sensors: Iterable[SensorSpec]) -> None:
        sensors = tuple(sensors)
        self._sources = {name: source for sensor in sensors for name, source in _sources_of(sensor)}
        self._scanners = {s.name: Scanner.of(s) for s in sensors if isinstance(s, RangeScan)}
        self._silent = {s.name for s in sensors if not s.channels or isinstance(s, FlashLidar)}

    def source(self, node: Node) -> ChannelSource:
        """Return the source a node names."""
        name = node.text()
        if name in self._sources:
            return self._sources[name]
        parts = [known for known in self._sources if known.startswith(f"{name}.")]
        if parts:
            node.fail(f"{name} has several readings", hint=f"say which: {', '.join(parts)}")
        if name in self._scanners:
            node.fail(f"{name} has many beams", hint="add corridor, free_course or farthest_along")
        if name in self._silent:
            node.fail(f"{name} gives nothing that a chart could use")
        raise UnknownNameError.among("sensor", name, {*self._sources, *self._scanners}, where=node.where)

    def scanner(self, node: Node) -> Scanner:
        """Return the scanner a node names."""
        name = node.text()
        if name in self._sources:
            node.fail(f"{name} is no scanner", hint="this needs a sensor of the kind range_scan")
        return self._scanners[node.choice("scanner", self._scanners)]

    def heading(self, node: Node) -> tuple[str, int | None]:
        """Return the channel and index of the heading a node names."""
        source = self.source(node)
        if source.quantity is not Quantity.ANGLE:
            node.fail(f"{node.text()} reads {source.quantity.value}", hint="a compass reads an angle")
        return source.channel, source.index


def _sources_of(sensor: SensorSpec) -> Iterator[tuple[str, ChannelSource]]:
    if isinstance(sensor, RangeScan | FlashLidar):
        return
    nothing = sensor.max_range_m if isinstance(sensor, RangeSensor) else math.nan
    for channel in sensor.channels:
        quantity = _QUANTITIES[channel.unit]
        if channel.shape == (3,):
            yield from _parts_of(channel, quantity)
        else:
            yield channel.name, ChannelSource(channel.name, quantity, nothing=nothing)


def _parts_of(channel: Channel, quantity: Quantity) -> Iterator[tuple[str, ChannelSource]]:
    for index, part in enumerate(_PARTS.get(quantity, ("x", "y", "z"))):
        yield f"{channel.name}.{part}", ChannelSource(channel.name, quantity, index)


Outputs = Mapping[str, Type]
Compass = tuple[str, int | None] | None


def read_view(node: Node, sensors: SensorChannels, outputs: Outputs) -> tuple[Source, Collection[str]]:
    """Read a source that looks at a scan, and the keys of the entry that it has used."""
    fields = node.fields()
    found = [view for view in VIEWS if view in fields]
    if len(found) != 1:
        node.fail(f"{' and '.join(found)} are both given", hint="an input is one of them")
    scanner = sensors.scanner(fields["sensor"])
    compass = sensors.heading(fields["compass"]) if "compass" in fields else None
    return VIEWS[found[0]](fields[found[0]], scanner, compass, outputs), (found[0], "compass")


def _corridor(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(required=("width_m",), optional=("towards_deg",))
    direction = _direction(fields, compass, outputs)
    return CorridorSource(scanner, direction, fields["width_m"].number(low=0.0))


def _free_course(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(
        required=("side", "width_m", "length_m"), optional=("towards_deg", "step_deg", "up_to_deg")
    )
    sides = {side.name.lower(): side for side in Side}
    return FreeCourseSource(
        scanner,
        _direction(fields, compass, outputs),
        sides[fields["side"].choice("side", sides)],
        width_m=fields["width_m"].number(low=0.0),
        length_m=fields["length_m"].number(low=0.0),
        step_rad=_angle(fields, "step_deg", COURSE_STEP_RAD, low=0.5, high=90.0),
        up_to_rad=_angle(fields, "up_to_deg", math.pi, low=0.0, high=180.0),
    )


def _farthest(node: Node, scanner: Scanner, compass: Compass, outputs: Outputs) -> Source:
    fields = node.fields(required=("within_deg",), optional=("towards_deg",))
    within_rad = fields["within_deg"].number(low=0.0, high=90.0) * RAD_PER_DEG
    return FarthestSource(scanner, _direction(fields, compass, outputs), within_rad)


def _direction(fields: Mapping[str, Node], compass: Compass, outputs: Outputs) -> Direction:
    if "towards_deg" not in fields:
        return Direction(0.0, compass)
    return read_direction(fields["towards_deg"], compass, outputs)


def read_direction(node: Node, compass: Compass, outputs: Outputs) -> Direction:
    """Read a direction: a number of degrees, or the name of a numeric output of the chart."""
    if not isinstance(node.value, str):
        return Direction(node.number(low=-360.0, high=360.0) * RAD_PER_DEG, compass)
    numbers = [name for name, kind in outputs.items() if isinstance(kind, IntType | FloatType)]
    if node.text() not in numbers:
        raise UnknownNameError.among("numeric output of the chart", node.text(), numbers, where=node.where)
    return Direction(node.text(), compass)


def _angle(fields: Mapping[str, Node], key: str, default: float, *, low: float, high: float) -> float:
    return fields[key].number(low=low, high=high) * RAD_PER_DEG if key in fields else default


VIEWS: Mapping[str, Callable[[Node, Scanner, Compass, Outputs], Source]] = {
    "corridor": _corridor,
    "free_course": _free_course,
    "farthest_along": _farthest,
}
"""The readers of the ways to look at a scan, by the key that asks for them."""


@dataclass(frozen=True)
class Surroundings:
    """What an input may refer to."""

    robot: Robot  # the robot, for its joints
    sensors: SensorChannels  # the channels of all its sensors
    motions: Collection[str]  # names of the behaviour's motions
    chart: Chart  # the chart, for its outputs


Found = tuple[Source, Collection[str]]
"""A source, and the keys of its entry that it has used besides the first."""


def _sensor(node: Node, around: Surroundings) -> Found:
    fields = node.fields()
    if any(view in fields for view in VIEWS):
        return read_view(node, around.sensors, around.chart.outputs)
    if "relative_to_deg" in fields:
        heading = around.sensors.heading(fields["sensor"])
        direction = read_direction(fields["relative_to_deg"], heading, around.chart.outputs)
        return BearingSource(direction), ("relative_to_deg",)
    return around.sensors.source(fields["sensor"]), ()


def _source(kind: str, node: Node, around: Surroundings) -> Source:
    """Return the source of a kind that one word tells all of."""
    match kind:
        case "joint" | "load":
            joint = node.choice("joint", around.robot.joint_names)
            return JointSource(around.robot.index(joint), load=kind == "load")
        case "clock":
            node.choice("clock", ("since_start",))
            return ClockSource()
        case "playing":
            return PlayingSource(node.choice("motion", around.motions))
        case "random":
            node.choice("distribution", ("uniform",))
            return ChanceSource()
    if not node.boolean():
        node.fail("expected true", hint="let the chart say `not` where that is meant")
    return PlayingSource(None)


_KINDS = ("sensor", "joint", "load", "clock", "playing", "standing", "random")


def read_source(node: Node, around: Surroundings) -> Found:
    """Read where an input's value comes from, and which keys of the entry say so."""
    fields = node.fields()
    found = [key for key in _KINDS if key in fields]
    if len(found) != 1:
        node.fail("an input comes from one thing", hint=f"one of {', '.join(_KINDS)}")
    kind = found[0]
    source, used = _sensor(node, around) if kind == "sensor" else (_source(kind, fields[kind], around), ())
    return source, {kind, *used}
