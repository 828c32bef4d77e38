"""The wires of a behaviour as C: from a record of sensor numbers to the chart's inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState
from posewright.charts.types import FloatType, IntType, Type
from posewright.codegen.c.names import distinct, identifier
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element
from posewright.controllers.behaviours import Behaviour, Side
from posewright.controllers.behaviours.inputs import InputWire
from posewright.controllers.behaviours.scan import ROUNDING, course_turns
from posewright.controllers.behaviours.sources import (
    BearingSource,
    ChannelSource,
    CorridorSource,
    Direction,
    FarthestSource,
    FreeCourseSource,
    JointSource,
    PlayingSource,
    Quantity,
    RandomSource,
    Scanner,
    Source,
    TickContext,
)
from posewright.errors import Where
from posewright.robots import Robot
from posewright.units import RAD_PER_DEG


@dataclass(frozen=True)
class Slot:
    """One number of a record of inputs.

    Attributes:
        kind: `channel`, `joint`, `load` or `chance`.
        name: of the channel or joint.
        index: selects one of the channel's several numbers.
    """

    kind: str
    name: str = ""
    index: int | None = None

    def __str__(self) -> str:
        kind = "" if self.kind == "channel" else self.kind
        index = "" if self.index is None else f"{self.index}"
        return " ".join(part for part in (kind, self.name, index) if part)

    def value(self, state: BodyState, robot: Robot, random_number: float) -> float:
        """Return the number for a state of the body; `random_number` is that of the tick."""
        if self.kind == "channel":
            return TickContext(state).number(self.name, self.index)
        if self.kind == "chance":
            return random_number
        values = state.positions if self.kind == "joint" else state.efforts
        return float(values[robot.index(self.name)])


def find_slots(behaviour: Behaviour) -> Mapping[Slot, str]:
    """Return the numbers that the wires read, with the names of their fields, in the record's order."""
    slots = dict.fromkeys(slot for wire in behaviour.inputs for slot in _slots_read(wire.source, behaviour))
    names = distinct(map(str, slots))
    return {slot: names[str(slot)] for slot in slots}


def _slots_read(source: Source, behaviour: Behaviour) -> Iterator[Slot]:
    """Yield the numbers of a record that a source reads."""
    match source:
        case ChannelSource():
            yield Slot("channel", source.channel, source.index)
        case JointSource():
            yield Slot("load" if source.load else "joint", behaviour.robot.joint_names[source.joint])
        case RandomSource():
            yield Slot("chance")
        case BearingSource() | CorridorSource() | FreeCourseSource() | FarthestSource():
            if not isinstance(source, BearingSource):
                beams = len(source.scanner.beams.angles)
                yield from (Slot("channel", source.scanner.channel, beam) for beam in range(beams))
            if source.direction.compass is not None:
                yield Slot("channel", *source.direction.compass)


_NUMBER_BYTES = 8  # of a number in a record of inputs, a float64


def double_literal(number: float) -> str:
    """Return a number as a literal of C with exactly its value."""
    if math.isnan(number):
        return "(double)NAN"
    if math.isinf(number):
        return "(double)INFINITY" if number > 0 else "-(double)INFINITY"
    return repr(float(number))


def table_lines(name: str, numbers: Floats) -> Iterator[str]:
    """Yield the lines of a constant table of fractions."""
    yield f"static const double {name}[] = {{"
    texts = [double_literal(number) for number in numbers.tolist()]
    for begin in range(0, len(texts), 4):
        yield f"    {', '.join(texts[begin : begin + 4])},"
    yield "};"


