"""Joint tables of the UC3M thesis (`.csv`): tables as motions, and motions as tables.

The thesis (UC3M 2013, seeds.md E6) renumbered the servos of a RoboPlus sequence for its model and wrote
degrees = ticks * 300/1024 of the servo, so every angle is a whole number of ticks. A table has the angles in
order but no times: its last column is no real speed (`document_velocity`; seeds.md E6, errata).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import FormatError, Where
from posewright.formats.file_kind import BOM, FileKind, text_matches
from posewright.formats.motion_file import MotionFile, Origin, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions
from posewright.formats.path_losses import describe_lost_tracks
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes, split_lines
from posewright.motions import Easing, Keyframe, Motion, Pose, robot_of_motion
from posewright.robots import Robot, Servo, robot

UC3M_CSV = "uc3m-csv"

MAX_ID = 23
MAX_DEG = 300.0
MAX_SPEED = 1e6
_HEADER = re.compile(rb"thesis_id,initial_deg((?:,step[0-9]+_deg)+),velocity_rad_s")
_HEADER_TEXT = "thesis_id,initial_deg,step1_deg,step2_deg,...,velocity_rad_s"


@dataclass(frozen=True)
class TableRow:
    """A row of a table.

    Attributes:
        id: the servo's number in the thesis.
        degrees: the angles of the initial pose and of each step [deg].
        cells: the text of each cell.
    """

    id: int
    degrees: tuple[float, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class JointTable:
    """A table and the bytes it was read from; these are empty for a new one."""

    rows: tuple[TableRow, ...] = field(repr=False)
    raw: bytes = field(default=b"", repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def row_of(self) -> dict[int, TableRow]:
        """The rows by ID."""
        return {row.id: row for row in self.rows}

    @property
    def n_steps(self) -> int:
        """Number of steps after the initial pose."""
        return len(self.rows[0].degrees) - 1

    @property
    def line_end(self) -> str:
        """The line end of the file; CRLF for a new one, as in the thesis's tables."""
        return "\r\n" if b"\r\n" in self.raw or not self.raw else "\n"

    def render(self) -> bytes:
        """Return the bytes it was read from, or new ones."""
        if self.raw:
            return self.raw
        return _render_rows(self.rows, self.n_steps, self.line_end)

    def with_cells(self, rows: tuple[TableRow, ...]) -> JointTable:
        """Return the table with other rows; with the same cells, the same table."""
        if [row.cells for row in rows] == [row.cells for row in self.rows]:
            return self
        bom = BOM if self.raw.startswith(BOM) else b""
        final_line_ends = self.raw[len(self.raw.rstrip(b"\r\n")) :] if self.raw else b"\r\n"
        n_steps = len(rows[0].degrees) - 1
        text = _render_rows(rows, n_steps, self.line_end).rstrip(b"\r\n")
        return JointTable(rows, bom + text + final_line_ends)


def _render_rows(rows: tuple[TableRow, ...], n_steps: int, line_end: str) -> bytes:
    steps = [f"step{number}_deg" for number in range(1, n_steps + 1)]
    header = ",".join(["thesis_id", "initial_deg", *steps, "velocity_rad_s"])
    lines = [header, *(",".join(row.cells) for row in rows)]
    return "".join(line + line_end for line in lines).encode()


def read_table(data: bytes, path: Path | None = None) -> JointTable:
    """Read the bytes of a table.

    Raises:
        FormatError: it is cut off or malformed.
    """
    lines = [line for line in split_lines(data.removeprefix(BOM), path) if line.text]
    remarks = Remarks()
    if not lines:
        raise FormatError("the table is empty", where=Where(path, 1), hint=f"it begins with {_HEADER_TEXT}")
    n_steps = _read_header(lines[0])
    rows: dict[int, TableRow] = {}
    for line in lines[1:]:
        row = _read_row(line, n_steps)
        if row.id in rows:
            line.fail(f"a second row for ID {row.id}", hint="write one row per ID")
        rows[row.id] = row
    if not rows:
        lines[0].fail("the table has no rows", hint="write one row per ID below the header")
    if not data.endswith(b"\n"):
        remarks.add("the last line has no line end")
    return JointTable(tuple(rows.values()), data, remarks.all)


