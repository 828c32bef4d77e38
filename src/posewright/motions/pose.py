"""Poses and keyframes: joint angles, the time to reach them, and the easing on the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Light
from posewright.robots.lights import MAX_BRIGHTNESS

DEFAULT_ACCEL_SHARE = 0.25
"""A quarter of the time to accelerate, a quarter to brake: ours, between ROBOTIS' usual extremes."""

ROBOTIS_ACCEL_UNIT_S = 1.0 / 128.0
"""ROBOTIS counts its "inertial force" in frames of 1/128 s (shared fact sheet on formats, 2.2)."""


class Easing(Enum):
    """The curve of a joint from one keyframe to the next.

    LINEAR: at one speed. SMOOTH: half a cosine, at rest at both ends, peak speed pi/2 of the mean.
    PCHIP: a cubic through all keyframes, which does not stop at each; its speeds at the keyframes are their
    tangents, or computed so that it never overshoots (Fritsch and Carlson 1980, as in SciPy).
    TRAPEZOID: constant acceleration, cruise, constant braking.
    """

    LINEAR = "linear"
    SMOOTH = "smooth"
    PCHIP = "pchip"
    TRAPEZOID = "trapezoid"


def smooth(u: Floats) -> Floats:
    """Return half a cosine: the share of the distance covered after share `u` of the time, 0..1.

    It has the lowest peak speed of the usual smooth curves (pi/2; minimum jerk has 15/8), which matters for
    servos that are near their no-load speed.
    """
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * u), dtype=np.float64)


def trapezoid(u: Floats, accel_share: Floats) -> Floats:
    """Return a trapezoidal speed profile: the share of the distance covered after share `u` of the time.

    Args:
        u: share of the time, 0..1, (n,).
        accel_share: share of the time spent accelerating, and again braking, 0..0.5, (n,); 0 is linear.
    """
    ramp = np.maximum(accel_share, 1e-300)  # np.where computes all branches: without a ramp they would be 0/0
    cruise_speed = 1.0 / (1.0 - accel_share)  # in distances per duration: the profile's area is 1
    accelerating = 0.5 * cruise_speed * u * u / ramp
    braking = 1.0 - 0.5 * cruise_speed * (1.0 - u) ** 2 / ramp
    cruising = cruise_speed * (u - 0.5 * accel_share)
    return np.where(u < accel_share, accelerating, np.where(u > 1.0 - accel_share, braking, cruising))


def robotis_accel_share(accel: float, reach_s: float) -> float:
    """Return the trapezoid's `accel_share` for a RoboPlus page's "inertial force" `accel`.

    Our reading of ROBOTIS' player: the ramp at each end lasts `accel` frames of 1/128 s, or half of the
    segment where that is shorter. Unlike in the controller, where a joint that goes on in the same direction
    does not stop at the step, every segment here ends at rest.
    """
    if reach_s <= 0.0:
        return 0.5
    return min(0.5, max(0.0, accel * ROBOTIS_ACCEL_UNIT_S / reach_s))


class CurveSegment(NamedTuple):
    """A segment of a motion on a curve.

    Attributes:
        pass_index: the pass of the motion, from 0.
        keyframe_index: the keyframe that the segment leads into, from 0.
        start_knot: index of the curve's knot at which it begins; it ends at the next one.
    """

    pass_index: int
    keyframe_index: int
    start_knot: int


@dataclass(frozen=True, eq=False)
class Curve:
    """A piece of a spline without a jump in it.

    Attributes:
        times: the times of the knots, rising [s].
        rows: (n_joints,) [rad] at each knot.
        segments: the segments that lie on it.
    """

    times: list[float] = field(default_factory=list, repr=False)
    rows: list[Floats] = field(default_factory=list, repr=False)
    segments: list[CurveSegment] = field(default_factory=list, repr=False)

    def add_knot(self, time: float, row: Floats) -> None:
        """Add a knot, unless it is at the time of the last one (no pause between two segments)."""
        if not self.times or time > self.times[-1]:
            self.times.append(time)
            self.rows.append(row)

    def add_segment(self, pass_index: int, keyframe_index: int, *, begin: float, begin_row: Floats) -> None:
        """Begin a segment at `begin` [s]; its end is the next knot added."""
        self.add_knot(begin, begin_row)
        self.segments.append(CurveSegment(pass_index, keyframe_index, start_knot=len(self.times) - 1))

    def slopes(self) -> Floats:
        """Return the slope at every knot, (n_knots, n_joints) [rad/s]."""
        from scipy.interpolate import PchipInterpolator

        spline = PchipInterpolator(self.times, np.stack(self.rows), axis=0)
        return np.asarray(spline.derivative()(self.times), dtype=np.float64)


