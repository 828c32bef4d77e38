"""From a motion to an OMTN: the document it came from with its numbers changed, or a new one.

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
from posewright.formats import timeline
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
    MAX_BETWEEN,
    OMTN,
    URAD,
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
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot


@dataclass(frozen=True)
class OmtnLayout:
    """What the file of a motion is like.

    Attributes:
        frame_ms: milliseconds a frame as the header says.
        base: the document the motion came from, where it can be written as that with its numbers changed.
        unnamed: what the motion is called if that document has no name.
    """

    design: str
    joints: tuple[str, ...]
    locators: tuple[str, ...]
    creator: str
    minor: int
    frame_ms: int
    base: OmtnDocument | None = None
    unnamed: str = ""


def layout_of(motion: Motion, card: Robot) -> OmtnLayout:
    """Return how a motion of `card` is written.

    It is written as the document it came from, if that has a column for every joint it moves. Otherwise
    it gets the design it says it had, if that is one of the robot's; or that of a part of the body, if it
    moves exactly the joints of that; or that of the whole body.
    """
    moved = moved_joints(motion)
    (base, unnamed), asked = _base(motion), motion.extras.get(DESIGN)
    if base is not None and asked in (None, base.design):
        naming = card.naming(NAMING)
        joints = tuple(naming[locator] for locator in base.locators)
        if moved <= set(joints):
            layout = _layout(motion, base.design, joints, base.locators, base)
            return replace(layout, unnamed=unnamed)
    designs, names = _designs(card), card.names_in(NAMING)
    if not moved & set(names):
        hint = f"joints are {', '.join(names)}"
        raise FormatError(f"motion {motion.name!r} sets no joint that an OMTN can move", hint=hint)
    design = _chosen(designs, moved & set(names), asked)
    joints = designs[design]
    return _layout(motion, design, joints, tuple(names[joint] for joint in joints), None)


def unnamed_in(path: Path | None) -> str:
    """Return what a motion without a name is called: as its file."""
    return (path.stem if path is not None else "") or "unnamed"


def _base(motion: Motion) -> tuple[OmtnDocument | None, str]:
    """Return the document a motion came from, a file or an entry, and what it is called without a name."""
    origin = origin_of(motion)
    if origin is None or (origin.robot is not None and origin.robot.name != motion.robot):
        return None, ""
    if isinstance(origin.document, OmtnDocument):
        return origin.document, unnamed_in(origin.path)
    if isinstance(origin.document, OdaArchive):
        entry = origin.document.entries[origin.page - 1]
        return read_omtn_at(entry.data, ByteRange(origin.path)), entry.name
    return None, ""


def _designs(card: Robot) -> dict[str, tuple[str, ...]]:
    if NAMING not in card.namings or not card.designs:
        hint = "it can be carried over to an AIBO: posewright motion convert --robot sony_ers7"
        what = f"{card.name} is no robot that an OMTN can move"
        raise FormatError(what, where=Where(Path(card.name)), hint=hint)
    return dict(card.designs)


def _chosen(designs: dict[str, tuple[str, ...]], moved: set[str], asked: str | None) -> str:
    if asked in designs and moved <= set(designs[asked]):
        return asked
    for label, joints in designs.items():
        if set(joints) == moved:
            return label
    return max(designs, key=lambda label: len(designs[label]))


def _layout(
    motion: Motion, design: str, joints: tuple[str, ...], locators: tuple[str, ...], base: OmtnDocument | None
) -> OmtnLayout:
    extras, dialect = motion.extras, dialect_of(design)
    minor, frame_ms = dialect.minor(design), dialect.frame_ms
    creator = OURS
    if base is not None:
        minor, frame_ms, creator = base.minor, base.frame_ms, base.creator
    if base is not None or extras.get(DESIGN) == design:
        minor = _number(extras.get(MINOR), minor)
        frame_ms = _number(extras.get(FRAME_MS), frame_ms)
    return OmtnLayout(design, joints, locators, extras.get(CREATOR, creator), minor, frame_ms, base)


def _number(text: str | None, default: int) -> int:
    """Return a number of the header that a person may have edited; what it cannot hold does not count."""
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= 5):
        return default
    return int(text) if int(text) <= 0xFFFF else default


MONET_NAME, SDK_NAME = 31, 127
"""Letters that a MONET command, and the SDK's player, have room for (formats.md 1.1 and 1.3)."""


