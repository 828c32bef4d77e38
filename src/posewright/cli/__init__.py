"""The command line: one file a verb, each a thin coat over its Python twin."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress


def main() -> None:
    """Run the command line and exit with its code."""
    # Typer loads pydantic, which would look through everything installed for plugins, at every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from posewright.cli import signals

    try:
        signals.install_handlers()
        from posewright.cli.app import run
        from posewright.cli.console import warn

        warnings.showwarning = lambda message, *_, **__: warn(str(message))
        code = run()
    except KeyboardInterrupt:  # while modules were loaded: `run` has an answer of its own
        with suppress(OSError, AttributeError):  # stderr is full, or closed
            sys.stderr.write("error: stopped\n")
        code = 130
    except SystemExit as stop:  # of a signal
        code = stop.code if isinstance(stop.code, int) else 1
    signals.leave(code)
