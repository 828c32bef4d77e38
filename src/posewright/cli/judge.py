"""`posewright judge`: the score of a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.options import AsJson


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
    """Judge a recording by the rules of its contest: what the run was worth, and why.

    A recording of no contest, a walk or a motion, is worth nothing: who did what is told instead.
    """
    from posewright.cli import console
    from posewright.cli.score_table import print_outcome, print_score
    from posewright.contests import contest_of, is_of_a_contest
    from posewright.contests import judge as judged
    from posewright.documents import read_text
    from posewright.experiments import replay
    from posewright.recordings import read_mcap

    seen = read_mcap(recording)
    if rules is None and not is_of_a_contest(seen.header):
        outcome = replay(seen)
        if as_json:
            console.emit_json({**outcome.score.to_dict(), "digest": seen.digest()})
        else:
            print_outcome(outcome)
        return
    held = contest_of(seen.header, None if rules is None else read_text(rules))
    score = judged(seen, held)
    if as_json:
        console.emit_json({**score.to_dict(), "digest": seen.digest()})
    else:
        print_score(score, held.name)
