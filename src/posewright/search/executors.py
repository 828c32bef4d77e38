"""Executors: run one task for many items in this process, in local worker processes, or on a cluster.

Any `concurrent.futures.Executor` works: local processes from `open_executor`, or
`distributed.Client(...).get_executor()` of a Dask cluster. Results come in the order of the items.
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
P = ParamSpec("P")
R = TypeVar("R")

MAX_WORKERS = 1024

_PICKLE_ERRORS = (pickle.PickleError, TypeError, AttributeError, ValueError, ImportError, RecursionError)
"""Errors that pickling or unpickling an object may raise."""


@contextlib.contextmanager
def open_executor(workers: int, max_useful: int) -> Iterator[Executor | None]:
    """Open an executor with a number of worker processes; None if one is enough, for this process alone.

    Args:
        workers: number of processes.
        max_useful: number of items that are processed at once; there are no more workers than that.

    Raises:
        InputError: the number is not an integer from 1 to `MAX_WORKERS`.
    """
    requested: object = workers  # a caller may pass any type
    if isinstance(requested, bool) or not isinstance(requested, int) or not 1 <= workers <= MAX_WORKERS:
        hint = f"expected 1 to {MAX_WORKERS}; the number of processors is a good choice"
        raise InputError(f"{workers!r} workers", hint=hint)
    n_workers = max(1, min(workers, max_useful))
    if n_workers == 1:
        yield None
        return
    pool = WorkerPool(n_workers)
    try:
        yield pool
    finally:
        pool.terminate()


def map_in_order(
    task: Callable[[Item], Result], items: Sequence[Item], executor: Executor | None = None
) -> Iterator[Result]:
    """Yield the result of a task for each item, in the order of the items.

    The task is unpickled once in each worker, so what it caches, for example a compiled model, serves all its
    items. If the generator is closed before the last result, running tasks are terminated.

    Args:
        task: the task to be run; its result must depend on the item only.
        items: arguments of the task.
        executor: runs the tasks; None for this process.

    Raises:
        Exception: that the task raised, of the first such item.
        InputError: the task cannot be pickled.
        UnavailableError: a worker process ended unexpectedly.
    """
    if executor is None:
        yield from map(task, items)
        return
    pickled_task = pickle_task(task)
    digest = hashlib.sha256(pickled_task).digest()
    futures: list[Future[Result]] = []
    try:
        for item in items:
            futures.append(executor.submit(_run_task, digest, pickled_task, item))
        for future in futures:
            yield future.result()
    except BrokenExecutor as error:
        cause = executor.describe_failure() if isinstance(executor, WorkerPool) else ""
        raise UnavailableError(
            f"a worker process ended{cause} before it was done",
            hint="out of memory? Fewer workers take less. If no worker ever starts: a script with workers "
            "must run them under `if __name__ == '__main__':`",
        ) from error
    finally:
        if not isinstance(executor, WorkerPool):
            for future in futures:
                future.cancel()  # without effect on those that are done
        elif not all(future.done() for future in futures):
            executor.terminate()


class WorkerPool(Executor):
    """A pool of local worker processes, started on first use.

    Workers are spawned, not forked, so they inherit no locks or open files. They ignore SIGINT (the parent
    terminates them) and exit when the parent dies.

    Args:
        n_workers: number of processes.
    """

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self._pool: ProcessPoolExecutor | None = None
        self._foreign_pids: set[int | None] = set()  # children that existed before the pool
        self._started_workers: set[BaseProcess] = set()

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Schedule a call in a worker process."""
        with _defer_sigint():  # since the call may start a process
            if self._pool is None:
                self._foreign_pids = {child.pid for child in multiprocessing.active_children()}
                spawn = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self._n_workers, spawn, _initialise_worker)
            try:
                future = self._pool.submit(fn, *args, **kwargs)
            except BrokenExecutor:
                self.terminate()
                raise
            self._started_workers.update(self._active_workers())
            return future

    def _active_workers(self) -> Iterator[BaseProcess]:
        """Yield the processes of the pool that are running."""
        for child in multiprocessing.active_children():
            if child.pid not in self._foreign_pids:
                yield child

    def describe_failure(self) -> str:
        """Terminate all workers, and return why the pool is broken, to follow "a worker process ended".

        Returns:
            The signal or exit code of a worker that ended by itself, such as ` by SIGKILL`; empty if unknown.
        """
        self.terminate()
        for child in self._started_workers:
            exit_code = child.exitcode
            was_terminated_by_us = exit_code in (0, -signal.SIGTERM)
            if exit_code is None or was_terminated_by_us:
                continue
            is_signal = -exit_code in set(signal.Signals)  # a negative code is the signal that ended it
            if is_signal:
                return f" by {signal.Signals(-exit_code).name}"
            return f" with exit code {exit_code}"
        return ""

    def terminate(self) -> None:
        """Terminate all workers at once; the next call starts new ones."""
        pool = self._pool
        self._pool = None
        if pool is None:
            return
        for child in self._active_workers():
            child.terminate()
        with contextlib.redirect_stderr(io.StringIO()):  # the pool's queue may report its broken pipe
            pool.shutdown(wait=True)


