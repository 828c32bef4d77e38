"""Transformations of motions: mirrored, for another robot, and in straight pieces."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.motions.motion import Motion, robot_of_motion
from posewright.motions.pose import Attitude, Easing, Keyframe, Pose
from posewright.robots import Light, Robot, robot_names
from posewright.robots import robot as robot_named
from posewright.robots.joint import SIDE, SIGN, UNCERTAINTIES, ZERO


class MirrorPartner(NamedTuple):
    """The joint on the opposite side, and the sign of its angle for the mirrored pose."""

    joint: str
    sign: float


Partners = Mapping[str, MirrorPartner]
"""The partner of each joint; a joint of no pair is its own."""

ROUNDING_RAD = 1e-6
"""Tolerance of a joint limit: files of old robots count whole micro-radians."""

_DOUBT_TEXTS = {
    SIGN: "the positive direction on {} is undocumented; it may be the opposite one",
    SIDE: "the side of this joint on {} is a guess; left and right, or front and rear, may be swapped",
}


def mirror_motion(motion: Motion, robot: Robot | str | None = None, *, name: str | None = None) -> Motion:
    """Return the motion with left and right swapped.

    Joints of no mirror pair (a head that nods) keep their angle, and lights without a counterpart their
    colour.

    Args:
        motion: the motion to be mirrored.
        robot: the robot with the mirror pairs, or its name; default the motion's own.
        name: the name of the mirrored motion; by default that of the motion.

    Raises:
        InputError: the motion moves a joint but not its partner.
    """
    card = robot_of_motion(motion, robot)
    partners = _mirror_partners(motion, card)
    leds = frozenset(led.name for led in card.leds)
    return replace(
        motion,
        name=motion.name if name is None else name,
        keyframes=tuple(_mirror_keyframe(keyframe, partners, leds) for keyframe in motion.keyframes),
        start=None if motion.start is None else mirror_pose(motion.start, partners),
    )


def mirror_pose(pose: Pose, partners: Partners) -> Pose:
    """Return the pose in which every joint takes its partner's angle times the pair's sign."""
    partner_columns = [pose.joints.index(partners[joint].joint) for joint in pose.joints]
    signs = np.array([partners[joint].sign for joint in pose.joints])
    free = frozenset(partners[joint].joint for joint in pose.free)
    return Pose(pose.joints, signs * pose.angles[partner_columns], free)


def _mirror_keyframe(keyframe: Keyframe, partners: Partners, leds: frozenset[str]) -> Keyframe:
    """Return a keyframe with left and right exchanged: angles, stiffness, attitude, lights and tangents."""
    stiffness = keyframe.stiffness
    if stiffness is not None:
        stiffness = {partners[joint].joint: value for joint, value in stiffness.items()}
    attitude = keyframe.attitude
    if attitude is not None:
        roll, pitch, yaw = attitude
        attitude = (-roll, pitch, -yaw)
    lights = keyframe.lights
    if lights is not None:
        lights = {_mirror_led(name, leds): light for name, light in lights.items()}
    tangents = {
        partners[joint].joint: tangent.scaled(partners[joint].sign)
        for joint, tangent in (keyframe.tangents or {}).items()
    }
    return replace(
        keyframe,
        pose=mirror_pose(keyframe.pose, partners),
        stiffness=stiffness,
        attitude=attitude,
        lights=lights,
        tangents=tangents,
    )


def _mirror_led(led: str, leds: frozenset[str]) -> str:
    """Return the light on the opposite side, `left_eye` for `right_eye`; itself if there is none."""
    opposite = _SIDE.sub(lambda side: "left" if side[0] == "right" else "right", led)
    return opposite if opposite in leds else led


_SIDE = re.compile(r"(?<![a-z])(left|right)(?![a-z])")


def _mirror_partners(motion: Motion, robot: Robot) -> Partners:
    """Return, for every joint of the motion, the opposite joint and the sign between the two."""
    partners = {joint: MirrorPartner(joint, sign=1.0) for joint in motion.joints}
    for pair in robot.mirror_pairs:
        for joint, partner in ((pair.left, pair.right), (pair.right, pair.left)):
            if joint in partners:
                partners[joint] = MirrorPartner(partner, sign=float(pair.sign))
    for joint, (partner, _) in partners.items():
        if partner not in motion.joints:
            raise InputError(
                f"motion {motion.name!r} moves {joint} but not {partner}",
                hint="to be mirrored it must move both sides",
            )
    return partners


@dataclass(frozen=True)
class Clip:
    """An angle beyond the limits of the target robot.

    Attributes:
        keyframe: counted from 1; 0 is the start pose.
        requested_rad: the angle in the motion.
        clipped_rad: the angle within the limits.
    """

    keyframe: int
    joint: str
    requested_rad: float
    clipped_rad: float

    def __str__(self) -> str:
        requested, clipped = np.rad2deg([self.requested_rad, self.clipped_rad])
        place = "the start pose" if self.keyframe == 0 else f"keyframe {self.keyframe}"
        return f"{place}: {self.joint} {requested:.2f} deg is beyond the limit, clipped to {clipped:.2f} deg"


@dataclass(frozen=True)
class RetargetedMotion:
    """A motion retargeted to another robot, and what was lost.

    Attributes:
        motion: the new motion.
        missing: joints of the motion that the target robot does not have.
        unmoved: joints of the target robot that the motion does not move.
        clips: angles that were clipped to the limits.
        unmatched: joints that both have, but with different zero positions; they are left out.
        remarks: notes on joints whose values are uncertain, as text.
        unlit: lights of the motion that the target robot does not have.
    """

    motion: Motion
    missing: tuple[str, ...] = field(repr=False)
    unmoved: tuple[str, ...] = field(repr=False)
    clips: tuple[Clip, ...] = field(repr=False)
    unmatched: tuple[str, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    unlit: tuple[str, ...] = field(default=(), repr=False)


def retarget_motion(motion: Motion, robot: Robot, source: Robot | None = None) -> RetargetedMotion:
    """Retarget a motion to another robot, its angles clipped to that robot's limits.

    Stiffness is dropped, as it belongs to the servos; the trunk's attitude is kept.

    Args:
        motion: the motion to be retargeted.
        robot: the target robot.
        source: the robot that the motion is made for; default the shipped one of that name, if there is one.

    Raises:
        InputError: the two robots have no joint in common.
    """
    if source is None and motion.robot in robot_names():
        source = robot_named(motion.robot)
    uncertain_joints = _find_uncertain_joints(motion, robot, source)
    unmatched = tuple(name for name in motion.joints if uncertain_joints[ZERO].get(name))
    joints = tuple(name for name in robot.joint_names if name in motion.joints and name not in unmatched)
    if not joints:
        raise InputError(
            f"motion {motion.name!r} moves no joint that {robot.name} has"
            + (" with the same zero position" if unmatched else ""),
            hint=f"it is made for {motion.robot}: {', '.join(motion.joints[:6])}, ...",
        )
    clips: list[Clip] = []
    keyframes = tuple(
        replace(
            keyframe,
            pose=_clip_pose(number, keyframe.pose, joints, robot, clips),
            stiffness=None,
            lights=_supported_lights(robot, keyframe),
            tangents={
                joint: tangent for joint, tangent in (keyframe.tangents or {}).items() if joint in joints
            },
        )
        for number, keyframe in enumerate(motion.keyframes, 1)
    )
    start = None if motion.start is None else _clip_pose(0, motion.start, joints, robot, clips)
    retargeted = replace(
        motion,
        robot=robot.name,
        joints=joints,
        keyframes=keyframes,
        start=start,
        card=robot,
        origin=None,
    )
    return RetargetedMotion(
        motion=retargeted,
        missing=tuple(name for name in motion.joints if name not in (*joints, *unmatched)),
        unmoved=tuple(name for name in robot.joint_names if name not in (*joints, *unmatched)),
        clips=tuple(clips),
        unmatched=unmatched,
        remarks=tuple(_uncertainty_remarks(uncertain_joints)),
        unlit=tuple(name for name in motion.lights if name not in retargeted.lights),
    )


def _supported_lights(robot: Robot, keyframe: Keyframe) -> dict[str, Light]:
    """Return those of the keyframe's lights that the robot can show.

    A light that is a colour needs an LED of several colours; a brightness can be shown by any.
    """
    leds = {led.name: led for led in robot.leds}
    supported_lights = {}
    for name, light in (keyframe.lights or {}).items():
        is_colour = isinstance(light, tuple)
        if name in leds and (leds[name].has_colours or not is_colour):
            supported_lights[name] = light
    return supported_lights


def _find_uncertain_joints(motion: Motion, robot: Robot, source: Robot | None) -> dict[str, dict[str, str]]:
    """Return the joints of a motion whose sign, zero or side is uncertain on one of the two robots.

    The cards of some robots state what their sources leave open.

    Args:
        motion: the motion.
        robot: the robot that the motion is retargeted to.
        source: the robot that it is made for; None if unknown.

    Returns:
        For each of `UNCERTAINTIES`, the name of the robot by joint; empty if the motion is made for `robot`.
    """
    uncertain_joints: dict[str, dict[str, str]] = {reason: {} for reason in UNCERTAINTIES}
    if motion.robot == robot.name:
        return uncertain_joints
    for card in (source, robot):
        if card is None:
            continue
        for joint in card.joints:
            is_shared = joint.name in motion.joints and joint.name in robot.joint_names
            if is_shared and joint.uncertain:
                uncertain_joints[joint.uncertain].setdefault(joint.name, card.name)
    return uncertain_joints


def _uncertainty_remarks(uncertain_joints: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield a remark for each reason and robot, on all joints concerned."""
    for reason, text in _DOUBT_TEXTS.items():
        robot_by_joint = uncertain_joints[reason]
        for robot_name in dict.fromkeys(robot_by_joint.values()):
            joints = [joint for joint, owner in robot_by_joint.items() if owner == robot_name]
            yield f"{', '.join(joints)}: {text.format(robot_name)}"


