"""`posewright chart run`: a chart over rows of inputs, from a file, a scenario, options or the keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.chart_options import ChartPath
from posewright.cli.chart_output import give_table, give_ticks
from posewright.cli.options import AsJson, Output, refuse_overwriting
from posewright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from posewright.charts import Chart, Tick


def run(
    chart: ChartPath,
    inputs: Annotated[Path | None, typer.Option(metavar="CSV", help="A row of inputs per tick.")] = None,
    scenario: Annotated[
        Path | None, typer.Option(metavar="YAML", help="Inputs over time, and what is expected.")
    ] = None,
    typed: Annotated[
        list[str] | None, typer.Option("--input", metavar="front=1,left=0", help="One tick; repeat for more.")
    ] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Ask at the keyboard, at simulated time.")] = False,
    start: Annotated[str | None, typer.Option("--from", metavar="STATE", help="Start in this state.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every state with every input, as a table.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="SVG", help="Draw states, inputs and outputs over time.")
    ] = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Run it although the check finds errors.")
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
    from posewright.charts import read_chart

    refuse_overwriting(output, chart, inputs, scenario)
    refuse_overwriting(plot, chart, inputs, scenario)
    machine = read_chart(chart)
    if every:
        if inputs or typed or start or scenario or keys or plot:
            raise InputError("--all starts everywhere and takes every input", hint="leave the others out")
        _tabulate(machine, output, as_json)
        return
    if [inputs is not None, scenario is not None, bool(typed), keys].count(True) != 1:
        hint = "give --inputs FILE.csv, or --scenario FILE.yaml, or --input front=1, or --keys, or --all"
        raise InputError("which inputs?", hint=hint)
    rows: Path | Iterable[str] = inputs or scenario or typed or []
    ticks = _at_the_keyboard(machine, start, unchecked) if keys else _run(machine, rows, start, unchecked)
    _draw(machine, ticks, plot)
    give_ticks(machine, ticks, output, as_json)


def _tabulate(machine: Chart, output: Path | None, as_json: bool) -> None:
    from posewright.charts import tabulate_chart

    give_table(tabulate_chart(machine), machine, output, as_json)


def _draw(machine: Chart, ticks: tuple[Tick, ...], path: Path | None) -> None:
    if path is not None:
        from posewright.charts import draw_timeline

        draw_timeline(machine, ticks, path)


def _run(machine: Chart, rows: Path | Iterable[str], start: str | None, unchecked: bool) -> tuple[Tick, ...]:
    from posewright.charts import run_chart

    return run_chart(machine, rows, start=start, unchecked=unchecked)


def _at_the_keyboard(machine: Chart, start: str | None, unchecked: bool) -> tuple[Tick, ...]:
    from posewright.charts import require_sound
    from posewright.cli.chart_keys import ticks_typed

    if not unchecked:
        require_sound(machine)
    return tuple(ticks_typed(machine, start))
