"""Executors: one task done with many items, by this process alone, by several beside it, or by a cluster.

Anything that fulfils `concurrent.futures.Executor` will do: processes of this machine by `executor_for`,
or `distributed.Client(...).get_executor()` of a Dask cluster. Results come in the order of the items,
whoever does which.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar

from posewright.errors import InputError, UnavailableError

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_WORKERS = 1024

_NO_PICKLE = (pickle.PickleError, TypeError, AttributeError, ValueError, ImportError, RecursionError)
"""What comes of an object that cannot go to another process."""


@contextlib.contextmanager
def executor_for(workers: int, most: int) -> Iterator[Executor | None]:
    """Give an executor of so many processes; None, for this process alone, where one is enough.

    There are no more than `most`, the items at once. It raises InputError for a number that cannot be.
    """
    asked: object = workers
    if isinstance(asked, bool) or not isinstance(asked, int) or not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"{workers!r} workers", hint=f"1 to {MOST_WORKERS}; as many as there are processors")
    count = max(1, min(workers, most))
    if count == 1:
        yield None
        return
    executor = Processes(count)
    try:
        yield executor
    finally:
        executor.end()


def in_order(
    task: Callable[[Item], Result], items: Sequence[Item], executor: Executor | None = None
) -> Iterator[Result]:
    """Yield what comes of each item, in their order; the result hangs on the item alone, not on who did it.

    The task is made once in each worker; what it keeps there, a compiled world say, serves all its items.
    Whoever leaves before the last result ends what is still being done.

    Raises:
        Exception: of the first item, in their order, with which the task raised one: that one.
        InputError: the task cannot go to another process.
        UnavailableError: a worker ended before it was done.
    """
    if executor is None:
        yield from map(task, items)
        return
    pickled = packed(task)
    digest = hashlib.sha256(pickled).digest()
    futures: list[Future[Result]] = []
    try:
        futures += [executor.submit(_call, digest, pickled, item) for item in items]
        for future in futures:
            yield future.result()
    except BrokenExecutor as error:
        how = executor.how_one_ended() if isinstance(executor, Processes) else ""
        raise UnavailableError(
            f"a worker process ended{how} before it was done",
            hint="out of memory? Fewer workers take less. If none ever begins: a script that has workers "
            "stands under `if __name__ == '__main__':`",
        ) from error
    finally:
        if not isinstance(executor, Processes):
            for future in futures:
                future.cancel()
        elif not all(future.done() for future in futures):
            executor.end()


P = ParamSpec("P")
R = TypeVar("R")


class Processes(Executor):
    """Processes of this machine, started when there is something to do.

    They are spawned, so that they hold no lock or file of ours; they do not hear Ctrl-C, which ends them
    through us; and when we are killed they end by themselves, with the item they are at.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._pool: ProcessPoolExecutor | None = None
        self._others: set[int | None] = set()
        self._started: set[BaseProcess] = set()

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Let a process call a function."""
        with _deaf_to_ctrl_c():  # a call may start a process
            if self._pool is None:
                self._others = {child.pid for child in multiprocessing.active_children()}
                self._pool = ProcessPoolExecutor(self._count, multiprocessing.get_context("spawn"), _begin)
            try:
                future = self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self.end()
                raise
            children = multiprocessing.active_children()
            self._started.update(child for child in children if child.pid not in self._others)
            return future

    def how_one_ended(self) -> str:
        """End them all, and return in words how one had ended by itself; nothing where that is not known."""
        self.end()
        for code in (child.exitcode for child in self._started):
            if code is not None and code not in (0, -signal.SIGTERM):  # by which the others were ended
                known = -code in set(signal.Signals)
                return f" by {signal.Signals(-code).name}" if known else f" with exit code {code}"
        return ""

    def end(self) -> None:
        """End all processes at once, with what they are at; others start when there is something to do."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for child in multiprocessing.active_children():
            if child.pid not in self._others:
                child.terminate()
        with contextlib.redirect_stderr(io.StringIO()):  # its queue may tell there of the pipe that is gone
            pool.shutdown(wait=True)


_tasks: dict[bytes, Callable[[object], object]] = {}


def _call(digest: bytes, pickled: bytes, item: object) -> Any:
    """Do the task with an item in a worker, where the task is unpickled once.

    `Any`: of which type the result is, a pickled task does not say.
    """
    if digest not in _tasks:
        _tasks.clear()
        _tasks[digest] = pickle.loads(pickled)  # noqa: S301 -- from the process that started this one
    try:
        return _tasks[digest](item)
    # Whatever the task raises is for who asked, who is in another process: it is raised there.
    except Exception as error:
        raise _portable(error) from None


def packed(task: object) -> bytes:
    """Return the task as bytes, or raise an InputError where it cannot go to another process."""
    try:
        pickled = pickle.dumps(task)
        pickle.loads(pickled)  # noqa: S301 -- our own
    except _NO_PICKLE as error:
        raise InputError(
            f"what is to be done cannot be handed to another process: {error}",
            hint="its class stands at the top of a module and holds nothing open; or take one worker",
        ) from error
    return pickled


def _portable(error: Exception) -> Exception:
    """Return an error that can go to another process, with a note of where it arose.

    Where it cannot travel itself, it is a RuntimeError that tells of it.
    """
    story = f"in a worker process:\n{''.join(traceback.format_exception(error))}"
    error.add_note(story)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own
    except _NO_PICKLE:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(story)
    return error


def _begin() -> None:
    """Begin a worker: Ctrl-C is for who started it, and when that one is gone, so is the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_at_once)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_at_once(signum: int, frame: object) -> None:  # noqa: ARG001 -- what signal handlers are given
    """End the worker, and not just a task in it that turns the signal into an exception, as `drive` does."""
    signal.signal(signum, signal.SIG_DFL)
    signal.raise_signal(signum)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C wait until all within is done; a process that starts there is deaf to it from the first."""
    with _heard_later(), _blocked():
        yield


@contextlib.contextmanager
def _heard_later() -> Iterator[None]:
    """Let the main thread hear of Ctrl-C at the end.

    To block the signal is not enough: another thread takes it then, one of NumPy's say, and Python raises
    KeyboardInterrupt in the main thread all the same.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # no other thread is interrupted, and a handler that is not Python's cannot be put back
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for number in came[:1]:
            signal.raise_signal(number)


@contextlib.contextmanager
def _blocked() -> Iterator[None]:
    """Block the signal, as a new process inherits what is blocked here."""
    if sys.platform == "win32":  # which knows no blocked signals
        yield
        return
    resource_tracker.ensure_running()  # it starts with the first process else, and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
