"""Judging a climb: the steps that both feet passed, and penalties for touches, hands, jumps and falls."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from posewright.arenas.arena import FLOOR
from posewright.arrays import Flags, Floats, Indices
from posewright.contests.contest import NotebookTable, ScoreTable
from posewright.contests.observation import (
    StartDetector,
    false_start_warnings,
    measured_or_commanded,
    require_positions,
)
from posewright.contests.robot_parts import arm_parts
from posewright.contests.stairs.rules import NO_LEVEL, Flight, StairsRules
from posewright.recordings import Recording
from posewright.recordings.falls import DownInterval, FallDetector, true_intervals

ARRIVED = "arrived"
TIME_OUT = "time out"
NEVER_MOVED = "the robot never moved"
_CUT_SHORT = "the recording ends before"

_REASON_TEXTS = {
    "fall": "the robot fell and did not get up by itself",
    "hand": "a hand or an arm touched the stairs or the floor",
    "jump": "no foot was on the ground",
}


@dataclass(frozen=True, slots=True)
class StairsPenalty:
    """A penalty.

    Attributes:
        time_s: the time, counted as in the recording [s].
        reason: `fall`, `hand`, `jump`, or the reason of a touch by a person.
    """

    time_s: float
    reason: str

    def __str__(self) -> str:
        reason = _REASON_TEXTS.get(self.reason, f"touched by a person, {self.reason}")
        return f"penalty at {self.time_s:.2f} s: {reason}"


@dataclass(frozen=True, slots=True)
class PassedStep:
    """A step, numbered from 1, that both feet passed, and when in the recording's time [s]."""

    step: int
    time_s: float


