"""A motion: keyframes in order, and where the joints are at any time of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, UnknownNameError
from posewright.motions.lighting import lights_over, lit_names
from posewright.motions.pose import Keyframe, Pose, arrivals_of, ends_of
from posewright.motions.trajectory import Resolved, Trajectory
from posewright.robots import Robot, html_table
from posewright.robots import robot as robot_named

STAND = "stand"
"""The pose a robot has where nobody says another."""

MAX_SAMPLES = 10_000_000
"""An hour of frames is half a million; more than this is a slip of the pen."""


class MotionOrigin:
    """What a motion was read from.

    Attributes:
        robot: the robot that it was read for; None where the file itself says which.
    """

    robot: Robot | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion at many times.

    Attributes:
        times: (n,) [s] since the motion was started.
        angles: (n, n_joints) [rad]; NaN where free, and where a held joint was never given an angle.
        free: (n, n_joints) true where the torque is off.
        keyframes: (n,) index of the keyframe that is being reached or held.
    """

    times: Floats
    joints: tuple[str, ...]
    angles: Floats
    free: Flags
    keyframes: Indices

    def __repr__(self) -> str:
        return f"Samples({len(self.times)} times, {len(self.joints)} joints)"


@dataclass(frozen=True)
class Motion:
    """Keyframes in order, with what comes before, between and after them.

    Attributes:
        joints: the joints it moves; every pose has these, in this order.
        repeat: how often it is played; None for ever.
        next: name of the motion that follows when nothing else is asked for.
        exit: name of the motion through which it is left early.
        speed: all its times are divided by this.
        start: the pose it is to be started from.
        extras: what its file says of it besides, by key, such as who made it; no part of how it moves.
        origin: the document it was read from, for writers; no part of what the motion is.
    """

    name: str
    robot: str
    joints: tuple[str, ...]
    keyframes: tuple[Keyframe, ...]
    _: KW_ONLY
    repeat: int | None = 1
    next: str | None = None
    exit: str | None = None
    speed: float = 1.0
    start: Pose | None = None
    source: str = ""
    extras: Mapping[str, str] = field(default_factory=dict, hash=False)
    origin: object | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "keyframes", tuple(self.keyframes))
        object.__setattr__(self, "extras", MappingProxyType(dict(self.extras)))
        if not self.keyframes:
            self._refuse("has no keyframe", hint="a motion needs at least one")
        poses = [k.pose for k in self.keyframes] + ([] if self.start is None else [self.start])
        if any(pose.joints != self.joints for pose in poses):
            self._refuse("has a pose of other joints than its own", hint=", ".join(self.joints))
        if not (math.isfinite(self.speed) and self.speed > 0.0):
            self._refuse(f"has speed {self.speed}", hint="a speed is greater than 0; 1 is unchanged")
        if self.repeat is not None and self.repeat < 1:
            self._refuse(f"is repeated {self.repeat} times", hint="1 or more, or None for ever")
        if self.loops and self.duration == 0.0:
            self._refuse("repeats but takes no time", hint="give a keyframe a reach_s or a pause_s")

    def _refuse(self, what: str, *, hint: str) -> NoReturn:
        raise InputError(f"motion {self.name!r} {what}", hint=hint)

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {self.robot}, {len(self.keyframes)} keyframes, {self.duration:g} s)"

    def _repr_html_(self) -> str:
        """Return a table of its keyframes, for a notebook."""
        frames = zip(self.keyframe_times.tolist(), self.keyframes, strict=True)
        rows = (
            (str(number), f"{time:g}", f"{frame.pause_s:g}", frame.easing.value, _in_words(frame.pose))
            for number, (time, frame) in enumerate(frames, 1)
        )
        columns = ("keyframe", "reached [s]", "pause [s]", "easing", "pose [deg]")
        return html_table(f"{self.name}, for {self.robot}: {self.duration:g} s", columns, rows)

    @property
    def loops(self) -> bool:
        """Whether it is played more than once."""
        return self.repeat != 1

    @property
    def duration(self) -> float:
        """Time of one pass [s]."""
        return self._arrivals_and_period[1] / self.speed

    @property
    def total_duration(self) -> float:
        """Time of all passes [s]; infinite where it repeats for ever."""
        return math.inf if self.repeat is None else self.duration * self.repeat

    @property
    def keyframe_times(self) -> Floats:
        """(n_keyframes,) when each keyframe is reached in the first pass [s]."""
        return self._arrivals_and_period[0] / self.speed

    @property
    def ways_begin(self) -> Floats:
        """(n_keyframes,) when the way into each keyframe begins, in the motion's own time at speed 1 [s]."""
        return self._unstarted.leaves

    def at(self, t: float, start: Pose | None = None) -> Pose:
        """Return the pose at `t` [s] since the motion was started.

        Args:
            t: before 0 it stands at its beginning, after its end in its last pose.
            start: the pose it is started from; without one `self.start`, else the last keyframe where it
                loops, else the first keyframe. Joints these leave open are taken from the motion itself.
        """
        angles, free, _ = self._from(start).evaluate(np.array([t * self.speed]))
        return Pose(self.joints, angles[0], _named(self.joints, free[0]))

    def sample(self, rate_hz: float, start: Pose | None = None, *, until_s: float | None = None) -> Samples:
        """Return the motion at 0, 1/rate, 2/rate, ... up to its end.

        Args:
            rate_hz: samples a second.
            start: as in `at`.
            until_s: last time [s]; default all passes, or one where it repeats for ever.

        Raises:
            InputError: the rate is not above 0, or there would be too many samples.
        """
        if not (math.isfinite(rate_hz) and rate_hz > 0.0):
            raise InputError(f"the rate is {rate_hz} Hz", hint="a rate is greater than 0")
        if until_s is None:
            until_s = self.duration if self.repeat is None else self.total_duration
        # the last sample is not lost to rounding: 0.1 s times 30 Hz is 3 steps, not 2.9999999
        steps = math.floor(until_s * rate_hz * (1.0 + 1e-12) + 1e-9)
        if steps > MAX_SAMPLES:
            raise InputError(f"{steps:.3g} samples are asked for", hint=f"at most {MAX_SAMPLES:,}")
        return self.sample_at(np.arange(steps + 1) / rate_hz, start)

    def sample_at(self, times: Floats, start: Pose | None = None) -> Samples:
        """Return the motion at `times` (n,) [s]; `start` as in `at`."""
        angles, free, keyframes = self._from(start).evaluate(times * self.speed)
        return Samples(times, self.joints, angles, free, keyframes)

    def attitude_at(self, times: Floats) -> Floats | None:
        """Return the attitude of the trunk that the author had in mind, straight from keyframe to keyframe.

        It stays through a pause, before the first keyframe that says one, and after the last; a later pass is
        as the first.

        Args:
            times: (n,) since the motion was started [s].

        Returns:
            (n, 3) roll, pitch and yaw [rad]; None where no keyframe says any.
        """
        said = [(place, k.attitude) for place, k in enumerate(self.keyframes) if k.attitude is not None]
        if not said:
            return None
        places = [place for place, _ in said]
        arrives = self._unstarted.arrives[places]
        leaves = arrives + [self.keyframes[place].pause_s for place in places]
        knots = np.stack([arrives, leaves], axis=1).ravel() / self.speed
        values = np.repeat(np.array([attitude for _, attitude in said]), 2, axis=0)
        within = self._within_pass(times)
        return np.stack([np.interp(within, knots, values[:, axis]) for axis in range(3)], axis=1)

    @property
    def lights(self) -> tuple[str, ...]:
        """The lights that it ever sets, by the names of their LEDs."""
        return lit_names(self.keyframes)

    def lights_at(self, times: Floats, robot: Robot | None = None) -> dict[str, Floats]:
        """Return the colour of each of its lights, `(n, 3)` red, green, blue, 0..1; NaN before it has one.

        Args:
            times: (n,) since the motion was started [s].
            robot: whose lights they are; default the motion's own.

        Raises:
            UnknownNameError: the robot has no such light.
        """
        if not self.lights:
            return {}
        later = times - self._within_pass(times) > 0.0
        places = self.sample_at(times).keyframes
        return lights_over(self.keyframes, card_of(self, robot), places.tolist(), later.tolist())

    def _within_pass(self, times: Floats) -> Floats:
        """Return `times` (n,) [s] counted from where their pass begins; its end belongs to it."""
        if not self.loops:
            return times
        last = math.inf if self.repeat is None else self.repeat - 1.0
        passes = np.clip(np.ceil(times / self.duration) - 1.0, 0.0, last)
        return times - passes * self.duration

    def resolved(self, start: Pose | None = None) -> tuple[Pose, ...]:
        """Return the pose it starts from and the first pass's keyframe poses, held joints filled in."""
        first = self._from(start).first
        pairs = zip(first.angles, first.free, strict=True)
        return tuple(Pose(self.joints, angles, _named(self.joints, free)) for angles, free in pairs)

    def first_pose(self, robot: Robot, pose: str | None = None) -> Floats:
        """Return all joints of a robot as it is put down to play this, `(n_joints,)` [rad].

        Joints that it does not move are as in a named pose, by default the robot's `stand`, else the nearest.

        Raises:
            UnknownNameError: the robot has no such pose, or not a joint of the motion.
        """
        if pose is not None and pose not in robot.poses:
            raise UnknownNameError.among("pose", pose, robot.poses)
        columns = [robot.index(joint) for joint in self.joints]
        asked = self._unstarted.first.angles[0]
        if pose is None and robot.poses:
            far = {
                name: np.nanmax(np.abs(robot.pose(name)[columns] - asked), initial=0.0)
                for name in robot.poses
            }
            pose = STAND if STAND in far else min(far, key=lambda name: float(far[name]))
        first = np.zeros(len(robot.joints)) if pose is None else robot.pose(pose)
        first[columns] = np.where(np.isnan(asked), first[columns], asked)
        if not np.isfinite(first).all():
            raise InputError(f"motion {self.name!r} begins at an angle that is no number")
        return first

    def ways(self, points: int, *, later: bool = False) -> Floats:
        """Return every way of the first (or a later) pass, cut into so many even steps of time.

        It is (n_keyframes, points + 1, n_joints) [rad]; NaN where free or never given.
        """
        count = len(self.keyframes)
        way = np.repeat(np.arange(count), points + 1)
        shares = np.tile(np.linspace(0.0, 1.0, points + 1), count)
        angles, _ = self._unstarted.along(np.full(way.shape, int(later)), way, shares)
        return angles.reshape(count, points + 1, len(self.joints))

    @cached_property
    def _arrivals_and_period(self) -> tuple[Floats, float]:
        """When each keyframe is reached, and the time of a pass, at speed 1; no pose is looked at for it."""
        return arrivals_of(self.keyframes), float(ends_of(self.keyframes)[-1])

    @cached_property
    def _unstarted(self) -> Trajectory:
        return self._trajectory(None)

    @cached_property
    def _started(self) -> dict[tuple[object, ...], Trajectory]:
        return {}

    def _from(self, start: Pose | None) -> Trajectory:
        """Return the ways from a pose; the last is kept, since a player asks from the same pose each pass."""
        if start is None:
            return self._unstarted
        key = (start.joints, start.angles.tobytes(), start.free)
        if key not in self._started:
            self._started.clear()
            self._started[key] = self._trajectory(start)
        return self._started[key]

    def _trajectory(self, start: Pose | None) -> Trajectory:
        poses = [k.pose for k in self.keyframes]
        angles, free = self._standing(poses)
        for pose in (self.start, start):
            if pose is not None:
                begin = Resolved.of(angles, free, [pose.on(self.joints)])
                angles, free = begin.angles[-1], begin.free[-1]
        first = Resolved.of(angles, free, poses)
        later = Resolved.of(first.angles[-1], first.free[-1], poses)
        passes = math.inf if self.repeat is None else float(self.repeat)
        return Trajectory(self.keyframes, first, later, passes)

    def _standing(self, poses: list[Pose]) -> tuple[Floats, Flags]:
        """Return angles and free flags it begins in when nobody says: in a loop the end, else the start."""
        nowhere = Pose.of(self.joints, {})
        if self.loops:
            row = Resolved.of(nowhere.angles, nowhere.free_mask, poses)
            return row.angles[-1], row.free[-1]
        backwards = Resolved.of(nowhere.angles, nowhere.free_mask, poses[::-1])
        return backwards.angles[-1], poses[0].free_mask


def card_of(motion: Motion, robot: Robot | str | None = None) -> Robot:
    """Return the robot asked for, or the motion's own: the card it was read for, else the one that ships.

    Raises:
        UnknownNameError: there is no such robot.
    """
    if isinstance(robot, Robot):
        return robot
    origin = motion.origin
    read_for = origin.robot if isinstance(origin, MotionOrigin) else None
    if robot is None and read_for is not None and read_for.name == motion.robot:
        return read_for
    return robot_named(robot or motion.robot)


def _named(joints: tuple[str, ...], free: Flags) -> frozenset[str]:
    return frozenset(name for name, off in zip(joints, free, strict=True) if off)


def _in_words(pose: Pose) -> str:
    """Return what a pose asks for, joint by joint [deg]; the joints it holds are left out."""
    angles = zip(pose.joints, np.rad2deg(pose.angles).tolist(), pose.held_mask, strict=True)
    asked = [
        (name, "free" if name in pose.free else f"{round(at, 1):g}") for name, at, held in angles if not held
    ]
    return ", ".join(f"{name} {words}" for name, words in asked) or "held"
