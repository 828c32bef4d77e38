"""Motions as tables of integers for the player on a board.

Positions are servo ticks with 16 binary places (`TICK`). Times are counted in parts of a frame, so small that
keyframes and the ends of passes lie on whole parts and a motion stays on its own clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats
from posewright.control.schedule import in_frames
from posewright.controllers.passes import PEAK_OF_MEAN, SHARE_OF_SPEED, SHORTEST_JOIN_S, TOUCHING_RAD
from posewright.errors import InputError, Where
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.motions.pose import pause_ends
from posewright.robots import Robot

Integers: TypeAlias = NDArray[np.int64]
"""Integers, such as positions of all joints, `(n_joints,)`."""

TICK = 1 << 16
"""One servo tick."""

UNCHANGED = -1
"""Position in a table of a joint that keeps its position."""

ONE = 1 << 28
"""The fraction 1."""

MAX_PARTS = 1 << 20
"""Greatest number of parts of a frame."""

_TIME_LIMIT = 1 << 31
"""Times in a table must be less than this."""

MAX_KEYFRAMES = 255
MAX_MOTIONS = 254
"""Keyframes and motions are counted in a byte on the board, and one number means none."""

EASINGS = {Easing.LINEAR: 0, Easing.SMOOTH: 1, Easing.TRAPEZOID: 2}
"""The number of each easing on the board."""


@dataclass(frozen=True, eq=False)
class Page:
    """A motion as the board's player reads it, in whole numbers.

    A pass is one repetition of the motion.

    Attributes:
        number: from 1; 0 means none.
        motion: the motion.
        positions: the positions of the keyframes, `(n_keyframes, n_joints)` [TICK]; UNCHANGED where a joint
            keeps its position.
        start_positions: start pose, `(n_joints,)` [TICK]; None where it has none.
        arrival_times: when each keyframe is reached, from the begin of the pass [parts of a frame].
        end_times: when the pause after it is over [parts of a frame].
        easings: easing of the segment to each keyframe.
        accel_fractions: fraction of the segment's time for acceleration [ONE].
        duration: the duration of a pass, at least a frame [parts of a frame].
        frames_to_first_keyframe: whole frames before the first keyframe is reached.
        n_passes: number of passes; 0 for ever.
        next_number: number of the next motion; 0 for none.
        exit_number: number of the exit motion; 0 for none.
    """

    number: int
    motion: Motion
    positions: Integers
    start_positions: Integers | None
    arrival_times: tuple[int, ...]
    end_times: tuple[int, ...]
    easings: tuple[Easing, ...]
    accel_fractions: tuple[int, ...]
    duration: int
    frames_to_first_keyframe: int
    n_passes: int
    next_number: int
    exit_number: int


class MaxSteps(NamedTuple):
    """The greatest distance of a servo in a frame, `(n_joints,)` [TICK].

    Attributes:
        no_load: at the servo's speed without load.
        loaded: half of that, at which a servo with a load still follows.
    """

    no_load: Integers
    loaded: Integers


@dataclass(frozen=True, eq=False)
class PageTables:
    """The tables of a robot and its motions.

    Attributes:
        robot: the robot.
        parts_per_frame: number of parts of a frame in which times are counted.
        pages: the motions by name, in the order of their numbers.
        start_pose: `(n_joints,)` [TICK].
        equality_distance: greatest distance of positions that count as equal, `(n_joints,)` [TICK].
        join_frames_per_tick: frames of a join for each tick of distance, `(n_joints,)` [ONE].
        max_steps: greatest distance of each servo in a frame.
    """

    robot: Robot
    parts_per_frame: int
    pages: Mapping[str, Page]
    start_pose: Integers
    equality_distance: Integers = field(repr=False)
    join_frames_per_tick: Integers = field(repr=False)
    max_steps: MaxSteps = field(repr=False)

    @classmethod
    def from_motions(
        cls,
        robot: Robot,
        motions: Mapping[str, Motion],
        start_pose: Floats,
        place_of_motion: Mapping[str, Where] = MappingProxyType({}),
    ) -> PageTables:
        """Build the tables.

        Args:
            robot: the robot.
            motions: the motions by name.
            start_pose: joint angles at the start, `(n_joints,)` [rad].
            place_of_motion: the place of each motion in the document, for messages.

        Raises:
            InputError: a motion uses something that a board does not do.
        """
        _require_dynamixel_servos(robot)
        if len(motions) > MAX_MOTIONS:
            raise InputError(
                f"there are {len(motions)} motions, and a board plays at most {MAX_MOTIONS}",
                where=place_of_motion.get([*motions][MAX_MOTIONS]),
                hint="leave some out",
            )
        parts_per_frame = _choose_parts_per_frame(robot, motions)
        motion_numbers = {name: number for number, name in enumerate(motions, 1)}  # 0 stands for none
        converter = _PageConverter(robot, parts_per_frame, motion_numbers, place_of_motion)
        tick_rad = np.array([servo.tick_rad for servo in robot.servos])
        max_step_ticks = robot.max_speeds * robot.frame_period_s / tick_rad
        loaded_step_ticks = SHARE_OF_SPEED * max_step_ticks
        return cls(
            robot,
            parts_per_frame,
            {name: converter.build_page(name, motion) for name, motion in motions.items()},
            start_pose=converter.to_ticks(start_pose),
            equality_distance=_round(TOUCHING_RAD / tick_rad * TICK),
            join_frames_per_tick=_round(PEAK_OF_MEAN / loaded_step_ticks * ONE),
            max_steps=MaxSteps(_round(max_step_ticks * TICK), _round(SHARE_OF_SPEED * max_step_ticks * TICK)),
        )

    @cached_property
    def motion_names(self) -> tuple[str | None, ...]:
        """The name of the motion with each number; None for 0, which is no motion."""
        return (None, *self.pages)

    @cached_property
    def servo_ids(self) -> tuple[int, ...]:
        """IDs of the servos on the bus."""
        return tuple(servo.id for servo in self.robot.servos if servo.id is not None)

    def round_angles(self, angles: Floats) -> Integers:
        """Return the positions `(n_joints,)` [TICK] of joint angles [rad], clipped to the servos' ranges."""
        first_ticks = np.array([servo.first_tick for servo in self.robot.servos])
        last_ticks = np.array([servo.last_tick for servo in self.robot.servos])
        return _round(np.clip(self.robot.to_ticks(angles), first_ticks, last_ticks) * TICK)

    @property
    def min_join_frames(self) -> int:
        """Least number of frames of a join."""
        return math.ceil(SHORTEST_JOIN_S / self.robot.frame_period_s - 1e-9)