def _clip_pose(number: int, pose: Pose, joints: tuple[str, ...], robot: Robot, clips: list[Clip]) -> Pose:
    """Return a keyframe's pose with only `joints`, its angles clipped to the robot's limits.

    Appends each clipped angle to `clips`; `number` is that of the keyframe, 0 for the start pose.
    """
    pose = pose.with_joints(joints)
    lower, upper = (side[[robot.index(name) for name in joints]] for side in robot.limits)
    is_within_limits = (pose.angles >= lower - ROUNDING_RAD) & (pose.angles <= upper + ROUNDING_RAD)
    angles = np.where(is_within_limits, pose.angles, np.clip(pose.angles, lower, upper))
    for name, requested, clipped in zip(joints, pose.angles.tolist(), angles.tolist(), strict=True):
        if abs(requested - clipped) > 0.0:  # false for NaN, a held or free joint
            clips.append(Clip(number, joint=name, requested_rad=requested, clipped_rad=clipped))
    return Pose(joints, angles, pose.free)


STEP_S = 0.032
"""Two frames of an AIBO's motion file: half a cosine over 0.4 s is then met within 0.4 % of its amplitude."""

MAX_PIECES = 100_000
"""An hour of curves in pieces of a thirtieth of a second; more is taken for a mistake."""

