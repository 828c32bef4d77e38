"""Writes motions as a C header of AIBO poses: as a new one, or as the one they were read from with edits."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import FormatError, InputError, Where
from posewright.formats.default_angles import describe_unset_joints, fill_unset_angles, standing_angles
from posewright.formats.ekmoves.document import (
    DECIMALS,
    EKMOVES,
    JOINT_ORDER,
    MOTION,
    QUANTUM_DEG,
    QUANTUM_S,
    Edit,
    PoseArray,
    PoseHeader,
    Series,
    Timing,
    has_pose_number,
    numbered_name,
    render_notes,
    render_timing,
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

ROBOT = "sony_ers7"
"""The robot of a header; no header names it."""

MAX_POSES = 9999
_N_HEAD_JOINTS = 4
_N_LEG_JOINTS = 3
_END_OF_LINE = re.compile(rb"[ \t]*+(?://[^\n]*+|/\*[^\n*]*+\*/)?[ \t\r]*(?:\n|\Z)")
_COLUMNS = "tilt2, pan, tilt1, mouth; J1, J2, J3 of left front, left rear, right front, right rear"


@dataclass(frozen=True, eq=False)
class _PoseTable:
    """The poses of a motion as they are written.

    Attributes:
        name: the name of the arrays without the pose numbers.
        degrees: angles `(n_poses, 16)` in `JOINT_ORDER` [deg].
        timings: the timing of each pose.
        notes: the notes before the first array; empty if none are needed.
    """

    name: str
    degrees: Floats
    timings: tuple[Timing, ...]
    notes: dict[str, str]

    def __len__(self) -> int:
        return len(self.timings)

    @property
    def array_names(self) -> list[str]:
        """Names for the arrays; a single one has no number, unless its name would look numbered."""
        if len(self) == 1 and not has_pose_number(self.name):
            return [self.name]
        return [numbered_name(self.name, number) for number in range(1, len(self) + 1)]

    def render_array(self, index: int, name: str, line_end: bytes) -> bytes:
        """Return the lines that declare the array of a pose."""
        numbers = [format_angle(angle) for angle in self.degrees[index].tolist()]
        rows = [numbers[:_N_HEAD_JOINTS]]
        for leg_start in range(_N_HEAD_JOINTS, len(numbers), _N_LEG_JOINTS):
            rows.append(numbers[leg_start : leg_start + _N_LEG_JOINTS])
        lines = [f"const double {name}[{len(JOINT_ORDER)}] = {{"]
        lines += [f"    {', '.join(row)}," for row in rows]
        lines.append("};")
        declaration = line_end.join(line.encode() for line in lines)
        return declaration + render_timing(self.timings[index]) + line_end


def render_motion(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a C header of poses that will be written to `path`.

    If the motion was read from a header, or there is a header at `path` with a motion of its name, the result
    is that header with this motion edited. Otherwise it is a new header with this motion only.

    Args:
        motion: the motion.
        path: where the header will be written.
        options: have no effect; the format has no times for single joints.

    Raises:
        FormatError: a header of other poses is at `path`, or the motion cannot be written.
    """
    del options
    place = _place_in_origin(motion) or _find_place_in_file(path, motion)
    rendering = (
        _render_new_header(motion, path)
        if place is None
        else _edit_header(place.header, {place.page: motion})
    )
    arrivals_s = tuple(round(arrival_s, DECIMALS) for arrival_s, _ in key_times(motion))
    return replace(rendering, times_s=arrivals_s)


class _PlaceInHeader(NamedTuple):
    """A header and the page of a motion in it: its number among the header's motions, from 1."""

    header: PoseHeader
    page: int


def _place_in_origin(motion: Motion) -> _PlaceInHeader | None:
    """Return the header and page that a motion was read from; None if it was not read from a header."""
    origin = origin_of(motion, EKMOVES)
    if origin is None or not isinstance(origin.document, PoseHeader) or origin.is_single_page:
        return None
    return _PlaceInHeader(origin.document, origin.page)


