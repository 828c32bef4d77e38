"""Commands that change the attributes, the joints and the start pose of a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.formats.native.reader import MAX_REPEATS, MAX_SPEED, MIN_SPEED
from posewright.motions import LONGEST_S, Keyframe, Motion, SoundTrack, mirror_motion, reverse_motion
from posewright.robots import Robot
from posewright.studio.commands.changes import MotionCommand
from posewright.studio.commands.pages import resolve_page
from posewright.studio.pages import Pages

FOR_EVER = 0
"""Value of `SetMotion.repeat` for endless repetition."""


@dataclass(frozen=True)
class SetMotion:
    """Change the attributes of a motion; None leaves an attribute unchanged.

    Attributes:
        page: number of the motion's page.
        name: name of the motion.
        repeat: how often it is played; 0 for ever.
        next: name or number of the motion that follows; empty for none.
        exit: name or number of the motion that ends it; empty for none.
        speed: factor by which all times are divided.
        source: where the motion comes from.
    """

    page: int
    name: str | None = None
    repeat: Annotated[int, Bounds(FOR_EVER, MAX_REPEATS)] | None = None
    next: str | None = None
    exit: str | None = None
    speed: Annotated[float, Bounds(MIN_SPEED, MAX_SPEED)] | None = None
    source: str | None = None

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        names = [name for name, value in vars(self).items() if name != "page" and value is not None]
        return f"set {' and '.join(names)}" if names else "set nothing"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the motion changed; raise InputError for an empty name or an unknown page."""
        return pages.with_changed_motion(self.page, lambda motion: self._change_motion(motion, pages))

    @property
    def _stored_repeat(self) -> int | None:
        """Number of repetitions as a motion stores it: None for endless repetition."""
        return None if self.repeat == FOR_EVER else self.repeat

    def _change_motion(self, motion: Motion, pages: Pages) -> Motion:
        """Return the motion with those attributes of this command that are not None."""
        if self.name is not None and not self.name.strip():
            raise InputError("a motion needs a name")
        return replace(
            motion,
            name=motion.name if self.name is None else self.name.strip(),
            repeat=motion.repeat if self.repeat is None else self._stored_repeat,
            next=motion.next if self.next is None else resolve_page(self.next, pages),
            exit=motion.exit if self.exit is None else resolve_page(self.exit, pages),
            speed=motion.speed if self.speed is None else self.speed,
            source=motion.source if self.source is None else self.source.strip(),
        )


@dataclass(frozen=True)
class SetSound(MotionCommand):
    """Set the sound that is played with a motion.

    Attributes:
        file: path of a WAV file, relative to the file of the motion; empty for none.
        start_s: when it starts, as played [s].
    """

    file: str
    start_s: Annotated[float, Bounds(0.0, LONGEST_S)] = 0.0

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return "set the sound" if self.file else "remove the sound"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        return replace(motion, sound=SoundTrack(self.file, self.start_s) if self.file else None)


@dataclass(frozen=True)
class ClearStart(MotionCommand):
    """Remove the start pose: the motion starts from any pose."""

    label = "start from any pose"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        return replace(motion, start=None)


@dataclass(frozen=True)
class MirrorMotion(MotionCommand):
    """Exchange left and right in the complete motion, including stiffness and lights."""

    label = "mirror the motion"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        return mirror_motion(motion, robot)


@dataclass(frozen=True)
class ReverseMotion(MotionCommand):
    """Let the motion go through its poses from the last to the first, as `reverse_motion` does."""

    label = "reverse the motion"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        return reverse_motion(motion)


@dataclass(frozen=True)
class SetJoints(MotionCommand):
    """Set the joints of a motion; new ones are held."""

    joints: tuple[str, ...]
    label = "choose joints"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with these joints; new ones come last, and are held."""
        for name in self.joints:
            robot.joint(name)  # raises an error if the robot lacks it
        if not self.joints:
            raise InputError("the motion has no joint", hint="choose at least one")
        remaining = [name for name in motion.joints if name in self.joints]
        joints = tuple(dict.fromkeys([*remaining, *self.joints]))  # each once, in this order

        def select_joints(frame: Keyframe) -> Keyframe:
            stiffness = {name: value for name, value in (frame.stiffness or {}).items() if name in joints}
            tangents = {name: value for name, value in (frame.tangents or {}).items() if name in joints}
            pose = frame.pose.with_joints(joints)
            return replace(frame, pose=pose, stiffness=stiffness or None, tangents=tangents)

        return replace(
            motion,
            joints=joints,
            keyframes=tuple(select_joints(frame) for frame in motion.keyframes),
            start=None if motion.start is None else motion.start.with_joints(joints),
        )
