"""Where a motion was read from, so that writing it back changes nothing that was not edited."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from posewright.motions import Motion
from posewright.robots import Robot, robot


@dataclass(frozen=True)
class Origin:
    """The foreign document a motion came from; `Motion.origin` holds it.

    Attributes:
        format: name of the document's format.
        document: the document as its format keeps it.
        page: the page's number in it, from 1.
        alone: whether the page was asked for by name, and is to be written without the pages it does not
            lead to.
        remarks: what is odd about the file, in words.
        path: the file, where it was one.
        robot: the robot it was read for, where the file itself does not say.
    """

    format: str
    document: object
    page: int = 1
    alone: bool = False
    remarks: tuple[str, ...] = ()
    path: Path | None = None
    robot: Robot | None = None


def origin_of(motion: Motion, format_name: str | None = None) -> Origin | None:
    """Return where the motion came from, if it came from a file (of that format)."""
    origin = motion.origin
    if isinstance(origin, Origin) and format_name in (None, origin.format):
        return origin
    return None


def alone(motion: Motion, *, is_alone: bool = True) -> Motion:
    """Return the motion marked as asked for by itself, or as part of its file."""
    origin = origin_of(motion)
    return motion if origin is None else replace(motion, origin=replace(origin, alone=is_alone))


def card_of(motion: Motion) -> Robot:
    """Return the card of the motion's robot: the one it was read for, or the one that ships.

    Raises:
        UnknownNameError: there is no such robot.
    """
    origin = origin_of(motion)
    if origin is not None and origin.robot is not None and origin.robot.name == motion.robot:
        return origin.robot
    return robot(motion.robot)
