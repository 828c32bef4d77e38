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
        code = run()
    except KeyboardInterrupt:  # while modules were loaded: `run` has an answer of its own
        with suppress(OSError, AttributeError):  # stderr is full, or closed
            sys.stderr.write("error: stopped\n")
        code = 130
    raise SystemExit(code)


def _end(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 -- what signal handlers are given
    """End as a shell counts it, once what was begun is put away."""
    raise SystemExit(128 + number)
