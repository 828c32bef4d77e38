"""A Webots motion as a document, a table of angles that keeps its bytes, and how it is read.

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

NAMING = "webots"  # name of the naming on a robot's card
LOCATORS = "open_r"  # name of the naming by Sony's locators, which Webots' own AIBOs have, too
UNLISTED = "webots_robot"  # what a robot is called that no card knows


def joints_of(card: Robot) -> Mapping[str, str]:
    """Return the robot's joints by everything that a device may be called."""
    plain = {joint: joint for joint in card.joint_names}
    return {**plain, **card.namings.get(LOCATORS, {}), **card.naming(NAMING)}


def nearly(devices: Sequence[str]) -> str:
    """Return which robot that ships has some of the devices and lacks others, in words; empty for none."""
    known = {card.name: joints_of(card) for card in map(robot, robot_names())}
    missing = {name: [device for device in devices if device not in known[name]] for name in known}
    name = min(missing, key=lambda name: len(missing[name]))
    if len(missing[name]) in (0, len(devices)):
        return ""
    return f"{name} would have all devices but {', '.join(missing[name])}; ask for it to have it read so"


def robot_for(devices: Sequence[str]) -> Robot:
    """Return the robot that ships and has all these devices; else one made up of them.

    Of several it is the one with the fewest other joints, and of these the one that can be simulated.
    """
    fitting = [card for card in map(robot, robot_names()) if set(devices) <= set(joints_of(card))]
    if not fitting:
        title = f"a robot of Webots without a card, {len(devices)} devices"
        return unlisted_robot(UNLISTED, devices, title=title, scheme=NAMING)
    return min(fitting, key=lambda card: (len(card.joint_names), card.model_path is None))


UNSAID = b"*"  # stands for a device that has no value in a row
FIRST_CELLS = (b"#WEBOTS_MOTION", b"V1.0")


@dataclass(frozen=True)
class PoseRow:
    """One row.

    Attributes:
        time_ms: when the pose is reached [ms].
        values: one a device, `None` where there is none; an angle in radians, or metres of a linear motor.
    """

    raw: bytes
    time_ms: int
    name: bytes
    values: tuple[float | None, ...]
    cells: tuple[bytes, ...]


