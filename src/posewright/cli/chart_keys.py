"""A chart at the keyboard: a line is typed, ticks go by, and what became of them is shown."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from posewright.cli.console import err, fail
from posewright.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.charts import Chart, ChartState, Tick, Value

MAX_TICKS = 100_000
"""Ticks that one line may ask for."""

HELP, END = "help", ("quit", "exit", "q")
USE = "front=1 sets an input and takes a tick; an event's name sends it; 5: so many ticks; 0.5 s: so long;"
MORE = "an empty line: one tick; help: this; quit"

_PART = re.compile(r"(?P<name>[^\s=]+)\s*=\s*(?P<value>\S+)|(?P<word>\S+)")
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,2})?(?P<unit>[a-z]*)", re.ASCII
)


def ticks_typed(chart: Chart, start: str | None = None) -> Iterator[Tick]:
    """Yield the ticks that a person asks for, line by line, until the lines end.

    A line that makes no sense is explained, and nothing happens.
    """
    from posewright.charts import Interpreter, Row, Tick

    interpreter = Interpreter(chart)
    state = interpreter.initial() if start is None else interpreter.entered(start)
    held = {name: kind.zero for name, kind in chart.inputs.items()}
    count = 0
    _explain(chart)
    _tell(chart, state, None)
    for line in _lines():
        if line.strip().lower() == HELP:
            _explain(chart)
            continue
        try:
            changed, events, ticks = parse_line(chart, line)
        except InputError as error:
            fail(str(error))
            continue
        held |= changed
        for number in range(ticks):
            before = state.state
            row = Row({**held, **(dict.fromkeys(events, True) if number == 0 else {})})
            state = interpreter.step(state, row.inputs)
            count += 1
            yield Tick(row, before, state)
        _tell(chart, state, count - 1 if count else None)


def parse_line(chart: Chart, line: str) -> tuple[dict[str, Value], list[str], int]:
    """Return the inputs that a line sets, the events it sends and the ticks it asks for.

    Raises:
        InputError: a word is no input, no event and no time, or a value does not fit.
    """
    from posewright.charts.rows import value_typed

    changed: dict[str, Value] = {}
    events: list[str] = []
    ticks: int | None = None
    for name, value in _parts(line):
        if name:
            if name not in chart.inputs:
                raise UnknownNameError.among("input", name, chart.inputs)
            changed[name] = value_typed(chart, name, value)
        elif value in chart.events:
            events.append(value)
        else:
            ticks = _ticks(chart, value)
    if ticks is not None and not 0 <= ticks <= MAX_TICKS:
        raise InputError(f"{ticks} ticks at once", hint=f"0 to {MAX_TICKS}")
    return changed, events, 1 if ticks is None else ticks


def _parts(line: str) -> Iterator[tuple[str, str]]:
    """Yield what a line says: the name of an input and its value, or no name and a word.

    A unit belongs to the number before it.
    """
    from posewright.charts.expression import UNITS

    found = [(match["name"] or "", match["value"] or match["word"]) for match in _PART.finditer(_blank(line))]
    for position, (name, value) in enumerate(found):
        if not name and value in UNITS and position and _NUMBER.fullmatch(found[position - 1][1]):
            continue
        after = found[position + 1] if position + 1 < len(found) else ("", "")
        number = _NUMBER.fullmatch(value)
        joined = number is not None and not number["unit"] and not after[0] and after[1] in UNITS
        yield name, f"{value} {after[1]}" if joined else value


def _blank(line: str) -> str:
    return line.replace(",", " ")


def _ticks(chart: Chart, word: str) -> int:
    """Return how many ticks a number of them, or a time, is."""
    from posewright.charts.expression.quantities import conversion

    match = _NUMBER.match(word)
    if match is None or not (match.end() == len(word) or word[match.end()] == " "):
        known = [*chart.events, *(f"{name}=" for name in chart.inputs)]
        raise UnknownNameError.among("input or event", word, known)
    digits, unit = word[: match.start("unit")], match["unit"] or word[match.end() :].strip()
    if not unit:
        if float(digits) != int(float(digits)):
            raise InputError(f"{word} is no whole number of ticks", hint="for a time write a unit: 0.5 s")
        return int(float(digits))
    factor = conversion(unit, "s")
    if factor is None:
        raise InputError(f"{word} is no time", hint="write it like 0.5 s or 500 ms")
    return chart.ticks(float(digits) * float(factor))


def _lines() -> Iterator[str]:
    while True:
        if sys.stdin.isatty():
            err.print("> ", end="")
        line = sys.stdin.readline()
        if not line or line.strip().lower() in END:
            return
        yield line


def _explain(chart: Chart) -> None:
    _show(USE)
    _show(MORE)
    _show(f"inputs: {', '.join(chart.inputs) or 'none'}; events: {', '.join(chart.events) or 'none'}")


def _tell(chart: Chart, state: ChartState, tick: int | None) -> None:
    """Show where a chart stands after a tick, with the time at which that began, as the table has it."""
    from posewright.charts.finding import show

    held = "  ".join(f"{name}={show(value)}" for name, value in {**state.outputs, **state.locals}.items())
    time = f"{tick * chart.period_s:8.3f} s" if tick is not None else " " * 10
    _show(f"{time}  {state.state}  {held}")


def _show(text: str) -> None:
    err.print(text, markup=False, highlight=False, soft_wrap=True)