_MIN_STEPS = 0.5
"""Shortest piece, in steps; the remainder of a step is added to its neighbour."""

_ROUNDING_STEPS = 1e-6
"""Tolerance, in steps, so that a time midway between two steps is always rounded in the same direction."""


def straighten_motion(motion: Motion, step_s: float = STEP_S, grid_s: float | None = None) -> Motion:
    """Replace every curved segment of a motion by straight pieces that meet the curve at both ends.

    The pieces end at multiples of a step since the motion was started, so that a file that counts in such
    steps rounds none of them; the keyframes keep their times. So a piece is half a step to one and a half
    long. Held and free joints stay so, and the attitude of the trunk is interpolated. A loop's curves are
    those of its first pass.

    Args:
        motion: the motion to be straightened.
        step_s: length of a piece as the motion is played [s].
        grid_s: the time resolution of the target file [s]; the pieces are the multiple of it that is nearest
            to `step_s`.

    Raises:
        InputError: a step is not above 0, or there would be too many pieces.
    """
    for seconds in (step_s, grid_s):
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0.0):
            raise InputError(f"a straight piece is to last {seconds} s", hint="a time greater than 0")
    if grid_s is not None:
        step_s = max(1, round(step_s / grid_s)) * grid_s
    curved_s = sum(keyframe.reach_s for keyframe in motion.keyframes if keyframe.is_curved) / motion.speed
    if curved_s / step_s > MAX_PIECES:
        raise InputError(
            f"the motion would have {curved_s / step_s:,.0f} straight pieces", hint=f"at most {MAX_PIECES:,}"
        )
    keyframes: list[Keyframe] = []
    for keyframe, begins_s in zip(motion.keyframes, motion.segment_starts.tolist(), strict=True):
        keyframes.extend(_straighten_segment(motion, keyframe, begins_s, step_s))
    return replace(motion, keyframes=tuple(keyframes))


