"""A worker: what runs in a process of its own, and what it answers."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, TypeAlias, TypeVar

from posewright.trials.workers.travelling import portable

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


def serve(hand: Connection, job: Callable[[Thing], Result]) -> None:
    """Do a job with what comes, until nobody is there any more or something is wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            index, thing = hand.recv()
            try:
                hand.send(Done(index, job(thing)))  # a result that cannot travel is an error of the job, too
            except Exception as error:
                hand.send(Failed(index, portable(error)))
                raise SystemExit(1) from error


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Start a process that Ctrl-C does not reach: what is blocked here is blocked there from the first."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
