"""From motions to a C header of AIBO poses: the one they were read from with other numbers, or a new one."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.errors import FormatError, InputError, Where
from posewright.formats.default_angles import describe_unset_joints, fill_unset_angles, standing_angles
from posewright.formats.ekmoves.document import (
    DECIMALS,
    EKMOVES,
    MOTION,
    ORDER,
    QUANTUM_DEG,
    QUANTUM_S,
    Edit,
    PoseArray,
    PoseHeader,
    Series,
    Timing,
    has_number,
    notes_text,
    numbered,
    timing_text,
)
from posewright.formats.ekmoves.reader import (
    MAX_DEG,
    c_name,
    read_header,
    series_motion,
    series_of,
    timing_of,
)
from posewright.formats.file_kind import Evidence, FileKind, read_file_bytes, text_matches
from posewright.formats.motion_file import MotionFile, PageLabel, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions
from posewright.formats.path_losses import describe_path_losses, describe_unsupported_joints
from posewright.formats.text_lines import format_angle
from posewright.formats.timeline import MS_PER_S, key_times, rounding_remarks
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot, robot

MOST_POSES = 9999
_LIMB = 4  # numbers of the head; a leg has three
_REST = re.compile(rb"[ \t]*+(?://[^\n]*+|/\*[^\n*]*+\*/)?[ \t\r]*(?:\n|\Z)")


@dataclass(frozen=True, eq=False)
class _Poses:
    name: str  # what the arrays are called, without the order numbers
    degrees: Floats  # (n, 16) in `ORDER` [deg]
    timings: tuple[Timing, ...]
    notes: dict[str, str]

    def __len__(self) -> int:
        return len(self.timings)

    @property
    def array_names(self) -> list[str]:
        """Names for the arrays; one alone needs no number unless its name looks as if it had one."""
        if len(self) == 1 and not has_number(self.name):
            return [self.name]
        return [numbered(self.name, number) for number in range(1, len(self) + 1)]

    def array(self, place: int, name: str, eol: bytes) -> bytes:
        """Return the lines of a new array."""
        cells = [format_angle(angle) for angle in self.degrees[place].tolist()]
        limbs = [cells[:_LIMB], *(cells[i : i + 3] for i in range(_LIMB, len(cells), 3))]
        rows = [f"    {', '.join(limb)}," for limb in limbs]
        lines = [f"const double {name}[{len(ORDER)}] = {{", *rows, "};"]
        return eol.join(line.encode() for line in lines) + timing_text(self.timings[place]) + eol


def header_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a header that will lie at `path`.

    A motion that came from a header gives that header with its poses changed; asked for alone, or come from
    elsewhere, it gives a new one.
    """
    del options
    origin = origin_of(motion, EKMOVES)
    if origin is not None and isinstance(origin.document, PoseHeader) and not origin.is_single_page:
        return replace(_edited(origin.document, {origin.page: motion}), times_s=_times(motion))
    standing_there = _standing_at(path, motion)
    if standing_there is not None:
        header, page = standing_there
        return replace(_edited(header, {page: motion}), times_s=_times(motion))
    poses, losses, remarks = _poses(motion, c_name(motion.name))
    guard = re.sub(r"[^A-Z0-9_]", "_", f"POSES_{path.stem}_H".upper())
    arrays = (poses.array(place, name, b"\n") for place, name in enumerate(poses.array_names))
    body = [notes_text(poses.notes, b"\n") if poses.notes else b"", *arrays]
    head = f"/* Poses of an AIBO ERS-7 in degrees:\n   {_COLUMNS} */\n#ifndef {guard}\n#define {guard}\n\n"
    data = b"".join([head.encode(), *body, b"\n#endif\n"])
    return Rendering(data, losses, remarks, _times(motion))


def _standing_at(path: Path, motion: Motion) -> tuple[PoseHeader, int] | None:
    """Return the header that stands at `path` and which of its series this motion is.

    Raises:
        FormatError: it holds other poses only, which would be lost.
    """
    try:
        header = read_header(read_file_bytes(path), path)
    except InputError:
        return None
    names = [
        series_motion(header, one, page, robot_of_motion(motion)).name
        for page, one in enumerate(series_of(header), 1)
    ]
    if motion.name not in names:
        what = f"a header of other poses stands here: {', '.join(names[:6])}"
        hint = f"they would be lost; name another file, or put {motion.name} into that one by hand"
        raise FormatError(what, where=Where(path=path), hint=hint)
    return header, names.index(motion.name) + 1


