"""A score, and what came of a trial, as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.cli import console

if TYPE_CHECKING:
    from posewright.contests import Score, ScoreTable
    from posewright.experiments import Outcome

_RIGHT = frozenset("0123456789+-")


def print_table(told: ScoreTable, title: str) -> None:
    """Print a score's table, and its notes below."""
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for place, column in enumerate(told.columns):
        cells = [row[place] for row in told.rows if row[place]]
        is_number = bool(cells) and all(cell[0] in _RIGHT for cell in cells)
        table.add_column(Text(column), justify="right" if is_number else "left")
    for number, row in enumerate(told.rows, 1):
        table.add_row(*map(Text, row), end_section=number == len(told.rows))
    if told.total:
        table.add_row(*map(Text, told.total), style="bold")
    console.out.print(Text(console.printable(title), "table.title"), soft_wrap=True)
    console.out.print(table)
    for note in told.notes:
        console.out.print(console.printable(note), markup=False, highlight=False)


def print_score(score: Score, title: str) -> None:
    """Print a score, and warn of what the judge would warn of."""
    print_table(score.table(), title)
    for warning in score.warnings:
        console.warn(warning)


def print_outcome(outcome: Outcome) -> None:
    """Print the judge's score and what the trial was."""
    header = outcome.recording.header
    who = ", ".join(
        f"{one.controller.removeprefix('behaviour ')} on {one.robot}" for one in header.robots.values()
    )
    layout = f", layout {header.layout}" if header.layout else ""
    print_score(outcome.score, f"{header.contest or 'no contest'}: {who}{layout}, seed {header.seed}")
    for remark in outcome.remarks:
        console.warn(remark)
    speed = (
        f" in {outcome.wall_s:.1f} s ({outcome.real_time_factor:.0f} x real time)" if outcome.wall_s else ""
    )
    digest = outcome.recording.digest()[:16]
    console.out.print(f"{outcome.simulated_s:.1f} s simulated{speed}; digest {digest}", highlight=False)