def remarks_on_name(name: str) -> Iterator[str]:
    """Yield what is to be said of a long name."""
    if len(name) > SDK_NAME:
        yield f"the name has {len(name)} letters: more than {SDK_NAME} crash the player of Sony's SDK"
    elif len(name) > MONET_NAME:
        yield f"the name has {len(name)} letters: a MONETCMD.CFG can call a motion by {MONET_NAME} at most"


def in_latin_1(name: str) -> str:
    """Return a name with `_` for the letters that an OMTN cannot hold."""
    return "".join(letter if ord(letter) < 256 else "_" for letter in name)


def columns_of(
    motion: Motion, card: Robot, joints: tuple[str, ...], rows: Floats
) -> tuple[Integers, tuple[str, ...]]:
    """Return the columns of `joints`, and a remark on those that the motion never sets.

    `rows` (n, n_joints) are the angles of the motion's own joints [rad], NaN where never given.
    """
    given = {
        joint: column for joint, column in zip(motion.joints, rows.T, strict=True) if not np.isnan(column[0])
    }
    unset = tuple(joint for joint in joints if joint not in given)
    stand = standing_angles(card)
    angles = np.column_stack([given.get(joint, np.full(len(rows), stand[joint])) for joint in joints])
    _check(motion, joints, angles)
    return micro_radians(angles), describe_unset_joints(unset, card)


def micro_radians(angles: Floats) -> Integers:
    """Return angles [rad] as the nearest whole micro-radians."""
    return np.rint(angles * URAD).astype(np.int32)


def _check(motion: Motion, joints: tuple[str, ...], angles: Floats) -> None:
    within = np.abs(angles) * URAD <= MAX_ANGLE_URAD
    if within.all():
        return
    row, column = divmod(int(within.argmin()), len(joints))
    what = f"{joints[column]} of motion {motion.name!r} goes to {math.degrees(angles[row, column]):g} deg"
    raise FormatError(what, hint="an OMTN holds up to 360 either way")


@dataclass(frozen=True, eq=False)
class FrameTimeline:
    """The keyframes an OMTN gets.

    Attributes:
        frames: (n,) rising, the first 0.
        angles: (n, n_joints) in the order of the motion's joints [rad]; NaN where never given.
        attitudes: (n, 3) roll, pitch forward, yaw [rad].
        times_s: when each keyframe of the motion is reached here [s]; None for one that is merged away.
    """

    frames: NDArray[np.int64]
    angles: Floats
    attitudes: Floats
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    times_s: tuple[float | None, ...]