def _times(motion: Motion) -> tuple[float, ...]:
    """Return when each keyframe is reached in the file [s]."""
    return tuple(round(arrives, DECIMALS) for arrives, _ in key_times(motion))


_COLUMNS = "tilt2, pan, tilt1, mouth; J1, J2, J3 of left front, left rear, right front, right rear"


def render_file(file: MotionFile) -> Rendering:
    """Return a header with the motions that were edited."""
    if not isinstance(file.document, PoseHeader):
        return header_with(file.motion(), file.path, WriteOptions())
    pages = (label.number for label in file.pages)
    return _edited(file.document, dict(zip(pages, file.motions, strict=True)))


def _edited(header: PoseHeader, motions: dict[int, Motion]) -> Rendering:
    """Return a header with other motions in some of its pages, counted from 1."""
    edits: list[Edit] = []
    losses: list[str] = []
    remarks: list[str] = []
    all_series = series_of(header)
    names = {array.name for array in header.arrays}
    for page, motion in motions.items():
        series = all_series[page - 1]
        as_read = series_motion(header, series, page, robot_of_motion(motion))
        if as_read == motion:
            continue
        keeps_name = motion.name == as_read.name
        poses, lost, said = _poses(motion, series.name if keeps_name else c_name(motion.name))
        own = _names(poses, series) if keeps_name else poses.array_names
        _check_names(own, names - {array.name for array in series.arrays})
        edits += _edits(header, series, poses, own, as_read)
        losses += lost
        remarks += said
    return Rendering(header.with_edits(edits), tuple(losses), tuple(remarks))


def _names(poses: _Poses, series: Series) -> list[str]:
    """Return the names of the arrays of a motion that keeps its own: new ones are numbered after the last."""
    if not series.is_numbered:
        return poses.array_names
    names = [array.name for array in series.arrays][: len(poses)]
    last = int(series.arrays[-1].name.rpartition("_")[2])
    return names + [numbered(series.name, last + more) for more in range(1, len(poses) - len(names) + 1)]


def _check_names(names: Sequence[str], taken: set[str]) -> None:
    found = next((name for name in names if name in taken), None)
    if found is not None:
        raise FormatError(f"the header has another array {found}", hint="give the motion another name")


def _poses(motion: Motion, name: str) -> tuple[_Poses, tuple[str, ...], tuple[str, ...]]:
    """Return what is to be written, what is lost of the motion, and what had to be filled in."""
    card = robot_of_motion(motion)
    missing = [joint for joint in ORDER if joint not in card.joint_names]
    if missing:
        what = f"{card.name} has no {', '.join(missing)}"
        raise FormatError(what, hint="a header of poses is for the joints of an ERS-7")
    count = len(motion.keyframes)
    if count > MOST_POSES:
        raise FormatError(f"motion {motion.name!r} has {count} keyframes", hint=f"at most {MOST_POSES}")
    degrees, remarks = _degrees(motion, card)
    extras = {key: text for key, text in motion.extras.items() if key != MOTION}
    notes = {MOTION: motion.name, **extras} if extras or motion.name != name else {}
    poses = _Poses(name, degrees, tuple(_timings(motion)), notes)
    lost = describe_path_losses(motion, extras=extras)
    return poses, (*lost, *describe_unsupported_joints(motion, ORDER, card)), (*remarks, *_rounded(motion))


def _degrees(motion: Motion, card: Robot) -> tuple[Floats, tuple[str, ...]]:
    """Return (n, 16) angles [deg], and a remark on joints that the motion never sets.

    A joint that stays is where it was; before it is given an angle, it is where it will be.
    """
    rows = np.array([keyframe.pose.on(ORDER).angles for keyframe in motion.keyframes])
    unset = [joint for joint, column in zip(ORDER, rows.T, strict=True) if np.isnan(column).all()]
    stand = standing_angles(card)
    rows = fill_unset_angles(rows)
    rows = np.where(np.isnan(rows), [stand[joint] for joint in ORDER], rows)
    degrees = np.degrees(rows)
    if not np.all(np.abs(degrees) <= MAX_DEG):
        raise FormatError(f"motion {motion.name!r} turns a joint by more than {MAX_DEG:g} deg")
    return degrees, describe_unset_joints(unset, card)


