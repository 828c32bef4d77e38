"""A race as far as it has been seen: the one account that judge and referee both keep.

Rows and events are handed in as they come, a touch before the rows that follow it; how rows are cut into
calls does not change the account, so that what a referee says while the trial runs is what a judge says
of its recording.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.contests.obstacle_race.incidents import (
    FALL,
    BoxWatch,
    Displacement,
    Touch,
    incidents,
)
from posewright.contests.obstacle_race.leg import NEVER_MOVED, Leg, Way
from posewright.contests.obstacle_race.rules import Rules, field_of
from posewright.contests.obstacle_race.score import LegResult, Penalty, Result, score
from posewright.contests.watching import StartWatch, done_or_told, false_start, refuse_unseen, truth_of
from posewright.control import Block
from posewright.errors import InputError
from posewright.recordings import Event, Recording
from posewright.recordings.falls import FallDetector, Spell
from posewright.rotation import heading
from posewright.units import CM_PER_M


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Some consecutive rows, as a recording has them; joints as told where nobody measured what they did."""

    times: Floats
    joints: Floats
    base: Floats
    footprints: Floats
    boxes: Floats

    @classmethod
    def of_recording(cls, recording: Recording, robot: str | None = None) -> Rows:
        """Return all rows of one robot of a recording; without a name, of the first."""
        record, times = recording.robot(robot), recording.times
        refuse_unseen(record)
        if not np.isfinite(recording.boxes).all():
            box = int(np.argwhere(~np.isfinite(recording.boxes))[0, 1]) + 1
            raise InputError(f"the recording does not say where box {box} was", hint="all boxes in all rows")
        if not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
            raise InputError("the time of the recording does not run forward from row to row")
        joints = done_or_told(record.positions, record.commands)
        return cls(times, joints, record.base, record.footprints, recording.boxes)

    @classmethod
    def of_block(cls, block: Block, kept: slice) -> Rows:
        """Return the `kept` frames of a block."""
        states, world = block.states, truth_of(block)
        joints = done_or_told(states.positions[kept], block.commands.angles[kept])
        return cls(states.times[kept], joints, world.base[kept], world.footprints[kept], world.boxes[kept])

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, part: slice) -> Rows:
        """Return some of the rows."""
        return Rows(*(getattr(self, name)[part] for name in self.__slots__))


