"""The wires of a behaviour as C: from a record of sensors' numbers to the chart's inputs."""

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
        index: which of the channel's several numbers.
    """

    kind: str
    name: str = ""
    index: int | None = None

    def __str__(self) -> str:
        kind = "" if self.kind == "channel" else self.kind
        index = "" if self.index is None else f"{self.index}"
        return " ".join(part for part in (kind, self.name, index) if part)

    def value(self, state: BodyState, robot: Robot, chance: float) -> float:
        """Return the number as a body reads it now."""
        if self.kind == "channel":
            return TickContext(state).number(self.name, self.index)
        if self.kind == "chance":
            return chance
        return float((state.positions if self.kind == "joint" else state.efforts)[robot.index(self.name)])


def slots_of(behaviour: Behaviour) -> Mapping[Slot, str]:
    """Return the numbers that the wires read, each with the name of its field, in the record's order."""
    found = dict.fromkeys(slot for wire in behaviour.inputs for slot in _read(wire.source, behaviour))
    names = distinct(map(str, found))
    return {slot: names[str(slot)] for slot in found}


def _read(source: Source, behaviour: Behaviour) -> Iterator[Slot]:
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


def exact(number: float) -> str:
    """Return a number as a literal of C that is read back the same."""
    if math.isnan(number):
        return "(double)NAN"
    if math.isinf(number):
        return "(double)INFINITY" if number > 0 else "-(double)INFINITY"
    return repr(float(number))


def table(name: str, numbers: Floats) -> Iterator[str]:
    """Yield the lines of a constant table of fractions."""
    yield f"static const double {name}[] = {{"
    texts = [exact(number) for number in numbers.tolist()]
    for begin in range(0, len(texts), 4):
        yield f"    {', '.join(texts[begin : begin + 4])},"
    yield "};"


