"""Read the `inputs:` of a behaviour: one entry for each input and event of the chart, each exactly once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from posewright.behaviours.wiring.inputs import NONE, InputWire, takes
from posewright.behaviours.wiring.quantity import Quantity
from posewright.behaviours.wiring.scan_reading import VIEWS, read_direction, read_view
from posewright.behaviours.wiring.scan_source import BearingSource
from posewright.behaviours.wiring.sensor_channels import SensorChannels
from posewright.behaviours.wiring.source import ChanceSource, ClockSource, JointSource, PlayingSource, Source
from posewright.behaviours.wiring.threshold import Threshold
from posewright.charts import BoolType, Chart, EnumType, Type
from posewright.documents import Node
from posewright.robots import Robot

WORDS = ("below", "above", "hysteresis")
"""What a key that carries a unit may begin with."""


@dataclass(frozen=True)
class Surroundings:
    """What an input may refer to.

    Attributes:
        robot: the robot, for its joints.
        sensors: the channels of all its sensors.
        motions: names of the behaviour's motions.
        chart: the chart, for its outputs.
    """

    robot: Robot
    sensors: SensorChannels
    motions: Collection[str]
    chart: Chart


def read_inputs(node: Node, around: Surroundings) -> tuple[InputWire, ...]:
    """Read the wires, in the order of the chart's inputs, then of its events.

    An event is wired like a truth value: it comes when that becomes true.

    Raises:
        DocumentError: an input is not wired, or wired to what does not fit it.
        UnknownNameError: there is no such input, sensor, joint, motion, key or unit.
    """
    inputs = {**around.chart.inputs, **{event: BoolType() for event in around.chart.events}}
    entries = node.fields(optional=inputs)
    missing = [name for name in inputs if name not in entries]
    if missing:
        node.fail(f"nothing is wired to {', '.join(missing)}", hint="every input and event of the chart once")
    return tuple(_read_wire(name, kind, entries[name], around) for name, kind in inputs.items())


def _read_wire(name: str, kind: Type, node: Node, around: Surroundings) -> InputWire:
    fields = node.fields()
    found = [key for key in _KINDS if key in fields]
    if len(found) != 1:
        node.fail("an input comes from one thing", hint=f"one of {', '.join(_KINDS)}")
    source, used = _KINDS[found[0]](node, fields, around)
    return _finish(name, kind, source, node, {found[0], *used})


def _finish(name: str, kind: Type, source: Source, node: Node, used: Collection[str]) -> InputWire:
    """Read what is left of an entry: its unit, its threshold, and what stands for none."""
    _check_keys(node, source.quantity, used)
    fields = node.fields()
    units = source.quantity.units
    threshold = _read_threshold(node, units)
    is_flag = threshold is not None or source.quantity is Quantity.FLAG
    if not takes(kind, flag=is_flag):
        _refuse_type(node, kind, source.quantity, is_flag=is_flag)
    unit = fields["unit"].choice("unit", units) if "unit" in fields else next(iter(units), "")
    none = fields["none"].number() if "none" in fields else NONE
    return InputWire(name, kind, source, units.get(unit, 1.0), threshold, none)


def _check_keys(node: Node, quantity: Quantity, used: Collection[str]) -> None:
    """Refuse keys that mean nothing here, above all thresholds in a unit that does not fit."""
    written = [f"{word}{_suffix(unit)}" for unit in quantity.units for word in WORDS]
    for key, entry in node.fields().items():
        if key.split("_")[0] in WORDS and key not in written:
            fitting = ", ".join(key for key in written if not key.startswith("hysteresis"))
            hint = f"write {fitting}" if fitting else "it needs no threshold"
            entry.fail(f"what is read here is {quantity.value}", hint=hint)
    node.fields(optional={*used, *written, "unit", "none"})


def _suffix(unit: str) -> str:
    return f"_{unit}" if unit else ""


def _read_threshold(node: Node, units: Mapping[str, float]) -> Threshold | None:
    found = {word: _in_units(node, word, units) for word in WORDS}
    below, above, hysteresis = (found[word] for word in WORDS)
    if below is not None and above is not None:
        node.fail("both below and above are given", hint="an input has one threshold")
    limit = below if below is not None else above
    if limit is None:
        if hysteresis is not None:
            node.fail("a hysteresis without a threshold", hint="give below or above as well")
        return None
    if hysteresis is not None and hysteresis < 0.0:
        node.fail("the hysteresis is negative", hint="it is how far back the reading must go, 0 or more")
    return Threshold(limit, above is not None, hysteresis or 0.0)


def _in_units(node: Node, word: str, units: Mapping[str, float]) -> float | None:
    """Return a number given under `word` with one of the units' names, in inner units."""
    fields = node.fields()
    given = [(key, size) for unit, size in units.items() if (key := word + _suffix(unit)) in fields]
    if len(given) > 1:
        node.fail(f"{given[0][0]} and {given[1][0]} are both given", hint="one of them is enough")
    return fields[given[0][0]].number() * given[0][1] if given else None


