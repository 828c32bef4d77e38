"""Passes of a motion, sampled once a frame and cached, and joins between two poses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.control.schedule import in_frames
from posewright.errors import InputError
from posewright.motions import Keyframe, Motion, Pose, Samples
from posewright.motions.lighting import colours_by_keyframe
from posewright.robots import Rgb, Robot

PEAK_OF_MEAN = 15.0 / 8.0
"""Peak speed over mean speed of a minimum-jerk trajectory (Flash and Hogan, J. Neuroscience 5, 1985)."""

SHARE_OF_SPEED = 0.5
"""Greatest share of a servo's no-load speed used by a join: under load a servo is slower."""

SHORTEST_JOIN_S = 0.1
FRAME_ROUNDING = 1e-9
"""Tolerance of a duration that is a whole number of frames up to rounding [frames]."""

TOUCHING_RAD = 1e-3
"""Poses nearer than this count as equal: a fifth of the step of a servo of 1024 ticks over 300 degrees."""


def poses_differ(start: Floats, end: Floats) -> bool:
    """Return whether two poses `(n_joints,)` [rad] differ by more than the tolerance."""
    return bool((np.abs(end - start) > TOUCHING_RAD).any())


def join_duration(start: Floats, end: Floats, max_speeds: Floats) -> float:
    """Return the duration of a join: that of the slowest joint, at least 0.1 s [s]."""
    durations = PEAK_OF_MEAN * np.abs(end - start) / (SHARE_OF_SPEED * max_speeds)
    return max(SHORTEST_JOIN_S, float(durations.max()))


def join_frames(start: Floats, end: Floats, max_speeds: Floats, frame_period_s: float) -> Floats:
    """Return a minimum-jerk trajectory between two poses `(n_joints,)`, `(n, n_joints)` [rad].

    The start pose is not repeated; the end pose is the last row.
    """
    n_frames = math.ceil(join_duration(start, end, max_speeds) / frame_period_s - FRAME_ROUNDING)
    s = np.arange(1, n_frames + 1)[:, np.newaxis] / n_frames  # share of the time
    # Flash and Hogan: 10 s^3 - 15 s^4 + 6 s^5
    rows: Floats = start + (end - start) * (s**3 * (10.0 + s * (6.0 * s - 15.0)))
    rows[-1] = end  # exactly, without rounding
    return rows


CACHE_SIZE = 256
"""Number of passes of a motion that are cached; a pass of a second takes 18 kB."""

