"""A motion: keyframes in order, and the joint angles at any time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, UnknownNameError
from posewright.motions.interpolation import KeyframeInterpolator, ResolvedPoses
from posewright.motions.lighting import light_names, sample_lights
from posewright.motions.pose import LONGEST_S, Keyframe, Pose, keyframe_arrivals, pause_ends
from posewright.robots import Robot, html_table
from posewright.robots import robot as robot_named

STAND = "stand"
"""The robot's default pose."""

WAV_SUFFIX = ".wav"
"""Ending of the files of sounds."""

MAX_SAMPLES = 10_000_000
"""An hour of frames is half a million; more than this is taken for a mistake."""


class MotionOrigin:
    """The document a motion was read from.

    Attributes:
        robot: the robot that it was read for; None if the file itself names it.
    """

    robot: Robot | None = None


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion sampled at many times.

    Attributes:
        times: (n,) [s] since the motion was started.
        angles: (n, n_joints) [rad]; NaN if free, and where a held joint never had an angle.
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
class SoundTrack:
    """A sound that belongs to a motion; no body plays it, the studio does.

    Attributes:
        file: path of a WAV file, relative to the file of the motion.
        start_s: when it starts, since the motion was started, as played [s].
    """

    file: str
    start_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.file.lower().endswith(WAV_SUFFIX):
            raise InputError(
                f"the sound is {self.file!r}", hint=f"the path of a file that ends in {WAV_SUFFIX}"
            )
        if not 0.0 <= self.start_s <= LONGEST_S:
            raise InputError(f"the sound starts at {self.start_s} s", hint=f"0 to {LONGEST_S:g} s")


