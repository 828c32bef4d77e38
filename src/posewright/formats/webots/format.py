"""The format of Webots motions: tables as motions, and motions as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, Where
from posewright.formats.default_angles import moved_joints
from posewright.formats.file_kind import FileKind, text_matches
from posewright.formats.motion_file import MotionFile, Origin, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions, exact_key_times
from posewright.formats.path_losses import (
    describe_path_losses,
    describe_unsupported_joints,
    describe_unwritten_labels,
)
from posewright.formats.text_lines import QUANTUM_RAD, format_angle
from posewright.formats.timeline import Timeline, timeline_of
from posewright.formats.webots.document import (
    MAX_TIME_MS,
    MAX_VALUE,
    NAMING,
    NO_VALUE,
    WEBOTS,
    PoseTable,
    describe_similar_robot,
    joints_of,
    new_head,
    new_row,
    read_table,
    robot_for,
)
from posewright.motions import Keyframe, Motion, Pose, robot_of_motion
from posewright.robots import Robot


def build_motion(table: PoseTable, card: Robot, path: Path) -> Motion:
    """Return a table as a motion of `card` with a keyframe per row; the table is its origin.

    Raises:
        FormatError: no device is a joint of the robot, or two are the same one.
    """
    columns = columns_of(table, card, path)
    joints = tuple(columns)
    return Motion(
        path.stem,
        card.name,
        joints,
        keyframes=tuple(_keyframes(table, joints, list(columns.values()))),
        source="Webots motion",
        origin=Origin(WEBOTS, table, remarks=table.remarks, path=path, robot=card),
    )


def columns_of(table: PoseTable, card: Robot, path: Path | None = None) -> dict[str, int]:
    """Return the column of each joint."""
    joint_by_device = joints_of(card)
    columns: dict[str, int] = {}
    for index, device in enumerate(table.devices):
        joint = joint_by_device.get(device)
        if joint in columns:
            pair = f"{table.devices[columns[joint]]!r} and {device!r}"
            raise FormatError(f"{pair} are both {joint} of {card.name}", where=Where(path, 1))
        if joint is not None:
            columns[joint] = index
    if not columns:
        hint = f"its devices are {', '.join(list(card.naming('webots'))[:6])}, ..."
        raise FormatError(f"it moves no device of {card.name}", where=Where(path, 1), hint=hint)
    return columns


def unknown_devices(table: PoseTable, card: Robot) -> list[str]:
    """Return the devices that are no joint of a robot."""
    joint_by_device = joints_of(card)
    return [device for device in table.devices if device not in joint_by_device]


def _keyframes(table: PoseTable, joints: tuple[str, ...], indices: list[int]) -> Iterator[Keyframe]:
    """Yield the rows of a table as keyframes; `indices` are the columns of the joints."""
    previous_ms = 0
    for row in table.rows:
        values = [row.values[index] for index in indices]
        angles = np.array(values, dtype=np.float64)  # None becomes NaN: the joint is held
        yield Keyframe(Pose(joints, angles), reach_s=(row.time_ms - previous_ms) / 1000.0)
        previous_ms = row.time_ms


Value = float | None


@dataclass(frozen=True)
class _Columns:
    """The devices (Webots motors) to write, and the joint of each; None for a column that stays as it is."""

    devices: tuple[str, ...]
    joints: tuple[str | None, ...]


def table_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a Webots motion to be written to `path`.

    Unchanged rows of the file that it came from keep their bytes.

    Raises:
        FormatError: it takes over 100 minutes, or gives no joint an angle.
    """
    del options
    source_table = _table_of(motion)
    if source_table is not None and _is_unchanged(source_table, motion):
        return Rendering(
            source_table.render(),
            losses=describe_path_losses(motion),
            remarks=describe_unwritten_labels(motion, path),
            times_s=exact_key_times(motion),
        )
    timeline = timeline_of(motion)
    old_table = _old_table(motion, timeline)  # whose rows can be edited; None if the file has to be new
    columns = _new_columns(motion) if old_table is None else _old_columns(motion, old_table)
    _require_writable(motion, timeline, columns)
    values = _build_values(motion, timeline, columns, old_table)
    losses = (
        *describe_path_losses(motion),
        *timeline.losses,
        *describe_unsupported_joints(motion, tuple(filter(None, columns.joints)), robot_of_motion(motion)),
    )
    if old_table is None:
        losses += _describe_lost_devices(motion)
        data = _render_new(columns, timeline, values)
    else:
        data = _render_edited(old_table, columns, timeline, values)
    return Rendering(
        data,
        losses,
        remarks=(*timeline.remarks, *describe_unwritten_labels(motion, path)),
        times_s=timeline.times_s,
    )


