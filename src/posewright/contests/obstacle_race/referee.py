"""The referee of the obstacle race, who puts a fallen or jammed robot back and ends the race.

It keeps the same state of the race as the judge. A fallen robot that has not got up in the time of the rules
is put back where it last stood, a jammed one a little back along its path. It keeps the heading that it had
when it last stood, whichever way it fell.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from posewright.arenas import Arena, fixed_obstacles, obstacle_distances
from posewright.arrays import Flags, Floats
from posewright.bodies import GroundTruth, JointStates, Supervisor
from posewright.contests.observation import RecordedRows, require_ground_truth
from posewright.contests.obstacle_race.put_back import find_clear_place, turn_towards
from posewright.contests.obstacle_race.race import Race, Rows
from posewright.contests.obstacle_race.rules import JamRules, RaceFallRules, Rules, require_field
from posewright.contests.obstacle_race.score import Result
from posewright.control import Block
from posewright.recordings import ROWS_EVERY, Event
from posewright.recordings.falls import FallDetector
from posewright.rotation import heading, roll_pitch_yaw, uprightness
from posewright.units import DEG_PER_RAD, wrap_angle

_TRAIL_BLOCKS = 600
"""Number of blocks whose positions are remembered, about a minute."""


class RaceReferee:
    """Watches a race, puts the robot back where necessary, and ends the race.

    Args:
        rules: the rules of the race.
        arena: the field.
        supervisor: what puts the robot back, as a referee does by hand.
        note: writes an event into the recording.
        robot: the robot whose blocks to watch; None for the only robot.
        every: the recording has a row for each `every` frames; the referee judges by these rows.

    Attributes:
        race: the state of the race.

    Raises:
        InputError: the arena is not the one of the rules.
    """

    def __init__(
        self,
        rules: Rules,
        arena: Arena,
        supervisor: Supervisor,
        note: Callable[[Event], None],
        *,
        robot: str | None = None,
        every: int = ROWS_EVERY,
    ) -> None:
        """Check the arena, and create the race before its first row."""
        require_field(rules, arena.to_dict())
        self.race = Race(rules)
        self._rules = rules
        self._arena = arena
        self._supervisor = supervisor
        self._note = note
        self._robot = robot
        self._recorded_rows = RecordedRows(every)
        self._fall_locator = FallLocator(rules.fall)
        self._jam_detector = JamDetector(rules.jam, arena)
        self._present_fall: LocatedFall | None = None  # after which the robot has not got up yet
        self._trail: deque[tuple[float, float]] = deque(maxlen=_TRAIL_BLOCKS)  # (x, y) after each block [m]

    @property
    def result(self) -> Result:
        """The result so far; after the run, equal to the judge's result of its recording."""
        return self.race.result()

    def progress(self) -> str:
        """Return leg, distance and number of penalties."""
        race = self.race
        return f"leg {race.leg}  {race.distance_cm:5.1f} cm  {len(race.penalties())} penalties"

    def watch(self, block: Block) -> bool:
        """Process a block, intervene if necessary, and return whether the race is over.

        Raises:
            BodyError: the body has no ground truth.
        """
        if self._robot not in {None, block.robot}:
            return False
        states = block.states
        rows = Rows.of_block(block, self._recorded_rows.select(block))
        for displacement in self.race.advance(rows):
            data = {"box": displacement.box, "displacement_m": displacement.displacement_m}
            self._note_event(displacement.time_s, "box_moved", data)
        if len(states) and not self.race.is_over:
            self._intervene(states, require_ground_truth(block))
        if self.race.is_over:
            self._note_event(float(states.times[-1]), "stop", {"reason": self._end_reason()})
        return self.race.is_over

    def _intervene(self, states: JointStates, truth: GroundTruth) -> None:
        """Put the robot back if it has fallen and not got up in time, or is jammed at an obstacle.

        Args:
            states: the joint states of a block.
            truth: the ground truth of the block.
        """
        time_s = float(states.times[-1])
        fall = self._fall_locator.advance(states.times, truth.base, truth.footprints)
        if fall is not None and self._present_fall is None:
            self._present_fall = fall
            roll, pitch, _ = (roll_pitch_yaw(truth.base[-1, 3:]) * DEG_PER_RAD).tolist()
            self._note_event(time_s, "fall", {"since_s": fall.since_s, "roll_deg": roll, "pitch_deg": pitch})
        if self._present_fall is not None:
            if self._fall_locator.is_standing:
                self._note_event(time_s, "got_up", {"since_s": self._present_fall.since_s})
                self._present_fall = None
            elif time_s - self._present_fall.since_s >= self._rules.fall.get_up_s:
                self._put_back_after_fall(time_s, self._present_fall, truth)
            return
        jam = self._jam_detector.advance(time_s, truth.base[-1], truth.box_contacts)
        if jam is not None:
            self._put_back_after_jam(time_s, jam, truth)
            return
        x_m, y_m = truth.base[-1, :2].tolist()
        self._trail.append((x_m, y_m))

    def _put_back_after_fall(self, time_s: float, fall: LocatedFall, truth: GroundTruth) -> None:
        """Put the robot back where it last stood, turned towards its goal."""
        yaw = turn_towards(fall.heading_rad, self.race.goal_yaw_rad, self._rules.fall.turn_rad)
        cause = {"reason": "fall", "since_s": fall.since_s}
        self._put_back((fall.x_m, fall.y_m), yaw, truth, time_s, cause)

    def _put_back_after_jam(self, time_s: float, jam: Jam, truth: GroundTruth) -> None:
        """Note a jam, and put the robot back on its path, with the heading that it has."""
        jam_data: dict[str, Any] = {"since_s": jam.since_s}
        if jam.box is not None:
            jam_data["box"] = jam.box
        self._note_event(time_s, "jam", jam_data)
        x_m, y_m = truth.base[-1, :2].tolist()
        position = self._find_place_behind(x_m, y_m)
        yaw = float(heading(truth.base[-1, 3:]))
        self._put_back(position, yaw, truth, time_s, cause={"reason": "jam", **jam_data})

    def _find_place_behind(self, x_m: float, y_m: float) -> tuple[float, float]:
        """Return the latest place on the robot's path that is a step away and not nearer to its goal.

        If there is none, it is the place a step straight behind the robot.

        Args:
            x_m: where the robot is, along the field [m].
            y_m: where the robot is, across the field [m].

        Returns:
            x and y of the place [m].
        """
        step_m = self._rules.put_back.step_back_m
        forward = math.cos(self.race.goal_yaw_rad)  # 1 along the field's x, -1 back
        for trail_x_m, trail_y_m in reversed(self._trail):
            is_a_step_away = math.hypot(trail_x_m - x_m, trail_y_m - y_m) >= step_m
            is_behind = forward * (trail_x_m - x_m) <= 0.0
            if is_a_step_away and is_behind:
                return trail_x_m, trail_y_m
        return x_m - step_m * forward, y_m

    def _put_back(
        self,
        position: tuple[float, float],
        yaw: float,
        truth: GroundTruth,
        time_s: float,
        cause: dict[str, Any],
    ) -> None:
        """Place the robot at the nearest clear place, note the touch, and restart the detectors.

        Args:
            position: preferred x and y [m].
            yaw: heading [rad].
            truth: the truth of the current block.
            time_s: now [s].
            cause: data of the touch event.
        """
        x_m, y_m = find_clear_place(
            *position,
            truth.boxes[-1],
            self._arena,
            rules=self._rules.put_back,
            forward=math.cos(self.race.goal_yaw_rad),
        )
        self._supervisor.place_robot(x_m, y_m, yaw)
        self._note_event(time_s, "touch", {**cause, "x_m": x_m, "y_m": y_m, "yaw_deg": yaw * DEG_PER_RAD})
        self._present_fall = None
        self._fall_locator.restart()
        self._jam_detector.restart()
        self._trail.clear()

    def _end_reason(self) -> str:
        """Return `finished`, or why the last leg that was begun ended."""
        last_leg = self.race.legs[1] if self.race.legs[0].finished else self.race.legs[0]
        return "finished" if last_leg.finished else last_leg.reason

    def _note_event(self, time_s: float, kind: str, data: dict[str, Any]) -> None:
        """Write an event into the recording, and into the state of the race, which may depend on it."""
        event = Event(time_s, kind, data)
        self.race.note(event)
        self._note(event)