def segment_slopes(curves: Sequence[Curve], shape: tuple[int, int, int]) -> tuple[Floats, Floats]:
    """Return the speeds at the beginning and at the end of all segments, each of `shape` [rad/s].

    Args:
        curves: the curves that contain the segments.
        shape: (n_passes, n_keyframes, n_joints).
    """
    begin_slopes = np.zeros(shape)
    end_slopes = np.zeros(shape)
    for curve in curves:
        knot_slopes = curve.slopes()
        for segment in curve.segments:
            index = (segment.pass_index, segment.keyframe_index)
            begin_slopes[index] = knot_slopes[segment.start_knot]
            end_slopes[index] = knot_slopes[segment.start_knot + 1]
    return begin_slopes, end_slopes


SHORTEST_S = 1e-6
"""Shortest time to reach a keyframe, and shortest pause, if not 0: floating-point times resolve no less."""

LONGEST_S = 86_400.0
"""Longest time to reach a keyframe, and longest pause: a day."""

Attitude = tuple[float, float, float]
"""Roll, pitch and yaw [rad]."""


class Tangent(NamedTuple):
    """The speeds of a joint at a keyframe on splines, at speed 1 of the motion [rad/s].

    Attributes:
        arrive_rad_s: at the end of the segment into the keyframe.
        leave_rad_s: at the beginning of the next segment, after the keyframe's pause.
    """

    arrive_rad_s: float
    leave_rad_s: float

    def scaled(self, factor: float) -> Tangent:
        """Return the tangent with both speeds multiplied by a factor."""
        return Tangent(self.arrive_rad_s * factor, self.leave_rad_s * factor)

    def reversed_in_time(self) -> Tangent:
        """Return the tangent of the same curve, gone through from its end to its beginning."""
        return Tangent(-self.leave_rad_s, -self.arrive_rad_s)


TIME_HINT = f"a time is 0, or {SHORTEST_S:g} to {LONGEST_S:g} seconds"


