"""`rank`: recordings of one contest, ordered by their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from posewright.contests import contest_of, find_inconsistencies, has_contest
from posewright.errors import InputError, PosewrightError, Where
from posewright.recordings import describe_abort, read_mcap
from posewright.runs.batch import Batch, BatchRun
from posewright.runs.batch_trials import run_of
from posewright.runs.replaying import replay


def files_in(paths: Iterable[str | Path], ending: str = "") -> dict[str, Path]:
    """Return files by name: each path itself, and of a folder the files with an ending.

    The key is the file's name, or its whole path if names repeat.

    Raises:
        InputError: a folder has no such file.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        matches = sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]
        if not matches:
            raise InputError(
                "the folder has no files to read", where=Where(path), hint=f"files ending in {ending}"
            )
        files += matches
    has_unique_names = len({path.name for path in files}) == len(files)
    return {path.name if has_unique_names else str(path): path for path in files}


def rank(*recordings: str | Path, accept: bool = False) -> Batch:
    """Judge recordings of one contest and order them by its rules, best first.

    Equal recordings share a place, and the following places are skipped. Those that cannot be judged, and
    those that contradict themselves, come last, with an error instead of a place.

    Args:
        recordings: paths of recordings, or of folders with recordings.
        accept: whether to rank recordings that contradict themselves, as forged ones do, or were aborted.

    Raises:
        InputError: there are no recordings, or they are of several contests or follow different rules.
    """
    runs: list[BatchRun] = []
    first: tuple[str, str, Path] | None = None
    for name, path in files_in(recordings, ".mcap").items():
        try:
            run, title, rules = _judge_file(name, path, accept=accept)
        except PosewrightError as error:
            runs.append(BatchRun(name, error=str(error)))
            continue
        first = first or (title, rules, path)
        if first[:2] != (title, rules):
            difference = f"this is of {title!r}" if title != first[0] else "this was run by other rules"
            hint = f"{first[2]} is of {first[0]!r}; rank them separately"
            raise InputError(
                f"{difference}: it cannot be ranked with the others", where=Where(path), hint=hint
            )
        runs.append(run)
    if not runs:
        raise InputError("there are no recordings to rank", hint="name recordings, or folders of them")
    unordered = Batch(
        "recording", measure="points", settings={"contest": first[0] if first else ""}, runs=tuple(runs)
    )
    rankings = [run.ranking for run in unordered.ranked]
    ranked_runs = []
    for run in unordered.ranked:
        place = 1 + sum(ranking > run.ranking for ranking in rankings)
        ranked_runs.append(replace(run, figures={"place": place, **run.figures}))
    return replace(unordered, runs=(*ranked_runs, *unordered.failed))


def _judge_file(name: str, path: Path, *, accept: bool) -> tuple[BatchRun, str, str]:
    """Return the run of a recording, with its contest's title and rules.

    Raises:
        InputError: the recording cannot be judged, or it contradicts itself and `accept` is false.
    """
    recording = read_mcap(path)
    header = recording.header
    if not has_contest(header):
        raise InputError("the recording is not of a contest", where=Where(path))
    contest = contest_of(header)
    run = run_of(name, replay(recording))
    if not accept and (remark := describe_abort(recording)):
        raise InputError(f"left out: {remark}", hint="--accept ranks it anyway")
    inconsistencies = () if accept else find_inconsistencies(recording, contest)
    if inconsistencies:
        n_more = len(inconsistencies) - 1
        more = f", and {n_more} more" if n_more else ""
        raise InputError(
            f"left out, as it contradicts itself: {inconsistencies[0]}{more}",
            hint="`judge` lists all contradictions, --accept ranks it anyway",
        )
    robot = next(iter(header.robots.values()))
    origin = {"behaviour": robot.controller.partition(" ")[2], "robot": robot.robot, "seed": header.seed}
    return replace(run, figures={**run.figures, **origin}), contest.title, contest.rules_text
