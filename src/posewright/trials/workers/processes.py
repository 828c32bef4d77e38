"""Several processes that do a job side by side, and give their results in the order of the things."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

from posewright.errors import UnavailableError
from posewright.trials.workers.travelling import refuse_homebound
from posewright.trials.workers.worker import Answer, Failed, deaf_to_ctrl_c, serve

Thing = TypeVar("Thing")
Result = TypeVar("Result")


class Workers(Generic[Thing, Result]):
    """Processes that do a job beside this one, started when there is something to do.

    They are spawned, so that they hold no lock or file of ours; they do not hear Ctrl-C, which ends them
    through us; and when we are killed they end by themselves, with the thing they are at.
    """

    def __init__(self, job: Callable[[Thing], Result], count: int) -> None:
        """Check that the job can go to another process.

        Raises:
            InputError: it cannot.
        """
        refuse_homebound(job)
        self._job, self._count = job, count
        self._hands: dict[Connection, BaseProcess] = {}

    def each(self, things: Sequence[Thing]) -> Iterator[Result]:
        """Yield what comes of each thing, in their order.

        Raises:
            Exception: of the first thing, in their order, with which the job raised one: that one.
            UnavailableError: a worker ended before it was done.
        """
        if things:
            self._start()
        todo, done = iter(enumerate(things)), _InOrder[Result]()
        at_work = [hand for hand in list(self._hands)[: len(things)] if _set_to(hand, todo)]
        while at_work:
            for ready in wait(at_work):
                hand = cast("Connection", ready)  # nothing else was waited for
                done.take(self._heard(hand))
                if done.failed or not _set_to(hand, todo):
                    at_work.remove(hand)
            yield from done.ready()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in self._hands.values():
            process.terminate()
        for hand, process in self._hands.items():
            process.join()
            process.close()
            hand.close()
        self._hands.clear()

    def _start(self) -> None:
        """Start all of them, though one thing needs but one: they get ready side by side."""
        spawning = multiprocessing.get_context("spawn")
        while len(self._hands) < self._count:
            ours, theirs = spawning.Pipe()
            process = spawning.Process(target=serve, args=(theirs, self._job), daemon=True)
            with deaf_to_ctrl_c():
                process.start()
            theirs.close()  # or the end of the worker would not be seen here
            self._hands[ours] = process

    def _heard(self, hand: Connection) -> Answer[Result]:
        try:
            answer: Answer[Result] = hand.recv()
        except (EOFError, OSError) as error:  # nothing, or half an answer
            process = self._hands[hand]
            process.join()
            raise _told(process.exitcode) from error
        return answer


class _InOrder(Generic[Result]):
    """Answers that come as they come, given out in the order of the things."""

    def __init__(self) -> None:
        self._answers: dict[int, Answer[Result]] = {}
        self._next = 0
        self.failed = False

    def take(self, answer: Answer[Result]) -> None:
        self._answers[answer.index] = answer
        self.failed = self.failed or isinstance(answer, Failed)

    def ready(self) -> Iterator[Result]:
        """Yield the results that are next; raise the error that is."""
        while self._next in self._answers:
            answer = self._answers.pop(self._next)
            if isinstance(answer, Failed):
                raise answer.error
            self._next += 1
            yield answer.result


def _set_to(hand: Connection, todo: Iterator[tuple[int, Thing]]) -> bool:
    """Hand the next thing to a worker; say whether there was one."""
    task = next(todo, None)
    if task is not None:
        with contextlib.suppress(ConnectionError):  # it has ended, which is heard of when it is waited for
            hand.send(task)
    return task is not None


def _told(code: int | None) -> UnavailableError:
    """Return the error that says how a worker ended."""
    if code is not None and code < 0:
        return UnavailableError(
            f"a worker process was ended by {_named(-code)} before it was done",
            hint="a machine that runs out of memory ends processes so; fewer workers take less",
        )
    return UnavailableError(
        f"a worker process ended with exit code {code} before it was done",
        hint="if it never begins: a script that has workers stands under `if __name__ == '__main__':`",
    )


def _named(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
