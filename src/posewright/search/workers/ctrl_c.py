"""Ctrl-C while a process starts: it is heard afterwards, and the new process does not hear it at all."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
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
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it starts with the first process else, and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