def timeline_of(motion: Motion, step_ms: int) -> FrameTimeline:
    """Return one pass of a motion on frames of `step_ms`.

    A pause is the same pose once more. Of keyframes that fall on the same frame the last stays: to leave a
    frame early, as a jump may where steps are shorter, would hurry the way before it.
    """
    line = timeline.timeline_of(motion, step_ms, pose_at_zero=True, early_jumps=False)
    losses, remarks = _begin(motion)
    times = np.array([moment.exact_s for moment in line.poses])
    attitudes = motion.attitude_at(times)
    return FrameTimeline(
        np.array([moment.time_ms // step_ms for moment in line.poses], dtype=np.int64),
        fill_unset_angles(np.stack([moment.angles for moment in line.poses])),
        np.zeros((len(times), 3)) if attitudes is None else attitudes,
        (*losses, *line.losses),
        (*remarks, *line.remarks),
        line.times_s,
    )


def _begin(motion: Motion) -> tuple[list[str], list[str]]:
    """Return what is lost of how it begins, and what is said in another way."""
    way_in = motion.keyframes[0].reach_s > 0.0
    if motion.start is not None:
        said = "its start pose is written as its first keyframe"
        lost = "its start pose, as it takes no time to leave it"
        return ([], [said]) if way_in else ([lost], [])
    if way_in and not motion.loops:
        wait_s = motion.keyframe_times[0]
        return [], [f"it stands in its first keyframe for the {wait_s:g} s in which it would go there"]
    if way_in:
        return [], ["it begins in its last keyframe, as one pass of many does"]
    return [], []


def rendering_of(motion: Motion) -> Rendering:
    """Return a motion as the file that `omtn_of` makes of it."""
    document, losses, remarks, times_s = omtn_of(motion)
    return Rendering(document.render(), losses, remarks, times_s)


def omtn_of(motion: Motion) -> WrittenDocument[OmtnDocument]:
    """Return a motion as an OMTN.

    One that was read from an OMTN and not edited gives the same bytes. A joint that the motion never sets
    stands as in the robot's pose `stand`.

    Raises:
        FormatError: it is for a robot that has none, or something of it does not fit.
    """
    card = robot_of_motion(motion)
    layout = layout_of(motion, card)
    timeline = timeline_of(motion, layout.frame_ms or DEFAULT_FRAME_MS)
    lost = (*describe_path_losses(motion, extras=EXTRAS, start=True), *timeline.losses)
    lost += describe_unsupported_joints(motion, layout.joints, card)
    timeline, held = _playable(timeline, layout)
    angles, unset = columns_of(motion, card, layout.joints, timeline.angles)
    name = _name(motion, layout)
    if name != in_latin_1(name):
        lost += (f"letters of the name {name!r}: the file has those of western Europe only (Latin-1)",)
        name = in_latin_1(name)
    document = replace(
        _blank(layout) if layout.base is None else layout.base,
        name=name,
        creator=in_latin_1(layout.creator),
        angles=angles,
        attitudes=micro_radians(timeline.attitudes * ATTITUDE_SIGNS),
        between=_between(motion, timeline),
        minor=layout.minor,
        frame_ms=layout.frame_ms,
    )
    remarks = (*timeline.remarks, *held, *unset, *remarks_on_name(name))
    return WrittenDocument(document, lost, remarks, timeline.times_s)


def _blank(layout: OmtnLayout) -> OmtnDocument:
    """Return a document of that design that says nothing yet."""
    dialect, joints = dialect_of(layout.design), len(layout.locators)
    return OmtnDocument(
        "",
        "",
        layout.design,
        layout.locators,
        angles=np.zeros((1, joints), np.int32),
        attitudes=np.zeros((1, 3), np.int32),
        between=np.zeros(0, np.int32),
        is_short=dialect.is_short,
        is_padded=dialect.is_padded,
    )


def _playable(timeline: FrameTimeline, layout: OmtnLayout) -> tuple[FrameTimeline, tuple[str, ...]]:
    """Return a timeline of two keyframes for one of a single one, of which Sony's player plays nothing."""
    if len(timeline.frames) > 1 or (layout.base is not None and len(layout.base.angles) == 1):
        return timeline, ()
    twice = replace(
        timeline,
        frames=np.array([0, 1]),
        angles=np.repeat(timeline.angles, 2, axis=0),
        attitudes=np.repeat(timeline.attitudes, 2, axis=0),
    )
    return twice, ("its one keyframe is written twice, as Sony's player plays nothing of a single one",)


def _between(motion: Motion, timeline: FrameTimeline) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    between = np.diff(timeline.frames) - 1
    if (between > MAX_BETWEEN).any():
        what = f"a way of motion {motion.name!r} takes {int(between.max()) + 1:,} frames"
        raise FormatError(what, hint=f"an OMTN has at most {MAX_BETWEEN:,}; put a keyframe between")
    return between.astype(np.int32)


def _name(motion: Motion, layout: OmtnLayout) -> str:
    """Return what the file calls the motion: nothing where it did not and nobody has renamed it."""
    if layout.base is not None and motion.name == layout.unnamed and not layout.base.name:
        return ""
    return motion.name


QUANTUM = Quantum(angle_rad=1e-6, time_s=0.016)  # a micro-radian, and two frames of the robot


def _read(data: bytes, path: Path, asked: Robot | None) -> MotionFile:
    document = read_omtn(data, path)
    card = card_for(document, asked)
    remarks = document.remarks
    if not is_listed(card):
        remarks += (f"nobody has a card of {card.name}: its joints are called as in the file",)
    origin = Origin(OMTN, document, remarks=remarks, path=path, robot=card)
    motion = omtn_motion(document, card, unnamed_in(path), origin)
    return MotionFile.of_single_motion(OMTN, path, motion, remarks, document)


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
)
