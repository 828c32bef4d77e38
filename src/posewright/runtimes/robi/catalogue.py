"""The programs that ship with the package: listings in `programs/`, each named after its first label.

A listing calls subroutines by their labels; a subroutine that it does not contain is added from the file of
that name.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from posewright.documents import read_text
from posewright.errors import UnknownNameError
from posewright.runtimes.robi.listing import assemble
from posewright.runtimes.robi.memory import WORDS_PER_DEG
from posewright.runtimes.robi.postures import posture_table
from posewright.runtimes.robi.program import Rm4Program

FOLDER = Path(__file__).parent / "programs"
JUDGE = "judge"
"""The subroutine that judges the posture; its constants are those of the consistent rule."""

_CONST = re.compile(r"(?<=const )-?[0-9]+")


def program_names() -> tuple[str, ...]:
    """Return the names of the programs that ship with the package, including all subroutines."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.lst")))


def load_program(name: str, rule: str = "consistent") -> Rm4Program:
    """Return a program that ships with the package, with the subroutines that it calls.

    Args:
        name: the name of the program or subroutine.
        rule: the rule by which its subroutine `judge` judges the posture.

    Raises:
        UnknownNameError: there is no such program or rule.
    """
    listing = read_listing(name, rule)
    if listing is None:
        raise UnknownNameError.among("program", name, program_names())
    return link(listing, rule, FOLDER / f"{name}.lst")


def link(listing: str, rule: str = "consistent", path: Path | None = None) -> Rm4Program:
    """Return the program of a listing, with the subroutines of the package that it calls.

    Args:
        listing: its text.
        rule: the rule by which the subroutine `judge` judges the posture.
        path: the path of the listing's file, for errors.

    Raises:
        FormatError: the listing has errors.
        UnknownNameError: there is no such rule, or a jump goes to an unknown label.
    """
    return assemble(listing, path, partial(read_listing, rule=rule))


def read_listing(name: str, rule: str) -> str | None:
    """Return the listing of a program that ships with the package; None if there is none of that name.

    In the subroutine `judge` the constants are replaced by the limits of the rule.

    Raises:
        UnknownNameError: there is no such rule.
    """
    steps = posture_table().rule(rule).steps
    if name not in program_names():
        return None
    listing = read_text(FOLDER / f"{name}.lst")
    if name != JUDGE:
        return listing
    # the listing has one constant for each limit, in the order of the steps
    limits_deg = [limit_deg for step in steps for limit_deg in step.limits]
    limit_words = iter([round(WORDS_PER_DEG * limit_deg) for limit_deg in limits_deg])
    return _CONST.sub(lambda _: str(next(limit_words)), listing)
