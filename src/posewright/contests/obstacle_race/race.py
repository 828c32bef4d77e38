"""The state of a race, computed row by row; referee and judge both use it.

Rows and events are processed in order, a touch before the rows that follow it. The result does not depend on
how rows are split into calls, so the referee during a run and the judge of its recording agree.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.contests.observation import (
    StartDetector,
    false_start_warnings,
    measured_or_commanded,
    require_ground_truth,
    require_positions,
)
from posewright.contests.obstacle_race.incidents import (
    FALL,
    Displacement,
    DisplacementDetector,
    Touch,
    find_incidents,
)
from posewright.contests.obstacle_race.leg import NEVER_MOVED, Leg, LegCourse
from posewright.contests.obstacle_race.rules import Rules, field_without_boxes
from posewright.contests.obstacle_race.score import LegResult, Penalty, Result, score
from posewright.control import Block
from posewright.errors import InputError
from posewright.recordings import Event, Recording
from posewright.recordings.falls import DownInterval, FallDetector
from posewright.rotation import heading
from posewright.units import CM_PER_M


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Consecutive rows of a recording of one robot.

    Attributes:
        times: `(n,)` [s].
        joints: angles as measured, or as commanded where there is no measurement, `(n, n_joints)` [rad].
        base: poses of the base, `(n, 7)`.
        footprints: corners of the soles, `(n, n_feet, 4, 3)` [m].
        boxes: poses of the boxes, `(n, n_boxes, 7)`.
    """

    times: Floats
    joints: Floats
    base: Floats
    footprints: Floats
    boxes: Floats

    @classmethod
    def of_recording(cls, recording: Recording, robot: str | None = None) -> Rows:
        """Return all rows of a robot of a recording; without a name, of the first robot.

        Raises:
            InputError: the positions of robot or boxes are missing, or time does not increase.
        """
        record = recording.robot(robot)
        times = recording.times
        require_positions(record)
        if not np.isfinite(recording.boxes).all():
            box = int(np.argwhere(~np.isfinite(recording.boxes))[0, 1]) + 1
            raise InputError(
                f"the recording does not say where box {box} was", hint="record all boxes in all rows"
            )
        if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise InputError("the times of the recording do not increase from row to row")
        joints = measured_or_commanded(record.positions, record.commands)
        return cls(times, joints, record.base, record.footprints, recording.boxes)

    @classmethod
    def of_block(cls, block: Block, frames: slice) -> Rows:
        """Return some frames of a block as rows."""
        states = block.states
        truth = require_ground_truth(block)
        joints = measured_or_commanded(states.positions[frames], block.commands.angles[frames])
        return cls(
            states.times[frames], joints, truth.base[frames], truth.footprints[frames], truth.boxes[frames]
        )

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: slice) -> Rows:
        """Return some of the rows."""
        return Rows(
            self.times[part],
            joints=self.joints[part],
            base=self.base[part],
            footprints=self.footprints[part],
            boxes=self.boxes[part],
        )


