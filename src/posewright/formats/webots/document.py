"""The document of a Webots motion: a table of angles with its bytes, and its reader.

Source: formats.md 6.1, and Webots' own reader (src/controller/c/motion.c) for what that leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.file_kind import BOM
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes, split_lines
from posewright.robots import Robot, robot, robot_names
from posewright.robots.catalogue import unlisted_robot

WEBOTS = "webots-motion"

NAMING = "webots"  # the naming on a robot's card
LOCATORS = "open_r"  # the naming by Sony's locators, which Webots' AIBOs use, too
UNLISTED = "webots_robot"  # the name of a robot without a card


def joints_of(card: Robot) -> Mapping[str, str]:
    """Return the robot's joints by all names that a device of Webots may have."""
    own_names = {joint: joint for joint in card.joint_names}
    return {**own_names, **card.namings.get(LOCATORS, {}), **card.naming(NAMING)}


def describe_similar_robot(devices: Sequence[str]) -> str:
    """Return a remark on the shipped robot that has most but not all of the devices; empty for none."""
    missing_by_robot: dict[str, list[str]] = {}
    for card in map(robot, robot_names()):
        joints = joints_of(card)
        missing_by_robot[card.name] = [device for device in devices if device not in joints]
    name = min(missing_by_robot, key=lambda name: len(missing_by_robot[name]))
    missing = missing_by_robot[name]
    if len(missing) in (0, len(devices)):
        return ""
    return f"{name} has all devices but {', '.join(missing)}; to read it for {name}, name the robot"


def robot_for(devices: Sequence[str]) -> Robot:
    """Return the shipped robot that has all these devices, or a card made of the devices.

    Of several it is the one with the fewest other joints, and of these the one that can be simulated.
    """
    candidates = [card for card in map(robot, robot_names()) if set(devices) <= set(joints_of(card))]
    if not candidates:
        title = f"a robot of Webots without a card, {len(devices)} devices"
        return unlisted_robot(UNLISTED, devices, title=title, scheme=NAMING)
    return min(candidates, key=lambda card: (len(card.joint_names), card.model_path is None))


NO_VALUE = b"*"
"""The cell of a device that has no value in a row."""

FIRST_CELLS = (b"#WEBOTS_MOTION", b"V1.0")


@dataclass(frozen=True)
class PoseRow:
    """A row of a table.

    Attributes:
        raw: the line with its line end.
        time_ms: when the pose is reached [ms].
        name: the name of the pose.
        values: the value of each device, None without one; an angle [rad], or metres of a linear motor.
        cells: the text of each value.
    """

    raw: bytes
    time_ms: int
    name: bytes
    values: tuple[float | None, ...]
    cells: tuple[bytes, ...]


