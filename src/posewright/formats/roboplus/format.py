"""The format of RoboPlus text files: writing motions into pages of an old or a new document.

Positions are whole ticks, times multiples of the controller's step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError
from posewright.formats.default_angles import moved_joints
from posewright.formats.file_kind import BOM, FileContent, FileKind
from posewright.formats.motion_file import MotionFile, PageLabel, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions, WrittenDocument
from posewright.formats.path_losses import describe_lost_tracks
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
from posewright.formats.roboplus.pages import PageLinks, extract_page, free_pages, page_of
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
"""The position of each ID 0..25 [ticks]."""

_MAX_ROUNDING_TICKS = 0.5 + 1e-6
_ROUNDING_ERROR = 1e-9  # of a quotient of two times

_EMPTY_ROW: Row = (DUMMY_TICKS,) * IDS
_NEW_PAGE = Page(b"", steps=(Step(_EMPTY_ROW, pause_s=0.0, play_s=0.0),))


class WrittenSteps(NamedTuple):
    """The steps of a motion.

    Attributes:
        steps: the steps; a long movement or pause takes several.
        remarks: descriptions of what was rounded.
        times_s: when each keyframe is reached, at rate 1 [s].
    """

    steps: tuple[Step, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float, ...]


def steps_of(motion: Motion, columns: Columns, old_page: Page, losses: list[str]) -> WrittenSteps:
    """Return the steps of a motion; add losses to `losses`.

    Rounding to the nearest tick moves a joint by half a tick at most, which no servo resolves, so it is no
    loss. A movement or pause too long for one step becomes several steps.

    Args:
        motion: the motion.
        columns: the joints of the page.
        old_page: the page it is written over, empty for a new one; positions of IDs without a column and
            unchanged times are kept.
        losses: the list to which descriptions of losses are added.

    Raises:
        FormatError: the motion has more steps than a file holds.
    """
    old_times = {seconds for step in old_page.steps for seconds in (step.pause_s, step.play_s)}
    _require_fits_file(motion, old_times)
    rows = _build_rows(motion, columns, old_page, losses)
    steps: list[Step] = []
    times: list[float] = []
    previous_row = rows[0]
    for keyframe, row in zip(motion.keyframes, rows, strict=True):
        reach_s = _round_time(keyframe.reach_s, old_times)
        pause_s = _round_time(keyframe.pause_s, old_times)
        steps.extend(_split_steps(previous_row, row, reach_s, pause_s, old_times))
        times.append(math.fsum(step.play_s + step.pause_s for step in steps) - pause_s)
        previous_row = row
    return WrittenSteps(tuple(steps), tuple(_rounding_remarks(motion, old_times)), tuple(times))


def _require_fits_file(motion: Motion, old_times: set[float]) -> None:
    """Raise a FormatError if a motion needs more steps than a file holds; times read from it fit."""
    times = [t for frame in motion.keyframes for t in (frame.reach_s, frame.pause_s) if t not in old_times]
    if len(motion.keyframes) + sum(times) / MAX_TIME_S > MAX_STEPS_IN_FILE:
        n_keyframes = len(motion.keyframes)
        message = f"motion {motion.name!r} has {n_keyframes} keyframes and takes {motion.duration:g} s"
        hint = f"a RoboPlus file holds {MAX_STEPS_IN_FILE} steps of {MAX_TIME_S:.2f} s"
        raise FormatError(message, hint=hint)


def _build_rows(motion: Motion, columns: Columns, old_page: Page, losses: list[str]) -> list[Row]:
    """Return the 26 positions of each keyframe, by ID; add a loss for each joint that is clipped.

    A joint without an angle keeps its last position; before its first angle, and for IDs without a column, it
    is that of the step of the same number in the page it is written over, `old_page`.
    """
    rows: list[Row] = []
    max_excess: dict[str, float] = {}  # by clipped joint [ticks]
    _, *keyframe_poses = motion.resolved_poses()  # the first one is the start pose
    for index, pose in enumerate(keyframe_poses):
        old_row = old_page.steps[min(index, len(old_page.steps) - 1)].ticks if old_page.steps else _EMPTY_ROW
        row = list(old_row)
        exact_ticks = columns.ticks(pose.with_joints(columns.joints).angles)
        for column, (servo_id, position) in enumerate(zip(columns.ids, exact_ticks, strict=True)):
            joint = columns.joints[column]
            if math.isfinite(position):
                row[servo_id] = min(max(round(position), 0), columns.last_tick(column))
                excess = abs(row[servo_id] - position)
                if excess > _MAX_ROUNDING_TICKS:
                    max_excess[joint] = max(max_excess.get(joint, 0.0), excess)
            elif joint in motion.joints and rows:
                row[servo_id] = rows[-1][servo_id]
        rows.append(tuple(row))
    for joint, excess in max_excess.items():
        losses.append(f"{joint} goes {excess:.0f} ticks past the end of its servo: clipped")
    return rows


def _split_steps(
    previous_row: Row, row: Row, reach_s: float, pause_s: float, old_times: set[float]
) -> Iterator[Step]:
    """Yield the steps from one row to the next and its pause, several if they are too long for one step.

    Args:
        previous_row: the positions at the start.
        row: the positions to reach.
        reach_s: the time of the movement [s].
        pause_s: the time to stay there [s].
        old_times: times of the page that is written over; such a time is never split.
    """
    n_movements = 1 if reach_s in old_times else max(1, math.ceil(reach_s / MAX_TIME_S - _ROUNDING_ERROR))
    if n_movements == 1:
        last_movement_s = reach_s
    else:
        *movement_times_s, last_movement_s = _split_time(reach_s, n_movements)
        for i, movement_s in enumerate(movement_times_s, 1):
            start_and_end = zip(previous_row, row, strict=True)
            middle_row = tuple(round(start + (end - start) * i / n_movements) for start, end in start_and_end)
            yield Step(middle_row, pause_s=0.0, play_s=movement_s)
    if pause_s in old_times or pause_s <= MAX_TIME_S:
        yield Step(row, pause_s, last_movement_s)
        return
    yield Step(row, pause_s=0.0, play_s=last_movement_s)
    n_pauses = math.ceil(pause_s / MAX_TIME_S - _ROUNDING_ERROR)
    for standing_s in _split_time(pause_s, n_pauses):  # movements to where the joints are
        yield Step(row, pause_s=0.0, play_s=standing_s)


def _split_time(duration_s: float, n_parts: int) -> Iterator[float]:
    """Yield the duration of each of `n_parts` parts [s]; their ends are rounded to the controller's steps."""
    ends = [round(duration_s / GRID_S * part / n_parts) for part in range(n_parts + 1)]
    for start, end in pairwise(ends):
        yield _grid_time(end - start)


