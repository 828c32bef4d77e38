"""Commands that change the keyframes of a motion: their order, times, easing, stiffness and lights."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from posewright.documents import Bounds, Node
from posewright.formats.native.reader import MAX_DEG_S, read_light
from posewright.motions import LONGEST_S, Easing, Keyframe, Motion, Pose, Tangent
from posewright.robots import Robot
from posewright.studio.commands.changes import (
    KeyframesCommand,
    MotionCommand,
    require_joints,
    require_keyframe,
    with_range,
)
from posewright.studio.pages import Pages
from posewright.studio.requests import AnyData

Seconds = Annotated[float, Bounds(0.0, LONGEST_S)]

NEW_REACH_S = 0.5
"""Duration of the segment into a copy that follows its original [s]."""

SLOPE_STEP_S = 1e-4
"""Time before and after a point of a curve between which its slope is measured [s]."""

MIN_SEGMENT_S = 1e-3
"""A playhead closer than this to a keyframe is on it [s]."""

TIME_DIGITS = 6
"""Decimals of computed times [s]."""


@dataclass(frozen=True)
class ReplaceKeyframes:
    """Replace the keyframes of a motion, for example by more, by fewer, or in another order."""

    page: int
    keyframes: tuple[Keyframe, ...]
    label: str

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the new keyframes."""
        return pages.with_changed_motion(self.page, lambda motion: replace(motion, keyframes=self.keyframes))


def with_keyframe_at(motion: Motion, time_s: float) -> tuple[Motion, int]:
    """Return the motion with a new keyframe at a time as played [s], and the index of that keyframe.

    A segment is cut in two at that time, so the motion does not change. At a keyframe, in its pause, or after
    the end of the motion, a copy of the keyframe is inserted after it.
    """
    time_in_motion_s = time_s * motion.speed
    starts = motion.segment_starts
    # the last segment that begins clearly before this time
    index = max(0, int(np.searchsorted(starts, time_in_motion_s - MIN_SEGMENT_S, side="left")) - 1)
    frame = motion.keyframes[index]
    elapsed_s = _rounded(time_in_motion_s - float(starts[index]))
    is_reached = frame.reach_s - elapsed_s < MIN_SEGMENT_S
    if is_reached:
        duplicate = replace(frame, reach_s=NEW_REACH_S)
        return with_range(motion, begin=index + 1, end=index + 1, frames=[duplicate]), index + 1
    if elapsed_s < MIN_SEGMENT_S:
        elapsed_s = 0.0
    is_held = np.isnan(frame.pose.angles)
    pose = Pose(motion.joints, np.where(is_held, np.nan, motion.at(time_s).angles), frame.pose.free)
    # the attitude stays interpolated to the second keyframe; lights are set on the way into the first
    first = replace(
        frame,
        pose=pose,
        reach_s=elapsed_s,
        pause_s=0.0,
        attitude=None,
        tangents=_tangents_within(motion, index, time_in_motion_s),
    )
    second = replace(frame, reach_s=_rounded(frame.reach_s - elapsed_s), lights=None)
    return with_range(motion, begin=index, end=index + 1, frames=[first, second]), index


def _tangents_within(motion: Motion, index: int, time_in_motion_s: float) -> dict[str, Tangent]:
    """Return the tangents of a new keyframe within a spline, of those joints that have tangents at its ends.

    Args:
        motion: the motion.
        index: index of the keyframe that the segment leads into.
        time_in_motion_s: time of the new keyframe, at speed 1 [s].
    """
    if motion.keyframes[index].easing is not Easing.PCHIP:
        return {}
    ends = motion.keyframes[max(index - 1, 0) : index + 1]
    joints = {joint for keyframe in ends for joint in keyframe.tangents or {}}
    around_s = np.array([time_in_motion_s - SLOPE_STEP_S, time_in_motion_s + SLOPE_STEP_S]) / motion.speed
    before, after = motion.sample_at(around_s).angles
    slopes = ((after - before) / (2.0 * SLOPE_STEP_S)).tolist()
    speeds = dict(zip(motion.joints, slopes, strict=True))
    return {joint: Tangent(speeds[joint], speeds[joint]) for joint in joints if np.isfinite(speeds[joint])}


