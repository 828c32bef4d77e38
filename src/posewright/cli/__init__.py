"""The command line: one file a verb, each a thin coat over its Python twin."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    from posewright.cli.app import run

    raise SystemExit(run())
