"""From a motion to a RoboPlus document: the one it was read from with its page changed, or a new one.

Steps are whole ticks, their times on the controller's grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError
from posewright.formats.default_angles import moved_joints
from posewright.formats.file_kind import BOM, FileContent, FileKind
from posewright.formats.motion_file import MotionFile, PageLabel, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions, WrittenDocument
from posewright.formats.path_losses import describe_lost_lights
from posewright.formats.roboplus.document import (
    DUMMY_TICKS,
    EMPTY_PAGE,
    IDS,
    MAX_STEPS,
    MAX_STEPS_IN_FILE,
    ROBOPLUS_TEXT,
    Page,
    RoboplusDocument,
    Step,
    new_document,
)
from posewright.formats.roboplus.pages import Links, extracted, free_pages, page_of
from posewright.formats.roboplus.reader import read_roboplus
from posewright.formats.roboplus.to_motion import (
    GRID_S,
    MAX_TIME_S,
    NUMBERING,
    Columns,
    columns_of,
    page_motion,
    remarks_on,
)
from posewright.formats.timeline import MS_PER_S, rounding_remarks
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot, robot

Row = tuple[int, ...]

_EMPTY_ROW: Row = (DUMMY_TICKS,) * IDS
_NEW_PAGE = Page(b"", steps=(Step(_EMPTY_ROW, 0.0, 0.0),))


class Steps(NamedTuple):
    """The steps of a motion."""

    steps: tuple[Step, ...]  # in order; a way or a pause may take several
    remarks: tuple[str, ...]
    times_s: tuple[float, ...]  # when each keyframe is reached, at rate 1 [s]


def steps_of(motion: Motion, columns: Columns, base: Page, losses: list[str]) -> Steps:
    """Return the steps of a motion.

    Rounding to the nearest tick moves a joint by half a tick at most, which no servo would tell apart, and
    is not counted as a loss. A way or a pause too long for one step becomes several.
    What `base`, the page it was read from, says of other columns and times is kept.
    """
    known = {seconds for step in base.steps for seconds in (step.pause_s, step.play_s)}
    _refuse_endless(motion, known)
    rows = _rows(motion, columns, base, losses)
    steps: list[Step] = []
    times: list[float] = []
    before = rows[0]
    for frame, row in zip(motion.keyframes, rows, strict=True):
        reach, pause = _on_grid(frame.reach_s, known), _on_grid(frame.pause_s, known)
        steps.extend(_ways(before, row, reach, pause, known))
        times.append(math.fsum(step.play_s + step.pause_s for step in steps) - pause)
        before = row
    return Steps(tuple(steps), tuple(_rounding(motion, known)), tuple(times))


def _refuse_endless(motion: Motion, known: set[float]) -> None:
    times = [t for frame in motion.keyframes for t in (frame.reach_s, frame.pause_s) if t not in known]
    if len(motion.keyframes) + sum(times) / MAX_TIME_S > MAX_STEPS_IN_FILE:
        what = f"motion {motion.name!r} has {len(motion.keyframes)} keyframes and takes {motion.duration:g} s"
        raise FormatError(what, hint=f"a RoboPlus file holds {MAX_STEPS_IN_FILE} steps of {MAX_TIME_S:.2f} s")


def _rows(motion: Motion, columns: Columns, base: Page, losses: list[str]) -> list[Row]:
    """Return 26 positions a keyframe; what has no angle stays as it was in the keyframe before."""
    rows: list[Row] = []
    clipped: dict[str, float] = {}
    for index, pose in enumerate(motion.resolved_poses()[1:]):
        under = base.steps[min(index, len(base.steps) - 1)].ticks if base.steps else _EMPTY_ROW
        row = list(under)
        ticks = columns.ticks(pose.on(columns.joints).angles)
        for column, (number, position) in enumerate(zip(columns.ids, ticks, strict=True)):
            joint = columns.joints[column]
            if math.isfinite(position):
                row[number] = min(max(round(position), 0), columns.last_tick(column))
                if abs(row[number] - position) > 0.5 + 1e-6:
                    clipped[joint] = max(clipped.get(joint, 0.0), abs(row[number] - position))
            elif joint in motion.joints and rows:
                row[number] = rows[-1][number]
        rows.append(tuple(row))
    for joint, excess in clipped.items():
        losses.append(f"{joint} goes {excess:.0f} ticks past the end of its servo: cut off there")
    return rows


def _ways(before: Row, row: Row, reach: float, pause: float, known: set[float]) -> Iterator[Step]:
    """Yield the step to `row`, in parts where it takes longer than a step can, and its pause."""
    parts = 1 if reach in known else max(1, math.ceil(reach / MAX_TIME_S - 1e-9))
    units = [round(reach / GRID_S * part / parts) for part in range(parts + 1)]
    for part in range(1, parts):
        between = tuple(round(a + (b - a) * part / parts) for a, b in zip(before, row, strict=True))
        yield Step(between, 0.0, _seconds(units[part] - units[part - 1]))
    last = reach if parts == 1 else _seconds(units[-1] - units[-2])
    if pause in known or pause <= MAX_TIME_S:
        yield Step(row, pause, last)
        return
    yield Step(row, 0.0, last)
    rests = math.ceil(pause / MAX_TIME_S - 1e-9)
    units = [round(pause / GRID_S * rest / rests) for rest in range(rests + 1)]
    yield from (Step(row, 0.0, _seconds(units[i + 1] - units[i])) for i in range(rests))


def _seconds(units: int) -> float:
    return round(units * GRID_S, 3)


def _on_grid(seconds: float, known: set[float]) -> float:
    """Return the nearest time a controller counts; a time that stood in the file stays as it was."""
    return seconds if seconds in known else _seconds(round(seconds / GRID_S))


def _rounding(motion: Motion, known: set[float]) -> Iterator[str]:
    """Yield by how much ways and pauses are rounded; each by itself, as a controller counts them."""
    times = {t for frame in motion.keyframes for t in (frame.reach_s, frame.pause_s)}
    shifts = [_on_grid(t, known) - t for t in times]
    return (f"{remark} each" for remark in rounding_remarks(GRID_S * MS_PER_S, shifts))


_MAX_UNROLLED_STEPS = 70  # ten pages; a repeated motion longer than a page is written out up to this


def document_with(motion: Motion) -> WrittenDocument[RoboplusDocument]:
    """Return the RoboPlus document of a motion, and what of the motion is lost in it.

    A motion read from a RoboPlus file gives that file with its page changed, or, where it was asked for
    alone, a file of that page and those it leads to. Any other gives a new file with it as page 1.
    """
    card = robot_of_motion(motion)
    origin = origin_of(motion, ROBOPLUS_TEXT)
    if origin is None or not isinstance(origin.document, RoboplusDocument):
        return put_motion(new_document(_enabled(motion, card)), 1, motion, card)
    written = put_motion(origin.document, origin.page, motion, card)
    if not origin.is_single_page:
        return written
    return written._replace(document=extracted(written.document, origin.page))


def _enabled(motion: Motion, card: Robot) -> tuple[bool, ...]:
    """Return which of the IDs 0..25 a motion ever gives an angle."""
    moved, joints = moved_joints(motion), card.numbering(NUMBERING)
    return tuple(joints.get(number) in moved for number in range(IDS))


def put_motion(
    document: RoboplusDocument, number: int, motion: Motion, card: Robot
) -> WrittenDocument[RoboplusDocument]:
    """Return the document with a motion as page `number`, and what of the motion is lost.

    What means the same as before keeps its bytes. More than seven steps go on in free pages.
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
    return WrittenDocument(document, tuple(losses), said.remarks, times)