@dataclass(frozen=True)
class Motion:
    """Keyframes in order, with repetition, speed, and the motions that follow.

    Attributes:
        joints: the joints it moves; every pose has these, in this order.
        repeat: how often it is played; None for ever.
        next: name of the motion that follows by default.
        exit: name of the motion through which it is left early.
        speed: all its times are divided by this.
        start: the pose it is to be started from.
        source: where it comes from, as text.
        sound: the sound that is played with it.
        extras: further entries of its file by key, such as its author; they do not affect the movement.
        card: the card of the robot, if it is known; without it, `robot` is looked up by name. Not part of the
            comparison of motions.
        origin: the document it was read from, for writers; not part of the comparison of motions.
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
    sound: SoundTrack | None = None
    extras: Mapping[str, str] = field(default_factory=dict, hash=False)
    card: Robot | None = field(default=None, compare=False, repr=False)
    origin: object | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "keyframes", tuple(self.keyframes))
        object.__setattr__(self, "extras", MappingProxyType(dict(self.extras)))
        if not self.keyframes:
            self._fail("has no keyframe", hint="a motion needs at least one")
        poses = [keyframe.pose for keyframe in self.keyframes]
        if self.start is not None:
            poses.append(self.start)
        if any(pose.joints != self.joints for pose in poses):
            self._fail("has a pose of other joints than its own", hint=", ".join(self.joints))
        if not (math.isfinite(self.speed) and self.speed > 0.0):
            self._fail(f"has speed {self.speed}", hint="a speed is greater than 0; 1 is unchanged")
        if self.repeat is not None and self.repeat < 1:
            self._fail(f"is repeated {self.repeat} times", hint="1 or more, or None for ever")
        if self.loops and self.duration == 0.0:
            self._fail("repeats but takes no time", hint="give a keyframe a reach_s or a pause_s")

    def __getstate__(self) -> dict[str, object]:
        """Return the state for pickling, in which the read-only mapping becomes a dictionary."""
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**state, "extras": dict(self.extras)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def _fail(self, problem: str, *, hint: str) -> NoReturn:
        raise InputError(f"motion {self.name!r} {problem}", hint=hint)

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {self.robot}, {len(self.keyframes)} keyframes, {self.duration:g} s)"

    def _repr_html_(self) -> str:
        """Return a table of its keyframes, for a notebook."""
        frames = zip(self.keyframe_times.tolist(), self.keyframes, strict=True)
        rows = (
            (str(number), f"{time:g}", f"{frame.pause_s:g}", frame.easing.value, _format_pose(frame.pose))
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
        _, period = self._arrivals_and_period
        return period / self.speed

    @property
    def total_duration(self) -> float:
        """Time of all passes [s]; infinite if it repeats for ever."""
        return math.inf if self.repeat is None else self.duration * self.repeat

    @property
    def keyframe_times(self) -> Floats:
        """(n_keyframes,) when each keyframe is reached in the first pass [s]."""
        arrivals, _ = self._arrivals_and_period
        return arrivals / self.speed

    @property
    def segment_starts(self) -> Floats:
        """(n_keyframes,) when the segment into each keyframe begins, at speed 1 [s]."""
        return self._default_interpolator.starts

    def at(self, t: float, start: Pose | None = None) -> Pose:
        """Return the pose at `t` [s] since the motion was started.

        Args:
            t: before 0 gives the beginning, after the end the last pose.
            start: the pose it is started from; default `self.start`, else the last keyframe of a loop, else
                the first keyframe. Joints that these do not set begin where the motion first sets them.
        """
        angles, free, _ = self._interpolator_from(start).evaluate(np.array([t * self.speed]))
        return Pose(self.joints, angles[0], _free_joint_names(self.joints, free[0]))

    def sample(self, rate_hz: float, start: Pose | None = None, *, until_s: float | None = None) -> Samples:
        """Return the motion at 0, 1/rate, 2/rate, ... up to its end.

        Args:
            rate_hz: samples a second.
            start: the start pose, as in `at`.
            until_s: last time [s]; default all passes, or one where it repeats for ever.

        Raises:
            InputError: the rate is not above 0, or there would be too many samples.
        """
        if not (math.isfinite(rate_hz) and rate_hz > 0.0):
            raise InputError(f"the rate is {rate_hz} Hz", hint="a rate is greater than 0")
        if until_s is None:
            until_s = self.duration if self.repeat is None else self.total_duration
        # rounding must not lose the last sample: 0.1 s times 30 Hz is 3 steps, not 2.9999999
        n_steps = math.floor(until_s * rate_hz * (1.0 + 1e-12) + 1e-9)
        if n_steps > MAX_SAMPLES:
            raise InputError(f"the motion would have {n_steps:.3g} samples", hint=f"at most {MAX_SAMPLES:,}")
        return self.sample_at(np.arange(n_steps + 1) / rate_hz, start)

    def sample_at(self, times: Floats, start: Pose | None = None) -> Samples:
        """Return the motion at `times` (n,) [s]; `start` as in `at`."""
        angles, free, keyframes = self._interpolator_from(start).evaluate(times * self.speed)
        return Samples(times, self.joints, angles, free, keyframes)

    def attitude_at(self, times: Floats) -> Floats | None:
        """Return the trunk's intended attitude, linear from keyframe to keyframe.

        It is constant through a pause, before the first keyframe that has one, and after the last; a later
        pass is like the first.

        Args:
            times: (n,) since the motion was started [s].

        Returns:
            (n, 3) roll, pitch and yaw [rad]; None if no keyframe has any.
        """
        indices = [index for index, keyframe in enumerate(self.keyframes) if keyframe.attitude is not None]
        if not indices:
            return None
        arrivals = self._default_interpolator.arrivals[indices]
        departures = arrivals + [self.keyframes[index].pause_s for index in indices]
        knots = np.stack([arrivals, departures], axis=1).ravel() / self.speed
        attitudes = np.array([self.keyframes[index].attitude for index in indices], dtype=np.float64)
        values = np.repeat(attitudes, 2, axis=0)  # the same at arrival and departure
        pass_times = self._within_pass(times)
        return np.stack([np.interp(pass_times, knots, values[:, axis]) for axis in range(3)], axis=1)

    @property
    def lights(self) -> tuple[str, ...]:
        """The lights that it sets, by the names of their LEDs."""
        return light_names(self.keyframes)

    def lights_at(self, times: Floats, robot: Robot | None = None) -> dict[str, Floats]:
        """Return the colour of each of its lights, `(n, 3)` red, green, blue, 0..1; NaN before it has one.

        Args:
            times: (n,) since the motion was started [s].
            robot: the robot with the lights; default the motion's own.

        Raises:
            UnknownNameError: the robot has no such light.
        """
        if not self.lights:
            return {}
        is_later_pass = times - self._within_pass(times) > 0.0  # the difference is whole passes
        indices = self.sample_at(times).keyframes
        card = robot_of_motion(self, robot)
        return sample_lights(
            self.keyframes, robot=card, indices=indices.tolist(), is_later_pass=is_later_pass.tolist()
        )

    def _within_pass(self, times: Floats) -> Floats:
        """Return `times` (n,) [s] counted from the beginning of their pass; its end belongs to it."""
        if not self.loops:
            return times
        last_pass = math.inf if self.repeat is None else self.repeat - 1.0
        passes = np.clip(np.ceil(times / self.duration) - 1.0, 0.0, last_pass)
        return times - passes * self.duration

    def resolved_poses(self, start: Pose | None = None) -> tuple[Pose, ...]:
        """Return the pose it starts from and the first pass's keyframe poses, held joints filled in."""
        resolved = self._interpolator_from(start).first_pass
        pairs = zip(resolved.angles, resolved.free, strict=True)
        return tuple(
            Pose(self.joints, angles, _free_joint_names(self.joints, free)) for angles, free in pairs
        )

    def keyframe_angles(self, robot: Robot, keyframe: int) -> Floats:
        """Return the angles of all joints of a robot in the pose of a keyframe, `(n_joints,)` [rad].

        A joint without an angle is as in the keyframe before it; one that the motion does not move, as in
        `first_pose`.

        Args:
            robot: the robot.
            keyframe: index of the keyframe; -1 for the start pose.
        """
        resolved_angles = self._default_interpolator.first_pass.angles[keyframe + 1]
        columns = [robot.index(joint) for joint in self.joints]
        all_angles = self.first_pose(robot)
        all_angles[columns] = np.where(np.isnan(resolved_angles), all_angles[columns], resolved_angles)
        return all_angles

    def first_pose(self, robot: Robot, pose: str | None = None) -> Floats:
        """Return the angles of all joints of a robot at the beginning of the motion, `(n_joints,)` [rad].

        Joints that it does not move are as in a named pose, by default the robot's `stand`, else the nearest.

        Raises:
            UnknownNameError: the robot has no such pose, or lacks a joint of the motion.
            InputError: the motion begins at an angle that is not finite.
        """
        if pose is not None and pose not in robot.poses:
            raise UnknownNameError.among("pose", pose, robot.poses)
        columns = [robot.index(joint) for joint in self.joints]
        angles = self._default_interpolator.first_pass.angles[0]
        if pose is None and robot.poses:
            distances = {
                name: np.nanmax(np.abs(robot.pose(name)[columns] - angles), initial=0.0)
                for name in robot.poses
            }
            pose = STAND if STAND in distances else min(distances, key=lambda name: float(distances[name]))
        all_angles = np.zeros(len(robot.joints)) if pose is None else robot.pose(pose)
        all_angles[columns] = np.where(np.isnan(angles), all_angles[columns], angles)
        if not np.isfinite(all_angles).all():
            raise InputError(f"motion {self.name!r} begins at an angle that is not finite")
        return all_angles

    def spline_tangents(self) -> tuple[Floats, Floats]:
        """Return the speeds at which joints arrive at the keyframes and leave them, at speed 1.

        Returns:
            (n_keyframes, n_joints) each [rad/s]: the keyframes' tangents, or computed speeds; NaN where the
            segment is no spline (easing PCHIP), or there is none.
        """
        return self._default_interpolator.spline_tangents()

    def sample_segments(self, n_steps: int, *, later: bool = False) -> Floats:
        """Return the joint angles of every segment at `n_steps` + 1 evenly spaced times, both ends included.

        Args:
            n_steps: number of equal steps of a segment.
            later: sample a later pass of a motion that repeats, which begins where a pass ends.

        Returns:
            (n_keyframes, n_steps + 1, n_joints) [rad]; NaN if free or never set.
        """
        n_keyframes = len(self.keyframes)
        segments = np.repeat(np.arange(n_keyframes), n_steps + 1)
        shares = np.tile(np.linspace(0.0, 1.0, n_steps + 1), n_keyframes)
        passes = np.full(segments.shape, int(later))  # pass 1 stands for any later one
        angles, _ = self._default_interpolator.evaluate_segments(passes, segments, shares)
        return angles.reshape(n_keyframes, n_steps + 1, len(self.joints))

    @cached_property
    def _arrivals_and_period(self) -> tuple[Floats, float]:
        """When each keyframe is reached, and the time of a pass, at speed 1 [s]."""
        return keyframe_arrivals(self.keyframes), float(pause_ends(self.keyframes)[-1])

    @cached_property
    def _default_interpolator(self) -> KeyframeInterpolator:
        return self._build_interpolator(None)

    @cached_property
    def _interpolator_cache(self) -> dict[tuple[object, ...], KeyframeInterpolator]:
        return {}

    def _interpolator_from(self, start: Pose | None) -> KeyframeInterpolator:
        """Return the interpolator from a pose, cached for one pose as a player reuses it in each pass."""
        if start is None:
            return self._default_interpolator
        key = (start.joints, start.angles.tobytes(), start.free)
        if key not in self._interpolator_cache:
            self._interpolator_cache.clear()
            self._interpolator_cache[key] = self._build_interpolator(start)
        return self._interpolator_cache[key]

    def _build_interpolator(self, start: Pose | None) -> KeyframeInterpolator:
        """Return the interpolator of the motion's angles over time, from a start pose.

        A keyframe leaves joints that it does not set as they were before. So the first pass, which begins at
        the start pose, may differ from later ones, which begin at the last keyframe.

        Args:
            start: the pose at time 0; None for that of the motion. Joints that it does not set start as in
                `self.start`, or else at their defaults.
        """
        poses = [keyframe.pose for keyframe in self.keyframes]
        angles, free = self._default_start(poses)
        for pose in (self.start, start):
            if pose is not None:
                resolved = ResolvedPoses.of(angles, free, [pose.with_joints(self.joints)])
                angles = resolved.angles[-1]
                free = resolved.free[-1]
        first_pass = ResolvedPoses.of(angles, free, poses)
        later_passes = ResolvedPoses.of(first_pass.angles[-1], first_pass.free[-1], poses)
        n_passes = math.inf if self.repeat is None else float(self.repeat)
        return KeyframeInterpolator(self.keyframes, first_pass, later_passes, n_passes)

    def _default_start(self, poses: list[Pose]) -> tuple[Floats, Flags]:
        """Return the angles and free flags at the beginning if no start is set.

        A loop begins where it ends; another motion where each joint is first set, which is what resolving the
        poses in reverse order ends with.
        """
        unset = Pose.of(self.joints, {})
        if self.loops:
            forward = ResolvedPoses.of(unset.angles, unset.free_mask, poses)
            return forward.angles[-1], forward.free[-1]
        backward = ResolvedPoses.of(unset.angles, unset.free_mask, poses[::-1])
        return backward.angles[-1], poses[0].free_mask