@dataclass
class WiresCode:
    """Writes the C function that sets the chart's inputs from a record.

    Attributes:
        behaviour: the behaviour.
        slots: the numbers of a record and the names of their fields.
        inputs: names of the chart's inputs in C.
        events: names of the chart's events in C.
        outputs: names of the chart's outputs in C.
        where: place of each input in the document.
        tables: constant tables that the function needs, after `write`.
        uses_first_record: whether the function treats the first record differently, after `write`.
        can_fail: whether a first reading may be no number, after `write`.
    """

    behaviour: Behaviour
    slots: Mapping[Slot, str]
    inputs: Mapping[str, str]
    events: Mapping[str, str]
    outputs: Mapping[str, str]
    where: Mapping[str, Where]
    tables: CWriter = field(default_factory=CWriter)
    uses_first_record: bool = False
    can_fail: bool = False
    _table_names: dict[str | tuple[float, float], str] = field(default_factory=dict)

    def write(self, writer: CWriter) -> None:
        """Write the function `sense`, with only the variables and parameters that its body uses.

        Sets `tables`, `uses_first_record` and `can_fail`.
        """
        body = CWriter()
        for wire in self.behaviour.inputs:
            self._write_wire(body, wire)
        text = "\n".join(body.lines)
        self.uses_first_record = "is_first" in text
        self.can_fail = "return false;" in text
        return_type = "bool" if self.can_fail else "void"
        with writer.function(f"static {return_type} sense(const uint8_t *input)"):
            if "value" in text:
                writer.line("double value;")
            if "(input," not in text and "&input[" not in text:
                writer.line("(void)input;")
            writer.include(body)
            if self.uses_first_record:
                writer.line("is_first = false;")
            if self.can_fail:
                writer.line("return true;")

    def _write_wire(self, writer: CWriter, wire: InputWire) -> None:
        """Write the lines that set one input, or one event at the rising edge of its wire."""
        where = self.where.get(wire.name)
        line = where.line if where is not None else None
        is_event = wire.name in self.events
        target = self.events[wire.name] if is_event else self.inputs[wire.name]
        with writer.traced_to(Element("input", wire.name, line)):
            place = f" (line {line})" if line else ""
            writer.line(comment(f"{wire.name}: {_describe(wire)}{place}"))
            expression = self._source_expression(wire.source)
            if is_event:
                with writer.block(""):
                    writer.line(f"const bool before = raw_{target};")
                    self._write_assignment(writer, wire, expression, target=f"raw_{target}")
                    writer.line(f"in.{target} = raw_{target} && !before && !is_first;")
            else:
                self._write_assignment(writer, wire, expression, target=f"in.{target}")

    def _write_assignment(self, writer: CWriter, wire: InputWire, expression: str, target: str) -> None:
        """Write the assignment of a source's number to a variable of C.

        With a threshold the variable is a flag; otherwise the number is converted to the wire's unit and
        clamped to its type. A NaN leaves the variable as it is; in the first record, `sense` fails.

        Args:
            writer: receives the lines.
            wire: the wire.
            expression: the expression of C for the number, in SI units.
            target: the variable of C.
        """
        if wire.threshold is not None:
            function = "is_above" if wire.threshold.above else "is_below"
            limit = double_literal(wire.threshold.limit)
            hysteresis = double_literal(wire.threshold.hysteresis)
            writer.line(f"{target} = {function}({expression}, {limit}, {hysteresis}, {target});")
            return
        writer.line(f"value = {expression};")
        with writer.block("if (!isnan(value))", "} else if (is_first) {"):
            if wire.source.quantity is Quantity.FLAG:
                writer.line(f"{target} = (value < 0.0) || (value > 0.0);")
            else:
                writer.line(
                    f"value = in_units(value, {double_literal(wire.unit)}, {double_literal(wire.none)});"
                )
                writer.line(f"{target} = {_clamp_to_type(wire.type)};")
        with writer.indented_block():
            writer.line(f"return false; {comment('nothing to begin with')}")

    def _source_expression(self, source: Source) -> str:
        """Return the expression of C for the number of a source, in SI units."""
        match source:
            case ChannelSource():
                number = self._slot_expression(Slot("channel", source.channel, source.index))
                return f"finite_or({number}, {double_literal(source.no_reading)})"
            case JointSource() | RandomSource():
                return self._slot_expression(next(_slots_read(source, self.behaviour)))
            case PlayingSource():
                motion = [None, *self.behaviour.motions].index(source.motion)
                return f"((player_playing() == {motion}U) ? 1.0 : 0.0)"
            case BearingSource():
                return f"bearing_of({self._direction_expression(source.direction)})"
            case CorridorSource() | FreeCourseSource() | FarthestSource():
                return self._view_expression(source)
        return "(frame * FRAME_S)"

    def _view_expression(self, source: CorridorSource | FreeCourseSource | FarthestSource) -> str:
        """Return the expression of C for a source that evaluates a scan."""
        first_beam = list(self.slots).index(Slot("channel", source.scanner.channel, index=0))
        beams = self._beams_name(source.scanner)
        direction = self._direction_expression(source.direction)
        arguments = f"&{beams}, &input[{_NUMBER_BYTES * first_beam}], {direction}"
        match source:
            case CorridorSource():
                return f"corridor({arguments}, {double_literal(0.5 * source.width_m)})"
            case FarthestSource():
                return f"farthest({arguments}, {double_literal(math.cos(source.within_rad) - ROUNDING)})"
        half_m = 0.5 * source.width_m
        length_m = source.length_m
        side = "1.0" if source.side is Side.LEFT else "-1.0"
        sizes = ", ".join(map(double_literal, (half_m, length_m, math.hypot(length_m, half_m))))
        fan = self._fan_name(source.step_rad, source.up_to_rad)
        return f"free_course({arguments}, &{fan}, {side}, {sizes})"

    def _direction_expression(self, direction: Direction) -> str:
        """Return the expression of C for a direction relative to the robot [rad]."""
        if isinstance(direction.towards, str):
            towards = f"((double)chart.out.{self.outputs[direction.towards]} * {double_literal(RAD_PER_DEG)})"
        else:
            towards = double_literal(direction.towards)
        if direction.compass is None:
            return towards
        return f"({towards} - {self._slot_expression(Slot('channel', *direction.compass))})"

    def _slot_expression(self, slot: Slot) -> str:
        return f"number_in(input, {list(self.slots).index(slot)}U)"

    def _beams_name(self, scanner: Scanner) -> str:
        """Return the name of a scanner's table of beams, having written it at the first call."""
        key = scanner.channel
        if key not in self._table_names:
            name = f"beams_{identifier(scanner.channel)}"
            self._table_names[key] = name
            beams = scanner.beams
            tables = self.tables
            cosines, sines = beams.directions
            tables.write(table_lines(f"{name}_cosines", cosines))
            tables.write(table_lines(f"{name}_sines", sines))
            n_beams = len(beams.angles)
            tables.line(f"static double {name}_ahead[{n_beams}], {name}_aside[{n_beams}];")
            numbers = (float(beams.angles.min()), beams.span, beams.step, scanner.max_range_m)
            literals = ", ".join(double_literal(number) for number in numbers)
            is_ring = "true" if beams.is_ring else "false"
            members = f"{name}_cosines, {name}_sines, {literals}, {n_beams}U, {is_ring}"
            tables.line(f"static const beams_t {name} = {{{members},")
            tables.line(f"    {name}_ahead, {name}_aside}};")
            tables.line()
        return self._table_names[key]

    def _fan_name(self, step_rad: float, up_to_rad: float) -> str:
        """Return the name of a table of courses, having written it at the first call."""
        key = (step_rad, up_to_rad)
        if key not in self._table_names:
            name = f"fan_{len(self._table_names)}"
            self._table_names[key] = name
            turns = course_turns(step_rad, up_to_rad)
            left_turns = turns[
                len(turns) // 2 :
            ]  # the table has one side only; the other is its mirror image
            self.tables.write(table_lines(f"{name}_cosines", np.cos(left_turns)))
            self.tables.write(table_lines(f"{name}_sines", np.sin(left_turns)))
            members = f"{name}_cosines, {name}_sines, {double_literal(step_rad)}, {len(left_turns)}U"
            self.tables.line(f"static const fan_t {name} = {{{members}}};")
            self.tables.line()
        return self._table_names[key]


def _describe(wire: InputWire) -> str:
    """Return the source and the threshold of an input for a comment."""
    source = wire.source
    match source:
        case ChannelSource():
            name = f"{source}"
        case RandomSource():
            name = "chance"
        case _:
            name = type(source).__name__.removesuffix("Source").lower()
    return name if wire.threshold is None else f"{name}, {wire.threshold}"


def _clamp_to_type(kind: Type) -> str:
    """Return the expression of C for `value` as an input of a type."""
    if isinstance(kind, IntType):
        return f"({kind.storage}_t)fit(rint(value), {double_literal(kind.low)}, {double_literal(kind.high)})"
    if isinstance(kind, FloatType) and kind.single:
        return f"(float)fit(value, {double_literal(kind.low)}, {double_literal(kind.high)})"
    return "value"