def _find_place_in_file(path: Path, motion: Motion) -> _PlaceInHeader | None:
    """Return the header at `path` and the page of the motion of the same name; None if there is no header.

    Raises:
        FormatError: the header has only other motions, which would be overwritten.
    """
    try:
        header = read_header(read_file_bytes(path), path)
    except InputError:
        return None
    card = robot_of_motion(motion)
    names = [
        series_motion(header, series, page, card).name for page, series in enumerate(series_of(header), 1)
    ]
    if motion.name not in names:
        message = f"the file is a header of other poses: {', '.join(names[:6])}"
        hint = f"name another file, so as not to overwrite them, or copy {motion.name} into this one by hand"
        raise FormatError(message, where=Where(path=path), hint=hint)
    return _PlaceInHeader(header, page=names.index(motion.name) + 1)


def _render_new_header(motion: Motion, path: Path) -> Rendering:
    """Return a header with a single motion, whose include guard is named after the file."""
    poses, losses, remarks = _build_poses(motion, c_name(motion.name))
    guard = re.sub(r"[^A-Z0-9_]", "_", f"POSES_{path.stem}_H".upper())
    head = f"/* Poses of an AIBO ERS-7 in degrees:\n   {_COLUMNS} */\n#ifndef {guard}\n#define {guard}\n\n"
    parts = [head.encode()]
    if poses.notes:
        parts.append(render_notes(poses.notes, b"\n"))
    for index, array_name in enumerate(poses.array_names):
        parts.append(poses.render_array(index, array_name, b"\n"))
    parts.append(b"\n#endif\n")
    return Rendering(b"".join(parts), losses, remarks)


def render_file(file: MotionFile) -> Rendering:
    """Return a header with its edited motions."""
    if not isinstance(file.document, PoseHeader):
        return render_motion(file.motion(), file.path, WriteOptions())
    pages = (label.number for label in file.pages)
    return _edit_header(file.document, dict(zip(pages, file.motions, strict=True)))


def _edit_header(header: PoseHeader, motions_by_page: dict[int, Motion]) -> Rendering:
    """Return a header with new motions on some of its pages, which are numbered from 1.

    Only bytes that differ are edited; a motion that equals the one in the header changes nothing.

    Raises:
        FormatError: a motion cannot be written, or its new name is that of another array.
    """
    edits: list[Edit] = []
    losses: list[str] = []
    remarks: list[str] = []
    all_series = series_of(header)
    all_names = {array.name for array in header.arrays}
    for page, motion in motions_by_page.items():
        series = all_series[page - 1]
        original_motion = series_motion(header, series, page, card=robot_of_motion(motion))
        if original_motion == motion:
            continue
        keeps_name = motion.name == original_motion.name
        series_name = series.name if keeps_name else c_name(motion.name)
        poses, new_losses, new_remarks = _build_poses(motion, series_name)
        array_names = _extend_names(poses, series) if keeps_name else poses.array_names
        names_of_other_series = all_names - {array.name for array in series.arrays}
        _require_unused_names(array_names, names_of_other_series)
        edits += _edit_series(header, series, poses, array_names, original_motion)
        losses += new_losses
        remarks += new_remarks
    return Rendering(header.with_edits(edits), tuple(losses), tuple(remarks))


def _extend_names(poses: _PoseTable, series: Series) -> list[str]:
    """Return the names of a series for its new poses; additional arrays are numbered after the last one."""
    if not series.is_numbered:
        return poses.array_names
    names = [array.name for array in series.arrays][: len(poses)]
    _, _, last_number_text = series.arrays[-1].name.rpartition("_")
    last_number = int(last_number_text)
    n_added = len(poses) - len(names)
    names += [numbered_name(series.name, last_number + i) for i in range(1, n_added + 1)]
    return names


def _require_unused_names(names: Sequence[str], used_names: Collection[str]) -> None:
    for name in names:
        if name in used_names:
            raise FormatError(f"the header has another array {name}", hint="give the motion another name")