@dataclass(frozen=True)
class PoseTable:
    """A Webots motion.

    Attributes:
        head: the first line, with a byte order mark if there is one.
        devices: the device of each column.
        rows: the poses.
        tail: the lines that are not read, from the first empty one.
        remarks: descriptions of what is unusual about the file.
    """

    head: bytes = field(repr=False)
    devices: tuple[str, ...]
    rows: tuple[PoseRow, ...] = field(repr=False)
    tail: bytes = field(default=b"", repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def line_end(self) -> bytes:
        """The line end of the file."""
        return b"\r\n" if self.head.endswith(b"\r\n") else b"\n"

    def render(self) -> bytes:
        """Return the bytes of the file."""
        return b"".join([self.head, *(row.raw for row in self.rows), self.tail])


def new_head(devices: Sequence[str], line_end: bytes = b"\n") -> bytes:
    """Return the first line of a file for these devices."""
    device_cells = [device.encode("utf-8", "surrogateescape") for device in devices]
    return b",".join([*FIRST_CELLS, *device_cells]) + line_end


def new_row(time_ms: int, name: bytes, cells: Sequence[bytes], line_end: bytes = b"\n") -> bytes:
    """Return the line of a row."""
    minutes, remainder_ms = divmod(time_ms, 60_000)
    clock = b"%02d:%02d:%03d" % (minutes, remainder_ms // 1000, remainder_ms % 1000)
    return b",".join([clock, name, *cells]) + line_end


MAX_TIME_MS = 99 * 60_000 + 59_999  # 99:59:999
MAX_VALUE = 1e6
_MAX_DEVICES = 1000
_LONGEST_LINE = 4095  # Webots reads no more of a line
_TIME = re.compile(rb"(?:(?:([0-9]{1,6}):)?([0-9]{1,6}):)?([0-9]{1,9})")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_COLUMNS = "time, name of the pose, and a value or * for every device"


def read_table(data: bytes, path: Path | None = None) -> PoseTable:
    """Read the bytes of a Webots motion.

    Raises:
        FormatError: it is cut off or malformed, or its times do not rise.
    """
    bom = BOM if data.startswith(BOM) else b""
    lines = split_lines(data.removeprefix(bom), path)
    if not lines:
        hint = f"it begins with {FIRST_CELLS[0].decode()}"
        raise FormatError("the file is empty", where=Where(path, 1), hint=hint)
    remarks = Remarks()
    devices = _read_devices(lines[0])
    # rows end at the first empty line after the header
    rows_end = next((index for index, line in enumerate(lines) if index and not line.text), len(lines))
    rows: list[PoseRow] = []
    for line in lines[1:rows_end]:
        rows.append(_read_row(line, len(devices), remarks))
        if len(rows) > 1 and rows[-1].time_ms <= rows[-2].time_ms:
            line.fail(
                f"the time does not rise: the row before is at {rows[-2].time_ms} ms", hint="sort the rows"
            )
    if not rows:
        lines[0].fail("the file has no poses", hint=f"write rows of {_COLUMNS}")
    if any(line.text for line in lines[rows_end:]):
        remarks.add("an empty line: like Webots, we read no further", lines[rows_end])
    tail = b"".join(line.raw for line in lines[rows_end:])
    all_remarks = (*remarks.all, *_describe_gaps(rows, devices))
    return PoseTable(bom + lines[0].raw, devices, rows=tuple(rows), tail=tail, remarks=all_remarks)


def _read_devices(line: TextLine) -> tuple[str, ...]:
    """Return the names of the devices in the first line."""
    n_first = len(FIRST_CELLS)
    cells = line.text.split(b",", _MAX_DEVICES + n_first + 1)  # one more shows that there are too many
    if tuple(cells[:n_first]) != FIRST_CELLS:
        line.fail(
            "not the header of a Webots motion", hint=f"it begins with {b','.join(FIRST_CELLS).decode()},"
        )
    names = cells[n_first:]
    if len(names) > 1 and names[-1] == b"":
        del names[-1]  # Webots ignores a comma at the end
    if len(names) > _MAX_DEVICES:
        line.fail(f"more than {_MAX_DEVICES} devices", hint=f"at most {_MAX_DEVICES} are read")
    if not names or not all(name.strip() for name in names):
        line.fail("a device without a name", hint="write a name for every column")
    duplicate = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if duplicate is not None:
        line.fail(f"device {quote_bytes(duplicate)} has two columns", hint="name each device once")
    return tuple(name.decode("utf-8", "surrogateescape") for name in names)


def _read_row(line: TextLine, n_devices: int, remarks: Remarks) -> PoseRow:
    """Read a row: time, name of the pose, and a value for each device; add remarks on unusual ones."""
    n_columns = n_devices + 2
    cells = line.text.split(b",", n_columns + 1)
    if len(cells) == n_columns + 1 and cells[-1] == b"":
        del cells[-1]  # Webots ignores a comma at the end
    if len(cells) != n_columns:
        count = f"more than {n_columns}" if len(cells) > n_columns else f"{len(cells)}"
        line.fail(f"{count} columns, expected {n_columns}", hint=_COLUMNS)
    time_cell, pose_name, *value_cells = cells
    if not pose_name:
        remarks.add("a pose without a name: Webots itself does not read this file", line)
    if len(line.raw) > _LONGEST_LINE:
        remarks.add(f"more than {_LONGEST_LINE} bytes: Webots itself does not read this file", line)
    values = tuple(_read_value(cell.strip(), line) for cell in value_cells)
    return PoseRow(
        line.raw,
        time_ms=_read_time(time_cell, line),
        name=pose_name,
        values=values,
        cells=tuple(value_cells),
    )


def _read_time(cell: bytes, line: TextLine) -> int:
    """Return the time of a row in milliseconds."""
    match = _TIME.fullmatch(cell.strip())
    if match is None:
        hint = "write minutes:seconds:milliseconds, 00:01:250"
        line.fail(f"the time is {quote_bytes(cell)}", hint=hint)
    minutes, seconds, milliseconds = (int(part or 0) for part in match.groups())
    time_ms = minutes * 60_000 + seconds * 1000 + milliseconds
    if time_ms > MAX_TIME_MS:
        line.fail(f"the time is {quote_bytes(cell)}", hint="the largest is 99:59:999")
    return time_ms


def _read_value(cell: bytes, line: TextLine) -> float | None:
    """Return the value of a cell; None for a *, which leaves the device as it is."""
    if cell == NO_VALUE:
        return None
    value = float(cell) if _NUMBER.fullmatch(cell) else float("nan")
    if not abs(value) <= MAX_VALUE:
        line.fail(
            f"{quote_bytes(cell)} is not a number", hint="write a number, or * to leave the joint alone"
        )
    return value


def _describe_gaps(rows: list[PoseRow], devices: tuple[str, ...]) -> list[str]:
    """Return a remark on devices that get another value after rows without one."""
    devices_with_jumps = [
        device
        for index, device in enumerate(devices)
        if _changes_after_gap([row.values[index] for row in rows])
    ]
    if not devices_with_jumps:
        return []
    return [
        f"{', '.join(devices_with_jumps)}: after a * there is another value. Webots waits until then and "
        "jumps; here the joint moves there from the row before"
    ]


def _changes_after_gap(values: list[float | None]) -> bool:
    """Return whether a value follows a gap, which is None, and differs from the value before the gap.

    A value after a gap at the beginning has no value before it, and counts as different.
    """
    last_value: float | None = None
    is_after_gap = False
    for value in values:
        if value is None:
            is_after_gap = True
            continue
        if is_after_gap and value != last_value:
            return True
        is_after_gap = False
        last_value = value
    return False
