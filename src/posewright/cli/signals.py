"""Signals that end the command: Ctrl-C, SIGTERM and SIGHUP, wherever in the program they come."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_came: list[BaseException] = []


def listen() -> None:
    """Let each of them raise KeyboardInterrupt or SystemExit, also where Python loses what is raised."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
    for one in (getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)):
        if signal.getsignal(one) is signal.SIG_DFL:  # `nohup` has it ignored
            signal.signal(one, _end)
    sys.unraisablehook = _hear_again


def raise_again() -> None:
    """Raise what a signal raised, where there was one: compiled code may have made another error of it."""
    if _came:
        raise _came[-1]


def leave(code: int) -> NoReturn:
    """Exit with a code; after a signal without Python's own end, which a half-loaded library may crash."""
    if _came:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # full, or closed
                stream.flush()
        os._exit(code)
    raise SystemExit(code)


def _end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- what signal handlers are given
    """End as a shell counts it, once what was begun is put away."""
    _came.append(KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number))
    raise _came[-1]


def _hear_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise it a moment later where nothing can be raised, as in the callback of an import lock."""
    stop = lost.exc_value
    if not isinstance(stop, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(lost)
    elif not sys.is_finalizing() and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: _raise(stop))
        signal.setitimer(signal.ITIMER_REAL, 0.01)


def _raise(stop: BaseException) -> NoReturn:
    raise stop