def _build_poses(motion: Motion, name: str) -> tuple[_PoseTable, tuple[str, ...], tuple[str, ...]]:
    """Return the poses of a motion, the losses, and remarks on what was filled in or rounded.

    Args:
        motion: the motion.
        name: the name of its arrays without the pose numbers.

    Raises:
        FormatError: the robot lacks joints, there are too many keyframes, or an angle is beyond a full turn.
    """
    card = robot_of_motion(motion)
    missing = [joint for joint in JOINT_ORDER if joint not in card.joint_names]
    if missing:
        message = f"{card.name} has no {', '.join(missing)}"
        raise FormatError(message, hint="a header of poses needs the joints of an ERS-7")
    n_poses = len(motion.keyframes)
    if n_poses > MAX_POSES:
        message = f"motion {motion.name!r} has {n_poses} keyframes"
        raise FormatError(message, hint=f"at most {MAX_POSES} can be written")
    degrees, unset_remarks = _pose_angles(motion, card)
    extras = {key: text for key, text in motion.extras.items() if key != MOTION}
    notes = {MOTION: motion.name, **extras} if extras or motion.name != name else {}
    poses = _PoseTable(name, degrees, timings=tuple(_round_timings(motion)), notes=notes)
    path_losses = describe_path_losses(motion, extras=extras)
    shifts_s = [round(time, DECIMALS) - time for times in key_times(motion) for time in times]
    return (
        poses,
        (*path_losses, *describe_unsupported_joints(motion, JOINT_ORDER, card)),
        (*unset_remarks, *rounding_remarks(QUANTUM_S * MS_PER_S, shifts_s)),
    )


def _pose_angles(motion: Motion, card: Robot) -> tuple[Floats, tuple[str, ...]]:
    """Return the angles of all poses `(n_poses, 16)` [deg], and a remark on joints that are never set.

    Where a keyframe does not set a joint, the joint keeps its last angle, and before its first angle it
    already has that. A joint that is never set stands as in the robot's stand.

    Raises:
        FormatError: an angle is beyond a full turn.
    """
    rows = np.array([keyframe.pose.with_joints(JOINT_ORDER).angles for keyframe in motion.keyframes])
    unset = [joint for joint, column in zip(JOINT_ORDER, rows.T, strict=True) if np.isnan(column).all()]
    angle_of_standing_joint = standing_angles(card)
    stand_row = [angle_of_standing_joint[joint] for joint in JOINT_ORDER]
    rows = fill_unset_angles(rows)
    rows = np.where(np.isnan(rows), stand_row, rows)
    degrees = np.degrees(rows)
    if not np.all(np.abs(degrees) <= MAX_DEG):
        raise FormatError(f"motion {motion.name!r} turns a joint by more than {MAX_DEG:g} deg")
    return degrees, describe_unset_joints(unset, card)


def _round_timings(motion: Motion) -> Iterator[Timing]:
    """Yield the timings of the keyframes, with attitudes if any keyframe leans.

    The time since the start of the motion is rounded, not each duration, so rounding errors do not add up.
    """
    has_attitude = any(any(keyframe.attitude or ()) for keyframe in motion.keyframes)
    previous_end_s = 0.0
    for keyframe, (reached_s, pause_end_s) in zip(motion.keyframes, key_times(motion), strict=True):
        arrival_s = round(reached_s, DECIMALS)
        end_s = round(pause_end_s, DECIMALS)
        attitude = keyframe.attitude if has_attitude else None
        yield Timing(arrival_s - previous_end_s, end_s - arrival_s, attitude)
        previous_end_s = end_s


def _edit_series(
    header: PoseHeader, series: Series, poses: _PoseTable, array_names: Sequence[str], original_motion: Motion
) -> Iterator[Edit]:
    """Yield the edits that give a series new poses; a series is the arrays of one motion.

    Args:
        header: the header.
        series: the series in it.
        poses: the new poses.
        array_names: the names of their arrays.
        original_motion: the series as a motion.
    """
    line_end = b"\r\n" if b"\r\n" in header.raw else b"\n"
    first_array = series.arrays[0]
    old_notes = {MOTION: original_motion.name, **original_motion.extras} if first_array.notes else {}
    if poses.notes != old_notes and (poses.notes or first_array.notes):
        new_comments = render_notes(poses.notes, line_end) if poses.notes else b""
        yield Edit(*first_array.notes_span, new_comments)
    for index, array in enumerate(series.arrays):
        if index < len(poses):
            yield from _edit_array(array, array_names[index], index, poses)
        else:
            yield Edit(array.statement.start, _end_of_line(header.raw, array), text=b"")
    if len(poses) > len(series.arrays):
        added = b"".join(
            poses.render_array(index, array_names[index], line_end)
            for index in range(len(series.arrays), len(poses))
        )
        end = _end_of_line(header.raw, series.arrays[-1])
        separator = b"" if header.raw[:end].endswith(b"\n") else line_end
        yield Edit(end, end, separator + added)


