"""The obstacle race's formula, places by raw points, and the result of a race: what each leg earned and cost.

`P = (300 - T) 7.5/300 + d/150 * 7.5 - (2 pen)^1.35` (CEABOT rules 2013 and 2017). A leg counts as 0
where that is negative; places are decided by the value itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from posewright.contests.contest import ScoreTable, Tabled
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


_WHY = {
    "fall": "the robot fell and was put back",
    "jam": "the robot was stuck and was moved back",
    "box_moved": "a box was displaced",
}


@dataclass(frozen=True, slots=True)
class Penalty:
    """One touch by the judge, or one displaced box, by its number in the layout; in leg 1 or 2."""

    time_s: float
    leg: int
    reason: str
    box: int | None = None

    def __str__(self) -> str:
        about = "" if self.box is None else f" (box {self.box})"
        return (
            f"penalty in leg {self.leg} at {self.time_s:.2f} s: {_WHY.get(self.reason, self.reason)}{about}"
        )


@dataclass(frozen=True, slots=True)
class LegResult:
    """One leg as judged; times of begin and end are the recording's, None if never or not yet.

    An unfinished leg has the limit for its time; the distance is from its line to the back of the rearmost
    foot; raw points are the formula's value, points what enters the total. The losses are the points that
    time, distance and penalties cost.
    """

    time_s: float
    distance_cm: float
    penalties: int
    points: float
    raw_points: float
    finished: bool
    started_at_s: float | None
    ended_at_s: float | None
    reason: str
    time_loss: float = 0.0
    distance_loss: float = 0.0
    penalty_loss: float = 0.0

    @property
    def lost(self) -> str:
        """What points were lost to, in words; empty where none were."""
        penalties = f"{self.penalties} penalt{'y' if self.penalties == 1 else 'ies'}"
        losses = ((self.time_loss, "time"), (self.distance_loss, "distance"), (self.penalty_loss, penalties))
        return ", ".join(f"{points:.2f} to {what}" for points, what in losses if points >= 0.005)


@dataclass(frozen=True, slots=True)
class Result(Tabled):
    """A race as judged: legs there and back, `raw_total` decides places; warnings such as a false start."""

    contest: str
    legs: tuple[LegResult, ...]
    total_points: float
    raw_total: float
    falls: int
    penalties: tuple[Penalty, ...] = ()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Result of {self.contest}: {self.points:.2f} points>"

    @property
    def finished(self) -> bool:
        """Whether both legs were finished."""
        return all(leg.finished for leg in self.legs)

    @property
    def points(self) -> float:
        """The sum of both legs' points."""
        return self.total_points

    @property
    def ranking(self) -> tuple[float, ...]:
        """The formula's own value, which may be negative."""
        return (self.raw_total,)

    @property
    def figures(self) -> dict[str, float | str | None]:
        """The race as a whole, and how it ended."""
        last = next((leg for leg in self.legs if not leg.finished), self.legs[-1])
        return {
            "points": self.total_points,
            "time_s": sum(leg.time_s for leg in self.legs),
            "penalties": len(self.penalties),
            "falls": self.falls,
            "finished": self.finished,
            "ended": last.reason,
        }

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reason of each penalty."""
        return tuple(penalty.reason for penalty in self.penalties)

    def table(self) -> ScoreTable:
        """Return a row a leg, and notes on what points were lost to, and on each penalty."""
        rows = [
            (
                f"leg {number}",
                f"{leg.time_s:.2f} s",
                f"{leg.distance_cm:.1f} cm",
                str(leg.penalties),
                f"{leg.raw_points:+.3f}",
                f"{leg.points:.3f}",
                leg.reason,
            )
            for number, leg in enumerate(self.legs, 1)
        ]
        penalties = str(len(self.penalties))
        totals = (
            f"{self.raw_total:+.3f}",
            f"{self.total_points:.3f}",
            f"{self.falls} fall{'' if self.falls == 1 else 's'}",
        )
        return ScoreTable(
            columns=("", "time", "distance", "penalties", "raw points", "points", "how it ended"),
            rows=tuple(rows),
            total=("total", "", "", penalties, *totals),
            notes=(
                *(
                    f"leg {number} lost points: {leg.lost}"
                    for number, leg in enumerate(self.legs, 1)
                    if leg.lost
                ),
                *map(str, self.penalties),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, fit for JSON."""
        return {**asdict(self), "finished": self.finished}
