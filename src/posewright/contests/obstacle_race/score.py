"""The obstacle race's formula: points of one leg from time, distance and penalties; places by raw points.

`P = (300 - T) 7.5/300 + d/150 * 7.5 - (2 pen)^1.35` (CEABOT rules 2013 and 2017). A leg counts as 0
where that is negative; places are decided by the value itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from posewright.contests.obstacle_race.rules import Rules
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.contests.places import earned_by_places, places
from posewright.errors import InputError

MOST_PENALTIES = 1000
"""More touches than seconds of a leg are a typing error."""


@dataclass(frozen=True, slots=True)
class LegScore:
    """The points of one leg, and what they are made of; raw points, which may be negative, decide places.

    Penalty points are those lost, 0 or more.
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
    """Return the points of one leg; by CEABOT 2013's formula where no rules are given.

    Unfinished, its time is the limit; the distance is from its line to the back of the rearmost foot.

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


@dataclass(frozen=True, slots=True)
class Standing:
    """One entry's place, counted from 1; equal raw points share a place and the next ones are skipped.

    An assumption: those who share a place share what it and the places skipped after it earn.
    """

    place: int
    name: str
    raw_points: float
    place_points: float


def rank(raw_points: Mapping[str, float], rules: Rules | None = None) -> tuple[Standing, ...]:
    """Return the entries from the first place to the last, by raw points of a leg or a whole race.

    Raises:
        InputError: there is an entry without a finite number of points.
    """
    for name, points in raw_points.items():
        if not math.isfinite(points):
            raise InputError(f"{name} has {points} points", hint="a finite number")
    names = sorted(raw_points, key=lambda name: (-raw_points[name], name))
    order = places([(raw_points[name],) for name in names])
    earned = earned_by_places(order, (rules or shipped_rules()).scoring.place_points)
    return tuple(
        Standing(place, name, raw_points[name], worth)
        for place, name, worth in zip(order, names, earned, strict=True)
    )
