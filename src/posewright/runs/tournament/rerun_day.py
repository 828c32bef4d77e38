"""`rerun_day`: simulates all runs of a contest day again, and compares the digests."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.runs.batch import stem_of
from posewright.runs.rerun import Rerun, RerunStatus, rerun_files
from posewright.runs.tournament.day import Day


def rerun_day(day: Day, *, trust_python: bool = False, workers: int = 1) -> Iterator[tuple[str, Rerun]]:
    """Yield each run of a day that ended without an error, as `contest/run`, with the result of its rerun.

    A recording that is not the one of which the day's ranking was made counts as different.

    Args:
        day: the day.
        trust_python: whether to execute Python code that the recordings carry.
        workers: number of processes.
    """
    finished = [
        (folder_name, run)
        for discipline in day.disciplines
        for folder_name, run in discipline.all_runs
        if run.error is None
    ]
    paths = [day.folder / folder_name / f"{stem_of('run', run.name)}.mcap" for folder_name, run in finished]
    reruns = rerun_files(paths, trust_python=trust_python, workers=workers)
    for (folder_name, run), repeated in zip(finished, reruns, strict=True):
        name = f"{folder_name}/{run.name}"
        if repeated.digest and repeated.digest != run.digest:
            reason = "the file is not the recording of the day"
            yield name, Rerun(RerunStatus.DIFFERENT, reason, run.digest, repeated.digest)
        else:
            yield name, repeated
