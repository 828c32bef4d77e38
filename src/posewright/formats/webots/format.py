"""Webots' motions: a table as a motion, and a motion as its table with cells changed, or a new one."""

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
    UNSAID,
    WEBOTS,
    PoseTable,
    joints_of,
    nearly,
    new_head,
    new_row,
    read_table,
    robot_for,
)
from posewright.motions import Keyframe, Motion, Pose, robot_of_motion
from posewright.robots import Robot


def table_motion(table: PoseTable, card: Robot, path: Path) -> Motion:
    """Return a table as a motion of `card`, a keyframe a row, which remembers the table.

    Raises:
        FormatError: no device is a joint of the robot, or two are the same one.
    """
    columns = columns_of(table, card, path)
    joints = tuple(columns)
    return Motion(
        path.stem,
        card.name,
        joints,
        tuple(_keyframes(table, joints, list(columns.values()))),
        source="Webots motion",
        origin=Origin(WEBOTS, table, remarks=table.remarks, path=path, robot=card),
    )


def columns_of(table: PoseTable, card: Robot, path: Path | None = None) -> dict[str, int]:
    """Return which column each joint is."""
    known = joints_of(card)
    columns: dict[str, int] = {}
    for place, device in enumerate(table.devices):
        joint = known.get(device)
        if joint in columns:
            twice = f"{table.devices[columns[joint]]!r} and {device!r}"
            raise FormatError(f"{twice} are both {joint} of {card.name}", where=Where(path, 1))
        if joint is not None:
            columns[joint] = place
    if not columns:
        hint = f"its devices are {', '.join(list(card.naming('webots'))[:6])}, ..."
        raise FormatError(f"it moves no device of {card.name}", where=Where(path, 1), hint=hint)
    return columns


def strangers(table: PoseTable, card: Robot) -> list[str]:
    """Return the devices that are no joint of a robot."""
    known = joints_of(card)
    return [device for device in table.devices if device not in known]


def _keyframes(table: PoseTable, joints: tuple[str, ...], places: list[int]) -> Iterator[Keyframe]:
    before_ms = 0
    for row in table.rows:
        angles = np.array([row.values[place] for place in places], dtype=np.float64)  # None becomes NaN: held
        yield Keyframe(Pose(joints, angles), (row.time_ms - before_ms) / 1000.0)
        before_ms = row.time_ms


Value = float | None


@dataclass(frozen=True)
class _Columns:
    """The devices to write, and of which joint each is; None for a column that is kept as it stands."""

    devices: tuple[str, ...]
    joints: tuple[str | None, ...]