def _straighten_segment(
    motion: Motion, keyframe: Keyframe, begins_s: float, step_s: float
) -> Iterator[Keyframe]:
    """Yield the pieces of the segment into a keyframe, the last of them the keyframe itself.

    Args:
        motion: the motion that contains the segment.
        keyframe: the keyframe at its end.
        begins_s: when it begins, at speed 1 [s].
        step_s: length of a piece as the motion is played [s].
    """
    straight = replace(keyframe, easing=Easing.LINEAR, tangents=None)
    ends_s = begins_s + keyframe.reach_s
    times = _cut_times(begins_s / motion.speed, ends_s / motion.speed, step_s)
    if not keyframe.is_curved or not len(times):
        yield straight
        return
    is_held = np.isnan(keyframe.pose.angles)
    cuts_at_speed_1 = times * motion.speed
    *reach_times, last_reach_s = np.diff([begins_s, *cuts_at_speed_1, ends_s]).tolist()
    angles_at_cuts = motion.sample_at(times).angles
    attitudes_at_cuts = _attitudes_at(motion, times)
    for reach_s, angles, attitude in zip(reach_times, angles_at_cuts, attitudes_at_cuts, strict=True):
        pose = Pose(motion.joints, np.where(is_held, np.nan, angles), keyframe.pose.free)
        yield replace(straight, pose=pose, reach_s=reach_s, pause_s=0.0, attitude=attitude)
        straight = replace(straight, lights=None)  # lights are set as the segment begins
    yield replace(straight, reach_s=last_reach_s)


def _cut_times(begins_s: float, ends_s: float, step_s: float) -> Floats:
    """Return the times within a segment at which it is cut into pieces [s]; empty if it is too short.

    They are multiples of the step on the motion's clock, so all inner pieces are a step long. The first and
    the last are at least `_MIN_STEPS` steps long, and so at most a step longer than that.

    Args:
        begins_s: when the segment begins, from the begin of the motion [s].
        ends_s: when it ends [s].
        step_s: length of an inner piece [s].
    """
    begin_steps = begins_s / step_s
    end_steps = ends_s / step_s
    first_cut = math.ceil(begin_steps + _MIN_STEPS - _ROUNDING_STEPS)
    last_cut = math.floor(end_steps - _MIN_STEPS + _ROUNDING_STEPS)
    has_no_cut = last_cut < first_cut
    is_long = end_steps - begin_steps > 1.0 + _MIN_STEPS  # nearly two steps
    if has_no_cut and is_long:
        middle = round((begin_steps + end_steps) / 2.0)
        first_cut = middle
        last_cut = middle
    return np.arange(first_cut, last_cut + 1, dtype=np.float64) * step_s


def _attitudes_at(motion: Motion, times: Floats) -> list[Attitude | None]:
    """Return the trunk's intended attitude at each time; None throughout if the motion has none."""
    attitudes = motion.attitude_at(times)
    if attitudes is None:
        return [None] * len(times)
    return [(roll, pitch, yaw) for roll, pitch, yaw in attitudes.tolist()]