@dataclass(frozen=True, slots=True)
class LocatedFall:
    """A fall, and where the robot last stood.

    Attributes:
        since_s: when the base went down [s].
        x_m: middle between the soles when it last stood [m].
        y_m: middle between the soles when it last stood [m].
        heading_rad: when it last stood, 0 along the field's x [rad].
    """

    since_s: float
    x_m: float
    y_m: float
    heading_rad: float


class _Standing(NamedTuple):
    """Where a robot stood.

    Attributes:
        base: pose of the base, `(7,)`.
        footprints: corners of the soles, `(n_feet, 4, 3)` [m].
    """

    base: Floats
    footprints: Floats


class FallLocator:
    """Detects falls, and remembers where the robot last stood.

    Args:
        rules: the rules of falls.

    Attributes:
        is_standing: whether the base is upright, and not down, in the last row.
    """

    def __init__(self, rules: RaceFallRules) -> None:
        self._cos_upright = math.cos(rules.upright_rad)
        self._detector = FallDetector(rules.limits)
        self._last_standing: _Standing | None = None
        self.is_standing = True

    def advance(self, times: Floats, base: Floats, footprints: Floats) -> LocatedFall | None:
        """Process further frames, and return the fall that the robot is in after them; None without one.

        Args:
            times: the times of the frames, `(n,)` [s].
            base: x y z qw qx qy qz, `(n, 7)`.
            footprints: corners of the soles in the field frame, `(n, n_feet, 4, 3)` [m].
        """
        if not len(times):
            return None
        if self._last_standing is None:
            self._last_standing = _Standing(base[0].copy(), footprints[0].copy())
        upright = uprightness(base[:, 3:])
        is_upright = upright > self._cos_upright
        if is_upright.any():
            last_upright = np.flatnonzero(is_upright)[-1]
            self._last_standing = _Standing(base[last_upright].copy(), footprints[last_upright].copy())
        is_down = self._detector.find_down_rows(base, upright)
        self.is_standing = bool(is_upright[-1] and not is_down[-1])
        fall = self._detector.advance_flags(times, is_down)
        if fall is None:
            return None
        x, y = self._last_standing.footprints[..., :2].reshape(-1, 2).mean(axis=0).tolist()
        heading_rad = float(heading(self._last_standing.base[3:]))
        return LocatedFall(fall.since_s, x_m=x, y_m=y, heading_rad=heading_rad)

    def restart(self) -> None:
        """Start again after the robot was put on its feet."""
        self._detector.start_new_interval()


