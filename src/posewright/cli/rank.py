"""`posewright rank`: judges recordings of one contest and orders them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from posewright import runs
from posewright.cli import console
from posewright.cli.batch import print_runs
from posewright.cli.judge import Repeat, TrustPython
from posewright.cli.options import (
    EXIT_FAILURE,
    TABLE,
    TABLE_ENDINGS,
    AsJson,
    add_command,
    argument,
    option,
    require_output_file,
)
from posewright.documents import write_atomically

Recordings = Annotated[list[Path], argument("RECORDING ...", "Recordings (MCAP), or folders of them.")]
Csv = Annotated[Path | None, option("--csv FILE", "Also write the table to this file, as CSV.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "rank", rank, python_equivalents="rank")


def rank(
    recordings: Recordings,
    csv: Csv = None,
    accept: Annotated[
        bool, option("--accept", "Also rank recordings that contradict themselves or were aborted.")
    ] = False,
    repeat: Repeat = False,
    trust_python: TrustPython = False,
    workers: Annotated[int, option("--workers N", "For --rerun: the number of processes.", min=1)] = 1,
    as_json: AsJson = False,
) -> None:
    """Judge recordings of one contest and order them by its rules, best first.

    Equal results share a place. Recordings that contradict themselves, as forged ones do, or were aborted are
    left out; with --rerun also those that the simulation does not give again. Exits with 1 if a recording is
    left out or cannot be judged. See docs/how-to-many-at-once.md.

    [bold]Examples[/]
      posewright rank ours.mcap theirs.mcap
      posewright rank out/obstacle-race-1a2b3c4d --csv places.csv
      posewright rank out/obstacle-race-1a2b3c4d --rerun --workers 2
    """
    require_output_file(csv, TABLE, TABLE_ENDINGS, *recordings)
    ranking = runs.rank(*recordings, accept=accept, rerun=repeat, trust_python=trust_python, workers=workers)
    if csv is not None:
        write_atomically(csv, ranking.csv().encode(errors="backslashreplace"))
    if as_json:
        console.print_json(ranking.to_dict())
    else:
        console.print_line(ranking.settings["contest"])
        print_runs(ranking)
    if ranking.failed:
        raise typer.Exit(EXIT_FAILURE)
