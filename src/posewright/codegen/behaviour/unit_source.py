"""The C unit of a behaviour, which reads sensors, steps the chart and plays motions once a frame."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from posewright.charts.expression import Name
from posewright.charts.expression.tree import range_of
from posewright.codegen.behaviour.reference import VELOCITY_FIELDS
from posewright.codegen.behaviour.wires import (
    ATTITUDE,
    SensorField,
    WiresCode,
    attitude_fields,
    double_literal,
    name_sensor_fields,
)
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.c.arithmetic import fragment, with_called_fragments
from posewright.codegen.c.expressions import CExpressions
from posewright.codegen.c.names import identifier
from posewright.codegen.c.offsets import IN, offset_constants, offset_lines
from posewright.codegen.c.writer import CWriter, comment
from posewright.codegen.unit import Element, SourceFile, field_offset
from posewright.control.schedule import in_frames
from posewright.controllers.behaviours import Behaviour
from posewright.controllers.behaviours.outputs import OutputRule
from posewright.errors import InputError, Where
from posewright.robots import Robot

LINE_BAUD = 2_000_000
"""Baud rate of the line to a computer; 36 MHz, and 32 MHz without a crystal, are multiples of it [bit/s]."""

_FROM_MATH = re.compile(
    r"\b(isnan|isinf|isfinite|NAN|INFINITY|fabs|rint|nearbyint|l?l?round|floor|ceil|trunc|fmod|remainder|copysign|"
    r"sqrt|pow|exp|log|a?sin|a?cos|a?tan2?|hypot|f(min|max))f?\b"
)

UNIT_API = """
/* Goes back to before the first frame. */
void unit_reset(void);

/*
 * Takes one servo frame: a record of the sensors in, a record of states out. All time is counted in steps:
 * while none is taken, because a frame is late or a computer silent, clock, chart and motion stand still and
 * the servos hold the pose of the last packet; the next step goes on from there.
 */
void unit_step(const uint8_t *input, uint8_t *state);

/* Writes the packet that sends all servos to where they are to be now; returns its length. */
uint16_t unit_packet(uint8_t *packet);