def _grid_time(n_steps: int) -> float:
    """Return the time of some steps of the controller [s], without rounding errors of floats."""
    return round(n_steps * GRID_S, 3)


def _round_time(seconds: float, old_times: set[float]) -> float:
    """Return the nearest multiple of the controller's step; times of the old page stay unchanged."""
    return seconds if seconds in old_times else _grid_time(round(seconds / GRID_S))


def _rounding_remarks(motion: Motion, old_times: set[float]) -> Iterator[str]:
    """Yield a remark on rounded movements and pauses, each of which is rounded on its own."""
    times = {t for frame in motion.keyframes for t in (frame.reach_s, frame.pause_s)}
    shifts = [_round_time(t, old_times) - t for t in times]
    return (f"{remark} each" for remark in rounding_remarks(GRID_S * MS_PER_S, shifts))


_MAX_UNROLLED_STEPS = 70
"""Most steps, ten pages, up to which the repeats of a motion longer than a page are written out."""


def document_with(motion: Motion) -> WrittenDocument[RoboplusDocument]:
    """Return the RoboPlus document of a motion.

    A motion read from a RoboPlus file gives that file with its page changed, or a file of that page and those
    it leads to if its origin is a single page. Any other motion becomes page 1 of a new file.
    """
    card = robot_of_motion(motion)
    origin = origin_of(motion, ROBOPLUS_TEXT)
    if origin is None or not isinstance(origin.document, RoboplusDocument):
        return put_motion(new_document(_enabled(motion, card)), number=1, motion=motion, card=card)
    written_document = put_motion(origin.document, origin.page, motion, card)
    if not origin.is_single_page:
        return written_document
    return written_document._replace(document=extract_page(written_document.document, origin.page))


def _enabled(motion: Motion, card: Robot) -> tuple[bool, ...]:
    """Return, for each ID 0..25, whether a motion ever gives its joint an angle."""
    moved = moved_joints(motion)
    joint_by_id = card.numbering(NUMBERING)
    return tuple(joint_by_id.get(number) in moved for number in range(IDS))


def put_motion(
    document: RoboplusDocument, number: int, motion: Motion, card: Robot
) -> WrittenDocument[RoboplusDocument]:
    """Return the document with a motion as page `number`, which is filled or replaced.

    Unchanged lines keep their bytes. A motion of more than seven steps continues in free pages, except for an
    unchanged page that has more.
    """
    losses: list[str] = []
    old_page = document.page(number)
    old_motion = None if old_page.is_empty else page_motion(document, number, card)
    columns = columns_of(document, card)
    losses += _describe_unwritable(motion, columns)
    page = page_of(motion, columns, old_page, old_motion, losses)
    links = PageLinks(document, number, motion, old_motion, losses)
    page = replace(page, play=links.apply_to(page.play))
    written_steps = steps_of(motion, columns, old_page, losses)
    page = replace(page, steps=written_steps.steps)
    if written_steps.steps == old_page.steps or len(written_steps.steps) <= MAX_STEPS:
        document = document.with_page(number, page)
    else:
        document = _put_long_page(document, number, page, losses)
    times = tuple(time / page.play.rate for time in written_steps.times_s)
    return WrittenDocument(document, tuple(losses), written_steps.remarks, times_s=times)


