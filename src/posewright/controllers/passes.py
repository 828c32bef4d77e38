"""Passes of a motion, sampled once a frame and kept."""

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
"""Greatest over mean speed of a minimum-jerk course (Flash and Hogan, J. Neuroscience 5, 1985)."""

SHARE_OF_SPEED = 0.5
"""How much of a servo's no-load speed a join uses at most: a servo under load has no more to give."""

SHORTEST_JOIN_S = 0.1

TOUCHING_RAD = 1e-3
"""Poses nearer than this are one: it is a fifth of the step of a servo of 1024 ticks over 300 degrees."""


def apart(start: Floats, end: Floats) -> bool:
    """Return whether there is a way to go between two poses `(n_joints,)` [rad]."""
    return bool((np.abs(end - start) > TOUCHING_RAD).any())


def join_duration(start: Floats, end: Floats, max_speeds: Floats) -> float:
    """Return how long a join takes: what the joint with the longest way needs, at least 0.1 s [s]."""
    needed = PEAK_OF_MEAN * np.abs(end - start) / (SHARE_OF_SPEED * max_speeds)
    return max(SHORTEST_JOIN_S, float(needed.max()))


def join_frames(start: Floats, end: Floats, max_speeds: Floats, frame_period_s: float) -> Floats:
    """Return the commands `(n, n_joints)` [rad] that lead from one pose to another without a jerk.

    The pose commanded last is not repeated; the one to arrive at is the last row, `(n_joints,)` [rad] both.
    """
    n = math.ceil(join_duration(start, end, max_speeds) / frame_period_s - 1e-9)
    s = np.arange(1, n + 1)[:, np.newaxis] / n
    rows: Floats = start + (end - start) * (s**3 * (10.0 + s * (6.0 * s - 15.0)))
    rows[-1] = end
    return rows


KEPT = 256
"""So many passes of a motion are kept; a pass of a second weighs 18 kB."""