@dataclass(frozen=True, slots=True)
class StairsScore(NotebookTable):
    """The result of the stairs.

    Attributes:
        contest: name of the rules.
        steps: passed by both feet.
        penalties: the penalties in the order of time.
        time_s: the time from first move to arrival; the time limit for a robot that did not arrive [s].
        arrived: whether the robot passed the last step.
        points: the points for the steps.
        started_at_s: first move, in the recording's time; None if the robot never moved [s].
        ended_at_s: arrival or time limit, in the recording's time; None if the recording ends before [s].
        falls: number of falls.
        reason: why the run ended.
        warnings: such as a false start.
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
        """Penalties, then steps, then the time."""
        return -float(len(self.penalties)), float(len(self.steps)), -self.time_s

    @property
    def figures(self) -> dict[str, float | str | None]:
        """Points, steps, penalties, time, falls, and why the run ended."""
        return {
            "points": self.points,
            "arrived": self.arrived,
            "steps": len(self.steps),
            "penalties": len(self.penalties),
            "time_s": self.time_s,
            "falls": self.falls,
            "ended": self.reason,
        }

    @property
    def incidents(self) -> tuple[str, ...]:
        """The reason of each penalty."""
        return tuple(penalty.reason for penalty in self.penalties)

    def to_dict(self) -> dict[str, Any]:
        """Return the score as JSON types."""
        return asdict(self)

    def table(self) -> ScoreTable:
        """Return a table with one row for each passed step, and a note for each penalty."""
        rows = tuple((f"step {step.step}", f"{step.time_s:.2f} s") for step in self.steps)
        total = (f"{self.points:g} points", f"{self.time_s:.2f} s, {self.reason}")
        return ScoreTable(("", "passed at"), rows, total, notes=tuple(map(str, self.penalties)))


def base_above_ground(base: Floats, flight: Flight) -> Floats:
    """Return poses of a base `(n, 7)` with heights relative to the step below it [m]."""
    relative = base.copy()
    relative[:, 2] -= flight.ground_height(base[:, :3])
    return relative


class Climb:
    """A recorded climb until its time limit.

    Args:
        recording: the recording of the climb.
        rules: the rules of the stairs.

    Attributes:
        start: detector of the robot's first move.
        deadline_s: end of the time limit, in the recording's time [s].
        falls: the falls up to the deadline.
        passed: when each step was passed, by its number from 1 [s].

    Raises:
        InputError: the recording lacks positions, or is of other stairs.
    """

    def __init__(self, recording: Recording, rules: StairsRules) -> None:
        """Find the start, the deadline, the falls and the passed steps."""
        record = recording.robot()
        require_positions(record)
        self._rules = rules
        self._record = record
        self._recording = recording
        self._flight = Flight.of_recorded_arena(recording.header.arena, rules)
        self._ground_names = self._flight.names | {FLOOR}
        self.start = StartDetector(rules.wait_s, rules.moved_rad)
        self.start.advance(recording.times, measured_or_commanded(record.positions, record.commands))
        began_s = rules.wait_s if self.start.moved_s is None else self.start.moved_s
        self.deadline_s = began_s + rules.limit_s
        self._n_rows = int(recording.times.searchsorted(self.deadline_s, side="right"))
        self._times = recording.times[: self._n_rows]
        self._touches = [touch for touch in recording.events_of("touch") if touch.time_s <= self.deadline_s]
        detector = FallDetector(rules.falls)
        detector.advance(self._times, base_above_ground(record.base[: self._n_rows], self._flight))
        self.falls = tuple(detector.falls())
        self.passed = self._find_passed_steps()

    @property
    def arrived_s(self) -> float | None:
        """When the last step was passed; None if it was not [s]."""
        return self.passed.get(len(self._flight.edges))

    def _find_passed_steps(self) -> dict[int, float]:
        """Return the time at which each step was passed [s], by the number of the step from 1.

        A step is passed when both feet have reached its level by walking: levels between two touches by a
        person count from where the robot was put.
        """
        foot_levels = self._flight.find_foot_levels(
            self._record.footprints[: self._n_rows], self._record.foot_contacts[: self._n_rows]
        )
        foot_levels[~self._is_steady()] = NO_LEVEL
        touch_rows = self._times.searchsorted([touch.time_s for touch in self._touches], side="right")
        passed_times: dict[int, float] = {}
        for begin, end in pairwise([0, *touch_rows.tolist(), self._n_rows]):
            reached_levels = [
                _find_reached_levels(levels, self._rules.most_at_once) for levels in foot_levels[begin:end].T
            ]
            robot_levels = np.min(reached_levels, axis=0)  # of the lower foot
            known_levels = robot_levels[robot_levels != NO_LEVEL]
            if not len(known_levels):
                continue
            first_level = int(known_levels[0])
            highest_level = int(known_levels.max())
            for step in range(first_level + 1, highest_level + 1):
                passed_row = begin + int((robot_levels >= step).argmax())
                passed_times.setdefault(step, float(self._times[passed_row]))
        return passed_times

    def _is_steady(self) -> Flags:
        """Return in which rows the robot is neither down, nor about to fall, nor held by a person, `(n,)`."""
        is_steady = np.ones(self._n_rows, dtype=np.bool_)
        for fall in self.falls:
            begin = int(self._times.searchsorted(fall.since_s - self._rules.steady_s))
            is_steady[begin : fall.end] = False
        for touch in self._touches:
            since = touch.data.get("since_s")
            since_s = float(since) if isinstance(since, int | float) else touch.time_s
            begin, end = self._times.searchsorted([since_s, touch.time_s], side="right").tolist()
            is_steady[begin:end] = False
        return is_steady

    def penalties(self, until_s: float) -> tuple[StairsPenalty, ...]:
        """Return the penalties for touches, falls, hands and jumps until a time [s], in the order of time."""
        penalties = [
            StairsPenalty(touch.time_s, str(touch.data.get("reason", "touch"))) for touch in self._touches
        ]
        penalties += [StairsPenalty(fall.until_s, "fall") for fall in self.falls if self._is_final(fall)]
        penalties += [StairsPenalty(time_s, "hand") for time_s in self._find_hand_touches()]
        penalties += [StairsPenalty(time_s, "jump") for time_s in self._find_jumps()]
        penalties = [penalty for penalty in penalties if penalty.time_s <= until_s]
        return tuple(sorted(penalties, key=lambda penalty: penalty.time_s))

    def _is_final(self, fall: DownInterval) -> bool:
        """Return whether the robot stayed down to the end and nobody touched it, which would be a penalty."""
        was_touched = any(fall.since_s <= touch.time_s for touch in self._touches)
        return fall.end == self._n_rows and not was_touched

    def _find_hand_touches(self) -> list[float]:
        """Return when a hand or an arm began to touch the ground, except while falling and getting up [s]."""
        min_gap_s = self._rules.hand_gap_s  # touches that are closer than this are one touch
        touches_s = self._all_hand_contact_times()
        for fall in self.falls:
            is_before = touches_s < fall.since_s - min_gap_s
            is_after = touches_s > fall.until_s + min_gap_s
            touches_s = touches_s[is_before | is_after]
        is_begin = np.diff(touches_s, prepend=-np.inf) > min_gap_s
        return [float(time_s) for time_s in touches_s[is_begin]]

    def _all_hand_contact_times(self) -> Floats:
        """Return the times at which a hand or an arm is on the ground, rising [s].

        They are those of the recording's events `hand` and, if it has contacts, of all rows up to the time
        limit in which such a part touches the ground.
        """
        record = self._record
        event_times_s = np.array([event.time_s for event in self._recording.events_of("hand")])
        if record.contacts is None:
            return event_times_s
        arms = arm_parts(record.header)
        has_contact = record.contacts.frames_with_contact(arms, self._ground_names, len(record))
        contact_times_s = self._times[has_contact[: self._n_rows]]
        return np.sort(np.append(event_times_s, contact_times_s))

    def _find_jumps(self) -> list[float]:
        """Return the times at which the robot jumped: no part of it touched the ground for too long [s].

        The time around a touch by a person does not count, since the person may have lifted the robot.
        """
        has_foot_down = self._record.foot_contacts[: self._n_rows].any(axis=1)
        is_airborne = self._is_steady() & ~has_foot_down
        contacts = self._record.contacts
        if contacts is not None:
            # a robot that gets up leans on other parts
            links = {str(link["name"]) for link in self._record.header.links}
            has_link_down = contacts.frames_with_contact(links, self._ground_names, len(self._record))
            is_airborne &= ~has_link_down[: self._n_rows]
        for touch in self._touches:
            is_airborne &= np.abs(self._times - touch.time_s) > self._rules.settle_s
        jump_times = []
        for begin, end in true_intervals(is_airborne):
            begin_s = float(self._times[begin])
            end_s = float(self._times[end - 1])
            if end_s - begin_s > self._rules.jump_s:
                jump_times.append(begin_s)
        return jump_times

    def warnings(self) -> tuple[str, ...]:
        """Return the judge's remarks that cost no points."""
        warnings = [*false_start_warnings(self.start.early_s, self._rules.wait_s)]
        if self._record.contacts is None:
            warnings.append("no contacts were recorded: touches of hands count only as events `hand`")
        return tuple(warnings)


