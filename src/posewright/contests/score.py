"""The obstacle race's formula: points of one leg from its time, distance and penalties.

`P = (300 - T) 7.5/300 + d/150 * 7.5 - (2 pen)^1.35` (CEABOT rules 2013 and 2017). A leg counts as 0
where that is negative; places are decided by the value itself.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from posewright.contests.rules import Rules
from posewright.contests.rules import rules as shipped_rules
from posewright.errors import InputError

MOST_PENALTIES = 1000
"""More touches than seconds of a leg are a typing error."""


@dataclass(frozen=True, slots=True)
class LegScore:
    """The points of one leg, and what they are made of.

    Attributes:
        points: what enters the total, never negative.
        raw_points: the formula's value, which decides places.
        time_points: earned by time left.
        distance_points: earned by distance.
        penalty_points: lost by penalties, 0 or more.
    """

    points: float
    raw_points: float
    time_points: float
    distance_points: float
    penalty_points: float

    def to_dict(self) -> dict[str, float]:
        """Return all of it as plain data."""
        return asdict(self)


def score(time_s: float, distance_cm: float, penalties: int, rules: Rules | None = None) -> LegScore:
    """Return the points of one leg.

    Args:
        time_s: the leg's time, the limit if unfinished [s].
        distance_cm: from the line the leg begins at to the back of the rearmost foot [cm].
        penalties: how often the judge touched the robot.
        rules: whose formula; CEABOT 2013 where none are given.

    Raises:
        InputError: a value is out of its range.
    """
    formula = (rules or shipped_rules()).scoring
    _check("time", time_s, formula.time_limit_s, "s")
    _check("distance", distance_cm, formula.distance_limit_cm, "cm")
    _check("number of penalties", penalties, MOST_PENALTIES, "")
    if penalties != int(penalties):
        raise InputError(f"{penalties:g} penalties", hint="a whole number")
    time_points = (formula.time_limit_s - time_s) * formula.time_weight / formula.time_limit_s
    distance_points = distance_cm / formula.distance_limit_cm * formula.distance_weight
    penalty_points = (formula.penalty_factor * penalties) ** formula.penalty_exponent
    raw = time_points + distance_points - penalty_points
    return LegScore(max(0.0, raw), raw, time_points, distance_points, penalty_points)


def _check(what: str, value: float, high: float, unit: str) -> None:
    if not (math.isfinite(value) and 0.0 <= value <= high):
        raise InputError(f"a {what} of {value:g}{unit and ' ' + unit}", hint=f"the range is 0..{high:g}")
