"""A chart at the keyboard: a line is typed, ticks go by, and what became of them is shown."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from posewright.cli.console import err, fail
from posewright.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.charts import Chart, ChartState, Tick, Value

MAX_TICKS = 100_000
"""Ticks that one line may ask for."""

END = ("quit", "exit", "q")
SECONDS = {"s": 1.0, "ms": 0.001, "min": 60.0}


def ticks_typed(chart: Chart, start: str | None = None) -> Iterator[Tick]:
    """Yield the ticks that a person asks for, line by line, until the lines end.

    A line that makes no sense is explained, and nothing happens.
    """
    from posewright.charts import Interpreter, Row, Tick

    interpreter = Interpreter(chart)
    state = interpreter.initial() if start is None else interpreter.entered(start)
    held = {name: kind.zero for name, kind in chart.inputs.items()}
    count = 0
    _show(f"inputs: {', '.join(chart.inputs) or 'none'}; events: {', '.join(chart.events) or 'none'}")
    _tell(chart, state, count)
    for line in _lines():
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
        _tell(chart, state, count)


def parse_line(chart: Chart, line: str) -> tuple[dict[str, Value], list[str], int]:
    """Return the inputs that a line sets, the events it sends and the ticks it asks for.

    Raises:
        InputError: a word is no input, no event and no time, or a value does not fit.
    """
    changed: dict[str, Value] = {}
    events: list[str] = []
    ticks: int | None = None
    words = line.replace(",", " ").split()
    for position, word in enumerate(words):
        name, sign, value = word.partition("=")
        if word in SECONDS and position and ticks is not None:
            ticks = chart.ticks(float(words[position - 1]) * SECONDS[word])
        elif sign:
            if name not in chart.inputs:
                raise UnknownNameError.among("input", name, chart.inputs)
            changed[name] = chart.inputs[name].parse(value)
        elif word in chart.events:
            events.append(word)
        else:
            ticks = _number(chart, word, followed=words[position + 1 : position + 2])
    if ticks is not None and not 0 <= ticks <= MAX_TICKS:
        raise InputError(f"{ticks} ticks at once", hint=f"0 to {MAX_TICKS}")
    return changed, events, 1 if ticks is None else ticks


def _number(chart: Chart, word: str, followed: list[str]) -> int:
    try:
        number = float(word)
    except ValueError:
        known = [*chart.events, *(f"{name}=" for name in chart.inputs)]
        raise UnknownNameError.among("input or event", word, known) from None
    if not math.isfinite(number):
        raise InputError(f"{word} is no number of ticks")
    if number != int(number) and not (followed and followed[0] in SECONDS):
        raise InputError(f"{word} is no whole number of ticks", hint="for a time write a unit: 0.5 s")
    return int(number)


def _lines() -> Iterator[str]:
    while True:
        if sys.stdin.isatty():
            err.print("> ", end="")
        line = sys.stdin.readline()
        if not line or line.strip().lower() in END:
            return
        yield line


def _tell(chart: Chart, state: ChartState, count: int) -> None:
    from posewright.charts.finding import show

    held = "  ".join(f"{name}={show(value)}" for name, value in {**state.outputs, **state.locals}.items())
    _show(f"{count * chart.period_s:8.3f} s  {state.state}  {held}")


def _show(text: str) -> None:
    err.print(text, markup=False, highlight=False, soft_wrap=True)
