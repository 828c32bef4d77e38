"""`posewright chart run`: runs a chart on inputs from a file, a scenario, options or the keyboard."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

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
from posewright.cli.options import (
    EXIT_FAILURE,
    TABLE,
    TABLE_ENDINGS,
    YAML_ENDINGS,
    AsJson,
    Output,
    argument,
    option,
    require_output_file,
)
from posewright.display import align_columns
from posewright.documents import create_folder, write_atomically
from posewright.errors import InputError, UnknownNameError

CHART_HELP = "A *.chart.yaml, an .scxml, or a transition or truth table as CSV; the content decides which."
ChartPath = Annotated[Path, argument("CHART", CHART_HELP)]

MAX_REPORTED = 5  # differences and broken promises printed at the end of a run
MAX_TICKS = 100_000  # ticks that one typed line may take
HELP_WORD = "help"
QUIT_WORDS = ("quit", "exit", "q")
KEYBOARD_HELP = (
    "front=1: set an input and take a tick; NAME: send this event; 5: take 5 ticks; 0.5 s: run for 0.5 s;",
    "empty line: take one tick; help: show this; quit: end",
)

_TOKEN = re.compile(r"(?P<input>[^\s=]+)\s*=\s*(?P<value>\S+)|(?P<word>\S+)")
_NUMBER = re.compile(
    r"[-+]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][-+]?\d{1,2})?(?P<unit>[a-z]*)", re.ASCII
)


def run(
    chart_path: ChartPath,
    inputs_path: Annotated[
        Path | None, option("--inputs CSV", "A file with a row of inputs per tick.")
    ] = None,
    scenario_path: Annotated[
        Path | None, option("--scenario YAML", "Inputs over time, with the expected states and outputs.")
    ] = None,
    typed_rows: Annotated[
        list[str] | None, option("--input NAME=VALUE,...", "The inputs of one tick. Repeat for more ticks.")
    ] = None,
    keyboard: Annotated[
        bool, option("--keys", "Type the inputs as you go; time stands still between lines.")
    ] = False,
    start_state: Annotated[str | None, option("--from STATE", "Start in this state.")] = None,
    every_case: Annotated[
        bool, option("--all", "Run every state with every combination of inputs; print a table.")
    ] = False,
    plot: Annotated[Path | None, option("--plot SVG", "Draw states, inputs and outputs over time.")] = None,
    unchecked: Annotated[
        bool, option("--unchecked", "Run the chart even if its check finds errors.")
    ] = False,
    native: Annotated[
        bool, option("--native", "Run the chart as compiled C; the results are the same.")
    ] = False,
    as_json: AsJson = False,
    output: Output = None,
) -> None:
    """Run a chart tick by tick. A chart with errors is not run; its counterexample is shown instead.

    A file of inputs has a column per input and, if you like, one per event. If it also has columns of the
    state (q1,q0 or state), every row starts afresh in that state. If it has columns of the next state and
    the outputs, the results are compared with them. Exits with 1 for any difference or broken promise.

    With --keys, type what changes and press Enter: `front=1 left=0` sets these inputs and takes a tick, an
    event's name sends it, `5` takes five ticks, `0.5 s` runs for that time, an empty line takes one tick,
    `quit` ends.

    [bold]Examples[/]
      posewright chart run obstacle_mealy.chart.yaml --input front=1 --input left=1,right=1
      posewright chart run obstacle_mealy.chart.yaml --inputs ticks.csv --plot run.svg
      posewright chart run sumo.chart.yaml --keys
      posewright chart run mealy_table_6_5.csv --all
    """
    endings = TABULATED_ENDINGS if every_case else TABLE_ENDINGS
    require_output_file(output, TABLE, endings, chart_path, inputs_path, scenario_path)
    require_output_file(plot, "a drawing", (".svg",), chart_path, inputs_path, scenario_path)
    chart = charts.read_chart(chart_path)
    if every_case:
        if inputs_path or typed_rows or start_state or scenario_path or keyboard or plot or native:
            raise InputError(
                "--all runs every state with every input by itself",
                hint="leave out --inputs, --scenario, --input, --keys, --from, --plot and --native",
            )
        write_table(charts.tabulate_chart(chart), chart, output, as_json=as_json)
        return
    has_source = [inputs_path is not None, scenario_path is not None, bool(typed_rows), keyboard]
    if has_source.count(True) != 1:
        raise InputError(
            "expected exactly one source of inputs",
            hint="pass --inputs FILE.csv, or --scenario FILE.yaml, or --input front=1, or --keys, or --all",
        )
    with _print_warnings():
        if keyboard:
            if not unchecked:
                charts.require_sound(chart)
            ticks = tuple(run_from_keyboard(chart, start_state, native=native))
        else:
            rows: Path | Iterable[str] = inputs_path or scenario_path or typed_rows or []
            ticks = charts.run_chart(chart, rows, start=start_state, unchecked=unchecked, native=native)
    if plot is not None:
        charts.draw_timeline(chart, ticks, plot)
    _print_ticks(chart, ticks, output, as_json=as_json)


@contextmanager
def _print_warnings() -> Iterator[None]:
    """Print Python warnings raised inside the block to stderr when it ends."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        yield
    for record in records:
        print_warning(str(record.message))