class Race:
    """The clock, legs, distances and penalties of one race.

    Args:
        rules: the rules of the race.

    Attributes:
        rules: the rules of the race.
        legs: leg 1 and leg 2.
    """

    def __init__(self, rules: Rules) -> None:
        """Create the race before its first row."""
        self.rules = rules
        self.legs = (Leg(LegCourse.from_rules(rules, 1)), Leg(LegCourse.from_rules(rules, 2)))
        self._start_detector = StartDetector(rules.clock.wait_s, rules.clock.moved_rad)
        # a box that turns on its place moves its corners around this circle
        corner_radius_m = math.hypot(*field_without_boxes(rules).box_kind.footprint_m) / 2.0
        self._displacement_detector = DisplacementDetector(rules.displacement, corner_radius_m)
        self._fall_detector = FallDetector(rules.fall.limits)
        # times and bases that the fall detector has not processed yet
        self._pending_bases: list[tuple[Floats, Floats]] = []
        self._displacements: list[Displacement] = []  # of boxes, in order
        self._touches: list[Touch] = []  # by a person
        self._touches_s: list[float] = []  # their times, rising [s]
        self._noted_falls_s: list[float] = []  # the times of events `fall` [s]
        self._stop_reason = ""  # why it was stopped; empty while it was not
        self._now_s = 0.0  # time of the last row
        self._walked_backwards = False

    @property
    def leg(self) -> int:
        """The leg that the robot is on, 1 or 2."""
        return 2 if self.legs[0].finished else 1

    @property
    def is_over(self) -> bool:
        """Whether both legs are over, or the first one ended unfinished."""
        first, second = self.legs
        return second.ended_s is not None or (first.ended_s is not None and not first.finished)

    @property
    def ended_s(self) -> float:
        """End of the race in the recording's time; infinite before [s]."""
        first, second = self.legs
        end_s = second.ended_s if first.finished else first.ended_s
        return math.inf if end_s is None else end_s

    @property
    def clock_s(self) -> float:
        """Time on the current leg's clock [s]."""
        return self.legs[self.leg - 1].clock_s(self._now_s)

    @property
    def distance_cm(self) -> float:
        """Distance of the current leg [cm]."""
        return self.legs[self.leg - 1].distance_m * CM_PER_M

    @property
    def goal_yaw_rad(self) -> float:
        """Heading of the current leg: 0 along the field, pi back [rad]."""
        return 0.0 if self.leg == 1 else math.pi

    def advance(self, rows: Rows) -> list[Displacement]:
        """Process further rows, and return the displacements of boxes in them.

        Leg 1 starts with the robot's first move, leg 2 a while after leg 1 was finished.
        """
        if self.is_over or not len(rows):
            return []
        self._now_s = float(rows.times[-1])
        if self._start_detector.moved_s is None:
            self._start_detector.advance(rows.times, rows.joints)
            self._start_leg_1()
        leg_1, leg_2 = self.legs
        n_rows_of_leg_1 = leg_1.advance(rows.times, rows.footprints, self._touches_s)
        if leg_1.finished and leg_1.ended_s is not None:
            if leg_2.started_s is None:
                leg_2.start(leg_1.ended_s + self.rules.clock.leg_2_delay_s)
            self._advance_leg_2(rows, first_row=n_rows_of_leg_1)
        self._pending_bases.append((rows.times.copy(), rows.base.copy()))
        displacements = self._displacement_detector.advance(rows.times, rows.boxes)
        self._displacements += displacements
        return displacements

    def note(self, event: Event) -> None:
        """Process an event: a touch, a fall, or the reason of a stop; other events are ignored."""
        if event.kind == "touch":
            self._touches.append(Touch.from_event(event))
            insort(self._touches_s, event.time_s)
        elif event.kind == FALL:
            self._noted_falls_s.append(event.time_s)
        elif event.kind == "stop":
            self._stop_reason = str(event.data.get("reason", ""))

    def _start_leg_1(self) -> None:
        """Start leg 1 at the robot's first move, or end it if the robot has not moved in time."""
        latest_s = self.rules.clock.wait_s + self.rules.scoring.time_limit_s
        if self._start_detector.moved_s is not None:
            self.legs[0].start(self._start_detector.moved_s)
        elif self._now_s > latest_s:
            self.legs[0].end_unfinished(latest_s, NEVER_MOVED)

    def _advance_leg_2(self, rows: Rows, first_row: int) -> None:
        """Process the rows of leg 2, and note if the robot crossed its line backwards."""
        leg = self.legs[1]
        n_rows = leg.advance(rows.times[first_row:], rows.footprints[first_row:], self._touches_s)
        if leg.finished and n_rows:
            last_row = first_row + n_rows - 1
            self._walked_backwards = math.cos(float(heading(rows.base[last_row, 3:]))) > 0.0

    def penalties(self) -> tuple[Penalty, ...]:
        """Return the penalties so far; incidents after the end of the race cost nothing."""
        incidents = find_incidents(self._touches, self._displacements, self.rules.displacement.incident_s)
        penalties = []
        for incident in incidents:
            leg = self._leg_at(incident.time_s)
            if leg is not None:
                penalties.append(Penalty(incident.time_s, leg, incident.reason, incident.box))
        return tuple(penalties)

    def _leg_at(self, time_s: float) -> int | None:
        """Return the leg at a time, 1 or 2; None after the end of the race."""
        for number, leg in enumerate(self.legs, 1):
            if leg.ended_s is None or time_s <= leg.ended_s:
                return number
            if not leg.finished:  # there is no next leg
                return None
        return None

    def result(self) -> Result:
        """Return the result of the race so far."""
        penalties = self.penalties()
        legs = tuple(
            self._judge_leg(leg, n_penalties=sum(penalty.leg == number for penalty in penalties))
            for number, leg in enumerate(self.legs, 1)
        )
        return Result(
            contest=self.rules.name,
            legs=legs,
            total_points=sum(leg.points for leg in legs),
            raw_total=sum(leg.raw_points for leg in legs),
            falls=self._count_falls(),
            penalties=penalties,
            warnings=self._warnings(),
        )

    def _judge_leg(self, leg: Leg, n_penalties: int) -> LegResult:
        """Return the result of a leg so far, with its points and what they lost by time, distance, penalties.

        Args:
            leg: the leg.
            n_penalties: the number of penalties in it.
        """
        scoring = self.rules.scoring
        time_s = leg.clock_s(self._now_s) if leg.finished else scoring.time_limit_s
        distance_cm = min(leg.distance_m * CM_PER_M, scoring.distance_limit_cm)
        points = score(min(time_s, scoring.time_limit_s), distance_cm, n_penalties, self.rules)
        # if the recording ends during the leg, the reason of its stop is that of the leg
        present_leg = self.legs[self.leg - 1]
        is_cut_short = leg is present_leg and not self.is_over
        return LegResult(
            time_s=time_s,
            distance_cm=distance_cm,
            penalties=n_penalties,
            points=points.points,
            raw_points=points.raw_points,
            finished=leg.finished,
            started_at_s=leg.started_s,
            ended_at_s=leg.ended_s,
            reason=(self._stop_reason if is_cut_short else "") or leg.reason,
            time_loss=scoring.time_weight - points.time_points,
            distance_loss=scoring.distance_weight - points.distance_points,
            penalty_loss=points.penalty_points,
        )

    def _count_falls(self) -> int:
        """Return the number of falls: those noted as events, and those that only the rows show."""
        noted_s = [time_s for time_s in self._noted_falls_s if self._leg_at(time_s) is not None]
        return len(noted_s) + len(self._find_falls_without(noted_s))

    def _find_falls_without(self, event_times_s: list[float]) -> list[DownInterval]:
        """Return the falls that the rows show and to which no event belongs.

        Args:
            event_times_s: the times of the events, such as touches [s].
        """
        # falls are needed only after the race, so pending rows are processed together
        if self._pending_bases:
            times = np.concatenate([times for times, _ in self._pending_bases])
            bases = np.concatenate([base for _, base in self._pending_bases])
            self._fall_detector.advance(times, bases)
            self._pending_bases.clear()
        falls = self._fall_detector.falls(self.ended_s)
        return _select_without_event(falls, event_times_s, self.rules.displacement.incident_s)

    def _warnings(self) -> tuple[str, ...]:
        """Return warnings of a false start, of walking backwards, and of falls after which nobody helped."""
        warnings = [*false_start_warnings(self._start_detector.early_s, self.rules.clock.wait_s)]
        if self._walked_backwards:
            warnings.append("the robot came back without turning round")
        for fall in self._find_falls_without(self._touches_s):
            warnings.append(
                f"the robot lay from {fall.since_s:.2f} to {fall.until_s:.2f} s and nobody touched it"
            )
        return tuple(warnings)


def _select_without_event(
    falls: Sequence[DownInterval], event_times_s: Iterable[float], margin_s: float
) -> list[DownInterval]:
    """Return the falls to which no event belongs.

    An event belongs to a fall from the fall's begin until `margin_s` after its end, or until the next fall
    begins.

    Args:
        falls: the falls, in the order of time.
        event_times_s: the times of events, in any order [s].
        margin_s: the time after a fall in which an event belongs to it [s].
    """
    sorted_event_times = np.sort(np.fromiter(event_times_s, dtype=np.float64))
    begins = np.array([fall.since_s for fall in falls])
    next_begins = np.append(begins[1:], np.inf)
    ends = np.minimum([fall.until_s + margin_s for fall in falls], next_begins)
    # events between begin and end show as a difference of the numbers of events up to these times
    n_events_before_begin = np.searchsorted(sorted_event_times, begins)
    n_events_until_end = np.searchsorted(sorted_event_times, ends, side="right")
    has_no_event = (n_events_before_begin == n_events_until_end).tolist()
    return [fall for fall, is_without in zip(falls, has_no_event, strict=True) if is_without]