@dataclass(frozen=True)
class SetTangent(MotionCommand):
    """Set the speeds of a joint at a keyframe, on splines; those that are None stay as they are.

    Attributes:
        keyframe: index of the keyframe.
        joint: the joint.
        arrive_deg_s: speed at the end of the segment into the keyframe, at speed 1 of the motion [deg/s].
        leave_deg_s: speed at the beginning of the next segment [deg/s].
        is_computed: removes the tangent, so that both speeds are computed again.
    """

    keyframe: int
    joint: str
    arrive_deg_s: Annotated[float, Bounds(-MAX_DEG_S, MAX_DEG_S)] | None = None
    leave_deg_s: Annotated[float, Bounds(-MAX_DEG_S, MAX_DEG_S)] | None = None
    is_computed: bool = False

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        verb = "compute" if self.is_computed else "set"
        return f"{verb} the tangent of {self.joint.replace('_', ' ')}"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the tangent set; or removed, so that its speeds are computed."""
        require_keyframe(motion, self.keyframe)
        frame = motion.keyframes[self.keyframe]
        require_joints(frame.pose, [self.joint])
        tangents = dict(frame.tangents or {})
        present_tangent = tangents.pop(self.joint, None)
        if not self.is_computed:
            tangents[self.joint] = self._create_tangent(motion, present_tangent)
        changed = replace(frame, tangents=tangents)
        return with_range(motion, begin=self.keyframe, end=self.keyframe + 1, frames=[changed])

    def _create_tangent(self, motion: Motion, present: Tangent | None) -> Tangent:
        """Return the new tangent; a speed that is not stated is the present one, or the one on the spline."""
        if present is None:
            column = motion.joints.index(self.joint)
            arriving, leaving = (
                float(np.nan_to_num(speeds[self.keyframe, column])) for speeds in motion.spline_tangents()
            )
            present = Tangent(arriving, leaving)
        arrive_rad_s = present.arrive_rad_s if self.arrive_deg_s is None else math.radians(self.arrive_deg_s)
        leave_rad_s = present.leave_rad_s if self.leave_deg_s is None else math.radians(self.leave_deg_s)
        return Tangent(arrive_rad_s, leave_rad_s)


@dataclass(frozen=True)
class SetKeyframes(KeyframesCommand):
    """Set times, easing and stiffness of keyframes; None leaves one unchanged. Later keyframes shift in time.

    Attributes:
        reach_s: duration of the segment into the keyframe [s].
        pause_s: pause after it [s].
        easing: curve of the segment.
        accel_share: share of the segment that accelerates.
        stiffness: stiffness by joint from this segment on [N m/rad]; empty for that of the servos.
    """

    reach_s: Seconds | None = None
    pause_s: Seconds | None = None
    easing: Easing | None = None
    accel_share: Annotated[float, Bounds(0.0, 0.5)] | None = None
    stiffness: Mapping[str, Annotated[float, Bounds(0.0)]] | None = None

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        if self.stiffness is not None:
            verb = "set the stiffness of"
        elif self.easing is not None or self.accel_share is not None:
            verb = "ease"
        else:
            verb = "retime"
        return f"{verb} {describe_keyframes(self.keyframes)}"

    def _change_keyframe(self, frame: Keyframe) -> Keyframe:
        """Return a keyframe with those attributes of this command that are not None."""
        return replace(
            frame,
            reach_s=frame.reach_s if self.reach_s is None else self.reach_s,
            pause_s=frame.pause_s if self.pause_s is None else self.pause_s,
            easing=frame.easing if self.easing is None else self.easing,
            accel_share=frame.accel_share if self.accel_share is None else self.accel_share,
            stiffness=frame.stiffness if self.stiffness is None else dict(self.stiffness) or None,
        )


@dataclass(frozen=True)
class RetimeKeyframe(MotionCommand):
    """Set times of one keyframe without shifting later ones: the next segment becomes longer or shorter."""

    keyframe: int
    reach_s: Seconds | None = None
    pause_s: Seconds | None = None

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"retime {describe_keyframes((self.keyframe,))}"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the keyframe retimed; the next keyframe is reached when it was before.

        A keyframe is reached in `reach_s`, then the robot pauses for `pause_s`. Time that both gain is taken
        from the movement to the next keyframe, and they are cut so that this takes 0 s at least.
        """
        index = self.keyframe
        require_keyframe(motion, index)
        frame = motion.keyframes[index]
        reach_s = frame.reach_s if self.reach_s is None else self.reach_s
        pause_s = frame.pause_s if self.pause_s is None else self.pause_s
        if index + 1 == len(motion.keyframes):
            changed = replace(frame, reach_s=reach_s, pause_s=pause_s)
            return with_range(motion, begin=index, end=index + 1, frames=[changed])
        next_frame = motion.keyframes[index + 1]
        available_s = frame.duration + next_frame.reach_s
        reach_s = min(reach_s, available_s)
        pause_s = _rounded(min(pause_s, available_s - reach_s))
        changed = replace(frame, reach_s=reach_s, pause_s=pause_s)
        next_changed = replace(next_frame, reach_s=_rounded(available_s - reach_s - pause_s))
        return with_range(motion, begin=index, end=index + 2, frames=[changed, next_changed])


