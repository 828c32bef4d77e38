"""`posewright chart run`: a chart over rows of inputs, from a file, a scenario, options or the keyboard."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from posewright import charts
from posewright.cli.console import (
    print_document,
    print_error,
    print_json,
    print_result,
    print_to_stderr,
    print_warning,
)
from posewright.cli.options import EXIT_FAILURE, AsJson, Output, argument, option, require_distinct_output
from posewright.display import align_columns
from posewright.documents import write_atomically
from posewright.errors import InputError, UnknownNameError

CHARTS = "A *.chart.yaml, an .scxml, a transition table or a truth table as CSV: told apart by content."
ChartPath = Annotated[Path, argument("CHART", CHARTS)]

MOST_TOLD = 5  # so many of what went wrong are told; more of them say no more
MAX_TICKS = 100_000  # ticks that one line at the keyboard may ask for
HELP, END = "help", ("quit", "exit", "q")
USE = "front=1 sets an input and takes a tick; an event's name sends it; 5: so many ticks; 0.5 s: so long;"
MORE = "an empty line: one tick; help: this; quit"

_PART = re.compile(r"(?P<name>[^\s=]+)\s*=\s*(?P<value>\S+)|(?P<word>\S+)")
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,2})?(?P<unit>[a-z]*)", re.ASCII
)


def run(
    chart: ChartPath,
    inputs: Annotated[Path | None, option("--inputs CSV", "A row of inputs per tick.")] = None,
    scenario: Annotated[
        Path | None, option("--scenario YAML", "Inputs over time, and what is expected.")
    ] = None,
    typed: Annotated[list[str] | None, option("--input front=1,left=0", "One tick; repeat for more.")] = None,
    keys: Annotated[bool, option("--keys", "Ask at the keyboard, at simulated time.")] = False,
    start: Annotated[str | None, option("--from STATE", "Start in this state.")] = None,
    every: Annotated[bool, option("--all", "Every state with every input, as a table.")] = False,
    plot: Annotated[Path | None, option("--plot SVG", "Draw states, inputs and outputs over time.")] = None,
    unchecked: Annotated[bool, option("--unchecked", "Run it although the check finds errors.")] = False,
    native: Annotated[
        bool, option("--native", "Compile it as C and let that run: the same answers.")
    ] = False,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Run the chart tick by tick; an unsound chart is refused with its counterexample.

    A file of inputs has a column per input, and may have one per event. With columns of the state (q1,q0 or
    state) every row starts afresh in that state; with columns of the next state and the outputs these are
    compared. What differs, and a promise that is broken, exits with 1.

    With --keys you type what changes and press Enter: `front=1 left=0` takes a tick with these, an event's
    name sends it, `5` takes five ticks, `0.5 s` as many as that takes, nothing one; `quit` ends.

    [bold]Examples[/]
      posewright chart run obstacle_mealy.chart.yaml --input front=1 --input left=1,right=1
      posewright chart run obstacle_mealy.chart.yaml --inputs ticks.csv --plot run.svg
      posewright chart run sumo.chart.yaml --keys
      posewright chart run mealy_table_6_5.csv --all
    """
    require_distinct_output(output, chart, inputs, scenario)
    require_distinct_output(plot, chart, inputs, scenario)
    machine = charts.read_chart(chart)
    if every:
        if inputs or typed or start or scenario or keys or plot or native:
            raise InputError("--all starts everywhere and takes every input", hint="leave the others out")
        give_table(charts.tabulate_chart(machine), machine, output, as_json=as_json)
        return
    if [inputs is not None, scenario is not None, bool(typed), keys].count(True) != 1:
        hint = "give --inputs FILE.csv, or --scenario FILE.yaml, or --input front=1, or --keys, or --all"
        raise InputError("which inputs?", hint=hint)
    with _warnings_told():
        if keys:
            ticks = _ticks_typed(machine, start, unchecked=unchecked, native=native)
        else:
            rows: Path | Iterable[str] = inputs or scenario or typed or []
            ticks = charts.run_chart(machine, rows, start=start, unchecked=unchecked, native=native)
    if plot is not None:
        charts.draw_timeline(machine, ticks, plot)
    _give_ticks(machine, ticks, output, as_json=as_json)


