"""The wires of a behaviour as C: from a record of sensor numbers to the chart's inputs.

A wire of a behaviour connects a source, such as a channel of a sensor, to an input or event of its chart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState
from posewright.charts.types import FloatType, IntType, Type
from posewright.codegen.c.names import choose_identifiers, identifier
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element
from posewright.controllers.behaviours import Behaviour, Side
from posewright.controllers.behaviours.inputs import InputWire
from posewright.controllers.behaviours.scan import ROUNDING, course_turns
from posewright.controllers.behaviours.sources import (
    BearingSource,
    ChannelSource,
    ClockSource,
    CorridorSource,
    Direction,
    FallenSource,
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
from posewright.controllers.walker import feedback_sensors
from posewright.errors import Where
from posewright.recordings.falls import SIDEWAYS_SIN_SQUARED, TILTED_COS_SQUARED, FallenSide
from posewright.robots import Imu, Robot
from posewright.units import RAD_PER_DEG


@dataclass(frozen=True)
class SensorField:
    """A field of a record of inputs of a behaviour: one number, read from the robot's body.

    Attributes:
        kind: `channel` (a number of a sensor's channel), `joint` (its angle), `load` (the torque of a joint)
            or `chance` (a random number).
        name: the name of the channel or joint; empty for `chance`.
        index: selects one number of a channel that has several, such as a beam of a scan; None for one that
            has a single number, and for other kinds.
    """

    kind: str
    name: str = ""
    index: int | None = None

    def __str__(self) -> str:
        kind = "" if self.kind == "channel" else self.kind
        index = "" if self.index is None else f"{self.index}"
        return " ".join(part for part in (kind, self.name, index) if part)

    def read_number(self, state: BodyState, robot: Robot, random_number: float) -> float:
        """Return the number of the field in a state of the body.

        Args:
            state: the state of the body.
            robot: the robot, for the index of the joint.
            random_number: the number of a field of the kind `chance`.
        """
        if self.kind == "channel":
            return TickContext(state).number(self.name, self.index)
        if self.kind == "chance":
            return random_number
        values = state.positions if self.kind == "joint" else state.efforts
        return float(values[robot.index(self.name)])


def name_sensor_fields(behaviour: Behaviour) -> Mapping[SensorField, str]:
    """Return the fields of a record of inputs, each with its name in the record's dtype.

    There is a field for every number that the wires read, in the order in which they first read it, then for
    those that the feedback of gaits reads.
    """
    sensor_fields: dict[SensorField, None] = {}  # a set in the order of insertion
    for wire in behaviour.inputs:
        sensor_fields |= dict.fromkeys(_fields_of_source(wire.source, behaviour))
    sensor_fields |= dict.fromkeys(attitude_fields(behaviour).values())
    names = choose_identifiers(map(str, sensor_fields))
    return {sensor_field: names[str(sensor_field)] for sensor_field in sensor_fields}


def attitude_fields(behaviour: Behaviour) -> Mapping[str, SensorField]:
    """Return the fields that the feedback of gaits reads, by member of the C struct `attitude_t`."""
    robot = behaviour.robot
    fields: dict[str, SensorField] = {}
    for gait in behaviour.gaits.values():
        for sensor in feedback_sensors(gait, robot):
            if isinstance(sensor, Imu):
                channel = f"{sensor.name}.orientation"
                angles = {name: SensorField("channel", channel, index) for index, name in enumerate(ATTITUDE)}
                fields = {**angles, **fields}
            else:
                fields["heading"] = SensorField("channel", sensor.name)
    return fields


def _fields_of_source(source: Source, behaviour: Behaviour) -> Iterator[SensorField]:
    """Yield the fields of a record that a source reads; none for the time and the motion that is played."""
    match source:
        case ChannelSource():
            yield SensorField("channel", source.channel, source.index)
        case JointSource():
            yield SensorField("load" if source.load else "joint", behaviour.robot.joint_names[source.joint])
        case FallenSource():
            for index in range(source.n_numbers):
                yield SensorField("channel", source.channel, index)
        case RandomSource():
            yield SensorField("chance")
        case BearingSource() | CorridorSource() | FreeCourseSource() | FarthestSource():
            if not isinstance(source, BearingSource):
                n_beams = len(source.scanner.beams.angles)
                for beam in range(n_beams):
                    yield SensorField("channel", source.scanner.channel, beam)
            if source.direction.compass is not None:
                yield SensorField("channel", *source.direction.compass)


ATTITUDE = ("roll", "pitch", "heading")
"""Members of the C struct `attitude_t`, in the order in which an IMU reads them."""

_NUMBER_BYTES = 8  # of a number in a record of inputs, a float64
_NUMBERS_PER_LINE = 4  # of a constant table


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
    for begin in range(0, len(texts), _NUMBERS_PER_LINE):
        yield f"    {', '.join(texts[begin : begin + _NUMBERS_PER_LINE])},"
    yield "};"


_LIES = (
    comment("Whether the robot lies, by the vertical in its frame. side: 1 front, 2 back, 3 a side, 0 any"),
    "static double lies(double x, double y, double z, uint8_t side)",
    "{",
    "    const double square = (x * x) + (y * y) + (z * z);",
    f"    const double tilted_below = {double_literal(TILTED_COS_SQUARED)} * square;",
    f"    const double sideways_above = {double_literal(SIDEWAYS_SIN_SQUARED)} * square;",
    "    uint8_t lower_side = 3U;",
    "    if (!(isfinite(x) && isfinite(y) && isfinite(z))) {",
    "        return (double)NAN;",
    "    }",
    "    if ((z >= 0.0) && ((z * z) >= tilted_below) && ((y * y) <= sideways_above)) {",
    "        return 0.0;",
    "    }",
    "    if (fabs(y) <= fabs(x)) {",
    "        lower_side = (x < 0.0) ? 1U : 2U;",
    "    }",
    "    return ((side == 0U) || (side == lower_side)) ? 1.0 : 0.0;",
    "}",
)
"""A function of C that does what `find_fallen_side` does."""


@dataclass
class WiresCode:
    """Writes the C function `sense`, which sets the chart's inputs from a record of sensor numbers.

    Attributes:
        behaviour: the behaviour.
        sensor_fields: the name of each field of a record of inputs, in the order of the record.
        input_names: the name in C of each input of the chart.
        event_names: the name in C of each event of the chart.
        output_names: the name in C of each output of the chart.
        place_of_wire: file and line of each wire in the document, by the name of its input or event.
        tables: the constant tables that `sense` needs; filled by `write`.
        uses_first_record: whether `sense` treats the first record differently; set by `write`.
        can_fail: whether `sense` may fail since a first reading is NaN; set by `write`.
    """

    behaviour: Behaviour
    sensor_fields: Mapping[SensorField, str]
    input_names: Mapping[str, str]
    event_names: Mapping[str, str]
    output_names: Mapping[str, str]
    place_of_wire: Mapping[str, Where]
    tables: CWriter = field(default_factory=CWriter)
    uses_first_record: bool = False
    can_fail: bool = False
    # names of the tables written: of beams by channel, of courses by step and greatest turn [rad]
    _table_names: dict[str | tuple[float, float], str] = field(default_factory=dict)

    def write(self, writer: CWriter) -> None:
        """Write the function `sense`, with only the variables and parameters that its body uses.

        Sets `tables`, `uses_first_record` and `can_fail`.
        """
        body = CWriter()
        for wire in self.behaviour.inputs:
            self._write_wire(body, wire)
        # what the function needs is found in the text of its body
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
        """Write the lines of C that set the input or event of a wire.

        An event occurs at the rising edge: its wire, stored in `raw_<event>`, has become true since the
        previous record, and this is not the first one.
        """
        place = self.place_of_wire.get(wire.name)
        line = place.line if place is not None else None
        is_event = wire.name in self.event_names
        c_name = self.event_names[wire.name] if is_event else self.input_names[wire.name]
        with writer.traced_to(Element("input", wire.name, line)):
            line_note = f" (line {line})" if line else ""
            writer.line(comment(f"{wire.name}: {_describe(wire)}{line_note}"))
            expression = self._source_expression(wire.source)
            if is_event:
                with writer.block(""):  # a block in braces, for the local constant
                    writer.line(f"const bool before = raw_{c_name};")
                    self._write_assignment(writer, wire, expression, target=f"raw_{c_name}")
                    writer.line(f"in.{c_name} = raw_{c_name} && !before && !is_first;")
            else:
                self._write_assignment(writer, wire, expression, target=f"in.{c_name}")

    def _write_assignment(self, writer: CWriter, wire: InputWire, expression: str, target: str) -> None:
        """Write the assignment of a source's number to a variable of C.

        With a threshold, the variable is set to whether the number is beyond it. A flag becomes whether it is
        not 0. Other numbers are converted to the wire's unit and clamped to the type of the input.

        Without a threshold, a NaN leaves the variable as it is; in the first record (`is_first` in C) the C
        function `sense` then fails.

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
                unit = double_literal(wire.unit)  # size of the chart's unit, in SI units
                value_if_nothing_found = double_literal(wire.none)
                writer.line(f"value = in_units(value, {unit}, {value_if_nothing_found});")
                writer.line(f"{target} = {_clamp_to_type(wire.type)};")
        with writer.indented_block():
            writer.line(f"return false; {comment('nothing to begin with')}")

    def _source_expression(self, source: Source) -> str:
        """Return the expression of C for the number of a source, in SI units.

        A motion that is played is 1, others are 0.
        """
        match source:
            case ChannelSource() | JointSource() | RandomSource():
                number = self._field_expression(next(_fields_of_source(source, self.behaviour)))
                if isinstance(source, ChannelSource):
                    number = f"finite_or({number}, {double_literal(source.no_reading)})"
                return number
            case FallenSource():
                return self._fallen_expression(source)
            case PlayingSource():
                # 0 is the number of standing still on the board
                action_names = [None, *self.behaviour.motions, *self.behaviour.gaits]
                action_number = action_names.index(source.motion)
                player = "performer" if self.behaviour.gaits else "player"
                return f"(({player}_playing() == {action_number}U) ? 1.0 : 0.0)"
            case BearingSource():
                return f"bearing_of({self._direction_expression(source.direction)})"
            case CorridorSource() | FreeCourseSource() | FarthestSource():
                return self._scan_expression(source)
            case ClockSource():
                return "(frame * FRAME_S)"

    def _fallen_expression(self, source: FallenSource) -> str:
        """Return the expression of C for whether the robot lies; its function goes to `tables`."""
        if "lies" not in self._table_names:
            self._table_names["lies"] = "lies"
            self.tables.write([*_LIES, ""])
        fields = [SensorField("channel", source.channel, index) for index in range(source.n_numbers)]
        vertical = [self._field_expression(sensor_field) for sensor_field in fields]
        if source.is_orientation:
            roll, pitch = vertical
            vertical = [f"-sin({pitch})", f"cos({pitch}) * sin({roll})", f"cos({pitch}) * cos({roll})"]
        return f"lies({', '.join(vertical)}, {[None, *FallenSide].index(source.side)}U)"

    def _scan_expression(self, source: CorridorSource | FreeCourseSource | FarthestSource) -> str:
        """Return the expression of C for a source that evaluates a scan: the call of a function of sensing.h.

        The numbers of a scan follow one another in the record `input`, so the call has the address of the
        first one. The constant tables that it needs are added to `tables`.
        """
        first_beam = SensorField("channel", source.scanner.channel, index=0)
        scan_offset = _NUMBER_BYTES * list(self.sensor_fields).index(first_beam)
        beams = self._write_beams_table(source.scanner)
        direction = self._direction_expression(source.direction)
        arguments = f"&{beams}, &input[{scan_offset}], {direction}"
        match source:
            case CorridorSource():
                return f"corridor({arguments}, {double_literal(0.5 * source.width_m)})"
            case FarthestSource():
                return f"farthest({arguments}, {double_literal(math.cos(source.within_rad) - ROUNDING)})"
            case FreeCourseSource():
                half_width_m = 0.5 * source.width_m
                farthest_corner_m = math.hypot(source.length_m, half_width_m)
                lengths_m = (half_width_m, source.length_m, farthest_corner_m)
                literals = ", ".join(map(double_literal, lengths_m))
                courses = self._write_courses_table(source.step_rad, source.up_to_rad)
                preferred_side = "1.0" if source.side is Side.LEFT else "-1.0"
                return f"free_course({arguments}, &{courses}, {preferred_side}, {literals})"

    def _direction_expression(self, direction: Direction) -> str:
        """Return the expression of C for a direction relative to the robot [rad]."""
        if isinstance(direction.towards, str):  # the name of a chart's output [deg]
            towards = (
                f"((double)chart.out.{self.output_names[direction.towards]} * {double_literal(RAD_PER_DEG)})"
            )
        else:
            towards = double_literal(direction.towards)
        if direction.compass is None:
            return towards
        heading = self._field_expression(SensorField("channel", *direction.compass))
        return f"({towards} - {heading})"

    def _field_expression(self, sensor_field: SensorField) -> str:
        """Return the expression of C for the number of a field in the record `input`."""
        return f"number_in(input, {list(self.sensor_fields).index(sensor_field)}U)"

    def _write_beams_table(self, scanner: Scanner) -> str:
        """Write the C struct `beams_t` of a scanner, unless it is written already, and return its name.

        It has the directions of the beams and the scanner's range, and the arrays `_ahead` and `_aside`, in
        which the board stores the end points of the beams in each frame.
        """
        if scanner.channel in self._table_names:
            return self._table_names[scanner.channel]
        name = f"beams_{identifier(scanner.channel)}"
        self._table_names[scanner.channel] = name
        beams = scanner.beams
        n_beams = len(beams.angles)
        cosines, sines = beams.directions
        tables = self.tables
        tables.write(table_lines(f"{name}_cosines", cosines))
        tables.write(table_lines(f"{name}_sines", sines))
        tables.line(f"static double {name}_ahead[{n_beams}], {name}_aside[{n_beams}];")
        beam_parameters = (float(beams.angles.min()), beams.span, beams.step, scanner.max_range_m)
        literals = ", ".join(map(double_literal, beam_parameters))
        is_ring = "true" if beams.is_ring else "false"
        members = f"{name}_cosines, {name}_sines, {literals}, {n_beams}U, {is_ring}"
        tables.line(f"static const beams_t {name} = {{{members},")
        tables.line(f"    {name}_ahead, {name}_aside}};")
        tables.line()
        return name

    def _write_courses_table(self, step_rad: float, up_to_rad: float) -> str:
        """Write the C struct `fan_t` of a free course, unless it is written already, and return its name.

        It has the cosines and sines of the turns that are tried in search of a free corridor.

        Args:
            step_rad: the turn from one course to the next [rad].
            up_to_rad: the greatest turn [rad].
        """
        key = (step_rad, up_to_rad)
        if key in self._table_names:
            return self._table_names[key]
        name = f"fan_{len(self._table_names)}"
        self._table_names[key] = name
        turns = course_turns(step_rad, up_to_rad)
        left_turns = turns[len(turns) // 2 :]  # the turns to the right are their mirror images
        self.tables.write(table_lines(f"{name}_cosines", np.cos(left_turns)))
        self.tables.write(table_lines(f"{name}_sines", np.sin(left_turns)))
        members = f"{name}_cosines, {name}_sines, {double_literal(step_rad)}, {len(left_turns)}U"
        self.tables.line(f"static const fan_t {name} = {{{members}}};")
        self.tables.line()
        return name


def _describe(wire: InputWire) -> str:
    """Return the source and the threshold of an input for a comment."""
    source = wire.source
    match source:
        case ChannelSource():
            name = f"{source}"
        case RandomSource():
            name = "chance"
        case _:  # `joint` for a JointSource, and so on
            name = type(source).__name__.removesuffix("Source").lower()
    return name if wire.threshold is None else f"{name}, {wire.threshold}"


def _clamp_to_type(input_type: Type) -> str:
    """Return the expression of C for the double `value` as an input of a type.

    An integer is rounded. A float of 64 bits is clamped by the chart itself.
    """
    if isinstance(input_type, IntType):
        low = double_literal(input_type.low)
        high = double_literal(input_type.high)
        return f"({input_type.storage}_t)fit(rint(value), {low}, {high})"
    if isinstance(input_type, FloatType) and input_type.single:
        return f"(float)fit(value, {double_literal(input_type.low)}, {double_literal(input_type.high)})"
    return "value"