def _refuse_type(node: Node, kind: Type, quantity: Quantity, *, is_flag: bool) -> None:
    if isinstance(kind, EnumType):
        node.fail(
            f"the chart's input is {kind}, which nothing here gives", hint="bool, int or float can be wired"
        )
    if is_flag:
        node.fail(f"the chart's input is {kind}, but this gives true or false")
    units = [_suffix(unit) for unit in quantity.units]
    hint = "give a threshold: " + " or ".join(f"below{unit}" for unit in units)
    node.fail(f"the chart's input is {kind}, but this gives {quantity.value}", hint=hint)


Found = tuple[Source, Collection[str]]
"""A source, and the keys of its entry that it has used besides the first."""


def _sensor(node: Node, fields: Mapping[str, Node], around: Surroundings) -> Found:
    if any(view in fields for view in VIEWS):
        return read_view(node, around.sensors, around.chart.outputs)
    if "relative_to_deg" in fields:
        heading = around.sensors.heading(fields["sensor"])
        direction = read_direction(fields["relative_to_deg"], heading, around.chart.outputs)
        return BearingSource(direction), ("relative_to_deg",)
    return around.sensors.source(fields["sensor"]), ()


def _joint(_node: Node, fields: Mapping[str, Node], around: Surroundings) -> Found:
    joint = fields["joint"].choice("joint", around.robot.joint_names)
    return JointSource(around.robot.index(joint)), ()


def _load(_node: Node, fields: Mapping[str, Node], around: Surroundings) -> Found:
    joint = fields["load"].choice("joint", around.robot.joint_names)
    return JointSource(around.robot.index(joint), load=True), ()


def _clock(_node: Node, fields: Mapping[str, Node], _around: Surroundings) -> Found:
    fields["clock"].choice("clock", ("since_start",))
    return ClockSource(), ()


def _playing(_node: Node, fields: Mapping[str, Node], around: Surroundings) -> Found:
    return PlayingSource(fields["playing"].choice("motion", around.motions)), ()


def _standing(_node: Node, fields: Mapping[str, Node], _around: Surroundings) -> Found:
    if not fields["standing"].boolean():
        fields["standing"].fail("expected true", hint="let the chart say `not` where that is meant")
    return PlayingSource(None), ()


def _random(_node: Node, fields: Mapping[str, Node], _around: Surroundings) -> Found:
    fields["random"].choice("distribution", ("uniform",))
    return ChanceSource(), ()


_KINDS: Mapping[str, Callable[[Node, Mapping[str, Node], Surroundings], Found]] = {
    "sensor": _sensor,
    "joint": _joint,
    "load": _load,
    "clock": _clock,
    "playing": _playing,
    "standing": _standing,
    "random": _random,
}
