"""The time line: adds, copies, moves, deletes and pastes keyframes, and moves the cursor to the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.formats import describe_retargeting_losses, describe_unmoved_joints, native, retarget_to_robot
from posewright.motions import Keyframe, Motion, RetargetedMotion
from posewright.robots import Robot
from posewright.studio.commands.changes import START, sorted_indices, with_range
from posewright.studio.commands.timeline import ReplaceKeyframes, describe_keyframes, with_keyframe_at
from posewright.studio.context import StudioContext
from posewright.studio.requests import View, action
from posewright.studio.session import Panel


class TimelinePanel(Panel):
    """Adds, copies, moves and deletes the keyframes that are selected."""

    name = "timeline"

    def __init__(self, context: StudioContext) -> None:
        self._session = context.session
        self._player = context.player

    @property
    def _motion(self) -> Motion:
        return self._session.document.pages.motion(self._session.cursor.page)

    @property
    def _selected(self) -> list[int]:
        """Indices of the selected keyframes, without the start pose."""
        return sorted_indices(self._motion, set(self._session.cursor.selected) - {START})

    @action
    def add(self) -> None:
        """Add a keyframe at the playhead, and move the cursor to it."""
        motion, index = with_keyframe_at(self._motion, self._player.time_s)
        self._replace_keyframes("add a keyframe", motion.keyframes, [index])

    @action
    def duplicate(self) -> None:
        """Insert copies of the selected keyframes after the last of them, and select the copies."""
        indices = self._selected
        frames = [self._motion.keyframes[index] for index in indices]
        self._insert(f"duplicate {describe_keyframes(indices)}", indices[-1] + 1, frames)

    @action
    def delete(self) -> None:
        """Delete the selected keyframes, and move the cursor to the next one."""
        indices = self._selected
        remaining = [frame for index, frame in enumerate(self._motion.keyframes) if index not in indices]
        if not remaining:
            raise InputError("a motion needs at least one keyframe", hint="add another one first")
        self._replace_keyframes(
            f"delete {describe_keyframes(indices)}", remaining, [min(indices[0], len(remaining) - 1)]
        )

    @action
    def move(self, *, before: Annotated[int, Bounds(0)]) -> None:
        """Move the selected keyframes before another one.

        Args:
            before: index of that keyframe in the present order.
        """
        indices = self._selected
        frames = self._motion.keyframes
        unselected = sorted(set(range(len(frames))).difference(indices))
        new_index = sum(index < before for index in unselected)  # number of keyframes that stay in front
        order = [*unselected[:new_index], *indices, *unselected[new_index:]]
        self._replace_keyframes(
            f"move {describe_keyframes(indices)}",
            [frames[index] for index in order],
            range(new_index, new_index + len(indices)),
        )

    @action
    def copy(self) -> str:
        """Return the selected keyframes as text: a native motion."""
        return render_keyframes(self._motion, self._selected)

    @action
    def paste(self, *, text: str) -> View:
        """Insert keyframes from a text after the cursor; return their number, and descriptions of losses."""
        frames, losses = parse_keyframes(text, self._motion, self._session.document.robot)
        self._insert("paste", self._session.cursor.keyframe + 1, frames)
        return {"count": len(frames), "lost": list(losses)}

    def _insert(self, label: str, index: int, frames: Sequence[Keyframe]) -> None:
        """Insert keyframes at an index, and select them."""
        keyframes = with_range(self._motion, begin=index, end=index, frames=frames).keyframes
        self._replace_keyframes(label, keyframes, range(index, index + len(frames)))

    def _replace_keyframes(
        self, label: str, keyframes: Sequence[Keyframe], selected_indices: Iterable[int]
    ) -> None:
        """Replace all keyframes as one undoable change with a label, and select some of them."""
        self._session.do(ReplaceKeyframes(self._session.cursor.page, tuple(keyframes), label))
        selected = tuple(selected_indices)
        self._session.look(keyframe=selected[-1], selected=selected)


def render_keyframes(motion: Motion, indices: Sequence[int]) -> str:
    """Return keyframes of a motion as the text of a native motion, for other files and robots."""
    frames = tuple(motion.keyframes[index] for index in indices)
    excerpt = Motion(motion.name, motion.robot, motion.joints, frames, speed=motion.speed)
    return native.render(excerpt).decode()


def parse_keyframes(
    text: str, target_motion: Motion, robot: Robot
) -> tuple[tuple[Keyframe, ...], tuple[str, ...]]:
    """Return the keyframes of a text, converted for a motion of a robot, and descriptions of losses.

    Their durations in seconds stay the same when the motion is played at its own speed. Joints that they do
    not have are held.

    Raises:
        InputError: the text is not a motion, or has no joint in common with the target motion.
    """
    if not text.strip():
        raise InputError("there is nothing to paste", hint="copy keyframes on a time line first")
    copied_motion = native.read(text.encode(errors="replace"), card=robot)
    retargeted = retarget_to_robot(copied_motion, robot)
    shared_joints = frozenset(retargeted.motion.joints) & frozenset(target_motion.joints)
    if not shared_joints:
        raise InputError(f"{target_motion.name} moves none of the joints of these keyframes")
    time_factor = target_motion.speed / copied_motion.speed

    def convert(frame: Keyframe) -> Keyframe:
        stiffness = {
            joint: value for joint, value in (frame.stiffness or {}).items() if joint in shared_joints
        }
        return replace(
            frame,
            pose=frame.pose.with_joints(target_motion.joints),
            reach_s=frame.reach_s * time_factor,
            pause_s=frame.pause_s * time_factor,
            stiffness=stiffness or None,
            tangents={
                joint: tangent.scaled(1.0 / time_factor)
                for joint, tangent in (frame.tangents or {}).items()
                if joint in shared_joints
            },
        )

    losses = tuple(_describe_losses(copied_motion, retargeted, target_motion))
    return tuple(convert(frame) for frame in retargeted.motion.keyframes), losses


def _describe_losses(
    copied_motion: Motion, retargeted: RetargetedMotion, target_motion: Motion
) -> Iterator[str]:
    """Yield descriptions of what copied keyframes lose in another motion."""
    yield from describe_retargeting_losses(retargeted)
    if copied_motion.robot != target_motion.robot and any(
        frame.stiffness for frame in copied_motion.keyframes
    ):
        yield f"the stiffness, which is for the servos of {copied_motion.robot}"
    dropped = [joint for joint in retargeted.motion.joints if joint not in target_motion.joints]
    if dropped:
        yield f"{', '.join(dropped)}: {target_motion.name} does not move them"
    unstated = [joint for joint in target_motion.joints if joint not in retargeted.motion.joints]
    if unstated and not retargeted.unmoved:
        yield f"{', '.join(unstated)}: held, since the keyframes do not have them"
    yield from describe_unmoved_joints(retargeted)
