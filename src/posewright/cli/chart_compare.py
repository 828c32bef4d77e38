"""`posewright chart diff` and `convert`: two charts side by side, and one chart in another form."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright.cli.chart_options import CHARTS, ChartPath
from posewright.cli.chart_output import FOUND, say, write_rows
from posewright.cli.console import emit_json, note, progress
from posewright.cli.options import AsJson, Output, refuse_overwriting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from posewright.charts import Chart, Equivalence, Value
    from posewright.charts.equivalence import Trail

OtherPath = Annotated[Path, typer.Argument(metavar="OTHER", help=CHARTS)]

UNKNOWN = 3
"""Exit code where it could not be told whether two charts behave alike."""


def diff(
    chart: ChartPath,
    other: OtherPath,
    every_state: Annotated[
        bool,
        typer.Option("--every-state", help="Start from every state both have by name, reachable or not."),
    ] = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Say whether two charts behave alike, and show the shortest input that tells them apart.

    Alike means: the same inputs give the same outputs, tick by tick, for ever. It is proved by walking both
    side by side. Exits with 0 where they are alike, with 1 where they differ, with 3 where it is not known.
    With -o the inputs that tell them apart are written as CSV, for `chart run --inputs`.

    [bold]Examples[/]

      posewright chart diff obstacle_mealy.chart.yaml mealy_table_6_5.csv --every-state

      posewright chart diff before.chart.yaml after.chart.yaml -o apart.csv
    """
    from posewright.charts import equivalent, read_chart

    refuse_overwriting(output, chart, other)
    one, two = read_chart(chart), read_chart(other)
    with progress(quiet=as_json) as shown:
        shown.add_task(f"walking {one.name} and {two.name} side by side ...")
        found = equivalent(one, two, every_state=every_state)
    if output is not None and found.counterexample:
        write_rows(one, found.counterexample, output)
    if as_json:
        emit_json(_data(one, two, found))
    else:
        _show(one, two, found)
    if found.equal is not True:
        raise typer.Exit(FOUND if found.equal is False else UNKNOWN)


def _data(one: Chart, two: Chart, found: Equivalence) -> dict[str, Any]:
    return {
        "charts": [one.name, two.name],
        "equal": found.equal,
        "proved": found.proved,
        "cases": found.cases,
        "start": list(found.start) if found.start else None,
        "inputs": [dict(row) for row in found.counterexample],
        "outputs": [dict(outputs) for outputs in found.outputs] if found.outputs else None,
        "reasons": list(found.reasons),
    }


def _show(one: Chart, two: Chart, found: Equivalence) -> None:
    from posewright.charts.finding import show

    names = _names(one, two)
    if found.equal is True:
        say(f"{names[0]} and {names[1]} behave alike: proved over {found.cases} cases")
        return
    if found.equal is None:
        say(f"{names[0]} and {names[1]}: not known; nothing told them apart in {found.cases} cases")
        for reason in found.reasons:
            say(f"  {reason}")
        return
    start = f" from {' and '.join(dict.fromkeys(found.start))}" if found.start else ""
    say(f"{names[0]} and {names[1]} differ after {len(found.counterexample)} ticks{start}:")
    for first, last, row in _folded(found.counterexample):
        ticks = f"tick {first}" if first == last else f"ticks {first} to {last}"
        say(f"  {ticks}: " + " ".join(f"{name}={show(value)}" for name, value in row.items()))
    for name, outputs in zip(names, found.outputs or (), strict=False):
        shown = " ".join(f"{output}={show(value)}" for output, value in outputs.items())
        say(f"  {name}: {shown or 'the tick fails: a division by zero, or no end'}")


def _names(one: Chart, two: Chart) -> tuple[str, str]:
    """Return what to call two charts: by their files where their names are the same."""
    if one.name != two.name:
        return one.name, two.name
    return str(one.path or "the first"), str(two.path or "the second")


def _folded(rows: Trail) -> Iterator[tuple[int, int, Mapping[str, Value]]]:
    """Yield runs of equal rows: the first tick, the last, and the row."""
    first = 0
    for _, run in groupby(rows):
        same = list(run)
        yield first, first + len(same) - 1, same[0]
        first += len(same)


def convert(
    chart: ChartPath,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")],
) -> None:
    """Write a chart in another form, by FILE's ending: .yaml (native), .scxml, .csv (transition table).

    What a form cannot say is refused by name. For truth tables see `chart table`, for pictures `chart draw`.

    [bold]Examples[/]

      posewright chart convert traffic.chart.yaml -o traffic.scxml

      posewright chart convert downloaded.scxml -o mine.chart.yaml
    """
    from posewright.charts import beyond_scxml, read_chart, write_chart

    refuse_overwriting(output, chart)
    machine = read_chart(chart)
    write_chart(machine, output)
    for lost in beyond_scxml(machine) if output.suffix.lower() in (".scxml", ".xml") else ():
        note(f"only Posewright reads it back the same, other tools do not know: {lost}")
