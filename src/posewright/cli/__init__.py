"""The command line: one file a verb, each a thin coat over its Python twin."""

from __future__ import annotations

import os


def main() -> None:
    """Run the command line and exit with its code."""
    # Typer loads pydantic, which would look through everything installed for plugins, at every start.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from posewright.cli.app import run

    raise SystemExit(run())
