"""Whether MoNet can run on the MONET files of a robot."""

from __future__ import annotations

from posewright.errors import FormatError, Where
from posewright.motions import Level
from posewright.sticks import MonetFinding, MonetSetup
from posewright.sticks.check import MOST_FINDINGS, check_setup

ANSWERED = frozenset({"graph", "id", "index", "jump", "kind", "motion", "sound"})
"""Rules whose errors keep one command from being played, which its result says; MoNet runs all the same."""


def checked(setup: MonetSetup) -> tuple[MonetFinding, ...]:
    """Return what is to be said of files before MoNet runs on them.

    Raises:
        FormatError: MoNet would crash on them, or take them for something else than was meant.
    """
    found = [one for one in check_setup(setup, most=MOST_FINDINGS) if one.level is not Level.NOTE]
    errors = [
        FormatError(one.message, where=Where(path=one.path, line=one.line), hint=one.hint or None)
        for one in found
        if one.level is Level.ERROR and one.rule not in ANSWERED
    ]
    if errors:
        errors[0].others = tuple(errors[1:])
        raise errors[0]
    return tuple(found)