@dataclass(frozen=True)
class PoseTable:
    """A Webots motion."""

    head: bytes = field(repr=False)
    devices: tuple[str, ...]
    rows: tuple[PoseRow, ...] = field(repr=False)
    tail: bytes = field(default=b"", repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def eol(self) -> bytes:
        """The line end of the file."""
        return b"\r\n" if self.head.endswith(b"\r\n") else b"\n"

    def render(self) -> bytes:
        """Return the bytes: those it was read from, where nothing was changed."""
        return b"".join([self.head, *(row.raw for row in self.rows), self.tail])


def new_head(devices: Sequence[str], eol: bytes = b"\n") -> bytes:
    """Return the first line of a file for these devices."""
    return b",".join([*FIRST_CELLS, *(device.encode("utf-8", "surrogateescape") for device in devices)]) + eol


def new_row(time_ms: int, name: bytes, cells: Sequence[bytes], eol: bytes = b"\n") -> bytes:
    """Return the line of a row."""
    minutes, rest = divmod(time_ms, 60_000)
    clock = b"%02d:%02d:%03d" % (minutes, rest // 1000, rest % 1000)
    return b",".join([clock, name, *cells]) + eol


MAX_TIME_MS = 99 * 60_000 + 59_999  # 99:59:999, the last time that the format can say
MAX_VALUE = 1e6
_MAX_DEVICES = 1000
_LONGEST_LINE = 4095  # what Webots reads of a line
_TIME = re.compile(rb"(?:(?:([0-9]{1,6}):)?([0-9]{1,6}):)?([0-9]{1,9})")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_COLUMNS = "time, name of the pose, and a value or * for every device"


def read_table(data: bytes, path: Path | None = None) -> PoseTable:
    """Read the bytes of a Webots motion.

    Raises:
        FormatError: it is cut off or malformed, or its time does not go on; with the line, what stands there
            and what would be right.
    """
    mark = BOM if data.startswith(BOM) else b""
    lines = split_lines(data.removeprefix(mark), path)
    if not lines:
        hint = f"it begins {FIRST_CELLS[0].decode()}"
        raise FormatError("the file is empty", where=Where(path, 1), hint=hint)
    remarks = Remarks()
    devices = _devices(lines[0])
    end = next((place for place, line in enumerate(lines) if place and not line.text), len(lines))
    rows: list[PoseRow] = []
    for line in lines[1:end]:
        rows.append(_row(line, len(devices), remarks))
        if len(rows) > 1 and rows[-1].time_ms <= rows[-2].time_ms:
            line.fail(f"the time does not go on: {rows[-2].time_ms} ms is the row before", hint="times rise")
    if not rows:
        lines[0].fail("no pose follows", hint=f"a row has {_COLUMNS}")
    if any(line.text for line in lines[end:]):
        remarks.add("an empty line: Webots reads no further, and neither do we", lines[end])
    tail = b"".join(line.raw for line in lines[end:])
    return PoseTable(
        mark + lines[0].raw, devices, tuple(rows), tail, (*remarks.all, *_after_gaps(rows, devices))
    )


def _devices(line: TextLine) -> tuple[str, ...]:
    cells = line.text.split(b",", _MAX_DEVICES + 3)
    if tuple(cells[:2]) != FIRST_CELLS:
        line.fail("not the header of a Webots motion", hint=f"it begins {b','.join(FIRST_CELLS).decode()},")
    names = cells[2:-1] if cells[-1] == b"" and len(cells) > 3 else cells[2:]
    if len(names) > _MAX_DEVICES:
        line.fail(f"more than {_MAX_DEVICES} devices", hint="no robot has as many")
    if not names or not all(name.strip() for name in names):
        line.fail("a device without a name", hint="a name for every column")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        line.fail(f"device {quote_bytes(twice)} has two columns", hint="each device once")
    return tuple(name.decode("utf-8", "surrogateescape") for name in names)


def _row(line: TextLine, n_devices: int, remarks: Remarks) -> PoseRow:
    cells = line.text.split(b",", n_devices + 3)
    if len(cells) == n_devices + 3 and cells[-1] == b"":
        del cells[-1]  # Webots minds no comma too many
    if len(cells) != n_devices + 2:
        count = f"more than {n_devices + 2}" if len(cells) > n_devices + 2 else f"{len(cells)}"
        line.fail(f"{count} columns where {n_devices + 2} belong", hint=_COLUMNS)
    if not cells[1]:
        remarks.add("a pose without a name: Webots itself does not read this file", line)
    if len(line.raw) > _LONGEST_LINE:
        remarks.add(f"more than {_LONGEST_LINE} bytes: Webots itself does not read this file", line)
    values = tuple(_value(cell.strip(), line) for cell in cells[2:])
    return PoseRow(line.raw, _time(cells[0], line), cells[1], values, tuple(cells[2:]))


def _time(cell: bytes, line: TextLine) -> int:
    found = _TIME.fullmatch(cell.strip())
    if found is None:
        line.fail(f"the time is {quote_bytes(cell)}", hint="right is minutes:seconds:milliseconds, 00:01:250")
    minutes, seconds, milliseconds = (int(part or 0) for part in found.groups())
    time_ms = minutes * 60_000 + seconds * 1000 + milliseconds
    if time_ms > MAX_TIME_MS:
        line.fail(f"the time is {quote_bytes(cell)}", hint="the last possible is 99:59:999")
    return time_ms


def _value(cell: bytes, line: TextLine) -> float | None:
    if cell == UNSAID:
        return None
    value = float(cell) if _NUMBER.fullmatch(cell) else float("nan")
    if not abs(value) <= MAX_VALUE:
        line.fail(f"a value is {quote_bytes(cell)}", hint="right is a number, or * for none")
    return value


def _after_gaps(rows: list[PoseRow], devices: tuple[str, ...]) -> list[str]:
    """Return what is to be said of devices that get a new value after rows without one."""
    found = [device for place, device in enumerate(devices) if _jumps([row.values[place] for row in rows])]
    if not found:
        return []
    return [
        f"{', '.join(found)}: after a * there is another value. Webots waits until then and jumps there; "
        "here the joint goes there from the row before"
    ]


def _jumps(values: list[float | None]) -> bool:
    known: float | None = None
    for before, value in zip([0.0, *values], values, strict=False):
        if value is not None and before is None and value != known:
            return True
        known = known if value is None else value
    return False