@contextmanager
def _warnings_told() -> Iterator[None]:
    """Tell a person on stderr what is warned of within."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield
    for one in told:
        print_warning(str(one.message))


def write_rows(machine: charts.Chart, rows: Sequence[Mapping[str, charts.Value]], path: Path) -> None:
    """Write rows of inputs as CSV, a column for each input and event."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = (*machine.inputs, *machine.events)
    _write_lines(
        [names, *([charts.format_value(row.get(name, False)) for name in names] for row in rows)], path
    )


def _write_lines(lines: Iterable[Iterable[str]], path: Path) -> None:
    write_atomically(path, "".join(f"{','.join(line)}\n" for line in lines).encode())


def give_table(
    table: charts.TruthTable, machine: charts.Chart, output: Path | None, *, as_json: bool
) -> None:
    """Write a table to a file, as JSON, or as CSV on stdout."""
    if output is not None:
        if output.suffix.lower() in (".yaml", ".yml"):
            charts.save_chart(charts.table_to_chart(table, like=machine), output)
        else:
            charts.save_table(table, output)
    if as_json:
        rows = [
            {"state": row.state, "row": str(row), "next": row.go, "cells": table.cells(row)}
            for row in table.rows
        ]
        groups = [
            {"states": list(states), "rows": [str(row) for row in shared]}
            for states, shared in charts.grouped(table).items()
        ]
        print_json({"chart": table.name, "columns": list(table.form.columns), "rows": rows, "groups": groups})
    elif output is None:
        print_document(table.csv())


def _give_ticks(
    machine: charts.Chart, ticks: tuple[charts.Tick, ...], output: Path | None, *, as_json: bool
) -> None:
    """Write ticks to a file, as JSON or as a list; exit with 1 where something else was expected."""
    broken = _broken_promises(machine, ticks)
    different = [tick for tick in ticks if tick.row.expected and tick.differs]
    rows = charts.format_tick_table(machine, ticks)
    if output is not None:
        _write_lines(rows, output)
    data = {
        "chart": machine.name,
        "period_s": machine.period_s,
        "ticks": [tick.to_dict(machine, number) for number, tick in enumerate(ticks)],
        "differences": len(different),
        "broken_promises": [
            {"tick": number, "promise": promise.promise.name, "message": promise.message}
            for number, promise in broken
        ],
    }
    print_result(data, align_columns(rows) if output is None else (), as_json=as_json)
    for tick in different[:MOST_TOLD]:
        outputs = dict(tick.after.outputs)
        print_error(f"line {tick.row.line}: expected {tick.differs}, got {tick.after.state} {outputs}")
    for number, promise in broken[:MOST_TOLD]:
        print_error(f"tick {number}: {promise.message}")
    if different or broken:
        raise typer.Exit(EXIT_FAILURE)


def _broken_promises(
    machine: charts.Chart, ticks: Sequence[charts.Tick]
) -> list[tuple[int, charts.BrokenPromise]]:
    """Return each promise that is broken, with the number of the tick."""
    if not machine.promises:
        return []
    monitor = charts.Monitor(machine)
    return [
        (number, broken)
        for number, tick in enumerate(ticks)
        for broken in monitor.check_tick(tick.row.inputs, tick.after)
    ]


def _ticks_typed(
    machine: charts.Chart, start: str | None, *, unchecked: bool, native: bool
) -> tuple[charts.Tick, ...]:
    if not unchecked:
        charts.require_sound(machine)
    return tuple(ticks_typed(machine, start, native=native))


