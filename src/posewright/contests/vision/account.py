"""The account that referee and judge of the vision test keep, row by row, and the score that comes of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.contests.contest import ScoreTable, Tabled
from posewright.contests.vision.rules import VisionRules, turn_of
from posewright.rotation import heading, uprightness
from posewright.units import wrap_angle

ALL_TURNED, TIME_OUT, FELL, LEFT = (
    "all turns are done",
    "time out",
    "the robot fell",
    "the robot left the middle",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as judged.

    Attributes:
        began_s: when the robot had last looked at the box before, by the recording's time [s].
        ended_s: when it had stood before the next one for long enough [s].
        code: what the box said that it looked at before.
        turned_deg: how far it turned, positive to the left [deg].
        box: the box it then looked at, counted from 1.
        reason: `right`, or in words what was wrong.
    """

    began_s: float
    ended_s: float
    code: str
    turned_deg: float
    box: int
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether it led to the box that was asked for, the way round that was asked for."""
        return self.reason == "right"


class Account:
    """Looks at rows in their order; what it has found does not hang on how they come in blocks.

    A robot that stands still before a box for long enough has turned to it.

    Raises:
        InputError: a code on the field asks for no turn.
    """

    def __init__(self, rules: VisionRules, arena: Arena) -> None:
        self._rules = rules
        self._codes = [marker.text for marker in arena.markers]
        self._wanted = [turn_of(text, rules) for text in self._codes]
        self._places = np.array([(marker.x, marker.y) for marker in arena.markers])
        self._middle = (arena.size_x / 2.0, 0.0)
        self.turns: list[Turn] = []
        self.ended_s: float | None = None
        self.reason = ""
        self.false_start_s: float | None = None
        self._heading: float | None = None
        self._first = 0.0
        self._still = (0.0, 0.0)
        self._looks: tuple[int, float, float] | None = None

    def look(self, times: Floats, base: Floats) -> bool:
        """Look at more rows, base x y z qw qx qy qz `(n, 7)`; return whether the test is over.

        Rows in which nobody knew where the robot was are passed over.
        """
        known = np.isfinite(base).all(axis=1)
        columns = (times[known], heading(base[known, 3:]), uprightness(base[known, 3:]), *base[known, :2].T)
        for row in zip(*(column.tolist() for column in columns), strict=True):
            if self.ended_s is not None:
                break
            self._row(*row)
        return self.ended_s is not None

    def _row(self, time_s: float, yaw: float, upright: float, x: float, y: float) -> None:
        if self._heading is None:
            self._heading = self._first = yaw
            self._still = (time_s, yaw)
        self._heading += wrap_angle(yaw - self._heading)
        away_m = math.dist((x, y), self._middle)
        self._watch_wait(time_s)
        if abs(self._heading - self._still[1]) > self._rules.still_rad:
            if self._looks is not None and self._still[0] >= self._looks[1]:
                self._looks = (self._looks[0], time_s, self._looks[2])
            self._still = (time_s, self._heading)
        elif time_s - self._still[0] >= self._rules.hold_s:
            self._stands(time_s, x, y)
        if upright < math.cos(self._rules.fallen_rad):
            self._end(time_s, FELL)
        elif away_m > self._rules.aside_m:
            self._end(time_s, LEFT)
        elif time_s > self._rules.wait_s + self._rules.limit_s:
            self._end(time_s, TIME_OUT)

    def _watch_wait(self, time_s: float) -> None:
        moved = self._heading is not None and abs(self._heading - self._first) > self._rules.moved_rad
        if moved and time_s < self._rules.wait_s and self.false_start_s is None:
            self.false_start_s = time_s

    def _stands(self, time_s: float, x: float, y: float) -> None:
        """Let it look at the box before it, if there is one, and judge the turn that led there."""
        now = self._still[1]
        aside = [wrap_angle(math.atan2(by - y, bx - x) - now) for bx, by in self._places.tolist()]
        box = min(range(len(aside)), key=lambda number: abs(aside[number]))
        if abs(aside[box]) > self._rules.tolerance_rad:
            return
        before = self._looks
        if before is None or (before[0] == box and abs(now - before[2]) < math.pi):
            self._looks = (box, time_s, now)
            return
        self._looks = (box, time_s, now)
        self.turns.append(self._judged(before, box, now - before[2], time_s))
        if len(self.turns) == self._rules.turns:
            self._end(time_s, ALL_TURNED)

    def _judged(self, before: tuple[int, float, float], box: int, turned: float, time_s: float) -> Turn:
        here, began_s, _ = before
        wanted = self._wanted[here]
        steps = round(wanted / self._rules.spacing_rad)
        reason = "right"
        if abs(turned - wanted) > math.pi:
            reason = "turned the wrong way"
        elif box != (here + steps) % len(self._codes):
            reason = "turned to the wrong box"
        told = round(math.degrees(turned), 1)
        return Turn(began_s, time_s, self._codes[here], told, box + 1, reason)

    def _end(self, time_s: float, reason: str) -> None:
        self.ended_s, self.reason = time_s, reason


@dataclass(frozen=True, slots=True)
class VisionScore(Tabled):
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
        return {**asdict(self), "points": self.points, "right": self.right}

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