def _note_unwritable(motion: Motion, columns: Columns, losses: list[str]) -> None:
    for joint in sorted(moved_joints(motion) - set(columns.joints)):
        losses.append(f"{joint} has no column that the file enables")
    for joint in sorted({joint for frame in motion.keyframes for joint in frame.pose.free}):
        losses.append(f"{joint} is free at times: a page cannot switch torque off, so it stays where it was")
    if motion.start is not None:
        losses.append("its start pose")
    losses.extend(describe_lost_lights(motion))


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


ROBOT = "robotis_bioloid"  # whose motion a file is: no RoboPlus file says so
QUANTUM = Quantum(angle_rad=math.radians(300.0 / 1024.0), time_s=0.008)
"""A tick of an AX servo; times are written in frames of 1/128 s, rounded to whole milliseconds."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    card = robot(ROBOT) if card is None else card
    document = read_roboplus(data, path)
    document = replace(document, remarks=document.remarks + remarks_on(document, card))
    numbers = tuple(document.played)
    return MotionFile(
        ROBOPLUS_TEXT,
        path,
        tuple(page_motion(document, number, card, path) for number in numbers),
        tuple(PageLabel(number, document.page_name(number)) for number in numbers),
        len(document.pages),
        document.remarks,
        document,
    )


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    document, losses, remarks, times_s = document_with(motion)
    return Rendering(document.render(), losses, remarks, times_s)


def render_file(file: MotionFile, *, repair: bool = False) -> Rendering:
    """Return the file with the motions that were edited; with `repair` its mark and checksum put right."""
    document = file.document
    if not isinstance(document, RoboplusDocument):
        return _render(file.motion(), file.path, WriteOptions())
    losses: list[str] = []
    remarks: list[str] = []
    document, motions = _placed(document, file)
    for label, motion in zip(file.pages, motions, strict=True):
        document, lost, said, _ = put_motion(document, label.number, motion, robot_of_motion(motion))
        losses += [f"page {label.number}: {loss}" for loss in lost]
        remarks += [f"page {label.number}: {remark}" for remark in said]
    return Rendering((document.repaired() if repair else document).render(), tuple(losses), tuple(remarks))


def _placed(document: RoboplusDocument, file: MotionFile) -> tuple[RoboplusDocument, list[Motion]]:
    """Return the document with every page where the file has it now, and the motions for those pages.

    A page that was moved or copied brings its own lines, with what they say of other IDs; one that is gone
    leaves an empty page.
    """
    motions = list(file.motions)
    for gone in document.played.keys() - {label.number for label in file.pages}:
        document = document.with_page(gone, EMPTY_PAGE)
    for place, (label, motion) in enumerate(zip(file.pages, motions, strict=True)):
        origin = origin_of(motion, ROBOPLUS_TEXT)
        if origin is None or not isinstance(origin.document, RoboplusDocument):
            if document.page(label.number).is_empty:  # others can lead there from now on
                document = document.with_page(label.number, _NEW_PAGE)
        elif origin.page != label.number:
            document = document.with_page(label.number, origin.document.page(origin.page))
            if motion.name == origin.document.page_name(origin.page):
                motions[place] = replace(motion, name=document.page_name(label.number))
    return document, motions


def _begins(content: FileContent) -> bool:
    """Tell a file by its first line; its checksum makes it no text file."""
    return content.data[:64].removeprefix(BOM).lstrip().startswith(b"type=motion")


_KIND = FileKind(ROBOPLUS_TEXT, "a ROBOTIS RoboPlus Motion 1 text file", _begins)
FORMAT = MotionFormat(
    _KIND,
    (".mtn",),
    _read,
    _render,
    QUANTUM,
    supports_robot=lambda card: NUMBERING in card.numberings,
    render_file=render_file,
    names_robot=False,
    allows_page_changes=True,
)
