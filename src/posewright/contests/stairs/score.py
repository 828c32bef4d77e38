"""The score of the stairs: which steps were passed when, and what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from posewright.contests.contest import ScoreTable

_WHY = {
    "fall": "the robot fell and did not get up by itself",
    "hand": "a hand or an arm touched the stairs or the floor",
    "jump": "no foot was on the ground",
}


@dataclass(frozen=True, slots=True)
class StairsPenalty:
    """Something that cost a penalty, by the recording's time."""

    time_s: float
    reason: str

    def __str__(self) -> str:
        return (
            f"penalty at {self.time_s:.2f} s: {_WHY.get(self.reason, f'touched by a person, {self.reason}')}"
        )


@dataclass(frozen=True, slots=True)
class PassedStep:
    """A step, counted from 1, that both feet passed by themselves, by the recording's time."""

    step: int
    time_s: float


@dataclass(frozen=True, slots=True)
class StairsScore:
    """The stairs as judged: penalties decide first, then steps, then the time.

    The time is the limit for who did not arrive behind the last step; `points` are what the steps earn.
    """

    contest: str
    steps: tuple[PassedStep, ...]
    penalties: tuple[StairsPenalty, ...]
    time_s: float
    arrived: bool
    points: float
    started_at_s: float | None
    ended_at_s: float | None
    falls: int
    reason: str
    warnings: tuple[str, ...] = ()

    @property
    def ranking(self) -> tuple[float, ...]:
        """Penalties, the fewer the better, then steps, then the time."""
        return -float(len(self.penalties)), float(len(self.steps)), -self.time_s

    @property
    def figures(self) -> dict[str, float | str | None]:
        """The climb as a whole, and how it ended."""
        told = {"points": self.points, "arrived": self.arrived, "steps": len(self.steps)}
        told |= {"penalties": len(self.penalties), "time_s": self.time_s, "falls": self.falls}
        return {**told, "ended": self.reason}

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reason of each penalty."""
        return tuple(one.reason for one in self.penalties)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        told = asdict(self)
        return told | {name: list(told[name]) for name in ("steps", "penalties", "warnings")}

    def table(self) -> ScoreTable:
        """Return a row a passed step, and a note a penalty."""
        rows = tuple((f"step {one.step}", f"{one.time_s:.2f} s") for one in self.steps)
        total = (f"{self.points:g} points", f"{self.time_s:.2f} s, {self.reason}")
        return ScoreTable(("", "passed at"), rows, total, tuple(map(str, self.penalties)))

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