def _is_unchanged(table: PoseTable, motion: Motion) -> bool:
    """Return whether a motion has not changed since it was read from a table."""
    original_motion = build_motion(table, robot_of_motion(motion), Path(motion.name))
    has_same_keyframes = (
        original_motion.joints == motion.joints and original_motion.keyframes == motion.keyframes
    )
    return has_same_keyframes and original_motion.speed == motion.speed


def _old_table(motion: Motion, timeline: Timeline) -> PoseTable | None:
    """Return the table the motion came from, if it has the same joints and as many rows, else None."""
    table = _table_of(motion)
    if table is None or len(table.rows) != len(timeline.poses):
        return None
    return table if tuple(columns_of(table, robot_of_motion(motion))) == motion.joints else None


def _table_of(motion: Motion) -> PoseTable | None:
    """Return the table the motion came from, if it was read from one for its robot, else None."""
    origin = origin_of(motion, WEBOTS)
    if origin is None or origin.robot is None or origin.robot.name != motion.robot:
        return None
    return origin.document if isinstance(origin.document, PoseTable) else None


def _old_columns(motion: Motion, table: PoseTable) -> _Columns:
    """Return the columns of a table, and the joint of each; None for a device that is no joint."""
    joints = {index: joint for joint, index in columns_of(table, robot_of_motion(motion)).items()}
    return _Columns(table.devices, tuple(joints.get(index) for index in range(len(table.devices))))


def _new_columns(motion: Motion) -> _Columns:
    """Return a column for every joint that is ever given an angle and that Webots has a name for."""
    names = {**robot_of_motion(motion).names_in(NAMING), **_device_names_in_source(motion)}
    moved = moved_joints(motion)
    joints = tuple(joint for joint in motion.joints if joint in moved and joint in names)
    return _Columns(tuple(names[joint] for joint in joints), joints)


def _device_names_in_source(motion: Motion) -> Mapping[str, str]:
    """Return, by joint, the name of its device in the file that the motion came from; empty without one."""
    table = _table_of(motion)
    if table is None:
        return {}
    return {
        joint: table.devices[index] for joint, index in columns_of(table, robot_of_motion(motion)).items()
    }


def _require_writable(motion: Motion, timeline: Timeline, columns: _Columns) -> None:
    """Raise a FormatError if a motion cannot be written as a table."""
    if not columns.devices:
        raise FormatError(f"motion {motion.name!r} gives no joint an angle")
    for name in columns.devices:
        has_separator = any(separator in name for separator in ",\r\n")
        if has_separator or not name.strip():
            hint = "use a name without commas and line ends"
            raise FormatError(f"{name!r} cannot be the name of a device", hint=hint)
    if timeline.end_ms > MAX_TIME_MS:
        raise FormatError(f"motion {motion.name!r} lasts {timeline.end_ms} ms", hint="at most 99:59:999")


