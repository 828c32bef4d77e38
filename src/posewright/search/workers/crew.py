"""Who does a job: this process alone, or several processes beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeAlias, TypeVar

from posewright.errors import InputError
from posewright.search.workers.processes import Workers

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Thing_contra = TypeVar("Thing_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)

Job: TypeAlias = Callable[[Thing], Result]

MOST_WORKERS = 1024


class Crew(Protocol[Thing_contra, Result_co]):
    """Whoever does a job."""

    def each(self, things: Sequence[Thing_contra]) -> Iterator[Result_co]:
        """Yield what comes of each thing, in their order; raise what the job raises, after those before."""
        ...


def crew_for(
    job: Job[Thing, Result], workers: int, most: int
) -> contextlib.AbstractContextManager[Crew[Thing, Result]]:
    """Return who does a job: where one worker is enough, this process itself.

    Args:
        job: what is done with each thing; the result hangs on the thing alone, not on who did it.
        workers: how many processes are asked for.
        most: how many things there are at once; more processes would have nothing to do.

    Raises:
        InputError: a number of workers that cannot be, or a job that cannot go to another process.
    """
    _expect_workers(workers)
    count = max(1, min(workers, most))  # who has nothing to do can do it alone
    return contextlib.nullcontext(Alone(job)) if count == 1 else Workers(job, count)


class Alone(Generic[Thing, Result]):
    """This process does it."""

    def __init__(self, job: Job[Thing, Result]) -> None:
        self._job = job

    def each(self, things: Sequence[Thing]) -> Iterator[Result]:
        """Yield what comes of each thing, in their order."""
        return map(self._job, things)


def _expect_workers(workers: object) -> None:
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"{workers!r} workers", hint=f"1 to {MOST_WORKERS}; as many as there are processors")
