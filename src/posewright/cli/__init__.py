"""The command line: one file a verb, each a thin coat over its Python twin."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress
from types import FrameType
from typing import NoReturn

ENDING = ("SIGTERM", "SIGHUP")


def main() -> None:
    """Run the command line and exit with its code."""
    # Typer loads pydantic, which would look through everything installed for plugins, at every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        for one in (getattr(signal, name) for name in ENDING if hasattr(signal, name)):
            if signal.getsignal(one) is signal.SIG_DFL:  # `nohup` has it ignored
                signal.signal(one, _end)
        from posewright.cli.app import run
        from posewright.cli.console import warn

        warnings.showwarning = lambda message, *_, **__: warn(str(message))
        sys.unraisablehook = _hear_again
        code = run()
    except KeyboardInterrupt:  # while modules were loaded: `run` has an answer of its own
        with suppress(OSError, AttributeError):  # stderr is full, or closed
            sys.stderr.write("error: stopped\n")
        code = 130
    raise SystemExit(code)


def _end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- what signal handlers are given
    """End as a shell counts it, once what was begun is put away."""
    raise SystemExit(128 + number)


def _hear_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise again what a signal raised where nothing can be raised, as in an import lock's callback."""
    stop = lost.exc_value
    if not isinstance(stop, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(lost)
    elif not sys.is_finalizing() and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: _raise(stop))
        signal.setitimer(signal.ITIMER_REAL, 0.01)


def _raise(stop: BaseException) -> NoReturn:
    raise stop
