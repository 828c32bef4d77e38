"""Commands on the keyframes of a motion: which there are, in which order, how they are reached, lights."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from posewright.documents import Bounds, Node
from posewright.formats.native.reader import read_light
from posewright.motions import LONGEST_S, Easing, Keyframe, Motion, Pose
from posewright.robots import Robot
from posewright.studio.commands.changes import KeyframesCommand, MotionCommand, require_keyframe, with_range
from posewright.studio.pages import Pages
from posewright.studio.requests import Anything

Seconds = Annotated[float, Bounds(0.0, LONGEST_S)]

NEW_REACH_S = 0.5
"""Time of the way into a copy that is put after its original."""

SAME_S = 1e-3
"""A playhead nearer than this to a keyframe is on it."""

TIME_DIGITS = 6
"""Decimals of a time [s] that was computed: no shorter one is kept apart from none at all."""


@dataclass(frozen=True)
class SetRow:
    """Give a motion other keyframes: more, fewer, or in another order."""

    page: int
    keyframes: tuple[Keyframe, ...]
    label: str

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with these keyframes in one of them."""
        return pages.changed(self.page, lambda motion: replace(motion, keyframes=self.keyframes))


def with_added(motion: Motion, time_s: float) -> tuple[Motion, int]:
    """Return the motion with a keyframe at a time as played [s], in the pose it has there, and its place.

    A way is cut in two there, so that the motion stays as it is; on a keyframe, in its pause or after the
    end a copy follows it.
    """
    own_s = time_s * motion.speed
    begins = motion.segment_starts
    place = max(0, int(np.searchsorted(begins, own_s - SAME_S, side="left")) - 1)
    frame = motion.keyframes[place]
    gone_s = _rounded(own_s - float(begins[place]))
    if frame.reach_s - gone_s < SAME_S:
        return with_range(motion, place + 1, place + 1, [replace(frame, reach_s=NEW_REACH_S)]), place + 1
    if gone_s < SAME_S:
        gone_s = 0.0
    is_held = np.isnan(frame.pose.angles)
    pose = Pose(motion.joints, np.where(is_held, np.nan, motion.at(time_s).angles), frame.pose.free)
    first = replace(frame, pose=pose, reach_s=gone_s, pause_s=0.0, attitude=None)
    second = replace(frame, reach_s=_rounded(frame.reach_s - gone_s), lights=None)
    return with_range(motion, place, place + 1, [first, second]), place


@dataclass(frozen=True)
class SetKeyframes(KeyframesCommand):
    """Set times, easing and stiffness; whatever is None stays as it is, and later keyframes move along.

    Attributes:
        stiffness: by joint [N m/rad] from the way into the keyframe on; empty for the servos' own.
    """

    reach_s: Seconds | None = None
    pause_s: Seconds | None = None
    easing: Easing | None = None
    accel_share: Annotated[float, Bounds(0.0, 0.5)] | None = None
    stiffness: Mapping[str, Annotated[float, Bounds(0.0)]] | None = None

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        is_eased = self.easing is not None or self.accel_share is not None
        verb = "set the stiffness of" if self.stiffness is not None else "ease" if is_eased else "retime"
        return f"{verb} {keyframe_words(self.keyframes)}"

    def _each(self, frame: Keyframe) -> Keyframe:
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
    """Set times of one keyframe while the later ones stay, as far as the next way gives room."""

    keyframe: int
    reach_s: Seconds | None = None
    pause_s: Seconds | None = None

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        return f"retime {keyframe_words((self.keyframe,))}"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        place = self.keyframe
        require_keyframe(motion, place)
        frame = motion.keyframes[place]
        after = motion.keyframes[place + 1 : place + 2]
        reach_s = frame.reach_s if self.reach_s is None else self.reach_s
        pause_s = frame.pause_s if self.pause_s is None else self.pause_s
        if after:
            room_s = frame.duration + after[0].reach_s
            reach_s = min(reach_s, room_s)
            pause_s = _rounded(min(pause_s, room_s - reach_s))
            after = (replace(after[0], reach_s=_rounded(room_s - reach_s - pause_s)),)
        own = replace(frame, reach_s=reach_s, pause_s=pause_s)
        return with_range(motion, place, place + 1 + len(after), [own, *after])


@dataclass(frozen=True)
class StretchKeyframes(KeyframesCommand):
    """Make ways and pauses longer, or shorter down to none.

    Attributes:
        factor: all of them are multiplied by this.
        reach_by_s: added to the time of each way [s].
        pause_by_s: added to each pause [s].
    """

    factor: Annotated[float, Bounds(0.001, 1000.0)] = 1.0
    reach_by_s: float = 0.0
    pause_by_s: float = 0.0

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        return f"{'retime' if self.factor == 1.0 else 'stretch'} {keyframe_words(self.keyframes)}"

    def _each(self, frame: Keyframe) -> Keyframe:
        reach_s = frame.reach_s * self.factor + self.reach_by_s
        pause_s = frame.pause_s * self.factor + self.pause_by_s
        return replace(frame, reach_s=_rounded(reach_s), pause_s=_rounded(pause_s))


@dataclass(frozen=True)
class SetLights(MotionCommand):
    """Say what lights show from the way into a keyframe on.

    Attributes:
        lights: by LED, as a native file has them; None where it stays as it was. Others are left as they are.
    """

    keyframe: int
    lights: Mapping[str, Anything]

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        return f"light {next(iter(self.lights))}" if len(self.lights) == 1 else "set lights"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        require_keyframe(motion, self.keyframe)
        frame = motion.keyframes[self.keyframe]
        leds = {name: robot.led(name) for name in self.lights}
        others = {name: light for name, light in (frame.lights or {}).items() if name not in leds}
        lights = {
            name: read_light(Node(light), leds[name])
            for name, light in self.lights.items()
            if light is not None
        }
        changed = replace(frame, lights={**others, **lights} or None)
        return with_range(motion, self.keyframe, self.keyframe + 1, [changed])


def keyframe_words(keyframes: Collection[int]) -> str:
    """Return keyframes as the menu names them, counted from 1."""
    return f"keyframe {min(keyframes) + 1}" if len(keyframes) == 1 else f"{len(keyframes)} keyframes"


def _rounded(seconds: float) -> float:
    """Return a time that was computed [s], none rather than less."""
    return max(0.0, round(seconds, TIME_DIGITS))
