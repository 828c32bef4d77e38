"""The state of a vision test, computed row by row by referee and judge, and its score."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.contests.contest import NotebookTable, ScoreTable
from posewright.contests.vision.rules import VisionRules, parse_turn
from posewright.rotation import heading, uprightness
from posewright.units import wrap_angle

ALL_TURNED = "all turns are done"
TIME_OUT = "time out"
FELL = "the robot fell"
LEFT = "the robot left the middle"


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """One turn.

    Attributes:
        began_s: when the robot last faced the previous box, in the recording's time [s].
        ended_s: when it had faced the next box for long enough [s].
        code: text of the previous box.
        turned_deg: positive to the left [deg].
        box: number of the next box, from 1.
        reason: `right`, or what was wrong.
    """

    began_s: float
    ended_s: float
    code: str
    turned_deg: float
    box: int
    reason: str

    @property
    def is_right(self) -> bool:
        """Whether the turn led to the requested box in the requested direction."""
        return self.reason == "right"


@dataclass(frozen=True, slots=True)
class _FacedBox:
    """The box that the robot faced last: its number from 0, when [s], and the robot's heading then [rad]."""

    box: int
    until_s: float
    heading_rad: float


class VisionScorekeeper:
    """The turns of a vision test; the result does not depend on how rows are split into calls.

    A robot that stands still facing a box for long enough has turned to it.

    Args:
        rules: the rules of the test.
        arena: the field with its codes.

    Attributes:
        turns: judged so far.
        ended_s: end of the test; None before [s].
        reason: why it ended.
        false_start_s: first turn during the wait; None if there was none [s].

    Raises:
        InputError: a code on the field is not a turn of the rules.
    """

    def __init__(self, rules: VisionRules, arena: Arena) -> None:
        """Read the turns that the codes on the field request."""
        self._rules = rules
        self._codes = [marker.text for marker in arena.markers]
        self._requested_turns = [parse_turn(text, rules) for text in self._codes]
        self._box_positions = np.array([(marker.x, marker.y) for marker in arena.markers])
        self._middle = (arena.size_x / 2.0, 0.0)  # of the field [m]
        self.turns: list[JudgedTurn] = []
        self.ended_s: float | None = None
        self.reason = ""
        self.false_start_s: float | None = None
        self._heading: float | None = None  # of the last row, continuous over full rotations [rad]
        self._first_heading = 0.0  # of the first row [rad]
        self._still_since_s = 0.0  # since when the robot has not turned
        self._still_heading = 0.0  # its heading since then [rad]
        self._faced_box: _FacedBox | None = None  # the box that it turned to last

    def advance(self, times: Floats, base: Floats) -> bool:
        """Process further rows, and return whether the test is over.

        Args:
            times: `(n,)` [s].
            base: x y z qw qx qy qz, `(n, 7)`; rows with unknown positions are skipped.
        """
        is_known = np.isfinite(base).all(axis=1)
        known_base = base[is_known]
        columns = (
            times[is_known],
            heading(known_base[:, 3:]),
            uprightness(known_base[:, 3:]),
            known_base[:, 0],
            known_base[:, 1],
        )
        for time_s, yaw, upright, x, y in zip(*(column.tolist() for column in columns), strict=True):
            if self.ended_s is not None:
                break
            self._process_row(time_s, yaw, upright, x, y)
        return self.ended_s is not None

    def _process_row(self, time_s: float, yaw: float, upright: float, x: float, y: float) -> None:
        """Process one row: detect a false start, turns to boxes, and the end of the test.

        While its heading stays within a tolerance the robot stands still; when it has done so for long
        enough, it has turned to the box that it faces.

        Args:
            time_s: the time [s].
            yaw: heading of the base [rad].
            upright: cosine of the tilt of the base.
            x: the position x of the base [m].
            y: the position y of the base [m].
        """
        if self._heading is None:  # the first row
            self._heading = yaw
            self._first_heading = yaw
            self._still_since_s = time_s
            self._still_heading = yaw
        self._heading += wrap_angle(yaw - self._heading)
        has_turned = abs(self._heading - self._first_heading) > self._rules.moved_rad
        is_waiting = time_s < self._rules.wait_s
        if has_turned and is_waiting and self.false_start_s is None:
            self.false_start_s = time_s
        is_turning_away = abs(self._heading - self._still_heading) > self._rules.still_rad
        if is_turning_away:
            # until now it faced the box at which it stood still
            if self._faced_box is not None and self._still_since_s >= self._faced_box.until_s:
                self._faced_box = replace(self._faced_box, until_s=time_s)
            self._still_since_s = time_s
            self._still_heading = self._heading
        elif time_s - self._still_since_s >= self._rules.hold_s:
            self._face_box(time_s, x, y)
        if upright < math.cos(self._rules.fallen_rad):
            self._end(time_s, FELL)
        elif math.dist((x, y), self._middle) > self._rules.aside_m:
            self._end(time_s, LEFT)
        elif time_s > self._rules.wait_s + self._rules.limit_s:
            self._end(time_s, TIME_OUT)

    def _face_box(self, time_s: float, x: float, y: float) -> None:
        """Find the box that the still robot faces, if any, and judge the turn that led there.

        Args:
            time_s: the time of the row.
            x: where the robot stands, along the field [m].
            y: where the robot stands, across the field [m].
        """
        heading_rad = self._still_heading
        bearings_rad = [
            wrap_angle(math.atan2(box_y - y, box_x - x) - heading_rad)
            for box_x, box_y in self._box_positions.tolist()
        ]
        box = min(range(len(bearings_rad)), key=lambda index: abs(bearings_rad[index]))
        faces_no_box = abs(bearings_rad[box]) > self._rules.tolerance_rad
        if faces_no_box:
            return
        previous = self._faced_box
        self._faced_box = _FacedBox(box, time_s, heading_rad)
        if previous is None:  # the box that it faces at the start
            return
        turned_rad = heading_rad - previous.heading_rad
        has_stayed = previous.box == box and abs(turned_rad) < math.pi  # and not turned all the way round
        if has_stayed:
            return
        self.turns.append(self._judge_turn(previous, box, turned_rad, time_s))
        if len(self.turns) == self._rules.turns:
            self._end(time_s, ALL_TURNED)

    def _judge_turn(self, previous: _FacedBox, box: int, turned_rad: float, time_s: float) -> JudgedTurn:
        """Return the turn from the previous box to another, compared with the previous box's code.

        Args:
            previous: the box that the robot faced before.
            box: index of the box that it faces now.
            turned_rad: the angle that it has turned.
            time_s: the time now.
        """
        requested_rad = self._requested_turns[previous.box]
        # the boxes stand around the robot at equal angles, numbered to the left
        n_boxes_onwards = round(requested_rad / self._rules.spacing_rad)
        requested_box = (previous.box + n_boxes_onwards) % len(self._codes)
        reason = "right"
        if abs(turned_rad - requested_rad) > math.pi:
            reason = "turned the wrong way"
        elif box != requested_box:
            reason = "turned to the wrong box"
        return JudgedTurn(
            began_s=previous.until_s,
            ended_s=time_s,
            code=self._codes[previous.box],
            turned_deg=round(math.degrees(turned_rad), 1),
            box=box + 1,
            reason=reason,
        )

    def _end(self, time_s: float, reason: str) -> None:
        """Record when and why the test ended."""
        self.ended_s = time_s
        self.reason = reason


