"""The score of the vision test."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from posewright.contests.contest import ScoreTable
from posewright.contests.vision.account import Turn


@dataclass(frozen=True, slots=True)
class VisionScore:
    """Which turns were right, and what they are worth.

    Attributes:
        most_points: for all turns right, what another computer costs already taken off.
        time_s: from the end of the wait to the last right turn; None without one [s].
        ended: how the test ended.
        external_pc: whether another computer than the robot's own decided.
    """

    contest: str
    turns: tuple[Turn, ...]
    n_turns: int
    most_points: float
    time_s: float | None
    ended: str
    external_pc: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def right(self) -> int:
        """How many turns were right."""
        return sum(turn.is_right for turn in self.turns)

    @property
    def points(self) -> float:
        """An equal share of the points for each right turn."""
        return round(self.most_points * self.right / self.n_turns, 4)

    @property
    def ranking(self) -> tuple[float, ...]:
        """The points, and then how soon."""
        return self.points, -(self.time_s or 0.0)

    @property
    def figures(self) -> dict[str, float | str | bool | None]:
        """The turns, the time, and how it ended."""
        told = {"points": self.points, "all_right": self.right == self.n_turns, "right": self.right}
        return {**told, "turns": len(self.turns), "time_s": self.time_s, "ended": self.ended}

    @property
    def incidents(self) -> tuple[str, ...]:
        """What was wrong with turns that were."""
        return tuple(turn.reason for turn in self.turns if not turn.is_right)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "contest": self.contest,
            "points": self.points,
            "right": self.right,
            "n_turns": self.n_turns,
            "time_s": self.time_s,
            "ended": self.ended,
            "external_pc": self.external_pc,
            "turns": [asdict(turn) for turn in self.turns],
            "warnings": list(self.warnings),
        }

    def table(self) -> ScoreTable:
        """Return a row a turn."""
        rows = [
            (f"{number}", turn.code, f"{turn.turned_deg:+.0f} deg", f"{turn.ended_s:.2f} s", turn.reason)
            for number, turn in enumerate(self.turns, 1)
        ]
        time = "" if self.time_s is None else f"{self.time_s:.2f} s"
        total = (f"{self.right} of {self.n_turns}", "", "", time, f"{self.points:g} points")
        notes = (self.ended, *(["an external computer decided"] if self.external_pc else []))
        return ScoreTable(("turn", "code", "turned", "at", "how"), tuple(rows), total, notes)

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()
