"""The obstacle race's formula, places by raw points, and the result of a race.

`P = (300 - T) 7.5/300 + d/150 * 7.5 - (2 pen)^1.35` (CEABOT rules 2013 and 2017). A leg with a negative value
has 0 points; the value itself, its raw points, decides places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from posewright.contests.contest import NotebookTable, ScoreTable
from posewright.contests.obstacle_race.rules import Rules
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.contests.places import earned_by_places, rank_places
from posewright.errors import InputError

MAX_PENALTIES = 1000
"""More penalties than seconds in a leg are a typing error."""


@dataclass(frozen=True, slots=True)
class LegScore:
    """The points of one leg and their parts.

    Attributes:
        points: the points, at least 0.
        raw_points: the formula's value, which may be negative.
        time_points: the points for the time.
        distance_points: the points for the distance.
        penalty_points: lost by penalties, at least 0.
    """

    points: float
    raw_points: float
    time_points: float
    distance_points: float
    penalty_points: float

    def to_dict(self) -> dict[str, float]:
        """Return the score as JSON types."""
        return asdict(self)


def score(time_s: float, distance_cm: float, penalties: int, rules: Rules | None = None) -> LegScore:
    """Return the points of one leg.

    Args:
        time_s: the time on the leg's clock; the time limit for an unfinished leg [s].
        distance_cm: the distance from the start line to the back of the rearmost foot [cm].
        penalties: number of penalties.
        rules: None for CEABOT 2013.

    Raises:
        InputError: a value is out of its range.
    """
    formula = (rules or shipped_rules()).scoring
    _require_in_range("time", value=time_s, high=formula.time_limit_s, unit="s")
    _require_in_range("distance", value=distance_cm, high=formula.distance_limit_cm, unit="cm")
    _require_in_range("number of penalties", value=penalties, high=MAX_PENALTIES, unit="")
    if penalties != int(penalties):
        raise InputError(f"the number of penalties is {penalties:g}", hint="a whole number")
    time_points = (formula.time_limit_s - time_s) * formula.time_weight / formula.time_limit_s
    distance_points = distance_cm / formula.distance_limit_cm * formula.distance_weight
    penalty_points = (formula.penalty_factor * penalties) ** formula.penalty_exponent
    raw_points = time_points + distance_points - penalty_points
    return LegScore(
        points=max(0.0, raw_points),
        raw_points=raw_points,
        time_points=time_points,
        distance_points=distance_points,
        penalty_points=penalty_points,
    )


def _require_in_range(name: str, value: float, high: float, unit: str) -> None:
    if not (math.isfinite(value) and 0.0 <= value <= high):
        value_with_unit = f"{value:g} {unit}".rstrip()
        raise InputError(f"{name} {value_with_unit} is out of range", hint=f"the range is 0..{high:g}")


@dataclass(frozen=True, slots=True)
class RankedEntry:
    """The place of one entry in a race.

    Attributes:
        place: the place, from 1; equal raw points share a place, and the next ones are skipped.
        name: the name of the entry.
        raw_points: the points of the entry.
        place_points: earned by the place; entries that share a place share its points and those of the
            skipped ones, which is an assumption.
    """

    place: int
    name: str
    raw_points: float
    place_points: float


def rank(raw_points: Mapping[str, float], rules: Rules | None = None) -> tuple[RankedEntry, ...]:
    """Return the entries in the order of their places.

    Args:
        raw_points: the points of a leg or a whole race, by entry.
        rules: None for CEABOT 2013.

    Raises:
        InputError: the points of an entry are not finite.
    """
    for name, points in raw_points.items():
        if not math.isfinite(points):
            raise InputError(f"{name} has {points} points", hint="use a finite number")
    names = sorted(raw_points, key=lambda name: (-raw_points[name], name))
    places = rank_places([(raw_points[name],) for name in names])  # by one key
    place_points = earned_by_places(places, (rules or shipped_rules()).scoring.place_points)
    return tuple(
        RankedEntry(place, name, raw_points=raw_points[name], place_points=points)
        for place, name, points in zip(places, names, place_points, strict=True)
    )


_REASON_TEXTS = {
    "fall": "the robot fell and was put back",
    "jam": "the robot was stuck and was moved back",
    "box_moved": "a box was displaced",
}


@dataclass(frozen=True, slots=True)
class Penalty:
    """A penalty for a touch by the referee or a displaced box.

    Attributes:
        time_s: the time, counted as in the recording [s].
        leg: 1 or 2.
        reason: `fall`, `jam`, `box_moved`, or the reason of a touch.
        box: number of the box in the layout; None for no box.
    """

    time_s: float
    leg: int
    reason: str
    box: int | None = None

    def __str__(self) -> str:
        reason = _REASON_TEXTS.get(self.reason, self.reason)
        box = "" if self.box is None else f" (box {self.box})"
        return f"penalty in leg {self.leg} at {self.time_s:.2f} s: {reason}{box}"


@dataclass(frozen=True, slots=True)
class LegResult:
    """The result of one leg.

    Attributes:
        time_s: the time on the leg's clock; the time limit for an unfinished leg [s].
        distance_cm: the distance from the start line to the back of the rearmost foot [cm].
        penalties: number of penalties.
        points: the points, at least 0.
        raw_points: the formula's value, which may be negative.
        finished: whether the line was crossed.
        started_at_s: the time of the start, in the recording's time; None if it was not begun [s].
        ended_at_s: the time of the end, in the recording's time; None if it has not ended [s].
        reason: why it ended.
        time_loss: points lost by the time.
        distance_loss: points lost by the distance.
        penalty_loss: points lost by penalties.
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
        """Description of the lost points; empty if none were lost."""
        penalties = f"{self.penalties} penalt{'y' if self.penalties == 1 else 'ies'}"
        losses = ((self.time_loss, "time"), (self.distance_loss, "distance"), (self.penalty_loss, penalties))
        return ", ".join(f"{points:.2f} to {cause}" for points, cause in losses if points >= 0.005)


@dataclass(frozen=True, slots=True)
class Result(NotebookTable):
    """The result of a race.

    Attributes:
        contest: name of the rules.
        legs: leg 1 and leg 2.
        total_points: sum of the legs' points.
        raw_total: sum of the legs' raw points, which decides places.
        falls: number of falls.
        penalties: the penalties in the order of time.
        warnings: such as a false start.
    """

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
    def got_nowhere(self) -> bool:
        """Whether the robot did not get past the line of the start zone."""
        first_leg = self.legs[0]
        return not first_leg.finished and first_leg.distance_cm == 0.0

    @property
    def points(self) -> float:
        """Sum of both legs' points."""
        return self.total_points

    @property
    def ranking(self) -> tuple[float, ...]:
        """The raw points."""
        return (self.raw_total,)

    @property
    def figures(self) -> dict[str, float | str | None]:
        """Points and raw points, time, penalties, falls, and how the race ended."""
        last_leg = next((leg for leg in self.legs if not leg.finished), self.legs[-1])
        return {
            "points": self.total_points,
            "raw_points": self.raw_total,
            "time_s": sum(leg.time_s for leg in self.legs),
            "penalties": len(self.penalties),
            "falls": self.falls,
            "finished": self.finished,
            "ended": last_leg.reason,
        }

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reason of each penalty."""
        return tuple(penalty.reason for penalty in self.penalties)

    def table(self) -> ScoreTable:
        """Return a table with one row for each leg, and notes on lost points and penalties."""
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
        """Return the result as JSON types."""
        return {**asdict(self), "finished": self.finished}