def _read_header(line: TextLine) -> int:
    """Return the number of steps in the header."""
    match = _HEADER.fullmatch(line.text)
    n_steps = match[1].count(b",") if match else 0
    expected = b"".join(b",step%d_deg" % number for number in range(1, n_steps + 1))
    if match is None or match[1] != expected:
        line.fail("not the header of a joint table", hint=f"write {_HEADER_TEXT}")
    return n_steps


def _read_row(line: TextLine, n_steps: int) -> TableRow:
    """Read a row: ID, angles [deg] and velocity [rad/s]."""
    cells = line.text.split(b",")
    if len(cells) != n_steps + 3:
        line.fail(f"{len(cells)} columns, expected {n_steps + 3}", hint="write as many as the header has")
    servo_id = line.whole(cells[0], "the ID", 1, MAX_ID)
    degrees = tuple(line.decimal(cell, "an angle in degrees", 0.0, MAX_DEG) for cell in cells[1:-1])
    line.decimal(cells[-1], f"the velocity {quote_bytes(cells[-1])}", 0.0, MAX_SPEED)
    return TableRow(servo_id, degrees, tuple(cell.decode() for cell in cells))


NUMBERING = "uc3m_thesis"
"""The thesis's numbering on a robot's card."""

DOCUMENT_PERIOD_S = 3.0 / 128.0
"""The time by which the thesis divided for its velocity column: three frames of the controller."""

_DOCUMENT_STEP = 4


class Velocity(Enum):
    """The content of a table's velocity column.

    TRUE: the largest speed of the joint in any of its steps. DOCUMENT: the thesis's formula, for comparisons;
    never drive a robot by it.
    """

    TRUE = "true"
    DOCUMENT = "document"


def document_velocity(motion: Motion) -> dict[int, float]:
    """Return the thesis's "angular velocity" column by its IDs [rad/s]. Never drive a robot by it.

    The column is headed rad/s, but it is the speed of no step. All 66 rows of the three tables are
    |initial - step 4| / (3/128 s): the distance from the pose before the cycle to the cycle's last pose,
    which no step covers, over three frames of the controller, which no step takes. Played at 1/8 s per step,
    ID 1 of the forward table reaches 3.80 rad/s where the column has 1.31, ID 16 of the left one 2.21 where
    it has 5.45, and ID 8 moves although the column has 0. IDs without a joint have 0.

    Args:
        motion: a motion with the initial pose as `start`; with fewer than 4 keyframes, the last one counts.
    """
    poses = motion.resolved_poses()
    step = min(_DOCUMENT_STEP, len(poses) - 1)
    changes = np.abs(poses[step].angles - poses[0].angles)
    return _by_id(motion, changes / DOCUMENT_PERIOD_S)


def step_speeds(motion: Motion) -> dict[int, float]:
    """Return the largest mean speed of each joint in any step, by ID [rad/s].

    In a loop, the movement from the last step back to the first counts, too.
    """
    poses = [pose.angles for pose in motion.resolved_poses()]
    durations_s = [frame.reach_s / motion.speed for frame in motion.keyframes]
    changes = [after - before for before, after in pairwise(poses)]
    if motion.loops:
        changes.append(poses[1] - poses[-1])
        durations_s.append(durations_s[0])
    speeds = np.array(
        [
            np.abs(change) / duration_s
            for change, duration_s in zip(changes, durations_s, strict=True)
            if duration_s > 0.0
        ]
    )
    return _by_id(motion, speeds.max(axis=0) if len(speeds) else np.zeros(len(motion.joints)))


def _by_id(motion: Motion, values: Floats) -> dict[int, float]:
    """Return a value of each joint, `(n_joints,)`, by the thesis's IDs; 0 for IDs without a joint."""
    joint_by_id = robot_of_motion(motion).numbering(NUMBERING)
    value_by_joint = dict(zip(motion.joints, np.nan_to_num(values).tolist(), strict=True))
    ids = range(1, max(joint_by_id) + 1)
    return {servo_id: value_by_joint.get(joint_by_id.get(servo_id, ""), 0.0) for servo_id in ids}


STEP_S = 0.125
"""Time of a step, which a table does not have; with this one, the forward table walks (physics.md)."""

