"""From a motion to a RoboPlus document: the one it was read from with its page changed, or a new one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from posewright.formats.kinds import ROBOPLUS_TEXT
from posewright.formats.motion_file import card_of, origin_of
from posewright.formats.roboplus.columns import NUMBERING, Columns
from posewright.formats.roboplus.graph import Links, extracted, free_pages
from posewright.formats.roboplus.page import IDS, MAX_STEPS, Page
from posewright.formats.roboplus.play import page_of
from posewright.formats.roboplus.steps import steps_of
from posewright.formats.roboplus.text import RoboplusDocument, new_document
from posewright.formats.roboplus.to_motion import columns_of, page_motion
from posewright.motions import Motion
from posewright.robots import Robot

_MAX_UNROLLED_STEPS = 70  # ten pages; a repeated motion longer than a page is written out up to this


class Written(NamedTuple):
    """A motion in a RoboPlus document.

    Attributes:
        document: the whole file.
        losses: what of the motion it cannot hold, in words.
        remarks: what was rounded, in words.
        times_s: when each keyframe is reached there [s].
    """

    document: RoboplusDocument
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float, ...]


def document_with(motion: Motion) -> Written:
    """Return the RoboPlus document of a motion, and what of the motion is lost in it.

    A motion read from a RoboPlus file gives that file with its page changed, or, where it was asked for
    alone, a file of that page and those it leads to. Any other gives a new file with it as page 1.

    Raises:
        FormatError: it does not fit.
        UnknownNameError: there is no such robot, or it has no ROBOTIS numbering.
    """
    card = card_of(motion)
    origin = origin_of(motion, ROBOPLUS_TEXT)
    if origin is None or not isinstance(origin.document, RoboplusDocument):
        return put_motion(new_document(_enabled(motion, card)), 1, motion, card)
    written = put_motion(origin.document, origin.page, motion, card)
    if not origin.alone:
        return written
    return written._replace(document=extracted(written.document, origin.page))


def _enabled(motion: Motion, card: Robot) -> tuple[bool, ...]:
    """Return which of the IDs 0..25 a motion ever gives an angle."""
    moved = ~np.all(np.isnan([frame.pose.angles for frame in motion.keyframes]), axis=0)
    names = {joint for joint, moves in zip(motion.joints, moved, strict=True) if moves}
    joints = card.numbering(NUMBERING)
    return tuple(joints.get(number) in names for number in range(IDS))


def put_motion(document: RoboplusDocument, number: int, motion: Motion, card: Robot) -> Written:
    """Return the document with a motion as page `number`, and what of the motion is lost.

    What means the same as before keeps its bytes. More than seven steps go on in free pages.

    Raises:
        FormatError: it does not fit.
    """
    losses: list[str] = []
    base = document.page(number)
    as_read = None if base.is_empty else page_motion(document, number, card)
    columns = columns_of(document, card)
    _note_unwritable(motion, columns, losses)
    page = page_of(motion, columns, base, as_read, losses)
    links = Links(document, number, motion, as_read, losses)
    page = replace(page, play=links.drawn_into(page.play))
    said = steps_of(motion, columns, base, losses)
    page = replace(page, steps=said.steps)
    if said.steps == base.steps or len(said.steps) <= MAX_STEPS:
        document = document.with_page(number, page)
    else:
        document = _chained(document, number, page, losses)
    times = tuple(time / page.play.rate for time in said.times_s)
    return Written(document, tuple(losses), said.remarks, times)


def _note_unwritable(motion: Motion, columns: Columns, losses: list[str]) -> None:
    moved = {
        joint
        for frame in motion.keyframes
        for joint, angle in zip(motion.joints, frame.pose.angles, strict=True)
        if not np.isnan(angle)
    }
    for joint in sorted(moved - set(columns.joints)):
        losses.append(f"{joint} has no column that the file enables")
    for joint in sorted({joint for frame in motion.keyframes for joint in frame.pose.free}):
        losses.append(f"{joint} is free at times: a page cannot switch torque off, so it stays where it was")
    if motion.start is not None:
        losses.append("the pose it is to be started from")


def _chained(document: RoboplusDocument, number: int, page: Page, losses: list[str]) -> RoboplusDocument:
    """Return the document with a page too long for a controller split over free pages, joined by next."""
    steps, repeat = page.steps, page.play.repeat
    loops = page.play.next == number
    if repeat > 1 and not loops and len(steps) * repeat <= _MAX_UNROLLED_STEPS:
        steps = steps * repeat
    elif repeat > 1 and not loops:
        losses.append(f"repeat {repeat}: a page of {len(steps)} steps is split, and pages repeat one by one")
    chunks = [steps[i : i + MAX_STEPS] for i in range(0, len(steps), MAX_STEPS)]
    numbers = [number, *free_pages(document, number, len(chunks) - 1)]
    onward = [*numbers[1:], page.play.next]
    for at, chunk, following in zip(numbers, chunks, onward, strict=True):
        part = replace(page, steps=chunk, play=replace(page.play, next=following, repeat=1))
        document = document.with_page(at, part if at == number else replace(part, name=b"", lines=()))
    return document