def table_with(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    """Return a motion as a Webots motion that will lie at `path`.

    Rows that say the same as in the file it came from keep their bytes.

    Raises:
        FormatError: it does not fit: it lasts over 100 minutes, or gives no joint an angle.
    """
    del options
    table = _table_of(motion)
    if table is not None and _says(table, motion):
        return Rendering(
            table.render(),
            describe_path_losses(motion),
            describe_unwritten_labels(motion, path),
            exact_key_times(motion),
        )
    timeline = timeline_of(motion)
    old = _old_table(motion, timeline)
    columns = _new_columns(motion) if old is None else _old_columns(motion, old)
    _check(motion, timeline, columns)
    values = _values(motion, timeline, columns, old)
    losses = (
        *describe_path_losses(motion),
        *timeline.losses,
        *describe_unsupported_joints(motion, tuple(filter(None, columns.joints)), robot_of_motion(motion)),
    )
    if old is None:
        losses += _left_behind(motion)
    data = _edited(old, columns, timeline, values) if old is not None else _new(columns, timeline, values)
    return Rendering(
        data, losses, (*timeline.remarks, *describe_unwritten_labels(motion, path)), timeline.times_s
    )


def _says(table: PoseTable, motion: Motion) -> bool:
    """Tell whether a motion was not changed since it was read."""
    as_read = table_motion(table, robot_of_motion(motion), Path(motion.name))
    same_way = as_read.joints == motion.joints and as_read.keyframes == motion.keyframes
    return same_way and as_read.speed == motion.speed


def _old_table(motion: Motion, timeline: Timeline) -> PoseTable | None:
    """Return the table the motion came from, where it still has the same joints and as many rows."""
    table = _table_of(motion)
    if table is None or len(table.rows) != len(timeline.poses):
        return None
    return table if tuple(columns_of(table, robot_of_motion(motion))) == motion.joints else None


def _table_of(motion: Motion) -> PoseTable | None:
    """Return the table that the motion came from, where it came from one as a motion of its robot."""
    origin = origin_of(motion, WEBOTS)
    if origin is None or origin.robot is None or origin.robot.name != motion.robot:
        return None
    return origin.document if isinstance(origin.document, PoseTable) else None


def _old_columns(motion: Motion, table: PoseTable) -> _Columns:
    joints = {place: joint for joint, place in columns_of(table, robot_of_motion(motion)).items()}
    return _Columns(table.devices, tuple(joints.get(place) for place in range(len(table.devices))))


def _new_columns(motion: Motion) -> _Columns:
    """Return a column for every joint that is ever given an angle and has a name there."""
    names = {**robot_of_motion(motion).names_in(NAMING), **_origin_names(motion)}
    moved = moved_joints(motion)
    joints = tuple(joint for joint in motion.joints if joint in moved and joint in names)
    return _Columns(tuple(names[joint] for joint in joints), joints)


def _origin_names(motion: Motion) -> Mapping[str, str]:
    """Return what the file that the motion came from calls its joints."""
    table = _table_of(motion)
    if table is None:
        return {}
    return {
        joint: table.devices[place] for joint, place in columns_of(table, robot_of_motion(motion)).items()
    }


def _check(motion: Motion, timeline: Timeline, columns: _Columns) -> None:
    if not columns.devices:
        raise FormatError(f"motion {motion.name!r} gives no joint an angle")
    odd = next((name for name in columns.devices if set(name) & set(",\r\n") or not name.strip()), None)
    if odd is not None:
        raise FormatError(f"{odd!r} cannot be the name of a device", hint="a comma parts the columns")
    if timeline.end_ms > MAX_TIME_MS:
        raise FormatError(f"motion {motion.name!r} lasts {timeline.end_ms} ms", hint="at most 99:59:999")


def _values(
    motion: Motion, timeline: Timeline, columns: _Columns, old: PoseTable | None
) -> list[list[Value]]:
    """Return what is to stand in each row and column.

    A joint that stays where it was has its angle again if it goes on later, as the way there begins in this
    row; it has none if it stays for good, or where the file had none.
    """
    rows = np.array([moment.angles for moment in timeline.poses])
    given = np.array([moment.is_set for moment in timeline.poses])
    later = np.cumsum(given[::-1], axis=0)[::-1] > 0
    said = np.where(given | later, rows, np.nan)
    if not np.all((np.abs(said) <= MAX_VALUE) | np.isnan(said)):
        raise FormatError(f"motion {motion.name!r} has an angle beyond all bounds")
    places = [motion.joints.index(joint) if joint else None for joint in columns.joints]
    values: list[list[Value]] = [
        [None if place is None or math.isnan(row[place]) else row[place] for place in places]
        for row in said.tolist()
    ]
    for row, moment, line in zip(values, timeline.poses, () if old is None else old.rows, strict=False):
        for column, (place, before) in enumerate(zip(places, line.values, strict=True)):
            if place is not None and before is None and not moment.is_set[place]:
                row[column] = None
    return values


def _new(columns: _Columns, timeline: Timeline, values: list[list[Value]]) -> bytes:
    rows = [
        new_row(moment.time_ms, b"Pose%d" % count, [_cell(value) for value in row])
        for count, (moment, row) in enumerate(zip(timeline.poses, values, strict=True), 1)
    ]
    return b"".join([new_head(columns.devices), *rows])


def _edited(table: PoseTable, columns: _Columns, timeline: Timeline, values: list[list[Value]]) -> bytes:
    lines = [table.head]
    for old, moment, row in zip(table.rows, timeline.poses, values, strict=True):
        cells = [
            cell if joint is None or _same(value, before) else _cell(value)
            for joint, value, before, cell in zip(columns.joints, row, old.values, old.cells, strict=True)
        ]
        same = tuple(cells) == old.cells and moment.time_ms == old.time_ms
        eol = old.raw[len(old.raw.rstrip(b"\r\n")) :]
        lines.append(old.raw if same else new_row(moment.time_ms, old.name, cells, eol))
    return b"".join([*lines, table.tail])


def _same(value: Value, before: Value) -> bool:
    if value is None or before is None:
        return value is before
    return abs(value - before) <= QUANTUM_RAD / 2.0


def _cell(value: Value) -> bytes:
    return UNSAID if value is None else format_angle(value).encode()


def _left_behind(motion: Motion) -> tuple[str, ...]:
    """Return what a new file does not have of the one the motion came from."""
    table = _table_of(motion)
    found = [] if table is None else strangers(table, robot_of_motion(motion))
    strange = f"{', '.join(found)}: {motion.robot} has no such devices"
    return (strange,) if found else ()


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    table = read_table(data, path)
    remarks = list(table.remarks)
    if card is None:
        card = robot_for(table.devices)
        remarks += filter(None, [nearly(table.devices)])
    motion = table_motion(table, card, path)
    strange = strangers(table, card)
    if strange:
        remarks.append(f"{card.name} has no devices {', '.join(strange)}: left out")
    return MotionFile.of_single_motion(WEBOTS, path, motion, remarks, table)


_KIND = FileKind(WEBOTS, "a Webots motion", text_matches(rb"\A#WEBOTS_MOTION\b"))
FORMAT = MotionFormat(_KIND, (".motion",), _read, table_with, Quantum(angle_rad=QUANTUM_RAD, time_s=0.001))