def robot_of_motion(motion: Motion, robot: Robot | str | None = None) -> Robot:
    """Return the given robot, or the motion's own: the card it carries or was read for, else that by name.

    Raises:
        UnknownNameError: there is no such robot.
    """
    if isinstance(robot, Robot):
        return robot
    own_card = card_of_motion(motion)
    if robot is None and own_card is not None:
        return own_card
    return robot_named(robot or motion.robot)


def card_of_motion(motion: Motion) -> Robot | None:
    """Return the card of a motion's robot; None if only the name of the robot is known.

    It is the card that the motion has itself, or else the one for which its file was read.
    """
    origin = motion.origin
    card_of_file = origin.robot if isinstance(origin, MotionOrigin) else None
    for card in (motion.card, card_of_file):
        if card is not None and card.name == motion.robot:
            return card
    return None


def _free_joint_names(joints: tuple[str, ...], free: Flags) -> frozenset[str]:
    return frozenset(name for name, is_free in zip(joints, free, strict=True) if is_free)


def _format_pose(pose: Pose) -> str:
    """Return the angles of a pose as text, joint by joint [deg]; held joints are left out."""
    texts = []
    for name, angle, is_held in zip(
        pose.joints, np.rad2deg(pose.angles).tolist(), pose.held_mask, strict=True
    ):
        if not is_held:
            texts.append(f"{name} free" if name in pose.free else f"{name} {round(angle, 1):g}")
    return ", ".join(texts) or "held"
