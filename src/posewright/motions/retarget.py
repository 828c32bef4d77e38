"""Motions made over: seen in a mirror, for another robot, and in straight pieces."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.motions.motion import Motion, card_of
from posewright.motions.pose import Attitude, Easing, Keyframe, Pose
from posewright.robots import Light, Robot, robot_names
from posewright.robots import robot as robot_named
from posewright.robots.joint import DOUBTS, SIDE, SIGN, ZERO

Partners = Mapping[str, tuple[str, float]]

SLACK_RAD = 1e-6
"""So little beyond a limit is rounding: files of old robots count whole micro-radians."""

_DOUBTFUL = {
    SIGN: "nobody says which way is positive on {}; it may be the other way",
    SIDE: "which is which is a guess on {}; left and right, or front and rear, may have changed places",
}


def mirrored(motion: Motion, robot: Robot | str | None = None, *, name: str | None = None) -> Motion:
    """Return the motion seen in a mirror that stands in the plane between left and right.

    Joints of no mirror pair (a head that nods) keep their angle; so do lights without one on the other side
    that is called alike. The pairs are those of `robot`, a card or a
    name; by default of the motion's own robot.

    Raises:
        InputError: the motion moves a joint but not its partner.
    """
    card = card_of(motion, robot)
    partners, leds = _partners(motion, card), frozenset(led.name for led in card.leds)
    return replace(
        motion,
        name=motion.name if name is None else name,
        keyframes=tuple(_mirrored_keyframe(k, partners, leds) for k in motion.keyframes),
        start=None if motion.start is None else mirrored_pose(motion.start, partners),
    )


def mirrored_pose(pose: Pose, partners: Partners) -> Pose:
    """Return the pose in which every joint takes its partner's angle times the pair's sign."""
    places = [pose.joints.index(partners[joint][0]) for joint in pose.joints]
    signs = np.array([partners[joint][1] for joint in pose.joints])
    free = frozenset(partners[joint][0] for joint in pose.free)
    return Pose(pose.joints, signs * pose.angles[places], free)


def _mirrored_keyframe(keyframe: Keyframe, partners: Partners, leds: frozenset[str]) -> Keyframe:
    stiffness = keyframe.stiffness
    if stiffness is not None:
        stiffness = {partners[joint][0]: value for joint, value in stiffness.items()}
    attitude = keyframe.attitude
    if attitude is not None:
        attitude = (-attitude[0], attitude[1], -attitude[2])
    lights = keyframe.lights
    if lights is not None:
        lights = {_across(name, leds): light for name, light in lights.items()}
    pose = mirrored_pose(keyframe.pose, partners)
    return replace(keyframe, pose=pose, stiffness=stiffness, attitude=attitude, lights=lights)


def _across(led: str, leds: frozenset[str]) -> str:
    """Return the light on the other side, `left_eye` for `right_eye`; itself where there is none."""
    other = _SIDE.sub(lambda side: "left" if side[0] == "right" else "right", led)
    return other if other in leds else led


_SIDE = re.compile(r"(?<![a-z])(left|right)(?![a-z])")


def _partners(motion: Motion, robot: Robot) -> Partners:
    """Return, for every joint of the motion, the joint across and the sign between the two."""
    across: dict[str, tuple[str, float]] = {joint: (joint, 1.0) for joint in motion.joints}
    for pair in robot.mirror_pairs:
        for joint, partner in ((pair.left, pair.right), (pair.right, pair.left)):
            if joint in across:
                across[joint] = (partner, float(pair.sign))
    for joint, (partner, _) in across.items():
        if partner not in motion.joints:
            raise InputError(
                f"motion {motion.name!r} moves {joint} but not {partner}", hint="a mirror needs both sides"
            )
    return across


@dataclass(frozen=True)
class Clip:
    """An angle that the other robot cannot take.

    Attributes:
        keyframe: counted from 1; 0 is the start pose.
    """

    keyframe: int
    joint: str
    asked_rad: float
    given_rad: float

    def __str__(self) -> str:
        asked, given = np.rad2deg([self.asked_rad, self.given_rad])
        where = "the start pose" if self.keyframe == 0 else f"keyframe {self.keyframe}"
        return f"{where}: {self.joint} {asked:.2f} deg is beyond the limit, clipped to {given:.2f} deg"


@dataclass(frozen=True)
class Carried:
    """A motion on another robot, and what became of it on the way.

    Attributes:
        missing: joints of the motion that the other robot does not have.
        unmoved: joints of the other robot that the motion says nothing of.
        unmatched: joints that both have, but that are not 0 at the same place; they are left out.
        unlit: lights of the motion that the other robot does not have.
        remarks: what is doubtful about joints that were carried over, in words.
    """

    motion: Motion
    missing: tuple[str, ...] = field(repr=False)
    unmoved: tuple[str, ...] = field(repr=False)
    clips: tuple[Clip, ...] = field(repr=False)
    unmatched: tuple[str, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    unlit: tuple[str, ...] = field(default=(), repr=False)


def carried_over(motion: Motion, robot: Robot, source: Robot | None = None) -> Carried:
    """Return the motion as one of another robot, its angles within that robot's limits.

    Stiffness stays behind, as it belongs to the servos; the trunk's attitude is kept. `source` is the robot
    that the motion is made for; default the one of that name that ships, if there is one.

    Raises:
        InputError: the two have no joint in common.
    """
    if source is None and motion.robot in robot_names():
        source = robot_named(motion.robot)
    doubts = _doubts(motion, robot, source)
    unmatched = tuple(name for name in motion.joints if doubts[ZERO].get(name))
    joints = tuple(name for name in robot.joint_names if name in motion.joints and name not in unmatched)
    if not joints:
        raise InputError(
            f"motion {motion.name!r} moves no joint that {robot.name} has"
            + (", and that is 0 at the same place" if unmatched else ""),
            hint=f"it is made for {motion.robot}: {', '.join(motion.joints[:6])}, ...",
        )
    clips: list[Clip] = []
    keyframes = tuple(
        replace(
            keyframe,
            pose=_pose(number, keyframe.pose, joints, robot, clips),
            stiffness=None,
            lights=_lights_on(robot, keyframe),
        )
        for number, keyframe in enumerate(motion.keyframes, 1)
    )
    start = None if motion.start is None else _pose(0, motion.start, joints, robot, clips)
    moved = replace(motion, robot=robot.name, joints=joints, keyframes=keyframes, start=start, origin=None)
    missing = tuple(name for name in motion.joints if name not in (*joints, *unmatched))
    unmoved = tuple(name for name in robot.joint_names if name not in (*joints, *unmatched))
    unlit = tuple(name for name in motion.lights if name not in moved.lights)
    return Carried(moved, missing, unmoved, tuple(clips), unmatched, tuple(_remarks(doubts)), unlit)


def _lights_on(robot: Robot, keyframe: Keyframe) -> dict[str, Light]:
    """Return of a keyframe's lights those that a robot has and that show as many colours there."""
    leds, told = {led.name: led for led in robot.leds}, keyframe.lights or {}
    return {
        name: light
        for name, light in told.items()
        if name in leds and (leds[name].has_colours or not isinstance(light, tuple))
    }