def _find_reached_levels(levels: Indices, max_difference: int) -> Indices:
    """Return the level that a foot has reached in each row, `(n,)`; `NO_LEVEL` before the first.

    A level is the number of a step, 0 the floor before the steps. A foot that skips more levels than allowed
    has walked round the steps, so its level does not change.

    Args:
        levels: the levels that the foot stands on, or `NO_LEVEL`, `(n,)`.
        max_difference: the most levels that a foot may go up at once.
    """
    reached_levels = np.full(len(levels), NO_LEVEL)
    reached_level = NO_LEVEL
    level_before_first_row = NO_LEVEL - 1  # differs from every level, so the first row counts as a change
    rows_of_changes = np.flatnonzero(np.diff(levels, prepend=level_before_first_row))
    for row in rows_of_changes.tolist():
        level = int(levels[row])
        is_on_level = level != NO_LEVEL
        if is_on_level and (reached_level == NO_LEVEL or level - reached_level <= max_difference):
            reached_level = level
        reached_levels[row:] = reached_level
    return reached_levels


def judge_climb(recording: Recording, rules: StairsRules) -> StairsScore:
    """Return the score of a recorded climb.

    The climb ends when the robot arrives at the top, at the deadline, or with the recording.

    Raises:
        InputError: the recording is of other stairs, or lacks positions.
    """
    climb = Climb(recording, rules)
    arrived_s = climb.arrived_s
    started_s = climb.start.moved_s
    last_row_s = float(recording.times[-1])
    ended_s = arrived_s
    if arrived_s is None and last_row_s >= climb.deadline_s:
        ended_s = climb.deadline_s
    judged_until_s = last_row_s if ended_s is None else ended_s
    climbing_time_s = rules.limit_s
    if arrived_s is not None and started_s is not None:
        climbing_time_s = arrived_s - started_s
    steps = tuple(PassedStep(step, time_s) for step, time_s in sorted(climb.passed.items()))
    # `step_points` has the points for one step, for two and so on; further steps earn no more
    n_rewarded_steps = min(len(steps), len(rules.step_points))
    points = rules.step_points[n_rewarded_steps - 1] if n_rewarded_steps else 0.0
    return StairsScore(
        contest=rules.rules,
        steps=steps,
        penalties=climb.penalties(judged_until_s),
        time_s=climbing_time_s,
        arrived=arrived_s is not None,
        points=points,
        started_at_s=started_s,
        ended_at_s=ended_s,
        falls=sum(fall.since_s <= judged_until_s for fall in climb.falls),
        reason=_find_reason(recording, climb, is_time_over=ended_s is not None),
        warnings=climb.warnings(),
    )


def _find_reason(recording: Recording, climb: Climb, *, is_time_over: bool) -> str:
    """Return why a climb ended.

    A recording that ends before the deadline has the reason of its last event `stop`, if it has one.
    """
    if climb.arrived_s is not None:
        return ARRIVED
    if is_time_over:
        return NEVER_MOVED if climb.start.moved_s is None else TIME_OUT
    stop_reasons = [str(event.data.get("reason", "")) for event in recording.events_of("stop")]
    has_reason = bool(stop_reasons and stop_reasons[-1])
    return stop_reasons[-1] if has_reason else _CUT_SHORT
