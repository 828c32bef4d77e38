"""`posewright judge`: the score of a recording, and how scores are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import contests, recordings, runs
from posewright.cli import console
from posewright.cli.options import AsJson, add_command, argument, option
from posewright.documents import read_text

TrustRules = Annotated[
    bool, option("--trust-attached-rules", "Judge by the rules it carries, even where they were changed.")
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "judge", judge, python_names="judge")


def judge(
    recording: Annotated[
        Path,
        argument("RECORDING", "A recording (MCAP) made with `posewright run --record`, or of a real run."),
    ],
    rules: Annotated[
        Path | None, option("--rules", "Judge by these rules instead of those it carries.")
    ] = None,
    trust: TrustRules = False,
    as_json: AsJson = False,
) -> None:
    """Judge a recording by the rules of its contest: what the run was worth, and why.

    A recording of a walk or a motion belongs to no contest and has no score: it is described instead.
    """
    seen = recordings.read_mcap(recording, trust_attached_rules=trust)
    if rules is None and not contests.has_contest(seen.header):
        outcome = runs.replay(seen)
        if as_json:
            console.print_json({**outcome.score.to_dict(), "digest": seen.digest()})
        else:
            print_outcome(outcome)
        return
    text, source = (None, "") if rules is None else (read_text(rules), str(rules))
    held = contests.contest_of(seen.header, text, source, trust_attached_rules=trust)
    score = contests.judge(seen, held)
    if rules is None and (remark := contests.describe_attached_rules(seen.header, held)):
        console.print_warning(remark)
    if as_json:
        console.print_json({**score.to_dict(), "digest": seen.digest()})
    else:
        print_score(score, held.name)


def print_table(table: contests.ScoreTable, title: str) -> None:
    """Print a score's table, and its notes below."""
    for line in table.lines(title):
        console.print_item(line)


def print_score(score: contests.Score, title: str) -> None:
    """Print a score, and warn of what the judge would warn of."""
    print_table(score.table(), title)
    for warning in score.warnings:
        console.print_warning(warning)


def print_outcome(outcome: runs.Outcome) -> None:
    """Print the judge's score and what the trial was."""
    header = outcome.recording.header
    who = ", ".join(f"{one.controller} on {one.robot}".removeprefix(" on ") for one in header.robots.values())
    layout = f", layout {header.layout}" if header.layout else ""
    print_score(outcome.score, f"{header.contest or 'no contest'}: {who}{layout}, seed {header.seed}")
    if outcome.assumed:
        console.print_line(
            f"assumed: {', '.join(f'{what} {value}' for what, value in outcome.assumed.items())}"
        )
    if outcome.board is not None:
        console.print_line(outcome.board.summary)
    if outcome.link is not None:
        console.print_line(outcome.link.summary)
    for remark in outcome.all_remarks:
        console.print_warning(remark)
    speed = (
        f" in {outcome.wall_s:.1f} s ({outcome.real_time_factor:.0f} x real time)" if outcome.wall_s else ""
    )
    digest = outcome.recording.digest()[:16]
    console.print_line(f"{outcome.simulated_s:.1f} s simulated{speed}; digest {digest}")


def give_outcome(outcome: runs.Outcome, *, as_json: bool) -> None:
    """Write an outcome for a program or for a person."""
    if as_json:
        console.print_json(outcome.to_dict())
    else:
        print_outcome(outcome)
