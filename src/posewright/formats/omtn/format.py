"""The format of OMTN motions: writing motions into the document they came from or into a new one.

Angles are whole micro-radians, times whole frames of the robot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats
from posewright.errors import FormatError, Where
from posewright.formats.binary import ByteRange
from posewright.formats.default_angles import (
    describe_unset_joints,
    fill_unset_angles,
    moved_joints,
    standing_angles,
)
from posewright.formats.file_kind import FileKind, gzip_starts_with, starts_with
from posewright.formats.motion_file import MotionFile, Origin, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions, WrittenDocument
from posewright.formats.oda.archive import OdaArchive
from posewright.formats.omtn.document import (
    DEFAULT_FRAME_MS,
    MAGIC,
    MAX_ANGLE_URAD,
    MAX_FRAMES_BETWEEN,
    OMTN,
    URAD_PER_RAD,
    Integers,
    OmtnDocument,
)
from posewright.formats.omtn.reader import read_omtn, read_omtn_at
from posewright.formats.omtn.to_motion import (
    ATTITUDE_SIGNS,
    CREATOR,
    DESIGN,
    EXTRAS,
    FRAME_MS,
    MINOR,
    NAMING,
    card_for,
    dialect_of,
    is_listed,
    omtn_motion,
)
from posewright.formats.path_losses import OURS, describe_path_losses, describe_unsupported_joints
from posewright.formats.timeline import timeline_of
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot


@dataclass(frozen=True)
class OmtnLayout:
    """Header and columns of the file of a motion.

    Attributes:
        design: the design label.
        joints: the joint of each column.
        locators: Sony's locator of each column.
        creator: the author.
        minor_version: the minor version.
        frame_ms: the frame period in the header [ms].
        source_document: the document the motion came from, if the file has its columns; else None.
        default_name: the name of the motion if that document has none.
    """

    design: str
    joints: tuple[str, ...]
    locators: tuple[str, ...]
    creator: str
    minor_version: int
    frame_ms: int
    source_document: OmtnDocument | None = None
    default_name: str = ""


def layout_of(motion: Motion, card: Robot) -> OmtnLayout:
    """Return the layout of the file of a motion of `card`: its columns, and its design, which labels them.

    It is that of the document the motion came from, if this has a column for every joint that moves.
    Otherwise it has the design in the motion's extras, if the robot has that; or that of a part of the body,
    if exactly its joints move; or that of the whole body.

    Raises:
        FormatError: the motion moves no joint that an OMTN can move.
    """
    moving_joints = moved_joints(motion)
    source_document, default_name = _find_source_document(motion)
    stated_design = motion.extras.get(DESIGN)
    if source_document is not None and stated_design in (None, source_document.design):
        naming = card.naming(NAMING)
        joints = tuple(naming[locator] for locator in source_document.locators)
        if moving_joints <= set(joints):
            layout = _build_layout(
                motion, source_document.design, joints, source_document.locators, source_document
            )
            return replace(layout, default_name=default_name)
    designs = _designs_of(card)
    locators = card.names_in(NAMING)
    if not moving_joints & set(locators):
        hint = f"joints are {', '.join(locators)}"
        raise FormatError(f"motion {motion.name!r} moves no joint that an OMTN can move", hint=hint)
    design = _choose_design(designs, moving_joints & set(locators), stated_design)
    joints = designs[design]
    return _build_layout(
        motion, design, joints, locators=tuple(locators[joint] for joint in joints), source_document=None
    )


def default_name_of(path: Path | None) -> str:
    """Return the name of a motion that has none: that of its file."""
    return (path.stem if path is not None else "") or "unnamed"


def _find_source_document(motion: Motion) -> tuple[OmtnDocument | None, str]:
    """Return the document a motion came from, None without, and the default name of the motion."""
    origin = origin_of(motion)
    if origin is None or (origin.robot is not None and origin.robot.name != motion.robot):
        return None, ""
    if isinstance(origin.document, OmtnDocument):
        return origin.document, default_name_of(origin.path)
    if isinstance(origin.document, OdaArchive):
        entry = origin.document.entries[origin.page - 1]
        return read_omtn_at(entry.data, ByteRange(origin.path)), entry.name
    return None, ""


def _designs_of(card: Robot) -> dict[str, tuple[str, ...]]:
    """Return the joints of each design of a robot."""
    if NAMING not in card.namings or not card.designs:
        hint = "carry it over to an AIBO: posewright motion convert --robot sony_ers7"
        message = f"an OMTN cannot move {card.name}"
        raise FormatError(message, where=Where(Path(card.name)), hint=hint)
    return dict(card.designs)


def _choose_design(
    designs: dict[str, tuple[str, ...]], moving_joints: set[str], stated_design: str | None
) -> str:
    """Return the stated design if it has all moving joints, else one with only these, else the largest."""
    if stated_design in designs and moving_joints <= set(designs[stated_design]):
        return stated_design
    for label, joints in designs.items():
        if set(joints) == moving_joints:
            return label
    return max(designs, key=lambda label: len(designs[label]))


def _build_layout(
    motion: Motion,
    design: str,
    joints: tuple[str, ...],
    locators: tuple[str, ...],
    source_document: OmtnDocument | None,
) -> OmtnLayout:
    """Return the layout of the file, with the numbers of the source document, or of the design without one.

    The numbers in the motion's extras take precedence, if they are for this design.
    """
    if source_document is not None:
        minor_version = source_document.minor_version
        frame_ms = source_document.frame_ms
        creator = source_document.creator
    else:
        dialect = dialect_of(design)
        minor_version = dialect.minor_version(design)
        frame_ms = dialect.frame_ms
        creator = OURS
    extras = motion.extras
    if source_document is not None or extras.get(DESIGN) == design:
        minor_version = _parse_header_number(extras.get(MINOR), minor_version)
        frame_ms = _parse_header_number(extras.get(FRAME_MS), frame_ms)
    return OmtnLayout(
        design,
        joints,
        locators,
        creator=extras.get(CREATOR, creator),
        minor_version=minor_version,
        frame_ms=frame_ms,
        source_document=source_document,
    )


def _parse_header_number(text: str | None, default: int) -> int:
    """Return a number of the header from the extras, which users may edit; the default if it is invalid."""
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= 5):
        return default
    return int(text) if int(text) <= 0xFFFF else default


MAX_MONET_NAME = 31
MAX_SDK_NAME = 127
"""Longest names in a MONET command and in the SDK's player (formats.md 1.1 and 1.3)."""