class Race:
    """Keeps clock, legs, distances and penalties of one race."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.legs = (Leg(Way.of(rules, 1)), Leg(Way.of(rules, 2)))
        self._start = StartWatch(rules.clock.wait_s, rules.clock.moved_rad)
        corner_m = math.hypot(*field_of(rules).box_kind.footprint_m) / 2.0
        self._boxes = BoxWatch(rules.displacement, corner_m)
        self._lying = FallDetector(rules.fall.limits)
        self._unseen: list[tuple[Floats, Floats]] = []
        self._moved: list[Displacement] = []
        self._touches: list[Touch] = []
        self._touches_s: list[float] = []
        self._falls_s: list[float] = []
        self._stopped = ""
        self._now_s = 0.0
        self._backwards = False

    @property
    def leg(self) -> int:
        """Which leg the robot is on, 1 or 2."""
        return 2 if self.legs[0].finished else 1

    @property
    def done(self) -> bool:
        """Whether nothing more can change: both legs are over, or the first is over unfinished."""
        first, second = self.legs
        return second.ended_s is not None or (first.ended_s is not None and not first.finished)

    @property
    def ended_s(self) -> float:
        """When it was over, in the recording's time; infinite before [s]."""
        first, second = self.legs
        last = second.ended_s if first.finished else first.ended_s
        return math.inf if last is None else last

    @property
    def clock_s(self) -> float:
        """What the present leg's clock shows [s]."""
        return self.legs[self.leg - 1].clock_s(self._now_s)

    @property
    def distance_cm(self) -> float:
        """The present leg's distance [cm]."""
        return self.legs[self.leg - 1].distance_m * CM_PER_M

    @property
    def goal_yaw_rad(self) -> float:
        """Where the present leg leads: 0 along the field, pi back [rad]."""
        return 0.0 if self.leg == 1 else math.pi

    def advance(self, rows: Rows) -> list[Displacement]:
        """Look at some more rows; return the boxes that were seen to have moved in them."""
        if self.done or not len(rows):
            return []
        self._now_s = float(rows.times[-1])
        if self._start.moved_s is None:
            self._start.advance(rows.times, rows.joints)
            self._begin_leg_1()
        used = self.legs[0].advance(rows.times, rows.footprints, self._touches_s)
        first, second = self.legs
        if first.finished and first.ended_s is not None:
            if second.started_s is None:
                second.start(first.ended_s + self.rules.clock.leg_2_delay_s)
            self._advance_leg_2(rows, used)
        self._unseen.append((rows.times.copy(), rows.base.copy()))
        moved = self._boxes.advance(rows.times, rows.boxes)
        self._moved += moved
        return moved

    def note(self, event: Event) -> None:
        """Take note of a touch, a fall, or why the run was stopped; all else is seen in the rows."""
        if event.kind == "touch":
            self._touches.append(Touch.of(event))
            insort(self._touches_s, event.time_s)
        elif event.kind == FALL:
            self._falls_s.append(event.time_s)
        elif event.kind == "stop":
            self._stopped = str(event.data.get("reason", ""))

    def _begin_leg_1(self) -> None:
        limit = self.rules.scoring.time_limit_s
        if self._start.moved_s is not None:
            self.legs[0].start(self._start.moved_s)
        elif self._now_s > self.rules.clock.wait_s + limit:
            self.legs[0].give_up(self.rules.clock.wait_s + limit, NEVER_MOVED)

    def _advance_leg_2(self, rows: Rows, used: int) -> None:
        leg = self.legs[1]
        taken = used + leg.advance(rows.times[used:], rows.footprints[used:], self._touches_s)
        if leg.finished and taken > used:
            self._backwards = math.cos(float(heading(rows.base[taken - 1, 3:]))) > 0.0

    def penalties(self) -> tuple[Penalty, ...]:
        """Return the penalties so far, each with its leg; what comes after the race's end is none."""
        found = incidents(self._touches, self._moved, self.rules.displacement.incident_s)
        return tuple(Penalty(at, leg, why, box) for at, why, box in found if (leg := self._leg_at(at)))

    def _leg_at(self, time_s: float) -> int:
        """Return the leg a time belongs to, 0 after the end."""
        for number, leg in enumerate(self.legs, 1):
            if leg.ended_s is None or time_s <= leg.ended_s:
                return number
            if not leg.finished:
                return 0
        return 0

    def result(self) -> Result:
        """Return the result of the race as far as it has been seen."""
        penalties = self.penalties()
        counts = [sum(penalty.leg == number for penalty in penalties) for number in (1, 2)]
        legs = tuple(self._judged(leg, count) for leg, count in zip(self.legs, counts, strict=True))
        return Result(
            contest=self.rules.name,
            legs=legs,
            total_points=sum(leg.points for leg in legs),
            raw_total=sum(leg.raw_points for leg in legs),
            falls=self._falls(),
            penalties=penalties,
            warnings=self._warnings(),
        )

    def _judged(self, leg: Leg, penalties: int) -> LegResult:
        limit = self.rules.scoring
        time_s = leg.clock_s(self._now_s) if leg.finished else limit.time_limit_s
        distance_cm = min(leg.distance_m * CM_PER_M, limit.distance_limit_cm)
        points = score(min(time_s, limit.time_limit_s), distance_cm, penalties, self.rules)
        cut_short = not self.done and leg is self.legs[self.leg - 1]
        return LegResult(
            time_s=time_s,
            distance_cm=distance_cm,
            penalties=penalties,
            points=points.points,
            raw_points=points.raw_points,
            finished=leg.finished,
            started_at_s=leg.started_s,
            ended_at_s=leg.ended_s,
            reason=(self._stopped if cut_short else "") or leg.reason,
            time_loss=limit.time_weight - points.time_points,
            distance_loss=limit.distance_weight - points.distance_points,
            penalty_loss=points.penalty_points,
        )

    def _falls(self) -> int:
        """Return how often the robot fell: the falls that were noted, and those that only the rows show."""
        noted = [time_s for time_s in self._falls_s if self._leg_at(time_s)]
        return len(noted) + len(self._lay_without(noted))

    def _lay_without(self, noted_s: list[float]) -> list[Spell]:
        if self._unseen:  # nobody asks before the race is over, so the rows are looked at all at once
            self._lying.advance(*(np.concatenate(column) for column in zip(*self._unseen, strict=True)))
            self._unseen.clear()
        lain = self._lying.falls(self.ended_s)
        return _unanswered(lain, noted_s, self.rules.displacement.incident_s)

    def _warnings(self) -> tuple[str, ...]:
        found = [*false_start(self._start.early_s, self.rules.clock.wait_s)]
        if self._backwards:
            found.append("the robot came back without turning round")
        found += [
            f"the robot lay from {lain.since_s:.2f} to {lain.until_s:.2f} s and nobody touched it"
            for lain in self._lay_without(self._touches_s)
        ]
        return tuple(found)


def _unanswered(spells: Sequence[Spell], times_s: Iterable[float], margin_s: float) -> list[Spell]:
    """Return the times a robot lay to which none of the times belongs.

    A time belongs to a spell from its beginning until `margin_s` after its end, or until the next begins.
    """
    at = np.sort(np.fromiter(times_s, dtype=np.float64))
    begins = np.array([spell.since_s for spell in spells])
    ends = np.minimum([spell.until_s + margin_s for spell in spells], np.append(begins[1:], np.inf))
    none = np.searchsorted(at, begins) == np.searchsorted(at, ends, side="right")
    return [spell for spell, alone in zip(spells, none.tolist(), strict=True) if alone]
