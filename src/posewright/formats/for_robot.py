"""Motions of a file on another robot than the file was made for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from posewright.errors import UnknownNameError
from posewright.formats.motion_file import LazyMotions, MotionFile, Origin, card_of
from posewright.motions import Carried, Motion, carried_over
from posewright.robots import Robot
from posewright.robots import robot as robot_named

MOST_CLIPS = 200
"""More clipped values than this are counted, not listed."""

CARRIED = "carried-over"
"""Stands for the format of a motion that came from a file of another robot."""


def carried_to(motion: Motion, robot: str | Robot | None) -> Carried:
    """Return the motion carried over to the robot that is asked for; the same motion if it is its own."""
    card = robot_named(robot) if isinstance(robot, str) else robot
    if card is None or card.name == motion.robot:
        return Carried(motion, (), (), ())
    carried = carried_over(motion, card, _own_card(motion))
    origin = Origin(CARRIED, None, robot=card)  # the card may be somebody's own
    return replace(carried, motion=replace(carried.motion, origin=origin))


def _own_card(motion: Motion) -> Robot | None:
    """Return the card of the motion's robot; None for one that nobody has a card of."""
    try:
        return card_of(motion)
    except UnknownNameError:
        return None


def file_for_robot(file: MotionFile, robot: str | Robot | None) -> MotionFile:
    """Return the file with its motions carried over to a robot, should they be another's.

    What is lost and what is doubtful by that stands among the warnings, of the first page only: of the others
    when they are asked for it is the same joints.
    """
    first = carried_to(file.motion(), robot)
    if first.motion is file.motion():
        return file
    makers = [partial(_carried, file, place, robot) for place in range(len(file.motions))]
    warnings = (*file.warnings, *lost_between_robots(first), *first.remarks)
    return replace(file, motions=LazyMotions(makers), warnings=warnings, document=None)


def _carried(file: MotionFile, place: int, robot: str | Robot | None) -> Motion:
    return carried_to(file.motions[place], robot).motion


def lost_between_robots(carried: Carried) -> Iterator[str]:
    """Yield what the other robot cannot do, in words."""
    name = carried.motion.robot
    if carried.missing:
        yield f"{', '.join(carried.missing)}: {name} has no such joints"
    if carried.unmatched:
        yield f"{', '.join(carried.unmatched)}: 0 is not at the same place on {name}"
    yield from map(str, carried.clips[:MOST_CLIPS])
    if len(carried.clips) > MOST_CLIPS:
        yield f"{len(carried.clips) - MOST_CLIPS} more angles beyond the limits of {name}"


def unmoved(carried: Carried) -> Iterator[str]:
    """Yield what the motion does not say to the other robot, and what of it is doubtful, in words."""
    if carried.unmoved:
        yield f"the motion says nothing of {', '.join(carried.unmoved)}"
    yield from carried.remarks