def remarks_on_name(name: str) -> Iterator[str]:
    """Yield a remark on a name that is too long for Sony's software."""
    if len(name) > MAX_SDK_NAME:
        yield f"the name has {len(name)} letters: more than {MAX_SDK_NAME} crash the player of Sony's SDK"
    elif len(name) > MAX_MONET_NAME:
        yield f"the name has {len(name)} letters: a MONETCMD.CFG can hold {MAX_MONET_NAME} at most"


def in_latin_1(name: str) -> str:
    """Return a name with `_` for the characters that an OMTN cannot hold."""
    return "".join(character if ord(character) < 256 else "_" for character in name)


def columns_of(
    motion: Motion, card: Robot, joints: tuple[str, ...], rows: Floats
) -> tuple[Integers, tuple[str, ...]]:
    """Return the columns of `joints`, and a remark on those that the motion never sets.

    Args:
        motion: the motion.
        card: its robot.
        joints: the joint of each column.
        rows: angles of the motion's joints, `(n, n_joints)` [rad], NaN for a joint that is never set.

    Returns:
        Angles `(n, len(joints))` [micro-radians], those of the pose `stand` where `rows` has none; and the
        remark, empty if all joints are set.
    """
    set_columns: dict[str, Floats] = {}
    for joint, column in zip(motion.joints, rows.T, strict=True):
        if not np.isnan(column[0]):
            set_columns[joint] = column
    unset = tuple(joint for joint in joints if joint not in set_columns)
    stand = standing_angles(card)
    columns = [set_columns.get(joint, np.full(len(rows), stand[joint])) for joint in joints]
    angles = np.column_stack(columns)
    _require_within_turn(motion, joints, angles)
    return micro_radians(angles), describe_unset_joints(unset, card)


def micro_radians(angles: Floats) -> Integers:
    """Return angles [rad] rounded to micro-radians."""
    return np.rint(angles * URAD_PER_RAD).astype(np.int32)


