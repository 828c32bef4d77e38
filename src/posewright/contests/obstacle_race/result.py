"""The result of a race: what each leg took, earned and cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from posewright.contests.contest import ScoreTable, Tabled

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