@dataclass(frozen=True, slots=True)
class Jam:
    """A jam: a robot that touches an obstacle and gets no farther.

    Attributes:
        since_s: when the robot last made progress [s].
        box: number of the box it is jammed at; None for a wall or another shape.
    """

    since_s: float
    box: int | None


@dataclass(slots=True)
class _StuckPose:
    """The pose that a robot in contact has not left, and since when."""

    x_m: float
    y_m: float
    heading_rad: float
    since_s: float


class JamDetector:
    """Detects contact with an obstacle without progress: neither a step away from a place nor a turn.

    An obstacle is a box, a wall, or another solid shape of the field.

    Args:
        rules: the rules of jams.
        arena: the field.
    """

    def __init__(self, rules: JamRules, arena: Arena) -> None:
        self._rules = rules
        self._arena = arena
        self._has_fixed_obstacles = bool(fixed_obstacles(arena))
        self._stuck_pose: _StuckPose | None = None
        self._last_contact_s = -math.inf
        self._box: int | None = None  # the box touched last, from 1; None for a wall or another shape

    def advance(self, time_s: float, base: Floats, contacts: Flags) -> Jam | None:
        """Process another block, and return the jam that lasts at its end; None if there is none.

        A jam begins when the robot touches an obstacle, and lasts while it neither loses the contact for long
        nor leaves its pose.

        Args:
            time_s: the time at its end [s].
            base: x y z qw qx qy qz at its end, `(7,)`.
            contacts: boxes touched during it, `(n, n_boxes)`.
        """
        x_m, y_m = base[:2].tolist()
        if self._is_in_contact(x_m, y_m, contacts):
            self._last_contact_s = time_s
        has_lost_contact = time_s - self._last_contact_s > self._rules.contact_gap_s
        if has_lost_contact:
            self._stuck_pose = None
            return None
        heading_rad = float(heading(base[3:]))
        if self._stuck_pose is None or self._has_left(self._stuck_pose, x_m, y_m, heading_rad):
            self._stuck_pose = _StuckPose(x_m, y_m, heading_rad, since_s=time_s)
            return None
        if time_s - self._stuck_pose.since_s < self._rules.lasting_s:
            return None
        return Jam(self._stuck_pose.since_s, self._box)

    def restart(self) -> None:
        """Start again after the robot was moved."""
        self._stuck_pose = None
        self._last_contact_s = -math.inf

    def _is_in_contact(self, x_m: float, y_m: float, contacts: Flags) -> bool:
        """Return whether the robot touches a box or is near a wall or another shape, and remember the box.

        Args:
            x_m: the robot's place along the field, 0 at one end [m].
            y_m: its place across the field, 0 in the middle [m].
            contacts: boxes touched in the frames of a block, `(n, n_boxes)`.
        """
        if contacts.any():
            self._box = int(contacts.any(axis=0).argmax()) + 1
            return True
        distance_m = min(x_m, self._arena.size_x - x_m, self._arena.size_y / 2.0 - abs(y_m))
        if self._has_fixed_obstacles:
            distance_m = min(distance_m, float(obstacle_distances([(x_m, y_m)], self._arena).min()))
        if distance_m < self._rules.wall_near_m:
            self._box = None
            return True
        return False

    def _has_left(self, pose: _StuckPose, x_m: float, y_m: float, heading_rad: float) -> bool:
        """Return whether the robot has stepped away from a pose, or turned."""
        turn_rad = abs(wrap_angle(heading_rad - pose.heading_rad))
        distance_m = math.hypot(x_m - pose.x_m, y_m - pose.y_m)
        return distance_m > self._rules.radius_m or turn_rad > self._rules.turn_rad