PRINTED_DEG = 0.005 + 1e-9  # half of the last printed decimal [deg]


def build_motion(table: JointTable, card: Robot, *, name: str, path: Path | None = None) -> Motion:
    """Return a table as a motion of a robot; it starts in the initial pose and repeats the steps for ever.

    Angles printed to two decimals are read as the servo tick they were rounded from.
    """
    ids = card.ids(NUMBERING)
    joints = tuple(joint for joint in card.joint_names if joint in ids)
    rows = table.row_of
    for joint in joints:
        if ids[joint] not in rows:
            raise FormatError(
                f"no row for ID {ids[joint]}, the {joint}", where=Where(path), hint="add the row"
            )
    columns = [
        [_read_angle(card.servo(joint), printed) for printed in rows[ids[joint]].degrees] for joint in joints
    ]
    poses = [Pose(joints, np.array(angles)) for angles in zip(*columns, strict=True)]
    return Motion(
        name,
        card.name,
        joints,
        keyframes=tuple(Keyframe(pose, STEP_S, easing=Easing.LINEAR) for pose in poses[1:]),
        repeat=None,
        start=poses[0],
        source="joint table of the UC3M thesis (2013)",
        origin=Origin(UC3M_CSV, table, remarks=table.remarks, path=path, robot=card),
    )


def _read_angle(servo: Servo, printed_deg: float) -> float:
    """Return the joint angle [rad] of printed servo degrees; that of a tick if they were rounded from one."""
    tick = round(printed_deg / servo.tick_deg)
    if abs(tick * servo.tick_deg - printed_deg) <= PRINTED_DEG:
        return servo.from_ticks(float(tick))
    return servo.from_servo_deg(printed_deg)


def table_with(motion: Motion, *, velocity: Velocity = Velocity.TRUE) -> tuple[JointTable, tuple[str, ...]]:
    """Return the table of a motion, and descriptions of what is lost in it.

    An unedited motion read from a table gives the same bytes, with the thesis's velocity column. Once an
    angle has changed, the whole column is computed by the method given as `velocity`.

    Raises:
        FormatError: a joint of the robot has no angle at some step.
    """
    card = robot_of_motion(motion)
    origin = origin_of(motion, UC3M_CSV)
    old_table = origin.document if origin is not None and isinstance(origin.document, JointTable) else None
    paths = _servo_paths(motion, card)
    ids = [row.id for row in old_table.rows] if old_table else range(1, max(paths) + 1)
    n_values = len(motion.keyframes) + 2  # with the initial pose and the velocity
    rows = [
        _build_row(
            i, path=paths.get(i), old_row=old_table.row_of[i] if old_table else None, n_values=n_values
        )
        for i in ids
    ]
    losses = describe_table_losses(motion, card)
    if old_table is not None and velocity is Velocity.TRUE:
        has_same_angles = [row.cells[:-1] for row in rows] == [row.cells[:-1] for row in old_table.rows]
        if has_same_angles:
            return old_table, losses
    speeds = document_velocity(motion) if velocity is Velocity.DOCUMENT else step_speeds(motion)
    rows = [replace(row, cells=(*row.cells[:-1], f"{speeds.get(row.id, 0.0):.2f}")) for row in rows]
    return (old_table or JointTable(())).with_cells(tuple(rows)), losses


class _ServoPath(NamedTuple):
    """A servo and its angles in the initial pose and each step [deg]."""

    servo: Servo
    degrees: list[float]


def _servo_paths(motion: Motion, card: Robot) -> dict[int, _ServoPath]:
    """Return the path of each servo by the thesis's ID.

    Raises:
        FormatError: a joint of the robot has no angle at some step.
    """
    poses = [pose.with_joints(card.joint_names) for pose in motion.resolved_poses()]
    paths: dict[int, _ServoPath] = {}
    for servo_id, joint in card.numbering(NUMBERING).items():
        servo = card.servo(joint)
        degrees = [servo.to_servo_deg(pose.angle(joint)) for pose in poses]
        if any(map(math.isnan, degrees)):
            message = f"motion {motion.name!r} has no angle of {joint} at some step"
            raise FormatError(message, hint="a joint table needs an angle of every joint at every step")
        paths[servo_id] = _ServoPath(servo, degrees)
    return paths


