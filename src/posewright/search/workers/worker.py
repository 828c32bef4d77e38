"""A worker: what runs in a process of its own, and what it answers."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, TypeAlias, TypeVar

from posewright.search.workers.travelling import portable

Thing = TypeVar("Thing")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """What came of a thing.

    Attributes:
        index: which one it was.
        result: what the job returned.
    """

    index: int
    result: Result


@dataclass(frozen=True, slots=True)
class Failed:
    """What the job raised.

    Attributes:
        index: with which thing.
        error: the job's own, fit for travel.
    """

    index: int
    error: Exception


Answer: TypeAlias = Done[Result] | Failed


def serve(pipe: Connection, job: Callable[[Thing], Result]) -> None:
    """Do a job with what comes, until nobody is there any more or something is wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            index, thing = pipe.recv()
            try:
                pipe.send(Done(index, job(thing)))  # a result that cannot travel is an error of the job, too
            # Whatever the job raises is for who asked, who is in another process: it is raised there, as here
            # nobody would see it. What it left behind in this process nobody knows, so that ends.
            except Exception as error:
                pipe.send(Failed(index, portable(error)))
                raise SystemExit(1) from error
