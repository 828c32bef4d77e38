"""The promises of a chart as C: after every tick each is asked, and a bitmap says which are broken now.

A promise that divides by zero makes the tick fail as any other division by zero does: nothing of the tick is
kept, that which the promises remember neither.
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
    """Writes what watches the promises.

    Args:
        code: of the chart; it is told which events have to be noted when they are raised.
        promises: that are watched; where there are none nothing is written.
    """

    def __init__(self, code: ChartCode, promises: Sequence[Promise]) -> None:
        self.code = code
        self.chart = code.machine.chart
        self.promises = tuple(promises)
        self.asked = [
            TickConditions(code.machine, [one for one in (promise.when, promise.goal) if one is not None])
            for promise in self.promises
        ]
        watched = sorted({event for asked in self.asked for event in asked.raised_names.values()})
        code.came = {event: f"came[{number}]" for number, event in enumerate(watched)}

    def style(self, style: Style) -> Style:
        """Return how the tick is written that is watched: nobody asks for a table.

        Raises:
            InputError: a table is wanted, and rows do not say which events are raised.
        """
        if style is Style.TABLE and self.code.came:
            raise InputError(
                f"{self.chart.name} cannot be a table: its promises ask which events were raised",
                where=Where(self.chart.path),
                hint="let it be a switch, or choose auto",
            )
        return Style.SWITCH if style is Style.AUTO and self.promises else style

    @cached_property
    def size(self) -> int:
        """Bytes of the bitmap."""
        return (len(self.promises) + 7) // 8

    @cached_property
    def limits(self) -> dict[int, int]:
        """For how many ticks an answer may be owed, by the numbers of the promises that wait for one."""
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
        """Return the declarations of what the promises remember."""
        if not self.promises:
            return []
        fields = [f"uint8_t broken[{self.size}]; {comment('bit n % 8 of byte n / 8: promise n is broken')}"]
        fields += [
            f"{_count_type(limit)} owed_{number}; "
            f"{comment('ticks: ' + format_promise(self.promises[number]))}"
            for number, limit in self.limits.items()
        ]
        if self.code.came:
            fields.append(f"bool came[{len(self.code.came)}]; {comment(', '.join(self.code.came))}")
        return fields

    def init(self) -> None:
        """Write what goes back to before the first tick."""
        self._clear()
        self.code.writer.write(f"chart->owed_{number} = 0U;" for number in self.limits)
        self._forget()

    def functions(self) -> None:
        """Write the function that asks all promises."""
        prefix = self.code.names.prefix
        if not self.promises:
            return
        with self.code.function(f"static void watch({prefix}_t *chart, const {prefix}_inputs_t *in)"):
            self._clear()
            for number, promise in enumerate(self.promises):
                with self.code.writer.about(Element("promise", promise.name, promise.line)):
                    self._ask(number, promise)
            self._forget()
        with self.code.function(
            f"bool {prefix}_is_broken(const {prefix}_t *chart, uint8_t promise)"
        ) as writer:
            writer.line("return (((unsigned)chart->broken[promise / 8U] >> (promise % 8U)) & 1U) != 0U;")

    def call(self, chart: str, given: str) -> list[str]:
        """Return what asks all promises after a tick."""
        return [f"watch({chart}, {given});"] if self.promises else []

    def prototypes(self) -> list[str]:
        """Return the declaration of what others may ask."""
        prefix = self.code.names.prefix
        if not self.promises:
            return []
        said = "Returns whether a promise is broken after the last tick."
        return ["", comment(said), f"bool {prefix}_is_broken(const {prefix}_t *chart, uint8_t promise);"]

    def _clear(self) -> None:
        self.code.writer.write(f"chart->broken[{number}] = 0U;" for number in range(self.size))

    def _forget(self) -> None:
        """Write what lets the next tick begin with no event raised."""
        self.code.writer.write(f"chart->{field} = false;" for field in self.code.came.values())

    def _ask(self, number: int, promise: Promise) -> None:
        code, write = self.code, self.code.writer
        when, *goals = [code.expressions.of(one) for one in self.asked[number].conditions]
        place = f" (line {promise.line})" if promise.line else ""
        write.line(comment(f"{promise.name}: {format_promise(promise)}{place}"))
        if promise.kind is not PromiseKind.LEADS_TO:
            holds = when.text if promise.kind is PromiseKind.NEVER else f"!{when.operand}"
            with write.block(f"if ({holds})"):
                self._note(number)
            return
        limit, age = self.limits[number], f"chart->owed_{number}"
        kind = _count_type(limit)
        suffix = "UL" if kind == "uint32_t" else "U"
        with write.block(""):
            write.line(f"const bool when = {when.text};")
            write.line(f"const bool goal = {goals[0].text};")
            with write.block(
                "if (goal)", f"}} else if (({age} <= {limit}{suffix}) && (when || ({age} > 0U))) {{"
            ):
                write.line(f"{age} = 0U;")
            with write.indented_block():
                write.line(f"{age}++;")
            with write.block(f"if ({age} > {limit}{suffix})"):
                self._note(number)

    def _note(self, number: int) -> None:
        byte = f"chart->broken[{number // 8}]"
        self.code.writer.line(f"{byte} = (uint8_t)({byte} | {1 << number % 8}U);")


def _count_type(limit: int) -> str:
    """Return the type that counts one tick more than an answer may take: a day has 8.64e8 of the shortest."""
    return "uint8_t" if limit < 255 else "uint16_t" if limit < 65535 else "uint32_t"