@dataclass
class WiresCode:
    """Writes the wires.

    Attributes:
        slots: place and name of each number of a record.
        fields: of the chart's inputs and outputs in C, events by `ev_` and their name.
        where: the line of each input in the document.
        begins: whether the first reading is unlike the others; known once it is written, like
        can_fail: whether a sensor may have nothing to begin with.
    """

    behaviour: Behaviour
    slots: Mapping[Slot, str]
    inputs: Mapping[str, str]
    events: Mapping[str, str]
    outputs: Mapping[str, str]
    where: Mapping[str, Where]
    tables: CWriter = field(default_factory=CWriter)
    begins: bool = False
    can_fail: bool = False
    _named: dict[str | tuple[float, float], str] = field(default_factory=dict)

    def write(self, writer: CWriter) -> None:
        """Write the function that senses; what tables it needs are in `tables` then."""
        body = CWriter()
        for wire in self.behaviour.inputs:
            self._wire(body, wire)
        text = "\n".join(body.lines)
        self.begins, self.can_fail = "is_first" in text, "return false;" in text
        kind = "bool" if self.can_fail else "void"
        with writer.function(f"static {kind} sense(const uint8_t *input)"):
            if "value" in text:
                writer.line("double value;")
            if "(input," not in text and "&input[" not in text:
                writer.line("(void)input;")
            writer.include(body)
            if self.begins:
                writer.line("is_first = false;")
            if self.can_fail:
                writer.line("return true;")

    def _wire(self, writer: CWriter, wire: InputWire) -> None:
        where = self.where.get(wire.name)
        line = where.line if where is not None else None
        event = wire.name in self.events
        target = self.events[wire.name] if event else self.inputs[wire.name]
        with writer.about(Element("input", wire.name, line)):
            place = f" (line {line})" if line else ""
            writer.line(comment(f"{wire.name}: {_words(wire)}{place}"))
            text = self._source(wire.source)
            if event:
                with writer.block(""):
                    writer.line(f"const bool before = raw_{target};")
                    self._read_into(writer, wire, text, f"raw_{target}")
                    writer.line(f"in.{target} = raw_{target} && !before && !is_first;")
            else:
                self._read_into(writer, wire, text, f"in.{target}")

    def _read_into(self, writer: CWriter, wire: InputWire, text: str, target: str) -> None:
        if wire.threshold is not None:
            side = "is_above" if wire.threshold.above else "is_below"
            limit, back = exact(wire.threshold.limit), exact(wire.threshold.hysteresis)
            writer.line(f"{target} = {side}({text}, {limit}, {back}, {target});")
            return
        writer.line(f"value = {text};")
        with writer.block("if (!isnan(value))", "} else if (is_first) {"):
            if wire.source.quantity is Quantity.FLAG:
                writer.line(f"{target} = (value < 0.0) || (value > 0.0);")
            else:
                writer.line(f"value = in_units(value, {exact(wire.unit)}, {exact(wire.none)});")
                writer.line(f"{target} = {_fitted(wire.type)};")
        with writer.indented_block():
            writer.line(f"return false; {comment('nothing to begin with')}")

    def _source(self, source: Source) -> str:
        """Return what a source reads, in inner units."""
        match source:
            case ChannelSource():
                number = self._number(Slot("channel", source.channel, source.index))
                return f"finite_or({number}, {exact(source.no_reading)})"
            case JointSource() | RandomSource():
                return self._number(next(_read(source, self.behaviour)))
            case PlayingSource():
                place = [None, *self.behaviour.motions].index(source.motion)
                return f"((player_playing() == {place}U) ? 1.0 : 0.0)"
            case BearingSource():
                return f"bearing_of({self._direction(source.direction)})"
            case CorridorSource() | FreeCourseSource() | FarthestSource():
                return self._view(source)
        return "(frame * FRAME_S)"

    def _view(self, source: CorridorSource | FreeCourseSource | FarthestSource) -> str:
        first = list(self.slots).index(Slot("channel", source.scanner.channel, 0))
        given = f"&{self._beams(source.scanner)}, &input[{8 * first}], {self._direction(source.direction)}"
        match source:
            case CorridorSource():
                return f"corridor({given}, {exact(0.5 * source.width_m)})"
            case FarthestSource():
                return f"farthest({given}, {exact(math.cos(source.within_rad) - ROUNDING)})"
        half, length = 0.5 * source.width_m, source.length_m
        side = "1.0" if source.side is Side.LEFT else "-1.0"
        sizes = f"{exact(half)}, {exact(length)}, {exact(math.hypot(length, half))}"
        return f"free_course({given}, &{self._fan(source.step_rad, source.up_to_rad)}, {side}, {sizes})"

    def _direction(self, direction: Direction) -> str:
        if isinstance(direction.towards, str):
            towards = f"((double)chart.out.{self.outputs[direction.towards]} * {exact(RAD_PER_DEG)})"
        else:
            towards = exact(direction.towards)
        if direction.compass is None:
            return towards
        return f"({towards} - {self._number(Slot('channel', *direction.compass))})"

    def _number(self, slot: Slot) -> str:
        return f"number_in(input, {list(self.slots).index(slot)}U)"

    def _beams(self, scanner: Scanner) -> str:
        key = scanner.channel
        if key not in self._named:
            name = self._named[key] = f"beams_{identifier(scanner.channel)}"
            beams, tables = scanner.beams, self.tables
            tables.write(table(f"{name}_cosines", beams.directions[0]))
            tables.write(table(f"{name}_sines", beams.directions[1]))
            n = len(beams.angles)
            tables.line(f"static double {name}_ahead[{n}], {name}_aside[{n}];")
            numbers = (float(beams.angles.min()), beams.span, beams.step, scanner.max_range_m)
            texts = ", ".join(exact(number) for number in numbers)
            ring = "true" if beams.is_ring else "false"
            tables.line(
                f"static const beams_t {name} = {{{name}_cosines, {name}_sines, {texts}, {n}U, {ring},"
            )
            tables.line(f"    {name}_ahead, {name}_aside}};")
            tables.line()
        return self._named[key]

    def _fan(self, step_rad: float, up_to_rad: float) -> str:
        key = (step_rad, up_to_rad)
        if key not in self._named:
            name = self._named[key] = f"fan_{len(self._named)}"
            turns = course_turns(step_rad, up_to_rad)
            left = turns[len(turns) // 2 :]
            self.tables.write(table(f"{name}_cosines", np.cos(left)))
            self.tables.write(table(f"{name}_sines", np.sin(left)))
            told = f"{name}_cosines, {name}_sines, {exact(step_rad)}, {len(left)}U"
            self.tables.line(f"static const fan_t {name} = {{{told}}};")
            self.tables.line()
        return self._named[key]


def _words(wire: InputWire) -> str:
    """Return where an input comes from, in a few words."""
    source = wire.source
    match source:
        case ChannelSource() | BearingSource():
            said = f"{source}" if isinstance(source, ChannelSource) else "bearing"
        case _:
            said = type(source).__name__.removesuffix("Source").lower()
    return said if wire.threshold is None else f"{said}, {wire.threshold}"


def _fitted(kind: Type) -> str:
    """Return `value` as a chart's input of a type; the chart itself brings it into its range."""
    if isinstance(kind, IntType):
        return f"({kind.storage}_t)fit(rint(value), {exact(kind.low)}, {exact(kind.high)})"
    if isinstance(kind, FloatType) and kind.single:
        return f"(float)fit(value, {exact(kind.low)}, {exact(kind.high)})"
    return "value"