# In the workers.

_tasks: dict[bytes, Callable[[object], object]] = {}
"""The last task that was unpickled, by its digest."""


def _run_task(digest: bytes, pickled_task: bytes, item: object) -> Any:  # a pickled task's type is not known
    """Run a task for an item, unpickling the task once per worker; `digest` identifies it."""
    if digest not in _tasks:
        _tasks.clear()
        _tasks[digest] = pickle.loads(pickled_task)  # noqa: S301 -- from the process that started this one
    try:
        return _tasks[digest](item)
    except Exception as error:  # raised again in the parent process
        raise _make_picklable(error) from None


def pickle_task(task: object) -> bytes:
    """Return a task as bytes.

    Raises:
        InputError: it cannot be pickled and unpickled.
    """
    try:
        pickled = pickle.dumps(task)
        pickle.loads(pickled)  # noqa: S301 -- our own
    except _PICKLE_ERRORS as error:
        raise InputError(
            f"the task cannot be sent to another process: {error}",
            hint="define its class at the top of a module and keep no open files in it; or use one worker",
        ) from error
    return pickled


def _make_picklable(error: Exception) -> Exception:
    """Return an error that can be pickled, with a note of its traceback.

    An error that cannot be pickled itself becomes a RuntimeError with its text.
    """
    note = f"in a worker process:\n{''.join(traceback.format_exception(error))}"
    error.add_note(note)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own
    except _PICKLE_ERRORS:
        error = RuntimeError(f"{type(error).__name__}: {error}")
        error.add_note(note)
    return error


def _initialise_worker() -> None:
    """Let a worker ignore SIGINT, exit on SIGTERM and with its parent, and print to stderr only.

    The parent's stdout is for results; what a worker prints comes from a user's code.
    """
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_on_signal(signum: int, frame: object) -> None:  # noqa: ARG001 -- the signature of signal handlers
    """End the worker by the signal's default action, even if its task handles the signal, as `drive` does."""
    signal.signal(signum, signal.SIG_DFL)
    signal.raise_signal(signum)


def _exit_with_parent() -> None:
    """Wait until the parent process ends, then end this one at once."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


# SIGINT while workers start.


@contextlib.contextmanager
def _defer_sigint() -> Iterator[None]:
    """Handle SIGINT after the block; a process that starts inside it ignores SIGINT from the beginning."""
    with _defer_python_handler(), _block_sigint():
        yield


@contextlib.contextmanager
def _defer_python_handler() -> Iterator[None]:
    """Call the main thread's SIGINT handler after the block.

    Blocking the signal is not enough: another thread, for example one of NumPy's, may receive it, and Python
    then raises KeyboardInterrupt in the main thread.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield  # only the main thread is interrupted, and a handler that is not Python's cannot be restored
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda signum, _: received.append(signum))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if received:
            signal.raise_signal(received[0])


@contextlib.contextmanager
def _block_sigint() -> Iterator[None]:
    """Block SIGINT in this thread; processes that start inside the block inherit that."""
    if sys.platform == "win32":  # has no signal masks
        yield
        return
    resource_tracker.ensure_running()  # otherwise it starts with the first process and unblocks the signal
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
