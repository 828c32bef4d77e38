"""Recordings of one contest, ordered by what they were worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from posewright.contests import contest_of, has_contest
from posewright.errors import InputError, PosewrightError, Where
from posewright.recordings import read_mcap
from posewright.runs.batch import Batch, BatchRun
from posewright.runs.batch_trials import run_of
from posewright.runs.replaying import replay


def files_in(paths: Iterable[str | Path], ending: str = "") -> dict[str, Path]:
    """Return each path, and for a folder what in it ends so, by the file's name where that tells them apart.

    Raises:
        InputError: a folder holds none.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]
        if not inside:
            raise InputError(
                "nothing to be read is here", where=Where(path), hint=f"files that end in {ending}"
            )
        found += inside
    is_plain = len({path.name for path in found}) == len(found)
    return {path.name if is_plain else str(path): path for path in found}


def rank(*recordings: str | Path) -> Batch:
    """Judge recordings of one contest, and order them by the contest's own rules, the best first.

    Equal ones share a place, and the next places are skipped. What cannot be judged comes last.

    Args:
        recordings: paths, and folders of recordings.

    Raises:
        InputError: the recordings are of several contests, or of one by several rules; or there are none.
    """
    runs: list[BatchRun] = []
    first: tuple[str, str, Path] | None = None
    for name, path in files_in(recordings, ".mcap").items():
        try:
            run, title, rules = _judged(name, path)
        except PosewrightError as error:
            runs.append(BatchRun(name, error=str(error)))
            continue
        first = first or (title, rules, path)
        if first[:2] != (title, rules):
            what = f"this is of {title!r}" if title != first[0] else "this was run by other rules"
            hint = f"{first[2]} is of {first[0]!r}; rank each by itself"
            raise InputError(f"{what}: it cannot be ranked with the others", where=Where(path), hint=hint)
        runs.append(run)
    if not runs:
        raise InputError("there is nothing to rank", hint="name recordings, or folders of them")
    found = Batch("recording", "points", {"contest": first[0] if first else ""}, tuple(runs))
    ordered = found.ranked
    better = [sum(other.ranking > run.ranking for other in ordered) for run in ordered]
    placed = [
        replace(run, figures={"place": 1 + n, **run.figures}) for run, n in zip(ordered, better, strict=True)
    ]
    return replace(found, runs=(*placed, *found.failed))


def _judged(name: str, path: Path) -> tuple[BatchRun, str, str]:
    """Return the run of a recording, with its contest's title and rules."""
    seen = read_mcap(path)
    if not has_contest(seen.header):
        raise InputError("a recording of no contest", where=Where(path))
    held = contest_of(seen.header)
    run, robot = run_of(name, replay(seen)), next(iter(seen.header.robots.values()))
    who = {"behaviour": robot.controller.partition(" ")[2], "robot": robot.robot}
    return replace(run, figures={**run.figures, **who, "seed": seen.header.seed}), held.title, held.rules_text
