"""Handlers of the signals that end the command: SIGINT (Ctrl-C), SIGTERM and SIGHUP."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_SHELL_SIGNAL_BASE = 128
"""A shell reports a process that a signal ended by this exit code plus the signal's number."""

_RAISE_DELAY_S = 0.01

_received: list[BaseException] = []
"""What the handler has raised so far; the last is the signal that ends the command."""

_announced: list[bool] = []
"""Not empty once a message was printed after a signal: the user knows that the command was stopped."""


def install_handlers() -> None:
    """Let each signal raise KeyboardInterrupt or SystemExit, even where Python discards exceptions."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _raise_stop)
    signals = [signal.SIGTERM]
    if sys.platform != "win32":
        signals.append(signal.SIGHUP)
    for number in signals:
        if signal.getsignal(number) is signal.SIG_DFL:  # `nohup` makes the process ignore it
            signal.signal(number, _raise_stop)
    sys.unraisablehook = _raise_later


def announce_stop() -> None:
    """Note that a message is being printed; after a signal it tells the user that the command stopped."""
    if _received:
        _announced.append(True)


def is_silent_stop() -> bool:
    """Return whether a signal was received and nothing has been printed since."""
    return bool(_received) and not _announced


def raise_pending() -> None:
    """Raise the exception of a received signal once more, if there is one.

    Compiled code that was interrupted may have replaced it by an exception of its own.
    """
    if _received:
        raise _received[-1]


def leave(code: int) -> NoReturn:
    """Exit with a code. After a signal, skip Python's finalization, which may crash half-loaded libraries."""
    if _received:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # the disk is full, or the stream is closed
                stream.flush()
        os._exit(code)
    raise SystemExit(code)


def _raise_stop(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- signature of a handler
    """Raise KeyboardInterrupt for SIGINT, else SystemExit with the code that a shell reports."""
    stop = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(_SHELL_SIGNAL_BASE + number)
    _received.append(stop)
    raise stop


def _raise_later(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise a signal's exception 10 ms later if Python discarded it, as in the callback of an import lock.

    Other discarded exceptions are reported as by default.
    """
    stop = unraisable.exc_value
    if not isinstance(stop, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(unraisable)
    elif not sys.is_finalizing() and sys.platform != "win32":
        signal.signal(signal.SIGALRM, lambda *_: _raise(stop))
        signal.setitimer(signal.ITIMER_REAL, _RAISE_DELAY_S)


def _raise(stop: BaseException) -> NoReturn:
    raise stop