ONE_FRAME = Fraction(1)


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Commands with one setting of the servos' torque and of the lights.

    Attributes:
        rows: joint angles, one row a frame, `(n, n_joints)` [rad].
        free: joints whose torque is off, `(n_joints,)`; None where there is none.
        stiffness: of each joint, `(n_joints,)` [N m/rad]; None for the servos' own.
        lights: as `JointCommands` has them.
    """

    rows: Floats
    free: Flags | None = None
    stiffness: Floats | None = None
    lights: Mapping[str, Rgb] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def drives_like(self, other: Stretch) -> bool:
        """Return whether torque, stiffness and lights are set alike."""
        alike = _same(self.free, other.free) and _same(self.stiffness, other.stiffness)
        return alike and self.lights == other.lights


def _same(one: Floats | Flags | None, other: Floats | Flags | None) -> bool:
    if one is None or other is None:
        return one is other
    return one is other or bool(np.array_equal(one, other))


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """One pass, frame by frame.

    Attributes:
        stretches: what is to be sent, at least one row.
        end: the pose at the pass's very end, `(n_joints,)` [rad].
        phase: how far the pass's end lies after its last frame, 0..1 [frames].
    """

    stretches: tuple[Stretch, ...]
    end: Floats
    phase: Fraction

    @property
    def rows(self) -> Floats:
        """All commands of the pass, `(n, n_joints)` [rad]."""
        return np.concatenate([stretch.rows for stretch in self.stretches])

    def without(self, n: int) -> tuple[Stretch, ...]:
        """Return what is to be sent after the first `n` rows."""
        kept = []
        for stretch in self.stretches:
            if len(stretch) > n:
                kept.append(replace(stretch, rows=stretch.rows[n:]))
            n = max(0, n - len(stretch))
        return tuple(kept)


class Passes:
    """The passes of one motion on one robot.

    A pass need not last a whole number of frames. Where it began is kept as a fraction of a frame, the
    `phase`, so that after a thousand passes the motion is still on its own clock.

    Attributes:
        frames: how long one is, at least 1 [frames].
        first_way: when the first keyframe is reached [frames].
    """

    def __init__(self, motion: Motion, robot: Robot) -> None:
        if motion.robot != robot.name:
            raise InputError(
                f"motion {motion.name!r} is made for {motion.robot}", hint=f"the robot is {robot.name}"
            )
        self.motion = motion
        self.frames = max(ONE_FRAME, in_frames(motion.duration, robot.frame_period_s))
        self.first_way = in_frames(float(motion.keyframe_times[0]), robot.frame_period_s)
        self._frame_s = robot.frame_period_s
        self._columns = np.array([robot.index(joint) for joint in motion.joints], dtype=np.intp)
        own = np.array([servo.stiffness for servo in robot.servos])
        self._stiffness = tuple(self._stiffness_of(keyframe, own) for keyframe in motion.keyframes)
        self._lights = colours_by_keyframe(motion.keyframes, robot)
        told = list(zip(self._stiffness, self._lights, strict=True))
        alike = (
            next(i for i, (s, lit) in enumerate(told) if _same(s, own) and lit == now) for own, now in told
        )
        self._settings = np.array(list(alike), dtype=np.intp)  # of each keyframe the first set alike
        self._kept: dict[tuple[bytes, int, Fraction], Pass] = {}

    def starting_pose(self, now: Floats) -> Floats | None:
        """Return the pose the motion asks to be started from, `(n_joints,)`, its open joints as they are."""
        return None if self.motion.start is None else self._over(now, self.motion.start)

    def first_keyframe(self, now: Floats) -> Floats:
        """Return the pose of the first keyframe when the motion is started from a pose, `(n_joints,)`."""
        return self._over(now, self.motion.keyframes[0].pose)

    def _over(self, now: Floats, asked: Pose) -> Floats:
        pose = now.copy()
        pose[self._columns] = np.where(np.isnan(asked.angles), now[self._columns], asked.angles)
        return pose

    def get(self, start: Floats, lap: int, phase: Fraction) -> Pass:
        """Return one pass.

        Args:
            start: the pose the motion was started from, `(n_joints,)` [rad].
            lap: which pass, counted from 0.
            phase: how far the pass's beginning lies after the last frame sent, 0..1 [frames].
        """
        repeat = self.motion.repeat
        alike = lap if lap == 0 or lap + 1 == repeat else 1  # all passes in between are the same
        key = (start.tobytes(), alike, phase)
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            self._kept[key] = self._sample(start, alike, phase)
        return self._kept[key]

    def _sample(self, start: Floats, lap: int, phase: Fraction) -> Pass:
        end = self.frames + phase
        n = end.numerator // end.denominator
        duration = self.motion.duration
        times = (np.arange(1, n + 2) - float(phase)) * self._frame_s
        times[n] = duration
        times = lap * duration + np.minimum(times, duration)
        samples = self.motion.sample_at(times, Pose(self.motion.joints, start[self._columns]))
        rows = self._all_joints(samples.angles, start)
        rows.setflags(write=False)
        return Pass(tuple(self._cut(rows[:n], samples)), rows[n], end - n)

    def _all_joints(self, angles: Floats, start: Floats) -> Floats:
        """Return rows of all the robot's joints; what is not commanded stays at its last command."""
        rows = np.tile(start, (len(angles), 1))
        rows[:, self._columns] = angles
        if np.isnan(rows).any():
            before = start
            for row in rows:
                np.copyto(row, before, where=np.isnan(row))
                before = row
        return rows

    def _cut(self, rows: Floats, samples: Samples) -> Iterator[Stretch]:
        """Yield the rows in pieces within which torque, stiffness and lights do not change."""
        n = len(rows)
        free, setting = samples.free[:n], self._settings[samples.keyframes[:n]]
        changes = (free[1:] != free[:-1]).any(axis=1) | (setting[1:] != setting[:-1])
        bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), n]
        for begin, end in pairwise(bounds):
            stiffness, lights = self._stiffness[setting[begin]], self._lights[setting[begin]]
            off = self._free(free[begin], rows.shape[1])
            yield Stretch(rows[begin:end], off, stiffness, lights or None)

    def _free(self, flags: Flags, n_joints: int) -> Flags | None:
        if not flags.any():
            return None
        free = np.zeros(n_joints, dtype=np.bool_)
        free[self._columns] = flags
        return free

    def _stiffness_of(self, keyframe: Keyframe, own: Floats) -> Floats | None:
        """Return the stiffness a keyframe sets, `(n_joints,)`; None where it sets none."""
        if not keyframe.stiffness:
            return None
        stiffness = own.copy()
        for joint, column in zip(self.motion.joints, self._columns, strict=True):
            stiffness[column] = keyframe.stiffness.get(joint, stiffness[column])
        return stiffness