def _round(numbers: Floats) -> Integers:
    """Return numbers rounded to integers of 64 bits."""
    return np.rint(numbers).astype(np.int64)


_GOAL_POSITION_BITS = 14


def _require_dynamixel_servos(robot: Robot) -> None:
    """Raise an InputError if a servo of the robot does not take Dynamixel goal positions."""
    for servo in robot.servos:
        has_own_ticks = servo.tick_urad is not None  # other than those of Dynamixel servos
        is_dynamixel = servo.id is not None and not has_own_ticks
        is_in_range = servo.last_tick < 1 << _GOAL_POSITION_BITS
        if not (is_dynamixel and is_in_range):
            raise InputError(
                f"the servo of {servo.joint} does not take goal positions over a Dynamixel bus",
                hint="a whole behaviour is generated for robots of AX-12 servos, such as Bioloid",
            )


def _choose_parts_per_frame(robot: Robot, motions: Mapping[str, Motion]) -> int:
    """Return the number of parts of a frame in which the player counts time.

    It is the smallest number in which all times of the motions are whole parts. If that is greater than
    `MAX_PARTS`, it is one in which at least every motion lasts whole parts, so that motions keep time; the
    times of keyframes are rounded.

    Raises:
        InputError: the longest motion would have too many parts to be counted.
    """
    durations = [in_frames(motion.duration, robot.frame_period_s) for motion in motions.values()]
    times = [_keyframe_times(motion, robot) for motion in motions.values()]
    parts_for_durations = math.lcm(*(duration.denominator for duration in durations))
    parts = math.lcm(parts_for_durations, *(time.denominator for time in chain.from_iterable(times)))
    if parts > MAX_PARTS:
        parts = parts_for_durations * max(1, MAX_PARTS // parts_for_durations)
    longest_motion_frames = max(map(math.ceil, durations), default=1)
    if parts * longest_motion_frames >= _TIME_LIMIT:
        raise InputError(
            "the motions' times have no common unit that a board could count in",
            hint="give them times in whole frames, or speeds of fewer digits, such as 0.9",
        )
    return parts


def _keyframe_times(motion: Motion, robot: Robot) -> list[Fraction]:
    """Return the times at which keyframes are reached, then those at which their pauses are over [frames]."""
    ends = pause_ends(motion.keyframes) / motion.speed
    return [in_frames(float(time), robot.frame_period_s) for time in (*motion.keyframe_times, *ends)]


@dataclass(frozen=True)
class _PageConverter:
    """Converts motions to pages.

    Attributes:
        robot: the robot.
        parts_per_frame: as in `PageTables`.
        motion_numbers: the number of each motion.
        place_of_motion: the place of each motion in the document, for messages.
    """

    robot: Robot
    parts_per_frame: int
    motion_numbers: Mapping[str, int]
    place_of_motion: Mapping[str, Where]

    def build_page(self, name: str, motion: Motion) -> Page:
        """Return the page of a motion.

        Raises:
            InputError: the motion has too many keyframes, or something that a board does not do.
        """
        if len(motion.keyframes) > MAX_KEYFRAMES:
            self._raise_error(
                name,
                f"has {len(motion.keyframes)} keyframes, more than {MAX_KEYFRAMES}",
                "cut it into motions that follow one another by `next`",
            )
        if motion.sound is not None:
            self._raise_error(name, "has a sound", "leave it out for the board")
        for keyframe in motion.keyframes:
            self._require_playable(name, keyframe)
        # arrival times of all keyframes, then the ends of all pauses
        times = [round(time * self.parts_per_frame) for time in _keyframe_times(motion, self.robot)]
        n_keyframes = len(motion.keyframes)
        duration = in_frames(motion.duration, self.robot.frame_period_s)
        frames_to_first_keyframe = in_frames(float(motion.keyframe_times[0]), self.robot.frame_period_s)
        return Page(
            number=self.motion_numbers[name],
            motion=motion,
            positions=np.array([self._pose_ticks(keyframe.pose, name) for keyframe in motion.keyframes]),
            start_positions=None if motion.start is None else self._pose_ticks(motion.start, name),
            arrival_times=tuple(times[:n_keyframes]),
            end_times=tuple(times[n_keyframes:]),
            easings=tuple(keyframe.easing for keyframe in motion.keyframes),
            accel_fractions=tuple(round(keyframe.accel_share * ONE) for keyframe in motion.keyframes),
            duration=int(max(Fraction(1), duration) * self.parts_per_frame),
            frames_to_first_keyframe=int(frames_to_first_keyframe),
            n_passes=motion.repeat or 0,
            next_number=self.motion_numbers[motion.next] if motion.next else 0,
            exit_number=self.motion_numbers[motion.exit] if motion.exit else 0,
        )

    def to_ticks(self, angles: Floats, name: str | None = None) -> Integers:
        """Return the positions [TICK] of joint angles `(n_joints,)` [rad]; NaN means UNCHANGED.

        Args:
            angles: the angles.
            name: the motion, for messages; None for the start pose.

        Raises:
            InputError: an angle is beyond the range of a servo.
        """
        is_unchanged = np.isnan(angles)
        exact_ticks = self.robot.to_ticks(np.where(is_unchanged, 0.0, angles))
        first_ticks = np.array([servo.first_tick for servo in self.robot.servos])
        last_ticks = np.array([servo.last_tick for servo in self.robot.servos])
        is_in_range = (exact_ticks >= first_ticks - 0.5) & (exact_ticks <= last_ticks + 0.5)
        for index in np.flatnonzero(~is_in_range & ~is_unchanged).tolist():
            servo = self.robot.servos[index]
            hint = f"the servo has the ticks {servo.first_tick} to {servo.last_tick}"
            self._raise_error(name, f"sends {servo.joint} to tick {float(exact_ticks[index]):.1f}", hint)
        positions = _round(np.clip(exact_ticks, first_ticks, last_ticks) * TICK)
        return np.where(is_unchanged, UNCHANGED, positions)

    def _pose_ticks(self, pose: Pose, name: str) -> Integers:
        """Return the positions of a pose [TICK]; UNCHANGED for a joint that it does not set."""
        angles = np.full(len(self.robot.joints), np.nan)
        angles[[self.robot.index(joint) for joint in pose.joints]] = pose.angles
        return self.to_ticks(angles, name)

    def _require_playable(self, name: str, keyframe: Keyframe) -> None:
        """Raise an InputError where a keyframe has something that a board does not do."""
        if keyframe.pose.free:
            joints = ", ".join(sorted(keyframe.pose.free))
            self._raise_error(name, f"releases {joints}", "give the joint an angle")
        if keyframe.lights:
            self._raise_error(name, "sets lights", "leave them out for the board")
        if keyframe.easing not in EASINGS:
            easings = " or ".join(easing.value for easing in EASINGS)
            self._raise_error(name, f"goes by {keyframe.easing.value}", f"write easing: {easings}")
        for joint, stiffness in (keyframe.stiffness or {}).items():
            if not math.isclose(stiffness, self.robot.servo(joint).stiffness, rel_tol=1e-6):
                self._raise_error(name, f"sets the stiffness of {joint}", "leave it as the servo has it")

    def _raise_error(self, name: str | None, problem: str, hint: str) -> NoReturn:
        """Raise the InputError for a motion, or with None for the start pose."""
        source = "the start pose" if name is None else f"the motion {name}"
        where = None if name is None else self.place_of_motion.get(name)
        raise InputError(f"{source} {problem}, which a board does not do", where=where, hint=hint)
