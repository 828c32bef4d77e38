"""The result of a trial as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from posewright.cli import console

if TYPE_CHECKING:
    from posewright.experiments import Outcome


def print_outcome(outcome: Outcome) -> None:
    """Print the judge's result and what the trial was."""
    result, header = outcome.result, outcome.trace.header
    title = (
        f"{header.contest}: {header.behaviour} on {header.robot}, layout {header.layout}, seed {header.seed}"
    )
    table = Table(title=Text(title, "table.title"), title_justify="left")
    for column in ("leg", "time", "distance", "penalties", "points", "raw", "how it ended"):
        table.add_column(column, justify="left" if column in ("leg", "how it ended") else "right")
    for number, leg in enumerate(result.legs, 1):
        table.add_row(
            str(number),
            f"{leg.time_s:.2f} s",
            f"{leg.distance_cm:.1f} cm",
            str(leg.penalties),
            f"{leg.points:.2f}",
            f"{leg.raw_points:.2f}",
            Text(leg.reason),
        )
    table.add_section()
    table.add_row(
        "both",
        "",
        "",
        str(len(result.penalties)),
        f"{result.total_points:.2f}",
        f"{result.raw_total:.2f}",
        "",
    )
    console.out.print(table)
    for penalty in result.penalties:
        about = "" if penalty.box is None else f" (box {penalty.box + 1})"
        line = f"  penalty at {penalty.time_s:.1f} s, leg {penalty.leg}: {penalty.reason}{about}"
        console.out.print(line, markup=False)
    for warning in (*result.warnings, *outcome.remarks):
        console.warn(warning)
    speed = (
        f" in {outcome.wall_s:.1f} s ({outcome.real_time_factor:.0f} x real time)" if outcome.wall_s else ""
    )
    console.out.print(
        f"{outcome.simulated_s:.1f} s simulated{speed}; trace {outcome.trace.digest()[:16]}", highlight=False
    )