def _require_within_turn(motion: Motion, joints: tuple[str, ...], angles: Floats) -> None:
    """Raise a FormatError if an angle is larger than a full turn."""
    is_within_turn = np.abs(angles) * URAD_PER_RAD <= MAX_ANGLE_URAD
    if is_within_turn.all():
        return
    row, column = divmod(int(is_within_turn.argmin()), len(joints))  # of the first angle that is not
    angle_deg = math.degrees(angles[row, column])
    message = f"{joints[column]} of motion {motion.name!r} goes to {angle_deg:g} deg"
    raise FormatError(message, hint="an OMTN holds angles within 360 deg")


@dataclass(frozen=True, eq=False)
class FrameTimeline:
    """The keyframes of an OMTN.

    Attributes:
        frames: (n,) the frame of each keyframe, rising from 0.
        angles: (n, n_joints) in the order of the motion's joints [rad]; NaN for a joint that is never set.
        attitudes: (n, 3) roll, pitch forward, yaw [rad].
        losses: descriptions of what is lost.
        remarks: descriptions of what was changed.
        times_s: when each keyframe of the motion is reached here [s]; None for one that was merged.
    """

    frames: NDArray[np.int64]
    angles: Floats
    attitudes: Floats
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float | None, ...]


def frame_timeline_of(motion: Motion, step_ms: int) -> FrameTimeline:
    """Return one pass of a motion as keyframes at whole frames of `step_ms`, the first at frame 0.

    A pause repeats the pose. Of several keyframes in one frame the last stays; a jump does not start a frame
    early, since that would make the movement before it too fast. Angles are those at the rounded times, but
    attitudes (of the base) are those at the exact ones.
    """
    timeline = timeline_of(motion, step_ms, has_pose_at_zero=True, jumps_start_early=False)
    losses, remarks = _describe_start(motion)
    unrounded_times_s = np.array([pose.unrounded_s for pose in timeline.poses])
    attitudes = motion.attitude_at(unrounded_times_s)
    return FrameTimeline(
        np.array([pose.time_ms // step_ms for pose in timeline.poses], dtype=np.int64),
        angles=fill_unset_angles(np.stack([pose.angles for pose in timeline.poses])),
        attitudes=np.zeros((len(unrounded_times_s), 3)) if attitudes is None else attitudes,
        losses=(*losses, *timeline.losses),
        remarks=(*remarks, *timeline.remarks),
        times_s=timeline.times_s,
    )


def _describe_start(motion: Motion) -> tuple[list[str], list[str]]:
    """Return losses and remarks on how the written motion starts.

    An OMTN has no start pose and no movement to its first keyframe.
    """
    takes_time = motion.keyframes[0].reach_s > 0.0
    if motion.start is not None:
        if takes_time:
            return [], ["its start pose is written as its first keyframe"]
        return ["its start pose, as it takes no time to leave it"], []
    if takes_time and not motion.loops:
        wait_s = motion.keyframe_times[0]
        return [], [f"it stays in its first keyframe for the {wait_s:g} s that it takes to reach it"]
    if takes_time:
        return [], ["it starts in its last keyframe, like each repeat"]
    return [], []


def rendering_of(motion: Motion) -> Rendering:
    """Return a motion as the bytes of an OMTN, with losses and remarks.

    Raises:
        FormatError: an OMTN cannot move its robot, or cannot hold the motion.
    """
    document, losses, remarks, times_s = omtn_of(motion)
    return Rendering(document.render(), losses, remarks, times_s)


def omtn_of(motion: Motion) -> WrittenDocument[OmtnDocument]:
    """Return a motion as an OMTN.

    An unedited motion read from an OMTN gives the same bytes. A joint that the motion never sets has its
    angle of the robot's pose `stand`.

    Raises:
        FormatError: an OMTN cannot move its robot, or cannot hold the motion.
    """
    card = robot_of_motion(motion)
    layout = layout_of(motion, card)
    timeline = frame_timeline_of(motion, layout.frame_ms or DEFAULT_FRAME_MS)
    losses = (*describe_path_losses(motion, extras=EXTRAS, holds_start_pose=True), *timeline.losses)
    losses += describe_unsupported_joints(motion, layout.joints, card)
    timeline, repeat_remarks = _repeat_single_keyframe(timeline, layout)
    angles, unset_remarks = columns_of(motion, card, layout.joints, rows=timeline.angles)
    name = _choose_name(motion, layout)
    if name != in_latin_1(name):
        losses += (f"characters of the name {name!r}: the file has those of western Europe only (Latin-1)",)
        name = in_latin_1(name)
    document = replace(
        _blank_document(layout) if layout.source_document is None else layout.source_document,
        name=name,
        creator=in_latin_1(layout.creator),
        angles=angles,
        attitudes=micro_radians(timeline.attitudes * ATTITUDE_SIGNS),
        n_frames_between=_count_frames_between(motion, timeline),
        minor_version=layout.minor_version,
        frame_ms=layout.frame_ms,
    )
    remarks = (*timeline.remarks, *repeat_remarks, *unset_remarks, *remarks_on_name(name))
    return WrittenDocument(document, losses, remarks, timeline.times_s)


def _blank_document(layout: OmtnLayout) -> OmtnDocument:
    """Return a document with the columns of a layout and one keyframe whose angles are all 0."""
    dialect = dialect_of(layout.design)  # how files for this model of AIBO differ
    n_joints = len(layout.locators)
    return OmtnDocument(
        "",
        creator="",
        design=layout.design,
        locators=layout.locators,
        angles=np.zeros((1, n_joints), np.int32),
        attitudes=np.zeros((1, 3), np.int32),
        n_frames_between=np.zeros(0, np.int32),
        has_short_size=dialect.has_short_size,
        is_padded=dialect.is_padded,
    )


def _repeat_single_keyframe(
    timeline: FrameTimeline, layout: OmtnLayout
) -> tuple[FrameTimeline, tuple[str, ...]]:
    """Return the timeline with a single keyframe repeated, which Sony's player skips, and a remark."""
    source_document = layout.source_document
    has_source_single_keyframe = source_document is not None and len(source_document.angles) == 1
    if len(timeline.frames) > 1 or has_source_single_keyframe:
        return timeline, ()
    repeated = replace(
        timeline,
        frames=np.array([0, 1]),
        angles=np.repeat(timeline.angles, 2, axis=0),
        attitudes=np.repeat(timeline.attitudes, 2, axis=0),
    )
    return repeated, ("its one keyframe is written twice, as Sony's player skips a single one",)


def _count_frames_between(
    motion: Motion, timeline: FrameTimeline
) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the number of frames between each keyframe and the next, `(n - 1,)`."""
    n_frames_between = np.diff(timeline.frames) - 1
    if (n_frames_between > MAX_FRAMES_BETWEEN).any():
        message = f"a movement of motion {motion.name!r} takes {int(n_frames_between.max()) + 1:,} frames"
        raise FormatError(message, hint=f"at most {MAX_FRAMES_BETWEEN:,}; add a keyframe between")
    return n_frames_between.astype(np.int32)


def _choose_name(motion: Motion, layout: OmtnLayout) -> str:
    """Return the name in the file; empty if the old file has none and the motion was not renamed."""
    is_source_nameless = layout.source_document is not None and not layout.source_document.name
    if is_source_nameless and motion.name == layout.default_name:
        return ""
    return motion.name


QUANTUM = Quantum(angle_rad=1e-6, time_s=0.016)
"""A micro-radian, and two frames of the robot."""


def _read(data: bytes, path: Path, robot: Robot | None) -> MotionFile:
    """Read an OMTN as a motion file."""
    document = read_omtn(data, path)
    card = card_for(document, robot)
    remarks = document.remarks
    if not is_listed(card):
        remarks += (f"there is no card of {card.name}: its joints have their names in the file",)
    origin = Origin(OMTN, document, remarks=remarks, path=path, robot=card)
    motion = omtn_motion(document, card, default_name=default_name_of(path), origin=origin)
    return MotionFile.of_single_motion(OMTN, path, motion, warnings=remarks, document=document)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    return rendering_of(motion)


_IN_GZIP = (FileKind(f"{OMTN}-gzip", "a Sony AIBO motion (OMTN) inside gzip", gzip_starts_with(MAGIC)),)
_KIND = FileKind(OMTN, "a Sony AIBO motion (OMTN)", starts_with(MAGIC))
FORMAT = MotionFormat(
    _KIND,
    (".mtn",),
    _read,
    _render,
    QUANTUM,
    supports_robot=lambda card: NAMING in card.namings,
    wrapped_kinds=_IN_GZIP,
    is_played_by_robots=True,
)
