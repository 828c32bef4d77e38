"""The command line: one module for each command, which calls the functions that Python users call."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress


def main() -> None:
    """Run the command line and exit with its exit code."""
    # Typer imports pydantic, which would search all installed packages for plugins at every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from posewright.cli import signals

    try:
        signals.install_handlers()
        from posewright.cli.app import run
        from posewright.cli.console import print_warning

        warnings.showwarning = lambda message, *_, **__: print_warning(str(message))
        exit_code = run()
    except KeyboardInterrupt:  # during imports; `run` handles it later
        with suppress(OSError, AttributeError):  # stderr is full, or closed
            sys.stderr.write("error: stopped\n")
        exit_code = 130
    except SystemExit as stop:  # raised by the handler of a signal
        exit_code = stop.code if isinstance(stop.code, int) else 1
    signals.leave(exit_code)