def write_rows(chart: charts.Chart, rows: Sequence[Mapping[str, charts.Value]], path: Path) -> None:
    """Write rows of inputs as CSV, a column for each input and event."""
    create_folder(path.parent)
    names = (*chart.inputs, *chart.events)
    lines = [[charts.format_value(row.get(name, False)) for name in names] for row in rows]
    _write_csv([names, *lines], path)


def _write_csv(lines: Iterable[Iterable[str]], path: Path) -> None:
    write_atomically(path, "".join(f"{','.join(line)}\n" for line in lines).encode())


TABULATED_ENDINGS = (*TABLE_ENDINGS, *YAML_ENDINGS)
"""What a truth table is written to: CSV, or a chart."""


def write_table(table: charts.TruthTable, chart: charts.Chart, output: Path | None, *, as_json: bool) -> None:
    """Write the truth table of a chart to a file, as JSON, or as CSV to stdout."""
    if output is not None:
        if output.suffix.lower() in (".yaml", ".yml"):
            charts.save_chart(charts.table_to_chart(table, like=chart), output)
        else:
            charts.save_table(table, output)
    if as_json:
        rows = [
            {"state": row.state, "row": str(row), "next": row.next_state, "cells": table.cells(row)}
            for row in table.rows
        ]
        groups = [
            {"states": list(states), "rows": [str(row) for row in shared_rows]}
            for states, shared_rows in charts.grouped(table).items()
        ]
        print_json(
            {"chart": table.name, "columns": list(table.table_form.columns), "rows": rows, "groups": groups}
        )
    elif output is None:
        print_document(table.csv())


def _print_ticks(
    chart: charts.Chart, ticks: tuple[charts.Tick, ...], output: Path | None, *, as_json: bool
) -> None:
    """Write ticks to a file, as JSON or as a table; exit with 1 for a difference or a broken promise."""
    broken_promises = _find_broken_promises(chart, ticks)
    differing_ticks = [tick for tick in ticks if tick.row.expected and tick.unmet_expectations]
    rows = charts.format_tick_table(chart, ticks)
    if output is not None:
        _write_csv(rows, output)
    data = {
        "chart": chart.name,
        "period_s": chart.period_s,
        "ticks": [tick.to_dict(chart, number) for number, tick in enumerate(ticks)],
        "differences": len(differing_ticks),
        "broken_promises": [
            {"tick": number, "promise": broken.promise.name, "message": broken.message}
            for number, broken in broken_promises
        ],
    }
    print_result(data, align_columns(rows) if output is None else (), as_json=as_json)
    for tick in differing_ticks[:MAX_REPORTED]:
        outputs = dict(tick.after.outputs)
        print_error(
            f"line {tick.row.line}: expected {tick.unmet_expectations}, got {tick.after.state} {outputs}"
        )
    for number, broken in broken_promises[:MAX_REPORTED]:
        print_error(f"tick {number}: {broken.message}")
    if differing_ticks or broken_promises:
        raise typer.Exit(EXIT_FAILURE)


def _find_broken_promises(
    chart: charts.Chart, ticks: Sequence[charts.Tick]
) -> list[tuple[int, charts.BrokenPromise]]:
    """Return each broken promise with the number of its tick."""
    if not chart.promises:
        return []
    monitor = charts.Monitor(chart)
    return [
        (number, broken)
        for number, tick in enumerate(ticks)
        for broken in monitor.check_tick(tick.row.inputs, tick.after)
    ]


def run_from_keyboard(
    chart: charts.Chart, start_state: str | None = None, *, native: bool = False
) -> Iterator[charts.Tick]:
    """Read lines from stdin and yield the ticks they ask for, until the lines end.

    A line that cannot be parsed prints an error and changes nothing.
    """
    interpreter = charts.Interpreter(chart, native=native)
    snapshot = interpreter.initial() if start_state is None else interpreter.snapshot_in(start_state)
    inputs = {name: kind.default for name, kind in chart.inputs.items()}
    n_ticks = 0
    _print_keyboard_help(chart)
    _print_snapshot(chart, snapshot, tick=None)
    for line in _read_lines():
        if line.strip().lower() == HELP_WORD:
            _print_keyboard_help(chart)
            continue
        try:
            typed_line = parse_line(chart, line)
        except InputError as error:
            print_error(str(error))
            continue
        inputs |= typed_line.changed_inputs
        for number in range(typed_line.n_ticks):
            previous_state = snapshot.state
            sent_events = dict.fromkeys(typed_line.events, True) if number == 0 else {}
            row = charts.Row({**inputs, **sent_events})
            snapshot = interpreter.step(snapshot, row.inputs)
            n_ticks += 1
            yield charts.Tick(row, previous_state, snapshot)
        _print_snapshot(chart, snapshot, n_ticks - 1 if n_ticks else None)