def _build_values(
    motion: Motion, timeline: Timeline, columns: _Columns, old_table: PoseTable | None
) -> list[list[Value]]:
    """Return the value in each row and column, None for a cell without one.

    A joint that stays where it was has its angle written again if it moves later, because that movement
    starts in this row. It has no value if it never moves again, or if the old file has none.

    Args:
        motion: the motion.
        timeline: its timeline, with a pose for each row.
        columns: the columns to write; one without a joint has no values.
        old_table: the table that is edited, with a row for each pose; None for a new one.

    Raises:
        FormatError: an angle is too large.
    """
    angles = np.array([pose.angles for pose in timeline.poses])
    is_set = np.array([pose.is_set for pose in timeline.poses])
    is_set_later = np.cumsum(is_set[::-1], axis=0)[::-1] > 0
    written_angles = np.where(is_set | is_set_later, angles, np.nan)
    if not np.all((np.abs(written_angles) <= MAX_VALUE) | np.isnan(written_angles)):
        hint = f"angles are within {MAX_VALUE:g} rad"
        raise FormatError(f"motion {motion.name!r} has too large an angle", hint=hint)
    joint_indices = [motion.joints.index(joint) if joint else None for joint in columns.joints]
    values: list[list[Value]] = [
        [None if index is None or math.isnan(row[index]) else row[index] for index in joint_indices]
        for row in written_angles.tolist()
    ]
    if old_table is None:
        return values
    for row, pose, old_row in zip(values, timeline.poses, old_table.rows, strict=True):
        for column, (index, old_value) in enumerate(zip(joint_indices, old_row.values, strict=True)):
            if index is not None and old_value is None and not pose.is_set[index]:
                row[column] = None
    return values


def _render_new(columns: _Columns, timeline: Timeline, values: list[list[Value]]) -> bytes:
    rows = [
        new_row(pose.time_ms, b"Pose%d" % count, [_format_cell(value) for value in row])
        for count, (pose, row) in enumerate(zip(timeline.poses, values, strict=True), 1)
    ]
    return b"".join([new_head(columns.devices), *rows])


def _render_edited(
    table: PoseTable, columns: _Columns, timeline: Timeline, values: list[list[Value]]
) -> bytes:
    """Return the bytes of a table with new values; unchanged rows and cells stay as they are."""
    lines = [table.head]
    for old_row, pose, row in zip(table.rows, timeline.poses, values, strict=True):
        cells: list[bytes] = []
        for joint, value, old_value, old_cell in zip(
            columns.joints, row, old_row.values, old_row.cells, strict=True
        ):
            is_unchanged = joint is None or _is_same(value, old_value)
            cells.append(old_cell if is_unchanged else _format_cell(value))
        if tuple(cells) == old_row.cells and pose.time_ms == old_row.time_ms:
            lines.append(old_row.raw)
        else:
            line_end = old_row.raw[len(old_row.raw.rstrip(b"\r\n")) :]
            lines.append(new_row(pose.time_ms, old_row.name, cells, line_end))
    return b"".join([*lines, table.tail])


def _is_same(value: Value, old_value: Value) -> bool:
    if value is None or old_value is None:
        return value is old_value
    return abs(value - old_value) <= QUANTUM_RAD / 2.0


def _format_cell(value: Value) -> bytes:
    return NO_VALUE if value is None else format_angle(value).encode()


def _describe_lost_devices(motion: Motion) -> tuple[str, ...]:
    """Return a description of the devices of the old file that are not written anew."""
    table = _table_of(motion)
    devices = [] if table is None else unknown_devices(table, robot_of_motion(motion))
    return (f"{', '.join(devices)}: {motion.robot} has no such devices",) if devices else ()


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    """Read a table as a motion file."""
    table = read_table(data, path)
    remarks = list(table.remarks)
    if card is None:
        card = robot_for(table.devices)
        remarks += filter(None, [describe_similar_robot(table.devices)])
    motion = build_motion(table, card, path)
    devices = unknown_devices(table, card)
    if devices:
        remarks.append(f"{card.name} has no devices {', '.join(devices)}: left out")
    return MotionFile.of_single_motion(WEBOTS, path, motion, warnings=remarks, document=table)


_KIND = FileKind(WEBOTS, "a Webots motion", text_matches(rb"\A#WEBOTS_MOTION\b"))
FORMAT = MotionFormat(
    _KIND, (".motion",), _read, render=table_with, quantum=Quantum(angle_rad=QUANTUM_RAD, time_s=0.001)
)
