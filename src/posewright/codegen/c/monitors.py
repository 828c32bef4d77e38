"""Monitors of a chart's promises as C: each is evaluated after every tick, and a bitmap has the broken ones.

A promise that divides by zero makes the tick fail as any other division by zero does: the tick changes
nothing, the memory of the promises included.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from posewright.charts.machine import TickConditions, format_promise
from posewright.charts.model import Promise, PromiseKind
from posewright.codegen.c.code import ChartCode
from posewright.codegen.c.truth_table import Style
from posewright.codegen.c.writer import comment
from posewright.codegen.unit import Element
from posewright.errors import InputError, Where


class MonitorCode:
    """Writes the monitors: the C that checks a chart's promises after each tick.

    A promise is a property that the chart states: its condition `when` never holds, or always holds, or
    leads to its `goal` within some time (the response).

    Args:
        code: the code of the chart; its `raised_fields` get the events that monitors read.
        promises: the promises monitored; for none, nothing is written.

    Attributes:
        code: the code of the chart.
        chart: the chart.
        promises: the promises monitored.
        conditions: for each promise, its conditions as the machine evaluates them after a tick.
    """

    def __init__(self, code: ChartCode, promises: Sequence[Promise]) -> None:
        """Find the conditions of the promises, and reserve a field in C for each event that they ask about.

        A condition asks by `came.E` whether the event E was raised in the tick.
        """
        self.code = code
        self.chart = code.machine.chart
        self.promises = tuple(promises)
        self.conditions: list[TickConditions] = []
        events_asked_about: set[str] = set()
        for promise in self.promises:
            # only a promise with a response has a goal
            stated_conditions = [promise.when] if promise.goal is None else [promise.when, promise.goal]
            tick_conditions = TickConditions(code.machine, stated_conditions)
            self.conditions.append(tick_conditions)
            events_asked_about.update(tick_conditions.raised_names.values())
        # the C array `came` has a bool for each of these events: whether it was raised in this tick
        code.raised_fields = {
            event: f"came[{index}]" for index, event in enumerate(sorted(events_asked_about))
        }

    def resolve_style(self, requested_style: Style) -> Style:
        """Return the style in which the tick is written; `AUTO` becomes a switch if promises are monitored.

        Raises:
            InputError: a table is requested, but monitors need to know which events are raised.
        """
        if requested_style is Style.TABLE and self.code.raised_fields:
            raise InputError(
                f"{self.chart.name} cannot be a table: its promises depend on the events raised",
                where=Where(self.chart.path),
                hint="choose the style switch or auto",
            )
        return Style.SWITCH if requested_style is Style.AUTO and self.promises else requested_style

    @cached_property
    def bitmap_bytes(self) -> int:
        """Size of the bitmap of broken promises [bytes]."""
        return (len(self.promises) + 7) // 8

    @cached_property
    def limits(self) -> dict[int, int]:
        """Greatest number of ticks to the response, by the number of each promise with a response."""
        return {
            number: self.chart.ticks_within(promise.within_s)
            for number, promise in enumerate(self.promises)
            if promise.kind is PromiseKind.LEADS_TO
        }

    def constants(self) -> list[str]:
        """Return the constants of the promises."""
        names = self.code.names.promises
        if not self.promises:
            return []
        return [
            comment("The promises."),
            *(
                f"#define {names[promise.name]} {number}U {comment(format_promise(promise))}"
                for number, promise in enumerate(self.promises)
            ),
            "",
        ]

    def fields(self) -> list[str]:
        """Return the declarations of the fields of the monitors.

        These are the bitmap of the broken promises, for each promise with a response the ticks for which the
        response has been due, and for each event in a promise whether it was raised in this tick.
        """
        if not self.promises:
            return []
        fields = [
            f"uint8_t broken[{self.bitmap_bytes}]; {comment('bit n % 8 of byte n / 8: promise n is broken')}"
        ]
        for number, limit in self.limits.items():
            meaning = comment(f"ticks: {format_promise(self.promises[number])}")
            fields.append(f"{_count_type(limit)} owed_{number}; {meaning}")
        raised_fields = self.code.raised_fields
        if raised_fields:
            fields.append(f"bool came[{len(raised_fields)}]; {comment(', '.join(raised_fields))}")
        return fields

    def write_init(self) -> None:
        """Write the initialisation of the fields."""
        self._clear_bitmap()
        self.code.writer.write(f"chart->owed_{number} = 0U;" for number in self.limits)
        self._clear_raised_events()

    def write_functions(self) -> None:
        """Write the function that evaluates all promises."""
        prefix = self.code.names.prefix
        if not self.promises:
            return
        with self.code.function(f"static void watch({prefix}_t *chart, const {prefix}_inputs_t *in)"):
            self._clear_bitmap()
            for number, promise in enumerate(self.promises):
                with self.code.writer.traced_to(Element("promise", promise.name, promise.line)):
                    self._write_promise(number, promise)
            self._clear_raised_events()
        with self.code.function(
            f"bool {prefix}_is_broken(const {prefix}_t *chart, uint8_t promise)"
        ) as writer:
            writer.line("return (((unsigned)chart->broken[promise / 8U] >> (promise % 8U)) & 1U) != 0U;")

    def call(self, chart: str, inputs: str) -> list[str]:
        """Return the call after a tick that evaluates all promises."""
        return [f"watch({chart}, {inputs});"] if self.promises else []

    def prototypes(self) -> list[str]:
        """Return the declaration of the public function of the monitors."""
        prefix = self.code.names.prefix
        if not self.promises:
            return []
        meaning = "Returns whether a promise is broken after the last tick."
        return ["", comment(meaning), f"bool {prefix}_is_broken(const {prefix}_t *chart, uint8_t promise);"]

    def _clear_bitmap(self) -> None:
        """Write lines by which no promise is broken."""
        self.code.writer.write(f"chart->broken[{number}] = 0U;" for number in range(self.bitmap_bytes))

    def _clear_raised_events(self) -> None:
        """Write that no event has been raised in the next tick."""
        self.code.writer.write(f"chart->{field} = false;" for field in self.code.raised_fields.values())

    def _write_promise(self, number: int, promise: Promise) -> None:
        """Write the evaluation of a promise after a tick; `number` is its index in `promises`."""
        writer = self.code.writer
        # `when`; then the goal, if the promise is that `when` leads to it
        conditions = self.conditions[number].lowered_conditions
        when, *goals = [self.code.expressions.translate(condition) for condition in conditions]
        place = f" (line {promise.line})" if promise.line else ""
        writer.line(comment(f"{promise.name}: {format_promise(promise)}{place}"))
        if promise.kind is PromiseKind.LEADS_TO:
            self._write_response(number, when=when.text, goal=goals[0].text)
            return
        is_broken = when.text if promise.kind is PromiseKind.NEVER else f"!{when.as_operand}"
        with writer.block(f"if ({is_broken})"):
            self._set_broken(number)

    def _write_response(self, number: int, when: str, goal: str) -> None:
        """Write the evaluation of a promise that a condition leads to a goal within some ticks.

        The field `owed_...` counts the ticks since the condition held, until the goal holds; the promise is
        broken while they are more than its limit. The field stops one above the limit.

        Args:
            number: the index of the promise.
            when: the expression of C for its condition.
            goal: the expression of C for its goal.
        """
        writer = self.code.writer
        limit = self.limits[number]
        ticks_due = f"chart->owed_{number}"
        suffix = "UL" if _count_type(limit) == "uint32_t" else "U"
        with writer.block(""):  # of its own, for the local constants
            writer.line(f"const bool when = {when};")
            writer.line(f"const bool goal = {goal};")
            with writer.block(
                "if (goal)",
                f"}} else if (({ticks_due} <= {limit}{suffix}) && (when || ({ticks_due} > 0U))) {{",
            ):
                writer.line(f"{ticks_due} = 0U;")
            with writer.indented_block():
                writer.line(f"{ticks_due}++;")
            with writer.block(f"if ({ticks_due} > {limit}{suffix})"):
                self._set_broken(number)

    def _set_broken(self, number: int) -> None:
        """Write the line that sets the bit of a promise in the bitmap of the broken ones."""
        byte = f"chart->broken[{number // 8}]"
        self.code.writer.line(f"{byte} = (uint8_t)({byte} | {1 << number % 8}U);")


def _count_type(limit: int) -> str:
    """Return a type that counts to one tick more than the limit: a day has 8.64e8 of the shortest ticks."""
    return "uint8_t" if limit < 255 else "uint16_t" if limit < 65535 else "uint32_t"
