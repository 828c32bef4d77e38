"""Who evaluates candidates: this process alone, or several processes beside it."""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import traceback
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from types import TracebackType
from typing import Protocol, Self, TypeAlias, cast

from posewright.errors import InputError, UnavailableError
from posewright.trials.tuning.problem import Evaluation, Problem

Candidates: TypeAlias = Sequence[Mapping[str, float]]

MOST_WORKERS = 1024

_NO_PICKLE = (pickle.PickleError, TypeError, AttributeError, ValueError, ImportError, RecursionError)
"""What comes of an object that cannot travel; other errors end the worker, which is seen too."""


class Crew(Protocol):
    """Whoever evaluates candidates."""

    def evaluate(self, candidates: Candidates) -> Iterator[Evaluation]:
        """Yield the evaluation of each candidate, in their order."""
        ...


def crew_for(problem: Problem, workers: int, most: int) -> contextlib.AbstractContextManager[Crew]:
    """Return who evaluates: with one worker this process itself.

    Args:
        problem: what to evaluate.
        workers: how many processes are asked for.
        most: how many candidates there are at once; more processes would have nothing to do.

    Raises:
        InputError: a number of workers that cannot be, or a problem that cannot go to another process.
    """
    if not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"{workers} workers", hint=f"1 to {MOST_WORKERS}; as many as there are processors")
    return contextlib.nullcontext(Alone(problem)) if workers == 1 else Workers(problem, min(workers, most))


def judged(problem: Problem, values: Mapping[str, float]) -> Evaluation:
    """Return a problem's evaluation of a candidate, and nothing else it might return."""
    result: object = problem.evaluate(dict(values))
    if not isinstance(result, Evaluation):
        raise InputError(f"the problem's evaluate returned {result!r}", hint="an Evaluation")
    return result


class Alone:
    """This process evaluates."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def evaluate(self, candidates: Candidates) -> Iterator[Evaluation]:
        """Yield the evaluation of each candidate, in their order."""
        return (judged(self._problem, values) for values in candidates)


class Workers:
    """Processes that evaluate beside this one, started when there is something to do.

    They are spawned, so that they hold no lock or file of ours; they do not hear Ctrl-C, which ends them
    through us; and when we are killed they end by themselves, with the candidate they are at.
    """

    def __init__(self, problem: Problem, count: int) -> None:
        """Check that the problem can go to another process.

        Raises:
            InputError: it cannot.
        """
        try:
            ForkingPickler.loads(ForkingPickler.dumps(problem))
        except _NO_PICKLE as error:
            raise InputError(
                f"this problem cannot be handed to another process: {error}",
                hint="its class stands at the top of a module and holds nothing open; or take one worker",
            ) from error
        self._problem, self._count = problem, count
        self._hands: dict[Connection, multiprocessing.process.BaseProcess] = {}

    def evaluate(self, candidates: Candidates) -> Iterator[Evaluation]:
        """Yield the evaluation of each candidate, in their order.

        Raises:
            Exception: the first candidate's, in their order, whose evaluation raised one: its own.
            UnavailableError: a worker ended before its candidate was done.
        """
        self._start()
        todo, done = iter(enumerate(candidates)), _InOrder()
        at_work = [hand for hand in list(self._hands)[: len(candidates)] if self._set_to(hand, todo)]
        while at_work:
            for ready in wait(at_work):
                hand = cast("Connection", ready)  # nothing else was waited for
                done.take(*self._heard(hand))
                if done.failed or not self._set_to(hand, todo):
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
        """Start all of them, though one candidate needs but one: they get ready side by side."""
        spawning = multiprocessing.get_context("spawn")
        while len(self._hands) < self._count:
            ours, theirs = spawning.Pipe()
            process = spawning.Process(target=_serve, args=(theirs, self._problem), daemon=True)
            with _deaf_to_ctrl_c():
                process.start()
            theirs.close()  # or the end of the worker would not be seen here
            self._hands[ours] = process

    def _set_to(self, hand: Connection, todo: Iterator[tuple[int, Mapping[str, float]]]) -> bool:
        """Hand the next candidate to a worker; say whether there was one."""
        task = next(todo, None)
        if task is not None:
            with contextlib.suppress(ConnectionError):  # it has ended; it is heard of below
                hand.send((task[0], dict(task[1])))
        return task is not None

    def _heard(self, hand: Connection) -> tuple[int, Evaluation | Exception]:
        try:
            answer: tuple[int, Evaluation | Exception] = hand.recv()
        except (EOFError, ConnectionError) as error:
            process = self._hands[hand]
            process.join()
            raise UnavailableError(
                f"a worker process ended with exit code {process.exitcode} before its candidate was done",
                hint="if it never begins: a script that tunes stands under `if __name__ == '__main__':`",
            ) from error
        return answer


class _InOrder:
    """Answers that come as they come, given out in the order of the candidates."""

    def __init__(self) -> None:
        self._answers: dict[int, Evaluation | Exception] = {}
        self._next = 0
        self.failed = False

    def take(self, index: int, answer: Evaluation | Exception) -> None:
        self._answers[index] = answer
        self.failed = self.failed or isinstance(answer, Exception)

    def ready(self) -> Iterator[Evaluation]:
        """Yield the answers that are next; raise the error that is."""
        while self._next in self._answers:
            answer = self._answers.pop(self._next)
            if isinstance(answer, Exception):
                raise answer
            self._next += 1
            yield answer


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Start a process that Ctrl-C does not reach: what is blocked here is blocked there from the first."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(hand: Connection, problem: Problem) -> None:
    """Evaluate what comes, in a process of its own, until nobody is there any more or something is wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            index, values = hand.recv()
            try:
                answer = judged(problem, values)
            except Exception as error:
                hand.send((index, portable(error)))
                raise SystemExit(1) from error
            hand.send((index, answer))


def portable(error: Exception) -> Exception:
    """Return an error that can go to another process, with a note of where it arose.

    Where it cannot travel itself, it is a RuntimeError that tells of it.
    """
    story = "".join(traceback.format_exception(error))
    error.add_note(f"in a worker process:\n{story}")
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except _NO_PICKLE:
        substitute = RuntimeError(f"{type(error).__name__}: {error}")
        substitute.add_note(f"in a worker process:\n{story}")
        return substitute
    return error
