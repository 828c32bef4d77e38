"""The time line: which keyframes there are, in which order, with the cursor on what a change has made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.formats import carry_to_robot, describe_carrying_losses, describe_unmoved_joints, native
from posewright.motions import Keyframe, Motion, RetargetedMotion
from posewright.robots import Robot
from posewright.studio.commands.changes import START, places_of, with_range
from posewright.studio.commands.timeline import SetRow, keyframe_words, with_added
from posewright.studio.parts import Parts
from posewright.studio.requests import View, action
from posewright.studio.session import Panel


class TimelinePanel(Panel):
    """Adds, copies, moves and deletes the keyframes that are selected."""

    name = "timeline"

    def __init__(self, parts: Parts) -> None:
        self._session = parts.session
        self._player = parts.player

    @property
    def _motion(self) -> Motion:
        return self._session.document.pages.motion(self._session.cursor.page)

    @property
    def _selected(self) -> list[int]:
        """The keyframes that are selected; the pose it starts from is none."""
        return places_of(self._motion, set(self._session.cursor.selected) - {START})

    @action
    def add(self) -> None:
        """Add a keyframe at the playhead, and look at it."""
        motion, place = with_added(self._motion, self._player.time_s)
        self._set("add a keyframe", motion.keyframes, [place])

    @action
    def duplicate(self) -> None:
        """Put copies of the selected keyframes after the last of them, and look at those."""
        places = self._selected
        frames = [self._motion.keyframes[place] for place in places]
        self._insert(f"duplicate {keyframe_words(places)}", places[-1] + 1, frames)

    @action
    def delete(self) -> None:
        """Take the selected keyframes out, and look at the one after them."""
        places = self._selected
        deleted = frozenset(places)
        remaining = [frame for place, frame in enumerate(self._motion.keyframes) if place not in deleted]
        if not remaining:
            raise InputError("a motion keeps at least one keyframe", hint="add another one first")
        self._set(f"delete {keyframe_words(places)}", remaining, [min(places[0], len(remaining) - 1)])

    @action
    def move(self, *, before: Annotated[int, Bounds(0)]) -> None:
        """Put the selected keyframes before another one, counted as they stand now."""
        places = self._selected
        frames = self._motion.keyframes
        unselected = sorted(set(range(len(frames))).difference(places))
        at = sum(place < before for place in unselected)
        order = [*unselected[:at], *places, *unselected[at:]]
        self._set(
            f"move {keyframe_words(places)}", [frames[place] for place in order], range(at, at + len(places))
        )

    @action
    def copy(self) -> str:
        """Return the selected keyframes as text: a motion of its own."""
        return copied(self._motion, self._selected)

    @action
    def paste(self, *, text: str) -> View:
        """Put keyframes from a text after the cursor; return how many, and in words what they lost."""
        frames, losses = pasted(text, self._motion, self._session.document.robot)
        self._insert("paste", self._session.cursor.keyframe + 1, frames)
        return {"count": len(frames), "lost": list(losses)}

    def _insert(self, label: str, at: int, frames: Sequence[Keyframe]) -> None:
        """Put keyframes of the motion's joints at a place, from 0, and look at them."""
        keyframes = with_range(self._motion, at, at, frames).keyframes
        self._set(label, keyframes, range(at, at + len(frames)))

    def _set(self, label: str, keyframes: Sequence[Keyframe], look_at: Iterable[int]) -> None:
        self._session.do(SetRow(self._session.cursor.page, tuple(keyframes), label))
        selected = tuple(look_at)
        self._session.look(keyframe=selected[-1], selected=selected)


def copied(motion: Motion, places: Sequence[int]) -> str:
    """Return keyframes of a motion as text: a native motion of their own, for other files and robots."""
    frames = tuple(motion.keyframes[place] for place in places)
    alone = Motion(motion.name, motion.robot, motion.joints, frames, speed=motion.speed)
    return native.render(alone).decode()


def pasted(text: str, into: Motion, robot: Robot) -> tuple[tuple[Keyframe, ...], tuple[str, ...]]:
    """Return the keyframes of a text as they are in a motion of a robot, and in words what they lose.

    They keep their times as played; joints of which they say nothing are held.

    Raises:
        InputError: it is no motion, or one of a robot that has no joint in common with this one.
    """
    if not text.strip():
        raise InputError("there is nothing to paste", hint="copy keyframes on a time line first")
    copies = native.read(text.encode(errors="replace"), card=robot)
    carried = carry_to_robot(copies, robot)
    shared = frozenset(carried.motion.joints) & frozenset(into.joints)
    if not shared:
        raise InputError(f"{into.name} moves none of the joints of these keyframes")
    slower = into.speed / copies.speed

    def fitted(frame: Keyframe) -> Keyframe:
        stiffness = {joint: value for joint, value in (frame.stiffness or {}).items() if joint in shared}
        return replace(
            frame,
            pose=frame.pose.on(into.joints),
            reach_s=frame.reach_s * slower,
            pause_s=frame.pause_s * slower,
            stiffness=stiffness or None,
        )

    losses = tuple(_losses(copies, carried, into))
    return tuple(fitted(frame) for frame in carried.motion.keyframes), losses


def _losses(copies: Motion, carried: RetargetedMotion, into: Motion) -> Iterator[str]:
    """Yield what the keyframes lose on their way into another motion, in words."""
    yield from describe_carrying_losses(carried)
    if copies.robot != into.robot and any(frame.stiffness for frame in copies.keyframes):
        yield f"the stiffness: it is of the servos of {copies.robot}"
    dropped = [joint for joint in carried.motion.joints if joint not in into.joints]
    if dropped:
        yield f"{', '.join(dropped)}: {into.name} does not move them"
    unstated = [joint for joint in into.joints if joint not in carried.motion.joints]
    if unstated and not carried.unmoved:
        yield f"{', '.join(unstated)}: held, the keyframes say nothing of them"
    yield from describe_unmoved_joints(carried)