def _doubts(motion: Motion, robot: Robot, source: Robot | None) -> dict[str, dict[str, str]]:
    """Return, by doubt, the joints that have it on one of the two robots, and which robot that is."""
    found: dict[str, dict[str, str]] = {doubt: {} for doubt in DOUBTS}
    for card in (source, robot) if motion.robot != robot.name else ():
        known = () if card is None else card.joints
        shared = (joint for joint in known if joint.name in motion.joints and joint.name in robot.joint_names)
        for joint in shared:
            if joint.uncertain and card is not None:
                found[joint.uncertain].setdefault(joint.name, card.name)
    return found


def _remarks(doubts: dict[str, dict[str, str]]) -> Iterator[str]:
    for doubt, told in _DOUBTFUL.items():
        for card in dict.fromkeys(doubts[doubt].values()):
            names = [name for name, owner in doubts[doubt].items() if owner == card]
            yield f"{', '.join(names)}: {told.format(card)}"


def _pose(number: int, pose: Pose, joints: tuple[str, ...], robot: Robot, clips: list[Clip]) -> Pose:
    pose = pose.on(joints)
    lower, upper = (side[[robot.index(name) for name in joints]] for side in robot.limits)
    fits = (pose.angles >= lower - SLACK_RAD) & (pose.angles <= upper + SLACK_RAD)
    within = np.where(fits, pose.angles, np.clip(pose.angles, lower, upper))
    clips.extend(_clips(number, pose, Pose(joints, within, pose.free)))
    return Pose(joints, within, pose.free)