@dataclass(frozen=True)
class StretchKeyframes(KeyframesCommand):
    """Make segments and pauses of keyframes longer or shorter.

    Attributes:
        factor: factor of all durations; tangents become as much slower.
        reach_by_s: added to the duration of each segment [s].
        pause_by_s: added to each pause [s].
    """

    factor: Annotated[float, Bounds(0.001, 1000.0)] = 1.0
    reach_by_s: float = 0.0
    pause_by_s: float = 0.0

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"{'retime' if self.factor == 1.0 else 'stretch'} {describe_keyframes(self.keyframes)}"

    def _change_keyframe(self, frame: Keyframe) -> Keyframe:
        reach_s = frame.reach_s * self.factor + self.reach_by_s
        pause_s = frame.pause_s * self.factor + self.pause_by_s
        tangents = {
            joint: tangent.scaled(1.0 / self.factor) for joint, tangent in (frame.tangents or {}).items()
        }
        return replace(frame, reach_s=_rounded(reach_s), pause_s=_rounded(pause_s), tangents=tangents)


@dataclass(frozen=True)
class SetLights(MotionCommand):
    """Set lights from the segment into a keyframe on.

    Attributes:
        keyframe: index of the keyframe.
        lights: light by LED, as in a native file; None removes the setting. Other LEDs stay unchanged.
    """

    keyframe: int
    lights: Mapping[str, AnyData]

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"light {next(iter(self.lights))}" if len(self.lights) == 1 else "set lights"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the keyframe's lights set; None removes a light."""
        require_keyframe(motion, self.keyframe)
        frame = motion.keyframes[self.keyframe]
        leds = {name: robot.led(name) for name in self.lights}  # raises an error if there is no such LED
        unchanged = {name: light for name, light in (frame.lights or {}).items() if name not in leds}
        lights = {
            name: read_light(Node(light), leds[name])
            for name, light in self.lights.items()
            if light is not None
        }
        changed = replace(frame, lights={**unchanged, **lights} or None)
        return with_range(motion, begin=self.keyframe, end=self.keyframe + 1, frames=[changed])


def describe_keyframes(keyframes: Collection[int]) -> str:
    """Return the text for keyframes in the menu, counted from 1."""
    return f"keyframe {min(keyframes) + 1}" if len(keyframes) == 1 else f"{len(keyframes)} keyframes"


def _rounded(seconds: float) -> float:
    """Return a computed duration [s], rounded and not negative."""
    return max(0.0, round(seconds, TIME_DIGITS))
