"""`posewright judge`: computes the score of a recording; and functions that print scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from posewright import contests, recordings, runs
from posewright.cli import console
from posewright.cli.batch import DIGEST_DIGITS
from posewright.cli.options import EXIT_FAILURE, AsJson, add_command, argument, option
from posewright.documents import read_text

TrustRules = Annotated[
    bool, option("--trust-attached-rules", "Judge by the rules in the recording even if they were modified.")
]

Repeat = Annotated[
    bool, option("--rerun", "Simulate each run again from its recording alone, and compare the digests.")
]
TrustPython = Annotated[
    bool,
    option("--trust-python", "For --rerun: execute Python code in recordings; it can do anything here."),
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "judge", judge, python_equivalents="judge find_inconsistencies rerun")


def judge(
    recording: Annotated[
        Path,
        argument("RECORDING", "A recording (MCAP) of `posewright run --record`, or of a real run."),
    ],
    rules: Annotated[
        Path | None,
        option("--rules FILE", "Judge by these rules (*.rules.yaml) instead of those in the recording."),
    ] = None,
    trust: TrustRules = False,
    repeat: Repeat = False,
    trust_python: TrustPython = False,
    as_json: AsJson = False,
) -> None:
    """Judge a recording by the rules of its contest: what the run scores, and why.

    A recording of a walk or a motion belongs to no contest and has no score; its figures are shown instead.
    Warnings name every part of the recording that contradicts another, as in a forged one. With --rerun the
    exit code is 1 unless the simulation gives the same recording.

    [bold]Examples[/]
      posewright judge race.mcap
      posewright judge race.mcap --rules our.rules.yaml --json
      posewright judge race.mcap --rerun
    """
    run = recordings.read_mcap(recording, trust_attached_rules=trust)
    if rules is None and not contests.has_contest(run.header):
        repeated = runs.rerun(run, trust_python=trust_python) if repeat else None
        _show_figures(run, repeated, as_json=as_json)
        _exit_unless_same(repeated)
        return
    rules_text = None if rules is None else read_text(rules)
    rules_source = "" if rules is None else str(rules)
    contest = contests.contest_of(run.header, rules_text, rules_source, trust_attached_rules=trust)
    score = contests.judge(run, contest)
    if rules is None and (remark := contests.describe_attached_rules(run.header, contest)):
        console.print_warning(remark)
    if remark := recordings.describe_abort(run):
        console.print_warning(remark)
    inconsistencies = contests.find_inconsistencies(run, contest)
    repeated = runs.rerun(run, trust_python=trust_python) if repeat else None
    if as_json:
        console.print_json(_describe_judgement(run, score, inconsistencies, repeated))
    else:
        print_score(score, contest.name)
        _print_trust(inconsistencies, repeated)
    _exit_unless_same(repeated)


def _exit_unless_same(repeated: runs.Rerun | None) -> None:
    """Exit with 1 if a rerun gave another recording or was not possible."""
    if repeated is not None and not repeated.is_same:
        raise typer.Exit(EXIT_FAILURE)


def _describe_judgement(
    run: recordings.Recording,
    score: contests.Score,
    inconsistencies: Sequence[recordings.Inconsistency],
    repeated: runs.Rerun | None,
) -> dict[str, object]:
    """Return the score of a recording with its digest, contradictions and rerun as JSON types."""
    return {
        **score.to_dict(),
        "digest": run.digest(),
        "inconsistencies": [inconsistency.to_dict() for inconsistency in inconsistencies],
        **({} if repeated is None else {"rerun": repeated.to_dict()}),
    }


def _print_trust(inconsistencies: Sequence[recordings.Inconsistency], repeated: runs.Rerun | None) -> None:
    """Print a warning for each contradiction within a recording, and the result of its rerun."""
    for inconsistency in inconsistencies:
        console.print_warning(f"inconsistent, {inconsistency}")
    if repeated is not None and repeated.is_same:
        console.print_line(str(repeated))
    elif repeated is not None:
        console.print_warning(str(repeated))


def _show_figures(run: recordings.Recording, repeated: runs.Rerun | None, *, as_json: bool) -> None:
    """Print the figures of a recording that belongs to no contest, in place of a score."""
    outcome = runs.replay(run)
    inconsistencies = contests.find_inconsistencies(run)
    if as_json:
        console.print_json(_describe_judgement(run, outcome.score, inconsistencies, repeated))
    else:
        print_outcome(outcome)
        _print_trust(inconsistencies, repeated)


def print_table(table: contests.ScoreTable, title: str) -> None:
    """Print a score's table with its notes below."""
    for line in table.lines(title):
        console.print_item(line)


def print_score(score: contests.Score, title: str) -> None:
    """Print a score, with the judge's warnings on stderr."""
    print_table(score.table(), title)
    for warning in score.warnings:
        console.print_warning(warning)


def print_outcome(outcome: runs.Outcome) -> None:
    """Print the score of a run, what took part in it, assumptions, remarks and timing."""
    header = outcome.recording.header
    entries = [
        f"{robot.controller} on {robot.robot}" if robot.controller else robot.robot
        for robot in header.robots.values()
    ]
    layout = f", layout {header.layout}" if header.layout else ""
    title = f"{header.contest or 'no contest'}: {', '.join(entries)}{layout}, seed {header.seed}"
    print_score(outcome.score, title)
    if outcome.assumed:
        assumptions = ", ".join(f"{name} {value}" for name, value in outcome.assumed.items())
        console.print_line(f"assumed: {assumptions}")
    if outcome.board is not None:
        console.print_line(outcome.board.summary)
    if outcome.link is not None:
        console.print_line(outcome.link.summary)
    for remark in outcome.all_remarks:
        console.print_warning(remark)
    speed = ""
    if outcome.wall_s:
        speed = f" in {outcome.wall_s:.1f} s ({format_speed(outcome.real_time_factor)} x real time)"
    digest = outcome.recording.digest()[:DIGEST_DIGITS]
    console.print_line(f"{outcome.simulated_s:.1f} s simulated{speed}; digest {digest}")


def format_speed(factor: float) -> str:
    """Return a multiple of real time as text, with a decimal below 10."""
    return f"{factor:.1f}" if factor < 10.0 else f"{factor:.0f}"


def show_outcome(outcome: runs.Outcome, *, as_json: bool) -> None:
    """Print an outcome as JSON or as text."""
    if as_json:
        console.print_json(outcome.to_dict())
    else:
        print_outcome(outcome)