def _build_row(servo_id: int, path: _ServoPath | None, old_row: TableRow | None, n_values: int) -> TableRow:
    """Return the row of a servo with a velocity of 0.00; without a `path`, the old row or one of zeros.

    Args:
        servo_id: its ID in the thesis.
        path: its path in the motion; None if the robot has no joint with this ID.
        old_row: its row in the table that the motion was read from, whose unchanged cells keep their text.
        n_values: the number of cells after the ID: those of the angles and of the velocity.
    """
    if path is None:
        if old_row is not None and len(old_row.cells) == n_values + 1:
            return old_row
        return TableRow(servo_id, (0.0,) * (n_values - 1), (str(servo_id), *["0.00"] * n_values))
    cells = [
        _format_cell(angle_deg, path.servo, old_row, column)
        for column, angle_deg in enumerate(path.degrees, 1)
    ]
    return TableRow(servo_id, tuple(map(float, cells)), (str(servo_id), *cells, "0.00"))


def _format_cell(angle_deg: float, servo: Servo, old_row: TableRow | None, column: int) -> str:
    """Return an angle, rounded to a tick, as the thesis prints it; an unchanged cell keeps its text.

    `column` is that of the cell in its row; the column 0 has the ID, so its angle has the index `column` - 1.
    """
    if old_row is not None and column <= len(old_row.degrees):
        is_unchanged = abs(old_row.degrees[column - 1] - angle_deg) <= PRINTED_DEG
        if is_unchanged:
            return old_row.cells[column]
    ticks = min(max(round(angle_deg / servo.tick_deg), 0), servo.ticks - 1)
    hundredths = math.floor(ticks * servo.tick_deg * 100.0 + 0.5)  # 103.125 is printed 103.13
    return f"{hundredths / 100.0:.2f}"


def describe_table_losses(motion: Motion, card: Robot) -> tuple[str, ...]:
    """Return descriptions of what a joint table cannot hold of a motion."""
    frames = motion.keyframes
    free = {joint for frame in frames for joint in frame.pose.free}
    joints_without_id = set(motion.joints) - set(card.numbering(NUMBERING).values())
    has_other_times = any(frame.reach_s / motion.speed != STEP_S for frame in frames)
    losses: list[str] = []
    if has_other_times:
        losses.append(f"times: a table has none, each step is read back as {STEP_S:g} s")
    if any(frame.pause_s for frame in frames):
        losses.append("pauses")
    if any(frame.easing is not Easing.LINEAR for frame in frames):
        losses.append("easing: it is read back as linear")
    if any(frame.stiffness for frame in frames):
        losses.append("stiffness")
    if motion.repeat is not None:
        losses.append("its end: it is read back as repeated for ever")
    if motion.next is not None or motion.exit is not None:
        losses.append("next and exit motion")
    if motion.start is None:
        losses.append("that it has no start pose: the initial pose is written as one")
    if joints_without_id:
        losses.append(f"joints without an ID: {', '.join(sorted(joints_without_id))}")
    if free:
        losses.append(f"torque off at {', '.join(sorted(free))}: written where the joint was")
    return (*losses, *describe_lost_tracks(motion))


ROBOT = "robotis_bioloid"
"""The robot whose joints the thesis numbered."""

QUANTUM = Quantum(angle_rad=math.radians(300.0 / 1024.0))
"""A tick of an AX servo; a table has no times."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    table = read_table(data, path)
    motion = build_motion(table, robot(ROBOT) if card is None else card, name=path.stem, path=path)
    return MotionFile.of_single_motion(UC3M_CSV, path, motion, warnings=table.remarks, document=table)


def _render(motion: Motion, path: Path, options: WriteOptions) -> Rendering:
    del path, options
    table, losses = table_with(motion)
    return Rendering(table.render(), losses)


_KIND = FileKind(
    UC3M_CSV, "a joint table of the UC3M thesis", text_matches(rb"\Athesis_id[ \t]*,[ \t]*initial_deg\b")
)
FORMAT = MotionFormat(
    _KIND,
    (".csv",),
    _read,
    _render,
    QUANTUM,
    supports_robot=lambda card: NUMBERING in card.numberings,
    names_robot=False,
)