def _edit_array(array: PoseArray, name: str, index: int, poses: _PoseTable) -> Iterator[Edit]:
    """Yield the edits that give an array a new name, and the angles and timing of a pose.

    Args:
        array: the array as it is in the header.
        name: its new name.
        index: index of the pose, in `poses` and among the arrays of its series.
        poses: the new poses.
    """
    if array.name != name:
        yield Edit(*array.identifier, name.encode())
    new_degrees = poses.degrees[index].tolist()
    for cell, old_angle, new_angle in zip(array.cells, array.degrees, new_degrees, strict=True):
        if abs(new_angle - old_angle) > QUANTUM_DEG / 2.0:
            yield Edit(*cell, format_angle(new_angle).encode())
    if not _is_same_timing(timing_of(array, index), poses.timings[index]):
        yield Edit(*array.comment, render_timing(poses.timings[index]))


def _is_same_timing(old: Timing, new: Timing) -> bool:
    """Return whether two timings are equal within half a quantum of times and angles."""
    if old.attitude is None and new.attitude is not None:
        return False  # a stated level attitude differs from an unstated one
    reach_change_s = abs(old.reach_s - new.reach_s)
    pause_change_s = abs(old.pause_s - new.pause_s)
    if max(reach_change_s, pause_change_s) > QUANTUM_S / 2.0:
        return False
    level_attitude = (0.0, 0.0, 0.0)
    attitude_changes_deg = np.degrees(old.attitude or level_attitude) - np.degrees(
        new.attitude or level_attitude
    )
    return bool(np.all(np.abs(attitude_changes_deg) <= QUANTUM_DEG / 2.0))


def _end_of_line(raw: bytes, array: PoseArray) -> int:
    """Return the byte after an array's line; right after the array if more than a comment follows it."""
    match = _END_OF_LINE.match(raw, array.comment.end)
    return array.comment.end if match is None else match.end()


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    """Read a header of poses as a motion file with one motion for each series."""
    if card is None or not supports(card):
        card = robot(ROBOT)
    header = read_header(data, path)
    all_series = series_of(header, path)
    motions = tuple(
        series_motion(header, series, page, card, path) for page, series in enumerate(all_series, 1)
    )
    series_remarks = [remark for series in all_series for remark in series.remarks]
    return MotionFile(
        EKMOVES,
        path,
        motions,
        pages=tuple(PageLabel(page, motion.name) for page, motion in enumerate(motions, 1)),
        n_pages=len(motions),
        warnings=(*header.remarks, *series_remarks),
        document=header,
    )


def supports(card: Robot) -> bool:
    """Return whether a robot has all joints of a header of poses."""
    return set(JOINT_ORDER) <= set(card.joint_names)


_ARRAY = rb"^[ \t]*(?:static[ \t]+|const[ \t]+){0,2}(?:double|float)[ \t]+\w+[ \t]*\["

QUANTUM = Quantum(angle_rad=math.radians(QUANTUM_DEG), time_s=QUANTUM_S)
_KIND = FileKind(
    EKMOVES,
    title="a C header of AIBO poses (EKMoves.h)",
    detects=text_matches(_ARRAY),
    evidence=Evidence.LOOSE,
)
FORMAT = MotionFormat(
    _KIND,
    (".h",),
    _read,
    render=render_motion,
    quantum=QUANTUM,
    supports_robot=supports,
    render_file=render_file,
    names_robot=False,
    is_played_by_robots=True,
)