/* Counts a frame that went by without a step. */
void unit_late(void);
"""


class UnitSource:
    """Writes `unit.h` and `unit.c`.

    Args:
        behaviour: the behaviour.
        chart: its chart, whose own files the unit includes.
        state_dtype: dtype of a record of states.
        input_dtype: dtype of a record of inputs.
        places_in_block: returns the places in the document of the entries of a block, such as `inputs`, by
            name, or by the number in a list.
    """

    def __init__(
        self,
        behaviour: Behaviour,
        chart: ChartUnitSpec,
        state_dtype: np.dtype[np.void],
        input_dtype: np.dtype[np.void],
        *,
        places_in_block: Callable[[str], Mapping[str, Where]],
    ) -> None:
        """Store the arguments, and prepare the writers of wires and of conditions."""
        self.behaviour = behaviour
        self.chart = chart
        self.state_dtype = state_dtype
        self.input_dtype = input_dtype
        self._places_in_block = places_in_block
        names = chart.generator.names
        self._prefix = names.prefix  # of the chart's names in C
        self._has_interrupts = any(rule.at_once for rule in behaviour.outputs)
        self._player = "performer" if behaviour.gaits else "player"  # the prefix of the functions of actions
        # the name in C of each output of the chart
        self._output_names = {output: names.fields[output] for output in behaviour.chart.outputs}
        self._wires = WiresCode(
            behaviour,
            name_sensor_fields(behaviour),
            names.inputs,
            event_names=names.event_inputs,
            output_names=self._output_names,
            place_of_wire=places_in_block("inputs"),
        )
        # for the conditions and velocities of the rules, which read the chart's outputs
        self._expressions = CExpressions(
            self._output_expression, chart.generator.code.enum_constant, soft_doubles=False
        )

    def files(self) -> tuple[SourceFile, SourceFile]:
        """Return the header and the source."""
        return self._header(), self._source()

    def _output_expression(self, output: Name) -> str:
        """Return the expression of C for an output of the chart."""
        return f"chart.out.{self._output_names[output.name]}"

    def _header(self) -> SourceFile:
        """Return `unit.h`: sizes, periods and offsets of the records, and the unit's functions."""
        writer = CWriter()
        writer.write(["#ifndef UNIT_H", "#define UNIT_H", "", "#include <stdint.h>", ""])
        writer.line(f'#define UNIT_NAME "{identifier(self.behaviour.name).lower()}"')
        period = round(self.behaviour.robot.frame_period_s * 1e6)
        writer.line(f"#define UNIT_PERIOD_US {period}UL {comment('of a servo frame, to the microsecond')}")
        nanoseconds = round(self.behaviour.robot.frame_period_s * 1e9)
        writer.line(f"#define UNIT_PERIOD_NS {nanoseconds}UL {comment('exactly')}")
        baud = comment("for a record of inputs and one of states within a frame")
        writer.line(f"#define UNIT_LINE_BAUD {LINE_BAUD}UL {baud}")
        writer.line(f"#define UNIT_INPUT_BYTES {self.input_dtype.itemsize}U")
        writer.line(f"#define UNIT_STATE_BYTES {self.state_dtype.itemsize}U")
        packet = self.state_dtype["packet"].itemsize
        writer.line(f"#define UNIT_PACKET_BYTES {packet}U {comment('of one sync write to all servos')}")
        writer.write(self._offset_definitions())
        writer.write([*UNIT_API.splitlines(), "", "#endif /* UNIT_H */"])
        return writer.file("unit.h")

    def _offset_definitions(self) -> Iterator[str]:
        """Yield the lines of `unit.h` that define the offsets of sensors and states in their records."""
        sensor_meanings = {
            name: _describe_sensor_field(sensor_field, self.behaviour.robot)
            for sensor_field, name in name_sensor_fields(self.behaviour).items()
        }
        field_names = name_sensor_fields(self.behaviour)
        for angle, sensor_field in attitude_fields(self.behaviour).items():
            sensor_meanings[field_names[sensor_field]] = f"{angle} of the trunk, for the gaits [rad]"
        yield from ("", comment("Where each sensor begins in a record of inputs; all are float64."))
        yield from offset_lines(self.input_dtype, offset_constants(self.input_dtype, IN), sensor_meanings)
        action_names = ["none", *self.behaviour.motions, *self.behaviour.gaits]
        numbered_actions = ", ".join(f"{number} {name}" for number, name in enumerate(action_names))
        actions = "motion or gait" if self.behaviour.gaits else "motion"
        state_meanings = {
            "action": f"the {actions} asked for: {numbered_actions}",
            "playing": f"the {actions} that is played, by the same numbers",
            "walk_forward_m_s": "the velocity asked for, 0 of a motion",
            "walk_left_m_s": "to the left",
            "walk_turn_rad_s": "to the left",
            "late": "frames that went by without a step since the reset, at most 255",
            "packet": "the servo packet of this frame",
        }
        yield from self.chart.state_offsets(self.state_dtype, state_meanings)

    def _source(self) -> SourceFile:
        """Return `unit.c`: constants, variables, the function `sense`, the tick and the unit's functions."""
        functions = CWriter()
        # first, since they collect the tables and support functions that stand before them
        self._wires.write(functions)
        self._write_choose(functions)
        body = CWriter()
        for name in with_called_fragments(self._expressions.support_functions):
            body.write([*fragment(name), ""])
        self._write_constants(body)
        self._write_variables(body)
        body.include(self._wires.tables)
        self.chart.write_bit_functions(body, has_unit_load=False)
        body.include(functions)
        self._write_tick(body)
        self._write_api(body)
        body.remove_last_line()  # the empty one after the last function
        writer = CWriter()
        writer.write(['#include "unit.h"', ""])
        if _FROM_MATH.search("\n".join(body.lines)):
            writer.line("#include <math.h>")
        writer.write(["#include <string.h>", ""])
        writer.write([f'#include "{name}.h"' for name in (self._prefix, self._player, "sensing")])
        writer.line()
        writer.include(body)
        return writer.file("unit.c")

    def _write_constants(self, writer: CWriter) -> None:
        """Write the constants of time, and the status of a sensor without a reading if that can happen."""
        behaviour = self.behaviour
        period = in_frames(behaviour.chart.period_s, behaviour.robot.frame_period_s)
        writer.line(f"#define FRAME_S {double_literal(behaviour.robot.frame_period_s)}")
        wait_meaning = comment("before the chart takes its first step")
        writer.line(f"#define WAIT_S {double_literal(behaviour.wait_s)} {wait_meaning}")
        writer.line(comment("The chart takes a tick every TICK_OVER / TICK_UNDER frames."))
        writer.write([f"#define TICK_OVER {period.numerator}U", f"#define TICK_UNDER {period.denominator}U"])
        if self._wires.can_fail:
            meaning = comment("a status: the first reading of a sensor is not a number")
            writer.line(f"#define NO_NUMBER 3U {meaning}")
        writer.line()

    def _write_variables(self, writer: CWriter) -> None:
        """Write the static variables of the unit."""
        names = self.chart.generator.names
        writer.line(f"static {self._prefix}_t chart;")
        writer.line(f"static {self._prefix}_inputs_t in;")
        for event in self.behaviour.chart.events:
            writer.line(f"static bool raw_{names.event_inputs[event]};")
        if self._wires.uses_first_record:
            writer.line(f"static bool is_first; {comment('nothing was sensed yet')}")
        writer.line(f"static bool has_stepped; {comment('the chart did')}")
        action_meaning = "motion or gait" if self.behaviour.gaits else "motion"
        writer.line(
            f"static uint8_t status, action; {comment(f'the {action_meaning} asked for, 0 for none')}"
        )
        if self.behaviour.gaits:
            writer.line(f"static velocity_t velocity; {comment('asked for of that gait')}")
        if self._has_interrupts:
            writer.line(f"static bool is_at_once; {comment('it interrupts what is performed')}")
        writer.line(f"static uint32_t frame, due; {comment('when the next tick falls due')}")
        writer.line(f"static uint8_t late; {comment('frames without a step; 255 is many')}")
        writer.line(f"static uint32_t early; {comment('by how much of a frame it should be before that')}")
        writer.line()

    def _write_choose(self, writer: CWriter) -> None:
        """Write the function `choose`, which returns the number of the motion or gait that the rules request.

        It is that of the first rule whose condition on the chart's outputs holds, and 0 for none. The
        function also sets the velocity of a gait, and whether the action is to begin at once.

        Raises:
            InputError: a condition or velocity may divide by zero, or a velocity may exceed all numbers.
        """
        action_names = [None, *self.behaviour.motions, *self.behaviour.gaits]
        action_numbers = {name: number for number, name in enumerate(action_names)}
        places = self._places_in_block("outputs")
        has_unconditional_rule = False
        actions = "motion or gait" if self.behaviour.gaits else "motion"
        writer.line(comment(f"Returns the {actions} of the first rule that holds."))
        with writer.function("static uint8_t choose(void)"):
            for index, rule in enumerate(self.behaviour.outputs):
                place = places.get(str(index))
                line = place.line if place is not None else None
                action = comment(f"{rule.play or 'stand'}" + (f" (line {line})" if line else ""))
                return_line = f"return {action_numbers[rule.play]}U; {action}"
                with writer.traced_to(Element("rule", rule.condition, line)):
                    if rule.when is None:
                        has_unconditional_rule = True
                        self._write_action_settings(writer, rule, place)
                        writer.line(return_line)
                        break  # later rules are never reached
                    with writer.block(f"if ({self._expressions.translate_condition(rule.when)})"):
                        self._write_action_settings(writer, rule, place)
                        writer.line(return_line)
            if not has_unconditional_rule:
                writer.line("return 0U;")
        if self._expressions.checks_divisor:
            raise InputError(
                "a rule divides by what may be zero, which a board does not do",
                where=places.get("0"),  # the first rule
                hint="compute it in the chart, as an output",
            )

    def _write_action_settings(self, writer: CWriter, rule: OutputRule, place: Where | None) -> None:
        """Write the assignments of the velocity that a rule requests of its gait, and of `is_at_once`.

        Args:
            writer: receives the lines.
            rule: the rule.
            place: of the rule in the document.

        Raises:
            InputError: a velocity may exceed all numbers.
        """
        if rule.at_once:
            writer.line("is_at_once = true;")
        if rule.velocity is None:
            return
        speeds: list[str] = []
        for key in VELOCITY_FIELDS:
            number = rule.velocity.get(key)
            if number is None:
                speeds.append("0.0")
                continue
            bounds = range_of(number.expression.tree, number.expression.constant_values)
            if not all(math.isfinite(bound * number.unit) for bound in bounds):
                raise InputError(
                    f"{key} of {rule.play} may exceed all numbers, which a board does not do",
                    where=place,
                    hint="give the chart's outputs a range",
                )
            speed = self._expressions.as_double(self._expressions.translate(number.expression))
            in_si_units = f"{speed.as_operand} * {double_literal(number.unit)}"
            speeds.append(speed.text if number.unit == 1.0 else in_si_units)
        writer.line(f"velocity = biped_velocity({', '.join(speeds)});")

    def _write_tick(self, writer: CWriter) -> None:
        """Write the function that senses, steps the chart and requests its motion."""
        writer.line(comment("Senses, and lets the chart decide."))
        with writer.function("static void tick(const uint8_t *input)"):
            writer.line("const bool waits = (frame * FRAME_S) < WAIT_S;")
            if self._has_interrupts:
                writer.line("const uint8_t previous_action = action;")
            if self._wires.can_fail:
                with writer.block("if ((status == 0U) && !sense(input))"):
                    writer.line("status = NO_NUMBER;")
            else:
                with writer.block("if (status == 0U)"):
                    writer.line("sense(input);")
            with writer.block("if ((status == 0U) && !waits)"):
                writer.line(f"status = {self._prefix}_step(&chart, &in);")
                writer.line("has_stepped = true;")
            if self.behaviour.gaits:
                writer.line("velocity = biped_velocity(0.0, 0.0, 0.0);")
            if self._has_interrupts:
                writer.line("is_at_once = false;")
            writer.line("action = ((status == 0U) && !waits) ? choose() : 0U;")
            if self._has_interrupts:
                with writer.block("if (is_at_once && (action != previous_action))"):
                    writer.line(f"{self._player}_interrupt();")
            velocity_argument = ", &velocity" if self.behaviour.gaits else ""
            writer.line(f"{self._player}_request(action{velocity_argument});")

    def _write_api(self, writer: CWriter) -> None:
        """Write the functions that `unit.h` declares."""
        with writer.function("void unit_reset(void)"):
            writer.line(f"{self._prefix}_init(&chart);")
            writer.line("(void)memset(&in, 0, sizeof in);")
            for event in self.behaviour.chart.events:
                writer.line(f"raw_{self.chart.generator.names.event_inputs[event]} = false;")
            writer.line(f"{self._player}_reset();")
            if self.behaviour.gaits:
                writer.line("velocity = biped_velocity(0.0, 0.0, 0.0);")
            if self._wires.uses_first_record:
                writer.line("is_first = true;")
            writer.line("has_stepped = false;")
            writer.write(f"{name} = 0U;" for name in ("status", "action", "frame", "due", "late", "early"))
        with writer.function("uint16_t unit_packet(uint8_t *packet)"):
            writer.write(["player_packet(packet);", "return UNIT_PACKET_BYTES;"])
        with writer.function("void unit_late(void)"), writer.block("if (late < 255U)"):
            writer.line("late++;")
        with writer.function("void unit_step(const uint8_t *input, uint8_t *state)"):
            self._write_unit_step(writer)

    def _write_unit_step(self, writer: CWriter) -> None:
        """Write the body of `unit_step`: a tick if one is due, a frame of the player, the state record.

        In C, `due` is the frame of the next tick, rounded up, and `early` the part of a frame, in units of
        1 / TICK_UNDER, by which the exact time of the tick is before it.
        """
        offsets = {name: field_offset(self.state_dtype, name) for name in self.state_dtype.names or ()}
        writer.line(f"uint8_t *active = &state[{offsets['active']}];")
        with writer.block("if (frame == due)"):
            writer.write(["uint32_t wait;", "tick(input);"])
            writer.line("wait = ((TICK_OVER - early) + (TICK_UNDER - 1U)) / TICK_UNDER;")
            writer.write(["due += wait;", "early += (wait * TICK_UNDER) - TICK_OVER;"])
        if self.behaviour.gaits:
            fields = attitude_fields(self.behaviour)
            indices = list(name_sensor_fields(self.behaviour))
            angles = (
                f"number_in(input, {indices.index(fields[name])}U)" if name in fields else "0.0"
                for name in ATTITUDE
            )
            with writer.block(""):
                writer.line(f"const attitude_t attitude = {{{', '.join(angles)}}};")
                writer.line("performer_frame(&attitude, frame * FRAME_S);")
        else:
            writer.line("player_frame();")
        writer.line("frame++;")
        writer.write(["(void)memset(state, 0, UNIT_STATE_BYTES);", "state[0] = status;"])
        with writer.block("if (has_stepped)"):
            self.chart.write_state(writer)
        writer.line(f"state[{offsets['action']}] = action;")
        writer.line(f"state[{offsets['playing']}] = {self._player}_playing();")
        if self.behaviour.gaits:
            for key, field_name in VELOCITY_FIELDS.items():
                member = f"velocity.{key.partition('_')[0]}"
                writer.line(f"(void)memcpy(&state[{offsets[field_name]}], &{member}, sizeof {member});")
        writer.line(f"state[{offsets['late']}] = late;")
        writer.line(f"player_packet(&state[{offsets['packet']}]);")


def _describe_sensor_field(sensor_field: SensorField, robot: Robot) -> str:
    """Return the meaning of the number in a field, with its unit, for a comment."""
    if sensor_field.kind == "chance":
        return "a random number of 0 to 1"
    if sensor_field.kind == "joint":
        return f"angle of {sensor_field.name} [rad]"
    if sensor_field.kind == "load":
        return f"load of {sensor_field.name} [N m]"
    units = {channel.name: channel.unit for sensor in robot.sensors for channel in sensor.channels}
    unit = units.get(sensor_field.name, "")
    return f"{sensor_field} [{unit}]" if unit else f"{sensor_field}: 1 or 0"