@dataclass(frozen=True, slots=True)
class VisionScore(NotebookTable):
    """The result of a vision test.

    Attributes:
        contest: name of the rules.
        turns: the turns in the order of time.
        n_turns: number of turns of a complete test.
        most_points: the points for all turns right, after the deduction for an external computer.
        time_s: the time from the end of the wait to the last right turn; None without one [s].
        end_reason: why the test ended.
        external_pc: whether another computer than the robot's own decided.
        warnings: such as a false start.
    """

    contest: str
    turns: tuple[JudgedTurn, ...]
    n_turns: int
    most_points: float
    time_s: float | None
    end_reason: str
    external_pc: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def right(self) -> int:
        """Number of right turns."""
        return sum(turn.is_right for turn in self.turns)

    @property
    def points(self) -> float:
        """An equal share of the points for each right turn."""
        return round(self.most_points * self.right / self.n_turns, 4)

    @property
    def ranking(self) -> tuple[float, ...]:
        """The points, then the time."""
        return self.points, -(self.time_s or 0.0)

    @property
    def figures(self) -> dict[str, float | str | bool | None]:
        """Points, turns, time, and why the test ended."""
        return {
            "points": self.points,
            "all_right": self.right == self.n_turns,
            "right": self.right,
            "turns": len(self.turns),
            "time_s": self.time_s,
            "ended": self.end_reason,
        }

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reasons of wrong turns."""
        return tuple(turn.reason for turn in self.turns if not turn.is_right)

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types."""
        values = {"ended" if name == "end_reason" else name: value for name, value in asdict(self).items()}
        return {**values, "points": self.points, "right": self.right}

    def table(self) -> ScoreTable:
        """Return a table with one row for each turn, and the score below."""
        rows = [
            (f"{number}", turn.code, f"{turn.turned_deg:+.0f} deg", f"{turn.ended_s:.2f} s", turn.reason)
            for number, turn in enumerate(self.turns, 1)
        ]
        time_text = "" if self.time_s is None else f"{self.time_s:.2f} s"
        total_row = (f"{self.right} of {self.n_turns}", "", "", time_text, f"{self.points:g} points")
        notes = [self.end_reason]
        if self.external_pc:
            notes.append("an external computer decided")
        return ScoreTable(("turn", "code", "turned", "at", "result"), tuple(rows), total_row, tuple(notes))
