"""Programs of our own for a Robi 2, in its language: listings in `programs/`, each called as its first label.

A listing calls subroutines by their labels; those that it does not have are in files of that name, and are
put behind it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from posewright.documents import read_text
from posewright.errors import UnknownNameError
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.rm4 import Program

FOLDER = Path(__file__).parent / "programs"
JUDGE = "judge"
RULES: Mapping[str, str] = {"consistent": JUDGE, "printed": "judge_printed"}
"""Which file has the judgement of the posture by each rule; both have the label `judge`."""

_LABEL = re.compile(r"^(\w+):", re.MULTILINE)
_GOAL = re.compile(r"^\s+(?:call|jump) (\w+)", re.MULTILINE)


def program_names() -> tuple[str, ...]:
    """Return the names of the programs that ship; every subroutine is one."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.lst")))


def program(name: str, rule: str = "consistent") -> Program:
    """Return a program that ships.

    Args:
        name: of the program; every subroutine is one.
        rule: by which it judges the posture, where it does.

    Raises:
        UnknownNameError: there is no such program or rule.
    """
    return assemble(program_text(name, rule), FOLDER / f"{name}.lst")


def program_text(name: str, rule: str = "consistent") -> str:
    """Return the listing of a program that ships, with all subroutines it needs; errors as `program`."""
    if name not in program_names():
        raise UnknownNameError.among("program", name, program_names())
    if rule not in RULES:
        raise UnknownNameError.among("rule", rule, RULES)
    return linked(_text(name, rule), rule)


def linked(text: str, rule: str = "consistent") -> str:
    """Return a listing with the subroutines it calls and does not have put behind it, where they ship."""
    there = program_names()
    while missing := [
        goal for goal in _GOAL.findall(text) if goal not in _LABEL.findall(text) and goal in there
    ]:
        text = f"{text}\n{_text(missing[0], rule)}"
    return text


def _text(name: str, rule: str) -> str:
    return read_text(FOLDER / f"{RULES[rule] if name == JUDGE else name}.lst")
