"""The command line: one file a verb, each a thin coat over its Python twin."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Typer loads pydantic, which would look through everything installed for plugins, at every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from posewright.cli.app import run

        code = run()
    except KeyboardInterrupt:  # while modules were loaded: `run` has an answer of its own
        sys.stderr.write("error: stopped\n")
        code = 130
    raise SystemExit(code)
