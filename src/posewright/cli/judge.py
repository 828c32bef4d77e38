"""`posewright judge`: the result of a recorded race."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli.options import AsJson

if TYPE_CHECKING:
    from rich.table import Table

    from posewright.contests import Result


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("judge")(judge)


def judge(
    recording: Annotated[
        Path, typer.Argument(help="A recording (MCAP) made with `posewright run --record`, or of a real run.")
    ],
    rules: Annotated[
        Path | None, typer.Option(help="Judge by these rules instead of those it carries.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge a recording: crossings, clocks, distances, penalties and points of both legs."""
    from posewright.cli import console
    from posewright.contests import judge as judged
    from posewright.contests import read_rules
    from posewright.recordings import read_mcap

    trace = read_mcap(recording)
    result = judged(trace, None if rules is None else read_rules(rules))
    if as_json:
        console.emit_json({**result.to_dict(), "trace_digest": trace.digest()})
        return
    console.out.print(result_table(result))
    for penalty in result.penalties:
        box = "" if penalty.box is None else f", box {penalty.box + 1}"
        line = f"penalty in leg {penalty.leg} at {penalty.time_s:.2f} s: {penalty.reason}{box}"
        console.out.print(line, markup=False)
    for warning in result.warnings:
        console.warn(warning)


def result_table(result: Result) -> Table:
    """Return a result as a table for people."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(result.contest, "table.title"))
    for name in ("", "time", "distance", "penalties", "raw points", "points"):
        table.add_column(name, justify="left" if not name else "right")
    table.add_column("how it ended")
    last = len(result.legs)
    for number, leg in enumerate(result.legs, 1):
        figures = (f"{leg.time_s:.2f} s", f"{leg.distance_cm:.1f} cm", str(leg.penalties))
        points = (f"{leg.raw_points:+.3f}", f"{leg.points:.3f}")
        table.add_row(f"leg {number}", *figures, *points, Text(leg.reason), end_section=number == last)
    penalties = str(len(result.penalties))
    totals = (f"{result.raw_total:+.3f}", f"{result.total_points:.3f}")
    table.add_row("total", "", "", penalties, *totals, f"{result.falls} falls", style="bold")
    return table