@dataclass(frozen=True, eq=False)
class Pose:
    """Joint angles of a robot; a joint may also be held (unchanged) or free (torque off).

    Attributes:
        joints: the names of the joints.
        angles: (n_joints,) [rad], read-only; NaN if the joint is held or free.
        free: the names of the joints whose torque is off.
    """

    joints: tuple[str, ...]
    angles: Floats
    free: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Copy the angles, with NaN for free joints, as a read-only array.

        Raises:
            InputError: there is not one angle for each joint, or a joint is named twice.
            UnknownNameError: a free joint is not a joint of the pose.
        """
        angles = np.array(self.angles, dtype=np.float64)
        if angles.shape != (len(self.joints),):
            raise InputError(
                f"a pose of {len(self.joints)} joints has angles of shape {angles.shape}",
                hint="one angle for each joint",
            )
        if len(set(self.joints)) != len(self.joints):
            raise InputError("a pose names a joint twice", hint=f"joints: {', '.join(self.joints)}")
        for name in self.free:
            _require_joint(name, self.joints)
        object.__setattr__(self, "free", frozenset(self.free))
        if self.free:
            angles[self.free_mask] = np.nan
        angles.flags.writeable = False
        object.__setattr__(self, "angles", angles)

    @classmethod
    def of(cls, joints: tuple[str, ...], angles: Mapping[str, float], free: Iterable[str] = ()) -> Pose:
        """Build a pose of `joints` in which every joint not in `angles` [rad] or `free` is held."""
        for name in angles:
            _require_joint(name, joints)
        return cls(joints, np.array([angles.get(name, np.nan) for name in joints]), frozenset(free))

    @property
    def free_mask(self) -> Flags:
        """(n_joints,) true where the joint is free."""
        if not self.free:
            return np.zeros(len(self.joints), dtype=np.bool_)
        return np.array([name in self.free for name in self.joints], dtype=np.bool_)

    @property
    def held_mask(self) -> Flags:
        """(n_joints,) true where the joint is held."""
        return np.isnan(self.angles) & ~self.free_mask

    def angle(self, joint: str) -> float:
        """Return the angle of `joint` [rad]; NaN if it is held or free."""
        _require_joint(joint, self.joints)
        return float(self.angles[self.joints.index(joint)])

    def with_joints(self, joints: tuple[str, ...]) -> Pose:
        """Return this pose for another selection or order of `joints`; joints it lacks are held."""
        if joints == self.joints:
            return self
        angles = dict(zip(self.joints, self.angles.tolist(), strict=True))
        return Pose(
            joints, np.array([angles.get(name, np.nan) for name in joints]), self.free.intersection(joints)
        )

    def with_held_from(self, previous: Pose) -> Pose:
        """Return this pose with its held joints as they are in `previous`, from which it is reached."""
        previous = previous.with_joints(self.joints)
        held_mask = self.held_mask
        held_names = {name for name, is_held in zip(self.joints, held_mask, strict=True) if is_held}
        free = self.free | (held_names & previous.free)
        return Pose(self.joints, np.where(held_mask, previous.angles, self.angles), free)

    def same_as(self, pose: Pose) -> Flags:
        """Return (n_joints,) true where this pose and another of the same joints agree."""
        has_same_angle = (self.angles == pose.angles) | (np.isnan(self.angles) & np.isnan(pose.angles))
        return np.asarray(has_same_angle & (self.free_mask == pose.free_mask), dtype=np.bool_)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return self._comparison_key() == other._comparison_key()

    def __hash__(self) -> int:
        return hash(self._comparison_key())

    def __repr__(self) -> str:
        counts = {"held": int(self.held_mask.sum()), "free": len(self.free)}
        suffix = "".join(f", {number} {state}" for state, number in counts.items() if number)
        return f"Pose({len(self.joints)} joints{suffix})"

    def _comparison_key(self) -> tuple[tuple[str, ...], tuple[float | None, ...], frozenset[str]]:
        # + 0.0 turns -0.0 into 0.0, which has another hash; None stands for NaN, which never equals itself
        angles = tuple(None if angle != angle else angle + 0.0 for angle in self.angles.tolist())  # noqa: PLR0124 - NaN
        return self.joints, angles, self.free


def _require_joint(name: str, joints: tuple[str, ...]) -> None:
    if name not in joints:
        raise UnknownNameError.among("joint", name, joints)


@dataclass(frozen=True)
class Keyframe:
    """A pose, the time to reach it, the pause after it, its easing and its stiffness.

    Attributes:
        reach_s: time to reach the pose [s]; 0 jumps there.
        pause_s: time in the pose [s].
        easing: the curve on the way INTO the pose.
        stiffness: the stiffness by joint [N m/rad], from the start of the segment; None leaves the servo's
            own.
        accel_share: share of `reach_s` spent accelerating, and again braking (0..0.5); only for the
            trapezoid.
        attitude: roll, pitch and yaw of the trunk that the author had in mind [rad]: roll leans to the right,
            pitch forward, yaw turns left (REP-103). No servo makes it, gravity does; None if unknown.
        lights: brightness, or red, green and blue, 0..255, of the robot's lights as the way begins, by LED;
            a light that is not named stays as it was.
        tangents: the tangents by joint, instead of the speeds that PCHIP computes; only for segments of that
            easing.
    """

    pose: Pose
    reach_s: float
    pause_s: float = 0.0
    easing: Easing = Easing.LINEAR
    stiffness: Mapping[str, float] | None = None
    accel_share: float = DEFAULT_ACCEL_SHARE
    attitude: Attitude | None = None
    lights: Mapping[str, Light] | None = None
    tangents: Mapping[str, Tangent] | None = None

    def __post_init__(self) -> None:
        """Raise an InputError if a value is out of its range, and store the mappings read-only."""
        for name, seconds in (("reach_s", self.reach_s), ("pause_s", self.pause_s)):
            if not (seconds == 0.0 or SHORTEST_S <= seconds <= LONGEST_S):
                raise InputError(f"{name} is {seconds}", hint=TIME_HINT)
        if not 0.0 <= self.accel_share <= 0.5:
            raise InputError(f"accel_share is {self.accel_share}", hint="the range is 0..0.5")
        if self.attitude is not None and not all(map(math.isfinite, self.attitude)):
            raise InputError(f"the attitude is {self.attitude}", hint="roll, pitch and yaw in radians")
        if self.stiffness is not None:
            for joint, value in self.stiffness.items():
                if joint not in self.pose.joints:
                    raise InputError(f"the stiffness is of {joint!r}, which is no joint of the pose")
                if not (math.isfinite(value) and value >= 0.0):
                    raise InputError(f"the stiffness of {joint} is {value}", hint="N m/rad, 0 or more")
            object.__setattr__(self, "stiffness", MappingProxyType(dict(self.stiffness)))
        if self.lights is not None:
            lights = {name: _normalise_light(name, light) for name, light in self.lights.items()}
            object.__setattr__(self, "lights", MappingProxyType(lights) if lights else None)
        if self.tangents is not None:
            tangents = dict(self.tangents)
            for joint, tangent in tangents.items():
                _require_tangent(joint, tangent, self.pose)
            object.__setattr__(self, "tangents", MappingProxyType(tangents) if tangents else None)

    def __getstate__(self) -> dict[str, object]:
        """Return the state for pickling, in which read-only mappings become dictionaries."""
        mappings = {"stiffness": self.stiffness, "lights": self.lights, "tangents": self.tangents}
        copies = {name: None if mapping is None else dict(mapping) for name, mapping in mappings.items()}
        return {**self.__dict__, **copies}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    def __repr__(self) -> str:
        pause = f", pause {self.pause_s:g} s" if self.pause_s else ""
        return f"Keyframe({self.pose}, {self.reach_s:g} s{pause}, {self.easing.value})"

    @property
    def is_curved(self) -> bool:
        """Whether the speed on the way into it varies."""
        if self.reach_s == 0.0 or self.easing is Easing.LINEAR:
            return False
        return self.easing is not Easing.TRAPEZOID or self.accel_share > 0.0

    @property
    def duration(self) -> float:
        """Time to reach the pose and the pause together [s]."""
        return self.reach_s + self.pause_s


def _require_tangent(joint: str, tangent: Tangent, pose: Pose) -> None:
    """Raise an InputError unless a tangent is of a joint of the pose, and finite."""
    if joint not in pose.joints:
        raise InputError(f"the tangent is of {joint!r}, which is no joint of the pose")
    if not all(map(math.isfinite, tangent)):
        raise InputError(f"the tangent of {joint} is {tangent}", hint="finite speeds in rad/s")


def _normalise_light(name: str, light: Light) -> Light:
    """Return the setting of a light as floats, or raise InputError."""
    values = light if isinstance(light, tuple) else (light,)
    if len(values) not in {1, 3} or not all(0.0 <= value <= MAX_BRIGHTNESS for value in values):
        raise InputError(
            f"the light {name} is set to {light}",
            hint=f"a brightness, 0..{MAX_BRIGHTNESS:g}, or as much red, green and blue",
        )
    if len(values) == 1:
        return float(values[0])
    return float(values[0]), float(values[1]), float(values[2])


def pause_ends(keyframes: Sequence[Keyframe]) -> Floats:
    """Return when the pause after each keyframe is over, `(n_keyframes,)` [s]."""
    return np.array(keyframe_clock(keyframes)[1::2])  # every second time is the end of a pause


def keyframe_arrivals(keyframes: Sequence[Keyframe]) -> Floats:
    """Return when each keyframe is reached, `(n_keyframes,)` [s]."""
    ends = pause_ends(keyframes)
    segment_starts = np.append(0.0, ends[:-1])
    reaches = np.array([keyframe.reach_s for keyframe in keyframes])
    pauses = np.array([keyframe.pause_s for keyframe in keyframes])
    return np.where(pauses > 0.0, segment_starts + reaches, ends)


def keyframe_clock(keyframes: Sequence[Keyframe]) -> list[float]:
    """Return when each keyframe is reached and when its pause is over, alternately, `2 * n_keyframes` [s].

    Every sum is rounded only once (Kahan and Neumaier's summation): ten times 0.1 s make 1 s.
    """
    times = []
    total = 0.0
    lost_to_rounding = 0.0
    for keyframe in keyframes:
        for seconds in (keyframe.reach_s, keyframe.pause_s):
            next_total = total + seconds
            lost_to_rounding += _rounding_error(total, seconds, next_total)
            total = next_total
            times.append(total + lost_to_rounding)  # the exact sum so far, rounded once
    return times


def _rounding_error(a: float, b: float, total: float) -> float:
    """Return what `total = a + b` has lost to rounding, exactly (Knuth's two-sum)."""
    part = total - a
    return (a - (total - part)) + (b - part)