def _describe_unwritable(motion: Motion, columns: Columns) -> Iterator[str]:
    """Yield descriptions of what a page cannot hold of a motion."""
    for joint in sorted(moved_joints(motion) - set(columns.joints)):
        yield f"{joint} has no column that the file enables"
    for joint in sorted({joint for frame in motion.keyframes for joint in frame.pose.free}):
        yield f"{joint} is free at times: a page cannot switch torque off, so it stays where it was"
    if motion.start is not None:
        yield "its start pose"
    yield from describe_lost_tracks(motion)


def _put_long_page(
    document: RoboplusDocument, number: int, page: Page, losses: list[str]
) -> RoboplusDocument:
    """Return the document with a page of too many steps split over free pages, linked by `next`.

    A short page that repeats is written out as often as it repeats; otherwise, repeating is a loss.

    Args:
        document: the document.
        number: the number of the first page.
        page: its content, with all steps.
        losses: the list to which the loss is added.
    """
    steps = page.steps
    repeat = page.play.repeat
    loops = page.play.next == number
    if repeat > 1 and not loops and len(steps) * repeat <= _MAX_UNROLLED_STEPS:
        steps = steps * repeat
    elif repeat > 1 and not loops:
        losses.append(f"repeat {repeat}: a page of {len(steps)} steps is split, and pages repeat one by one")
    chunks = [steps[i : i + MAX_STEPS] for i in range(0, len(steps), MAX_STEPS)]
    numbers = [number, *free_pages(document, number, len(chunks) - 1)]
    next_numbers = [*numbers[1:], page.play.next]
    for part_number, chunk, next_number in zip(numbers, chunks, next_numbers, strict=True):
        part = replace(page, steps=chunk, play=replace(page.play, next=next_number, repeat=1))
        if part_number != number:
            part = replace(part, name=b"", lines=())
        document = document.with_page(part_number, part)
    return document


ROBOT = "robotis_bioloid"
"""The robot of a file by default: no RoboPlus file names its robot."""

QUANTUM = Quantum(angle_rad=math.radians(300.0 / 1024.0), time_s=0.008)
"""A tick of an AX servo; times are written in frames of 1/128 s, rounded to whole milliseconds."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    """Read a RoboPlus file as a motion file with one motion for each page that has steps."""
    card = robot(ROBOT) if card is None else card
    document = read_roboplus(data, path)
    document = replace(document, remarks=document.remarks + remarks_on(document, card))
    numbers = tuple(document.filled_pages)
    return MotionFile(
        ROBOPLUS_TEXT,
        path,
        motions=tuple(page_motion(document, number, robot=card, path=path) for number in numbers),
        pages=tuple(PageLabel(number, document.page_name(number)) for number in numbers),
        n_pages=len(document.pages),
        warnings=document.remarks,
        document=document,
    )


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    document, losses, remarks, times_s = document_with(motion)
    return Rendering(document.render(), losses, remarks, times_s)


def render_file(file: MotionFile, *, repair: bool = False) -> Rendering:
    """Return the file with its edited motions; `repair` corrects byte order mark and checksum."""
    document = file.document
    if not isinstance(document, RoboplusDocument):
        return _render(file.motion(), file.path, WriteOptions())
    losses: list[str] = []
    remarks: list[str] = []
    document, motions = _move_pages_to_their_numbers(document, file)
    for label, motion in zip(file.pages, motions, strict=True):
        written_document = put_motion(document, label.number, motion, card=robot_of_motion(motion))
        document = written_document.document
        losses += [f"page {label.number}: {loss}" for loss in written_document.losses]
        remarks += [f"page {label.number}: {remark}" for remark in written_document.remarks]
    return Rendering((document.repaired() if repair else document).render(), tuple(losses), tuple(remarks))


def _move_pages_to_their_numbers(
    document: RoboplusDocument, file: MotionFile
) -> tuple[RoboplusDocument, list[Motion]]:
    """Return the document with every page at its number in the file, and the motions for these pages.

    A moved or copied page keeps its lines, among them positions of IDs that are no joints of the robot; a
    removed one leaves an empty page; a new one is filled with a single step for now.
    """
    motions: list[Motion] = []
    for removed_number in document.filled_pages.keys() - {label.number for label in file.pages}:
        document = document.with_page(removed_number, EMPTY_PAGE)
    for label, motion in zip(file.pages, file.motions, strict=True):
        placed_motion = motion
        origin = origin_of(motion, ROBOPLUS_TEXT)
        if origin is None or not isinstance(origin.document, RoboplusDocument):  # a new page
            if document.page(label.number).is_empty:  # so that other pages can lead to it
                document = document.with_page(label.number, _NEW_PAGE)
        elif origin.page != label.number:  # a moved or copied page
            old_document = origin.document
            document = document.with_page(label.number, old_document.page(origin.page))
            if motion.name == old_document.page_name(origin.page):
                # a page without a name is called by its number, which is another one now
                placed_motion = replace(motion, name=document.page_name(label.number))
        motions.append(placed_motion)
    return document, motions


def _begins(content: FileContent) -> bool:
    """Return whether a file starts with the first line of RoboPlus; its checksum is no valid text."""
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
    is_played_by_robots=True,
)