def _clips(number: int, asked: Pose, given: Pose) -> Iterator[Clip]:
    rows = zip(asked.joints, asked.angles.tolist(), given.angles.tolist(), strict=True)
    return (Clip(number, name, before, after) for name, before, after in rows if abs(before - after) > 0.0)


STEP_S = 0.032
"""Two frames of an AIBO's motion file: half a cosine over 0.4 s is then met within 0.4 % of its way."""

MOST_PIECES = 100_000
"""More is a slip of the pen: a curved way of an hour, cut into thirtieths of a second."""

_SHORTEST = 0.5
"""Of a piece in steps; what is left of a step goes to the piece beside it."""

_SLACK = 1e-6
"""Of a step; so that a time in the middle between two goes the same way wherever it stands."""


def straightened(motion: Motion, step_s: float = STEP_S, grid_s: float | None = None) -> Motion:
    """Return the motion with every curved way as straight pieces that meet the curve at both ends.

    The pieces end at multiples of a step since the motion was started, whatever way they are of, so that a
    file that counts in such steps rounds none of them; the keyframes stay where they are. So a piece is half
    a step to one and a half long. A joint that is held or free stays so, and the attitude of the trunk goes
    along. A loop's curves are those of its first pass.

    Args:
        motion: what to straighten.
        step_s: length of a piece as the motion is played [s].
        grid_s: the smallest step of time of what is to be written [s]; the pieces are of the multiple of it
            that is nearest to `step_s`.

    Raises:
        InputError: the step is no time, or there would be too many pieces.
    """
    for seconds in (step_s, *(() if grid_s is None else (grid_s,))):
        if not (math.isfinite(seconds) and seconds > 0.0):
            raise InputError(f"a piece of {seconds} s", hint="a time greater than 0")
    step_s = step_s if grid_s is None else max(1, round(step_s / grid_s)) * grid_s
    curved = sum(frame.reach_s for frame in motion.keyframes if frame.is_curved) / motion.speed
    if curved / step_s > MOST_PIECES:
        raise InputError(f"{curved / step_s:,.0f} straight pieces", hint=f"at most {MOST_PIECES:,}")
    ways = zip(motion.keyframes, motion.ways_begin.tolist(), strict=True)
    frames = (piece for frame, begins in ways for piece in _straight(motion, frame, begins, step_s))
    return replace(motion, keyframes=tuple(frames))


def _straight(motion: Motion, keyframe: Keyframe, begins_s: float, step_s: float) -> Iterator[Keyframe]:
    """Yield the pieces of the way into a keyframe, the last of them itself; it `begins_s` at speed 1."""
    last = replace(keyframe, easing=Easing.LINEAR)
    ends_s = begins_s + keyframe.reach_s
    times = _cuts(begins_s / motion.speed, ends_s / motion.speed, step_s)
    if not keyframe.is_curved or not len(times):
        yield last
        return
    held = np.isnan(keyframe.pose.angles)
    *reaches, rest = np.diff([begins_s, *(times * motion.speed), ends_s]).tolist()
    rows = motion.sample_at(times).angles
    for reach, angles, attitude in zip(reaches, rows, _attitudes(motion, times), strict=True):
        pose = Pose(motion.joints, np.where(held, np.nan, angles), keyframe.pose.free)
        yield replace(last, pose=pose, reach_s=reach, pause_s=0.0, attitude=attitude)
        last = replace(last, lights=None)  # they are told as the way begins
    yield replace(last, reach_s=rest)


def _cuts(begins_s: float, ends_s: float, step_s: float) -> Floats:
    """Return the multiples of a step at which a way is cut [s]."""
    begins, ends = begins_s / step_s, ends_s / step_s
    first = math.ceil(begins + _SHORTEST - _SLACK)
    last = math.floor(ends - _SHORTEST + _SLACK)
    if last < first and ends - begins > 1.0 + _SHORTEST:  # else the one piece would be nearly two steps long
        first = last = round((begins + ends) / 2.0)
    return np.arange(first, last + 1, dtype=np.float64) * step_s


def _attitudes(motion: Motion, times: Floats) -> list[Attitude | None]:
    attitudes = motion.attitude_at(times)
    if attitudes is None:
        return [None] * len(times)
    return [(roll, pitch, yaw) for roll, pitch, yaw in attitudes.tolist()]