def _timings(motion: Motion) -> Iterator[Timing]:
    """Yield the times of the keyframes, rounded on the clock of the motion, so that it does not go wrong."""
    before = 0.0
    leans = any(any(keyframe.attitude or ()) for keyframe in motion.keyframes)
    for keyframe, (arrives, ends) in zip(motion.keyframes, key_times(motion), strict=True):
        arrival, end = round(arrives, DECIMALS), round(ends, DECIMALS)
        yield Timing(arrival - before, end - arrival, keyframe.attitude if leans else None)
        before = end


def _rounded(motion: Motion) -> Iterator[str]:
    shifts = [round(time, DECIMALS) - time for times in key_times(motion) for time in times]
    return rounding_remarks(QUANTUM_S * MS_PER_S, shifts)


def _edits(
    header: PoseHeader, series: Series, poses: _Poses, names: Sequence[str], as_read: Motion
) -> Iterator[Edit]:
    """Yield what is to be changed in the file so that a series says other poses."""
    eol = b"\r\n" if b"\r\n" in header.raw else b"\n"
    first, last = series.arrays[0], series.arrays[-1]
    before = {MOTION: as_read.name, **as_read.extras} if first.notes else {}
    if poses.notes != before and (poses.notes or first.notes):
        yield Edit(*first.notes_span, notes_text(poses.notes, eol) if poses.notes else b"")
    added: list[bytes] = []
    for place, array in zip_longest(range(len(poses)), series.arrays):
        if array is None:
            added.append(poses.array(place, names[place], eol))
        elif place is None:
            yield Edit(array.statement.at, _line_end(header.raw, array), b"")
        else:
            yield from _array_edits(array, names[place], place, poses)
    if added:
        end = _line_end(header.raw, last)
        gap = b"" if header.raw[:end].endswith(b"\n") else eol
        yield Edit(end, end, gap + b"".join(added))


def _array_edits(array: PoseArray, name: str, place: int, poses: _Poses) -> Iterator[Edit]:
    if array.name != name:
        yield Edit(*array.identifier, name.encode())
    for cell, before, after in zip(array.cells, array.degrees, poses.degrees[place].tolist(), strict=True):
        if abs(after - before) > QUANTUM_DEG / 2.0:
            yield Edit(*cell, format_angle(after).encode())
    if not _same(timing_of(array, place), poses.timings[place]):
        yield Edit(*array.comment, timing_text(poses.timings[place]))


def _same(before: Timing, after: Timing) -> bool:
    times = zip((before.reach_s, before.pause_s), (after.reach_s, after.pause_s), strict=True)
    if before.attitude is None and after.attitude is not None:
        return False  # level among others that lean is not the same as unsaid
    attitudes = (before.attitude, after.attitude)
    leans = np.degrees([attitude or (0.0, 0.0, 0.0) for attitude in attitudes])
    return all(abs(a - b) <= QUANTUM_S / 2.0 for a, b in times) and bool(
        np.all(np.abs(leans[0] - leans[1]) <= QUANTUM_DEG / 2.0)
    )


def _line_end(raw: bytes, array: PoseArray) -> int:
    """Return the byte after an array's line; just after the array where more than a comment follows."""
    rest = _REST.match(raw, array.comment.end)
    return array.comment.end if rest is None else rest.end()


ROBOT = "sony_ers7"  # whose poses they are: no header says so


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    card = robot(ROBOT) if card is None or not suits(card) else card
    header = read_header(data, path)
    series = series_of(header, path)
    motions = tuple(series_motion(header, each, page, card, path) for page, each in enumerate(series, 1))
    return MotionFile(
        EKMOVES,
        path,
        motions,
        tuple(PageLabel(page, motion.name) for page, motion in enumerate(motions, 1)),
        len(motions),
        (*header.remarks, *(remark for each in series for remark in each.remarks)),
        header,
    )


def suits(card: Robot) -> bool:
    """Tell whether a robot has all the joints of a header of poses."""
    return set(ORDER) <= set(card.joint_names)


_ARRAY = rb"^[ \t]*(?:static[ \t]+|const[ \t]+){0,2}(?:double|float)[ \t]+\w+[ \t]*\["

QUANTUM = Quantum(angle_rad=math.radians(QUANTUM_DEG), time_s=QUANTUM_S)
_KIND = FileKind(EKMOVES, "a C header of AIBO poses (EKMoves.h)", text_matches(_ARRAY), Evidence.LOOSE)
FORMAT = MotionFormat(
    _KIND,
    (".h",),
    _read,
    header_with,
    QUANTUM,
    supports_robot=suits,
    render_file=render_file,
    names_robot=False,
)
