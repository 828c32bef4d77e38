"""`rank`: recordings of one contest, ordered by their scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from posewright.contests import Contest, contest_of, find_inconsistencies, has_contest
from posewright.documents import open_regular_file
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.formats import raise_if_other_kind
from posewright.recordings import Recording, describe_abort, read_mcap
from posewright.runs.batch import Batch, BatchRun
from posewright.runs.batch_trials import run_of
from posewright.runs.replaying import replay
from posewright.runs.rerun import Rerun, rerun_files

_HEAD_BYTES = 65536
"""How much of a file is read to find out what it is."""


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


def rank(
    *recordings: str | Path,
    accept: bool = False,
    rerun: bool = False,
    trust_python: bool = False,
    workers: int = 1,
) -> Batch:
    """Judge recordings of one contest and order them by its rules, best first.

    Equal recordings share a place, and the following places are skipped. Those that cannot be judged, and
    those that contradict themselves or were aborted, come last, with an error instead of a place.

    Args:
        recordings: paths of recordings, or of folders with recordings.
        accept: whether to rank recordings that contradict themselves, as forged ones do, or were aborted.
        rerun: whether to simulate every run again, and to leave out those that give another recording or
            cannot be repeated, unless `accept`.
        trust_python: whether to execute Python code that the recordings carry.
        workers: number of processes that simulate.

    Raises:
        InputError: there are no recordings, or they are of several contests or follow different rules.
    """
    runs: list[BatchRun] = []
    first_judged: _JudgedFile | None = None
    files = files_in(recordings, ".mcap")
    reruns: Iterable[Rerun | None] = [None] * len(files)
    if rerun and not accept:
        reruns = rerun_files(files.values(), trust_python=trust_python, workers=workers)
    for (name, path), repeated in zip(files.items(), reruns, strict=True):
        try:
            judged = _judge_file(name, path, accept=accept)
            if repeated is not None and not repeated.is_same:
                raise InputError(f"left out: {repeated}", hint="--accept ranks it anyway")
        except PosewrightError as error:
            runs.append(BatchRun(name, error=str(error).removeprefix(f"{path}: ")))
            continue
        if first_judged is None:
            first_judged = judged
        _require_same_contest(judged, first_judged)
        runs.append(judged.run)
    if not runs:
        raise InputError("there are no recordings to rank", hint="name recordings, or folders of them")
    unordered = Batch(
        "recording",
        measure="points",
        settings={"contest": "" if first_judged is None else first_judged.contest_title},
        runs=tuple(runs),
    )
    rankings = [run.ranking for run in unordered.ranked]
    ranked_runs = []
    for run in unordered.ranked:
        place = 1 + sum(ranking > run.ranking for ranking in rankings)
        ranked_runs.append(replace(run, figures={"place": place, **run.figures}))
    return replace(unordered, runs=(*ranked_runs, *unordered.failed))


class _JudgedFile(NamedTuple):
    """A judged recording.

    Attributes:
        path: the path of the recording.
        run: its entry in the batch.
        contest_title: title of its contest.
        rules_text: the rules by which it was judged.
    """

    path: Path
    run: BatchRun
    contest_title: str
    rules_text: str


def _require_same_contest(judged: _JudgedFile, first_judged: _JudgedFile) -> None:
    """Raise an InputError unless two recordings are of one contest with the same rules."""
    title = first_judged.contest_title
    if judged.contest_title != title:
        difference = f"this is of {judged.contest_title!r}"
    elif judged.rules_text != first_judged.rules_text:
        difference = "this was run by other rules"
    else:
        return
    raise InputError(
        f"{difference}: it cannot be ranked with the others",
        where=Where(judged.path),
        hint=f"{first_judged.path} is of {title!r}; rank them separately",
    )


def _judge_file(name: str, path: Path, *, accept: bool) -> _JudgedFile:
    """Judge a recording; its figures include the behaviour, the robot and the seed.

    Raises:
        InputError: it cannot be judged, or `accept` is false and it contradicts itself or was aborted.
    """
    try:
        recording = read_mcap(path)
    except FormatError:
        with open_regular_file(path) as file:
            raise_if_other_kind(file.read(_HEAD_BYTES), path, {"mcap"}, "a recording")
        raise
    header = recording.header
    if not has_contest(header):
        raise InputError("the recording is not of a contest", where=Where(path))
    contest = contest_of(header)
    run = run_of(name, replay(recording))
    if not accept:
        _require_consistent(recording, contest)
    robot = next(iter(header.robots.values()))
    _, _, behaviour = robot.controller.partition(" ")  # the kind of program, and its name
    origin = {"behaviour": behaviour, "robot": robot.robot, "seed": header.seed}
    run = replace(run, figures={**run.figures, **origin})
    return _JudgedFile(path, run, contest.title, contest.rules_text)


def _require_consistent(recording: Recording, contest: Contest) -> None:
    """Raise an InputError if a recording contradicts itself, or its run was aborted."""
    hint = "`judge` tells more, --accept ranks it anyway"
    if remark := describe_abort(recording):
        raise InputError(f"left out: {remark}", hint=hint)
    if contradiction := describe_contradiction(recording, contest):
        raise InputError(f"left out, as {contradiction}", hint=hint)


def describe_contradiction(recording: Recording, contest: Contest) -> str:
    """Return how a recording contradicts itself, as forged ones do; empty if it does not."""
    inconsistencies = find_inconsistencies(recording, contest)
    if not inconsistencies:
        return ""
    n_more = len(inconsistencies) - 1
    more = f", and {n_more} more" if n_more else ""
    return f"it contradicts itself: {inconsistencies[0]}{more}"
