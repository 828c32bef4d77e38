"""Describes how a robot stands, for people who cannot see the colours of the 3-D view."""

from __future__ import annotations

import math
from collections.abc import Sequence

from posewright.simulation.stance import Stance, StanceKind

LYING_RAD = math.radians(60.0)
"""A robot that has settled and leans more than this lies [rad]."""

MIN_SUNK_M = 0.001
"""Smallest depth of other parts below the floor that is reported [m]."""

MAX_PARTS = 3
"""Number of parts on which a robot rests that are named at most."""

SIDES = {"forward": "forward", "back": "back", "left": "to the left", "right": "to the right"}


def describe_stance(stance: Stance) -> str:
    """Return how a robot stands as a sentence."""
    margin_m = stance.balance.margin_m
    side = "inside" if margin_m > 0.0 else "outside"
    margin = f"the centre of mass is {1e3 * abs(margin_m):.0f} mm {side}"
    if stance.foot:
        verb = "Balanced on" if margin_m > 0.0 else "Topples off"
        sunk = f"; other parts are {1e3 * stance.sunk_m:.0f} mm below the floor"
        return (
            f"{verb} the {_words(stance.foot)}: {margin} its sole{sunk if stance.sunk_m > MIN_SUNK_M else ''}"
        )
    lean = f"{math.degrees(stance.lean_rad):.0f}° {SIDES[stance.lean_side]}"
    if stance.kind is StanceKind.TIPS:
        return f"Topples from this pose, and settles {lean} on edges of its soles: {margin} the support"
    if stance.kind is StanceKind.SETTLED:
        verb = "Lies" if stance.lean_rad > LYING_RAD else "Settled"
        return f"{verb}, leaning {lean}, on {_describe_parts(stance.carriers)}: {margin} the support"
    return f"{'Balanced' if stance.kind is StanceKind.STANDS else 'Falls'}: {margin} the support"


def _describe_parts(links: Sequence[str]) -> str:
    """Return the names of some links as text; if there are many, the first and how many more."""
    names = [_words(link) for link in links]
    if len(names) > MAX_PARTS:
        names = [*names[: MAX_PARTS - 1], f"{len(names) - MAX_PARTS + 1} more parts"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _words(name: str) -> str:
    return name.replace("_", " ")
