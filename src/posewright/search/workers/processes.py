"""Several processes that do a job side by side, and give their results in the order of the things."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

from posewright.errors import InputError, UnavailableError
from posewright.search.workers.ctrl_c import deaf_to_ctrl_c
from posewright.search.workers.travelling import refuse_homebound
from posewright.search.workers.worker import Answer, Failed, serve

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
        self._pipes: dict[Connection, BaseProcess] = {}
        self._at_work: list[Connection] = []

    def each(self, things: Sequence[Thing]) -> Iterator[Result]:
        """Yield what comes of each thing, in their order.

        Whoever leaves before the last result ends the workers that are still at one; others start when there
        is something to do again.

        Raises:
            Exception: of the first thing, in their order, with which the job raised one: that one.
            UnavailableError: a worker ended before it was done.
            InputError: the results of things handed in before are still awaited.
        """
        if self._at_work:
            raise InputError(
                "the workers are still at other things",
                hint="take all their results, or close who gives them",
            )
        if things:
            self._start()
        todo, done = iter(enumerate(things)), _InOrder[Result]()
        try:
            self._set_all_to(todo, len(things))
            while self._at_work:
                lost = self._hear(todo, done)
                yield from done.ready()
                if lost:
                    raise lost[0]
        finally:
            self._end(self._at_work)  # or their answers would be taken for those of the things that come next
            self._at_work.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(self._pipes)

    def _start(self) -> None:
        """Start all of them, though one thing needs but one: they get ready side by side."""
        spawning = multiprocessing.get_context("spawn")
        while len(self._pipes) < self._count:
            ours, theirs = spawning.Pipe()
            process = spawning.Process(target=serve, args=(theirs, self._job), daemon=True)
            with deaf_to_ctrl_c():  # until it is known who is to be ended
                process.start()
                theirs.close()  # or the end of the worker would not be seen here
                self._pipes[ours] = process

    def _set_all_to(self, todo: Iterator[tuple[int, Thing]], most: int) -> None:
        """Hand each worker a thing, as long as there are some: so many are there at most."""
        for pipe in list(self._pipes)[:most]:
            self._at_work.append(pipe)
            _set_to(pipe, todo)

    def _hear(self, todo: Iterator[tuple[int, Thing]], done: _InOrder[Result]) -> list[UnavailableError]:
        """Take the answers there are, and hand out the next things; return how workers ended without one."""
        lost = []
        for ready in wait(self._at_work):
            pipe = cast("Connection", ready)  # nothing else was waited for
            try:
                done.take(answer := pipe.recv())
            except (EOFError, OSError):  # nothing, or half an answer
                lost.append(self._how_it_ended(pipe))
                continue
            if done.failed or not _set_to(pipe, todo):
                self._at_work.remove(pipe)
            if isinstance(answer, Failed):
                self._end([pipe])  # as it does by itself
        return lost

    def _how_it_ended(self, pipe: Connection) -> UnavailableError:
        process = self._pipes[pipe]
        process.join()
        return _told(process.exitcode)

    def _end(self, pipes: Iterable[Connection]) -> None:
        """End the workers at the other ends of pipes, those that are still there."""
        ending = [(pipe, self._pipes[pipe]) for pipe in pipes if pipe in self._pipes]
        for _, process in ending:
            process.terminate()
        for pipe, process in ending:
            process.join()
            del self._pipes[pipe]
            process.close()
            pipe.close()


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


def _set_to(pipe: Connection, todo: Iterator[tuple[int, Thing]]) -> bool:
    """Hand the next thing to a worker; say whether there was one."""
    task = next(todo, None)
    if task is not None:
        with contextlib.suppress(ConnectionError):  # it has ended, which is heard of when it is waited for
            pipe.send(task)
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