class TypedLine(NamedTuple):
    """What a typed line asks for.

    Attributes:
        changed_inputs: new values of inputs, by name.
        events: the events to send with the first tick.
        n_ticks: the number of ticks to take.
    """

    changed_inputs: dict[str, charts.Value]
    events: list[str]
    n_ticks: int


def parse_line(chart: charts.Chart, line: str) -> TypedLine:
    """Return the inputs that a typed line sets, the events it sends and the number of ticks it takes.

    Raises:
        InputError: a word is no input, no event and no time, or a value does not fit.
    """
    changed_inputs: dict[str, charts.Value] = {}
    events: list[str] = []
    n_ticks = 1
    for input_name, text in _split_line(line):
        if input_name is not None:
            if input_name not in chart.inputs:
                raise UnknownNameError.among("input", input_name, chart.inputs)
            changed_inputs[input_name] = charts.parse_input_value(chart, input_name, text)
        elif text in chart.events:
            events.append(text)
        else:
            n_ticks = _parse_tick_count(chart, text)
    if not 0 <= n_ticks <= MAX_TICKS:
        raise InputError(f"{n_ticks} ticks in one line are too many or too few", hint=f"0 to {MAX_TICKS}")
    return TypedLine(changed_inputs, events, n_ticks)


class _Token(NamedTuple):
    """A word of a typed line: `INPUT=VALUE`, an event or a time.

    Attributes:
        input_name: the input; None for an event or a time, which assigns nothing.
        text: the value that is assigned; otherwise the word.
    """

    input_name: str | None
    text: str

    @property
    def is_unit(self) -> bool:
        """Whether it is a unit that stands alone."""
        return self.input_name is None and self.text in charts.UNITS


def _split_line(line: str) -> Iterator[_Token]:
    """Yield the words and assignments of a typed line.

    A unit is joined to the number before it: `0.5 s` is one word.
    """
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(line.replace(",", " ")):
        if match["input"]:
            tokens.append(_Token(match["input"], match["value"]))
        else:
            tokens.append(_Token(None, match["word"]))
    for index, token in enumerate(tokens):
        if token.is_unit and index > 0 and _NUMBER.fullmatch(tokens[index - 1].text):
            continue  # it was joined to the number before it
        number = _NUMBER.fullmatch(token.text)
        has_unit_after = index + 1 < len(tokens) and tokens[index + 1].is_unit
        if number is not None and not number["unit"] and has_unit_after:
            yield _Token(token.input_name, f"{token.text} {tokens[index + 1].text}")
        else:
            yield token


def _parse_tick_count(chart: charts.Chart, text: str) -> int:
    """Return the number of ticks that a text such as `5` or `0.5 s` asks for."""
    match = _NUMBER.match(text)
    ends_there = match is not None and text[match.end() : match.end() + 1] in {"", " "}
    if match is None or not ends_there:
        accepted = [*chart.events, *(f"{name}=" for name in chart.inputs)]
        raise UnknownNameError.among("input or event", text, accepted)
    digits = text[: match.start("unit")]
    unit = match["unit"] or text[match.end() :].strip()
    if not unit:
        if float(digits) != int(float(digits)):
            raise InputError(
                f"{text} is not a whole number of ticks", hint="for a time, add its unit, such as 0.5 s"
            )
        return int(float(digits))
    factor = charts.conversion_factor(unit, "s")
    if factor is None:
        raise InputError(f"{text} is not a time", hint="a time has a unit, such as 0.5 s or 500 ms")
    return chart.ticks(float(digits) * float(factor))


def _read_lines() -> Iterator[str]:
    """Yield the lines of stdin, with a prompt in a terminal, until it ends or `quit` is typed."""
    while True:
        if sys.stdin.isatty():
            print_to_stderr("> ", end="")
        line = sys.stdin.readline()
        if not line or line.strip().lower() in QUIT_WORDS:
            return
        yield line


def _print_keyboard_help(chart: charts.Chart) -> None:
    names = f"inputs: {', '.join(chart.inputs) or 'none'}; events: {', '.join(chart.events) or 'none'}"
    for line in (*KEYBOARD_HELP, names):
        print_to_stderr(line)


def _print_snapshot(chart: charts.Chart, snapshot: charts.Snapshot, tick: int | None) -> None:
    """Print the state and values after a tick, with the time at which the tick began.

    Args:
        chart: the chart.
        snapshot: its state and values.
        tick: the number of the tick, from 0; None before the first one.
    """
    values = {**snapshot.outputs, **snapshot.locals}
    assignments = "  ".join(f"{name}={charts.format_value(value)}" for name, value in values.items())
    time = "" if tick is None else f"{tick * chart.period_s:8.3f} s"
    print_to_stderr(f"{time:10}  {snapshot.state}  {assignments}")