ONE_FRAME = Fraction(1)


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Frames of a pass within which torque, stiffness and lights do not change.

    Attributes:
        rows: joint angles, one row a frame, `(n, n_joints)` [rad].
        free: joints whose torque is off, `(n_joints,)`; None where all are driven.
        stiffness: the stiffness of each joint, `(n_joints,)` [N m/rad]; None for the servos' own.
        lights: as `JointCommands` has them.
    """

    rows: Floats
    free: Flags | None = None
    stiffness: Floats | None = None
    lights: Mapping[str, Rgb] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def has_settings_of(self, stretch: Stretch) -> bool:
        """Return whether torque, stiffness and lights are those of another stretch."""
        return (
            _arrays_equal(self.free, stretch.free)
            and _arrays_equal(self.stiffness, stretch.stiffness)
            and self.lights == stretch.lights
        )


def _arrays_equal(first: Floats | Flags | None, second: Floats | Flags | None) -> bool:
    """Return whether two arrays are equal, or both None."""
    if first is None or second is None:
        return first is second
    return first is second or bool(np.array_equal(first, second))


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """One pass of a motion, that is, its keyframes played once, frame by frame.

    Attributes:
        stretches: the frames, at least one row in all.
        end: the pose at the end of the pass, `(n_joints,)` [rad].
        phase: time from the last frame to the end of the pass, 0..1 [frames].
    """

    stretches: tuple[Stretch, ...]
    end: Floats
    phase: Fraction

    @property
    def rows(self) -> Floats:
        """All commands of the pass, `(n, n_joints)` [rad]."""
        return np.concatenate([stretch.rows for stretch in self.stretches])

    def stretches_from(self, row: int) -> tuple[Stretch, ...]:
        """Return the stretches from a row of the pass on."""
        remaining = []
        n_to_skip = row
        for stretch in self.stretches:
            if len(stretch) > n_to_skip:
                remaining.append(replace(stretch, rows=stretch.rows[n_to_skip:]))
            n_to_skip = max(0, n_to_skip - len(stretch))
        return tuple(remaining)


class Passes:
    """The passes of one motion on one robot.

    A pass need not last a whole number of frames. Its start is stored as a fraction of a frame, the `phase`,
    so that the motion stays on its own clock over any number of passes.

    Args:
        motion: the motion.
        robot: the robot.

    Attributes:
        motion: the motion.
        frames: duration of a pass, at least 1 [frames].
        frames_to_first_keyframe: time at which the first keyframe is reached [frames].

    Raises:
        InputError: the motion is for another robot.
    """

    def __init__(self, motion: Motion, robot: Robot) -> None:
        """Compute what does not depend on the pass: durations in frames, and settings by keyframe."""
        if motion.robot != robot.name:
            raise InputError(
                f"motion {motion.name!r} is made for {motion.robot}", hint=f"the robot is {robot.name}"
            )
        self.motion = motion
        # times in units of a frame, as fractions, so that no rounding adds up over passes
        self.duration_frames = max(ONE_FRAME, in_frames(motion.duration, robot.frame_period_s))
        self.frames_to_first_keyframe = in_frames(float(motion.keyframe_times[0]), robot.frame_period_s)
        self._frame_s = robot.frame_period_s
        self._columns = np.array([robot.index(joint) for joint in motion.joints], dtype=np.intp)
        servo_stiffness = np.array([servo.stiffness for servo in robot.servos])
        self._stiffness = tuple(
            self._stiffness_of(keyframe, servo_stiffness) for keyframe in motion.keyframes
        )
        self._lights = colours_by_keyframe(motion.keyframes, robot)
        # by keyframe the first one with the same settings, so that settings are compared by one number
        self._settings_keyframes = np.array(
            [self._first_keyframe_with_settings_of(i) for i in range(len(motion.keyframes))], dtype=np.intp
        )
        self._cache: dict[tuple[bytes, int, Fraction], Pass] = {}  # by start pose, pass index and phase

    def _first_keyframe_with_settings_of(self, keyframe: int) -> int:
        """Return the index of the first keyframe with the stiffness and the lights of a keyframe."""
        for earlier in range(keyframe):
            same_stiffness = _arrays_equal(self._stiffness[earlier], self._stiffness[keyframe])
            if same_stiffness and self._lights[earlier] == self._lights[keyframe]:
                return earlier
        return keyframe

    def starting_pose(self, pose: Floats) -> Floats | None:
        """Return a pose with the joints of the motion's start pose, `(n_joints,)`; None where it has none."""
        return None if self.motion.start is None else self._override(pose, self.motion.start)

    def first_keyframe(self, pose: Floats) -> Floats:
        """Return a pose with the joints of the motion's first keyframe, `(n_joints,)`."""
        return self._override(pose, self.motion.keyframes[0].pose)

    def _override(self, pose: Floats, overrides: Pose) -> Floats:
        """Return a pose of the robot with the known angles of a pose of the motion, `(n_joints,)` [rad]."""
        overridden = pose.copy()
        is_unset = np.isnan(overrides.angles)
        overridden[self._columns] = np.where(is_unset, pose[self._columns], overrides.angles)
        return overridden

    def sample(self, start: Floats, pass_index: int, phase: Fraction) -> Pass:
        """Return one pass, from the cache if it was computed before.

        Args:
            start: the pose before the first pass, `(n_joints,)` [rad].
            pass_index: the pass index, from 0.
            phase: time from the last frame sent to the start of the pass, 0..1 [frames].
        """
        if pass_index not in (0, (self.motion.repeat or 0) - 1):
            pass_index = 1  # all passes between the first and the last are the same
        key = (start.tobytes(), pass_index, phase)
        if key not in self._cache:
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
            self._cache[key] = self._sample(start, pass_index, phase)
        return self._cache[key]

    def _sample(self, start: Floats, pass_index: int, phase: Fraction) -> Pass:
        """Compute a pass; `sample` caches it.

        The arguments are those of `sample`. The last frame before the pass lies a `phase` before its start;
        the frames of the pass follow 1, 2, ... frame periods after that one. The motion is sampled at these
        times and, last, at the end of the pass, where there need not be a frame.
        """
        frames_to_end = self.duration_frames + phase  # from the last frame before the pass
        n_frames = math.floor(frames_to_end)
        duration = self.motion.duration
        times_in_pass = (np.arange(1, n_frames + 2) - float(phase)) * self._frame_s
        times_in_pass[n_frames] = duration
        times = pass_index * duration + np.minimum(times_in_pass, duration)
        start_of_motion = Pose(self.motion.joints, start[self._columns])
        samples = self.motion.sample_at(times, start_of_motion)
        rows = self._all_joints(samples.angles, start)
        rows.setflags(write=False)  # as passes are cached
        frame_rows = rows[:n_frames]
        end_pose = rows[n_frames]
        stretches = tuple(self._split_by_settings(frame_rows, samples))
        return Pass(stretches, end=end_pose, phase=frames_to_end - n_frames)

    def _all_joints(self, angles: Floats, start: Floats) -> Floats:
        """Return rows of all the robot's joints; joints that are not commanded keep their last command."""
        rows = np.tile(start, (len(angles), 1))
        rows[:, self._columns] = angles
        if np.isnan(rows).any():
            previous_row = start
            for row in rows:
                np.copyto(row, previous_row, where=np.isnan(row))
                previous_row = row
        return rows

    def _split_by_settings(self, rows: Floats, samples: Samples) -> Iterator[Stretch]:
        """Yield the rows in stretches within which torque, stiffness and lights do not change.

        Args:
            rows: angles of all joints in each frame, `(n, n_joints)` [rad].
            samples: the motion in these frames, and at the end of the pass.
        """
        n_frames = len(rows)
        is_free = samples.free[:n_frames]  # the joints of the motion, in each frame
        # in each frame, the first keyframe with the stiffness and lights that are set then
        settings_keyframes = self._settings_keyframes[samples.keyframes[:n_frames]]
        torque_changes = (is_free[1:] != is_free[:-1]).any(axis=1)
        settings_change = settings_keyframes[1:] != settings_keyframes[:-1]
        cuts = np.flatnonzero(torque_changes | settings_change) + 1
        for begin, end in pairwise([0, *cuts.tolist(), n_frames]):
            free_joints: Flags | None = None
            if is_free[begin].any():
                free_joints = np.zeros(rows.shape[1], dtype=np.bool_)
                free_joints[self._columns] = is_free[begin]
            keyframe = settings_keyframes[begin]
            yield Stretch(
                rows[begin:end],
                free_joints,
                stiffness=self._stiffness[keyframe],
                lights=self._lights[keyframe] or None,
            )

    def _stiffness_of(self, keyframe: Keyframe, servo_stiffness: Floats) -> Floats | None:
        """Return the stiffness that a keyframe sets, `(n_joints,)`; None where it sets none."""
        if not keyframe.stiffness:
            return None
        stiffness = servo_stiffness.copy()
        for joint, column in zip(self.motion.joints, self._columns, strict=True):
            stiffness[column] = keyframe.stiffness.get(joint, stiffness[column])
        return stiffness
