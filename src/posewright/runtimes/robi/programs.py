"""Programs of our own for a Robi 2, in its language: listings in `programs/`, each called as its first label.

A listing calls subroutines by their labels; those that it does not have are in files of that name, and are
put behind it.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from posewright.documents import read_text
from posewright.errors import UnknownNameError
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.postures import postures
from posewright.runtimes.robi.program import Program

FOLDER = Path(__file__).parent / "programs"
JUDGE = "judge"
"""Judges the posture: `judge.lst` has the numbers of the consistent rule, and gets those of another."""

_CONST = re.compile(r"(?<=const )-?[0-9]+")


def program_names() -> tuple[str, ...]:
    """Return the names of the programs that ship; every subroutine is one."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.lst")))


def program(name: str, rule: str = "consistent") -> Program:
    """Return a program that ships, with the subroutines it needs.

    Args:
        name: of the program; every subroutine is one.
        rule: by which it judges the posture, where it does.

    Raises:
        UnknownNameError: there is no such program or rule.
    """
    text = shipped_text(name, rule)
    if text is None:
        raise UnknownNameError.among("program", name, program_names())
    return linked(text, rule, FOLDER / f"{name}.lst")


def linked(text: str, rule: str = "consistent", path: Path | None = None) -> Program:
    """Return the program of a listing that may call what ships; errors as `assemble`."""
    return assemble(text, path, partial(shipped_text, rule=rule))


def shipped_text(name: str, rule: str) -> str | None:
    """Return the listing of a program that ships, None where there is no such program."""
    steps = postures().rule(rule).steps
    if name not in program_names():
        return None
    text = read_text(FOLDER / f"{name}.lst")
    if name != JUDGE:
        return text
    numbers = iter(round(10 * limit) for step in steps for limit in step.limits)
    return _CONST.sub(lambda _: str(next(numbers)), text)