def ticks_typed(
    chart: charts.Chart, start: str | None = None, *, native: bool = False
) -> Iterator[charts.Tick]:
    """Yield the ticks that a person asks for at the keyboard, line by line, until the lines end.

    A line that makes no sense is explained, and nothing happens.
    """
    interpreter = charts.Interpreter(chart, native=native)
    state = interpreter.initial() if start is None else interpreter.snapshot_in(start)
    held = {name: kind.default for name, kind in chart.inputs.items()}
    count = 0
    _explain(chart)
    _show_state(chart, state, None)
    for line in _typed_lines():
        if line.strip().lower() == HELP:
            _explain(chart)
            continue
        try:
            changed, events, ticks = parse_line(chart, line)
        except InputError as error:
            print_error(str(error))
            continue
        held |= changed
        for number in range(ticks):
            before = state.state
            row = charts.Row({**held, **(dict.fromkeys(events, True) if number == 0 else {})})
            state = interpreter.step(state, row.inputs)
            count += 1
            yield charts.Tick(row, before, state)
        _show_state(chart, state, count - 1 if count else None)


def parse_line(chart: charts.Chart, line: str) -> tuple[dict[str, charts.Value], list[str], int]:
    """Return the inputs that a line sets, the events it sends and the ticks it asks for.

    Raises:
        InputError: a word is no input, no event and no time, or a value does not fit.
    """
    changed: dict[str, charts.Value] = {}
    events: list[str] = []
    ticks: int | None = None
    for name, value in _parts(line):
        if name:
            if name not in chart.inputs:
                raise UnknownNameError.among("input", name, chart.inputs)
            changed[name] = charts.parse_input_value(chart, name, value)
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
    blank = line.replace(",", " ")
    found = [(match["name"] or "", match["value"] or match["word"]) for match in _PART.finditer(blank)]
    for position, (name, value) in enumerate(found):
        if not name and value in charts.UNITS and position and _NUMBER.fullmatch(found[position - 1][1]):
            continue
        after = found[position + 1] if position + 1 < len(found) else ("", "")
        number = _NUMBER.fullmatch(value)
        joined = number is not None and not number["unit"] and not after[0] and after[1] in charts.UNITS
        yield name, f"{value} {after[1]}" if joined else value


def _ticks(chart: charts.Chart, word: str) -> int:
    """Return how many ticks a number of them, or a time, is."""
    match = _NUMBER.match(word)
    if match is None or not (match.end() == len(word) or word[match.end()] == " "):
        known = [*chart.events, *(f"{name}=" for name in chart.inputs)]
        raise UnknownNameError.among("input or event", word, known)
    digits, unit = word[: match.start("unit")], match["unit"] or word[match.end() :].strip()
    if not unit:
        if float(digits) != int(float(digits)):
            raise InputError(f"{word} is no whole number of ticks", hint="for a time write a unit: 0.5 s")
        return int(float(digits))
    factor = charts.conversion_factor(unit, "s")
    if factor is None:
        raise InputError(f"{word} is no time", hint="write it like 0.5 s or 500 ms")
    return chart.ticks(float(digits) * float(factor))


def _typed_lines() -> Iterator[str]:
    while True:
        if sys.stdin.isatty():
            print_to_stderr("> ", end="")
        line = sys.stdin.readline()
        if not line or line.strip().lower() in END:
            return
        yield line


def _explain(chart: charts.Chart) -> None:
    names = f"inputs: {', '.join(chart.inputs) or 'none'}; events: {', '.join(chart.events) or 'none'}"
    for line in (USE, MORE, names):
        print_to_stderr(line)


def _show_state(chart: charts.Chart, state: charts.Snapshot, tick: int | None) -> None:
    """Show where a chart stands after a tick, with the time at which that began, as the table has it."""
    values = {**state.outputs, **state.locals}
    held = "  ".join(f"{name}={charts.format_value(value)}" for name, value in values.items())
    time = f"{tick * chart.period_s:8.3f} s" if tick is not None else " " * 10
    print_to_stderr(f"{time}  {state.state}  {held}")
