"""The UC3M thesis's joint tables as motions, and motions as such tables.

The document (UC3M 2013, seeds.md E6) renumbered the servos of a RoboPlus sequence for its model and wrote
degrees = ticks * 300/1024 of the servo, so that every angle is a whole number of ticks. The table says how
far and in which order, but not when: its last column is not a speed of anything (`document_velocity`;
seeds.md E6, errata).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, Where
from posewright.formats.file_kind import BOM, FileKind, text_matches
from posewright.formats.motion_file import MotionFile, Origin, origin_of
from posewright.formats.motion_format import MotionFormat, Quantum, Rendering, WriteOptions
from posewright.formats.path_losses import describe_lost_lights
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes, split_lines
from posewright.motions import Easing, Keyframe, Motion, Pose, robot_of_motion
from posewright.robots import Robot, Servo, robot

UC3M_CSV = "uc3m-csv"

MAX_ID = 23
MAX_DEG = 300.0
MAX_SPEED = 1e6
_HEADER = re.compile(rb"thesis_id,initial_deg((?:,step[0-9]+_deg)+),velocity_rad_s")
_WANTED_HEADER = "thesis_id,initial_deg,step1_deg,step2_deg,...,velocity_rad_s"


@dataclass(frozen=True)
class TableRow:
    """One row."""

    id: int
    degrees: tuple[float, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class JointTable:
    """A table and the bytes it stands in."""

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
    def eol(self) -> str:
        """The line end of the file; of a new one CRLF, as the document's tables have."""
        return "\r\n" if b"\r\n" in self.raw or not self.raw else "\n"

    def render(self) -> bytes:
        """Return the bytes: those it was read from, or new ones."""
        if self.raw:
            return self.raw
        return _lines(self.rows, self.n_steps, self.eol)

    def with_cells(self, rows: tuple[TableRow, ...]) -> JointTable:
        """Return the table with other rows; the same cells are the same bytes."""
        if [row.cells for row in rows] == [row.cells for row in self.rows]:
            return self
        head = BOM if self.raw.startswith(BOM) else b""
        tail = self.raw[len(self.raw.rstrip(b"\r\n")) :] if self.raw else b"\r\n"
        n_steps = len(rows[0].degrees) - 1
        return JointTable(rows, head + _lines(rows, n_steps, self.eol).rstrip(b"\r\n") + tail)


def _lines(rows: tuple[TableRow, ...], n_steps: int, eol: str) -> bytes:
    steps = [f"step{number}_deg" for number in range(1, n_steps + 1)]
    header = ",".join(["thesis_id", "initial_deg", *steps, "velocity_rad_s"])
    return "".join(line + eol for line in (header, *(",".join(row.cells) for row in rows))).encode()


def read_table(data: bytes, path: Path | None = None) -> JointTable:
    """Read the bytes of a table.

    Raises:
        FormatError: it is cut off or malformed; with the line, what stands there and what would be right.
    """
    lines = [line for line in split_lines(data.removeprefix(BOM), path) if line.text]
    remarks = Remarks()
    if not lines:
        raise FormatError("the table is empty", where=Where(path, 1), hint=f"it begins {_WANTED_HEADER}")
    n_steps = _read_header(lines[0])
    rows: dict[int, TableRow] = {}
    for line in lines[1:]:
        row = _read_row(line, n_steps)
        if row.id in rows:
            line.fail(f"a second row for ID {row.id}", hint="there is one row an ID")
        rows[row.id] = row
    if not rows:
        lines[0].fail("the table has no rows", hint="a row for each ID follows")
    if not data.endswith(b"\n"):
        remarks.add("the last line has no line end")
    return JointTable(tuple(rows.values()), data, remarks.all)


def _read_header(line: TextLine) -> int:
    found = _HEADER.fullmatch(line.text)
    n_steps = found[1].count(b",") if found else 0
    wanted = b"".join(b",step%d_deg" % number for number in range(1, n_steps + 1))
    if found is None or found[1] != wanted:
        line.fail("not the header of a joint table", hint=f"it reads {_WANTED_HEADER}")
    return n_steps


def _read_row(line: TextLine, n_steps: int) -> TableRow:
    words = line.text.split(b",")
    if len(words) != n_steps + 3:
        line.fail(f"{len(words)} columns where {n_steps + 3} belong", hint="as many as the header has")
    identity = line.whole(words[0], "the ID", 1, MAX_ID)
    degrees = tuple(line.decimal(word, "an angle in degrees", 0.0, MAX_DEG) for word in words[1:-1])
    line.decimal(words[-1], f"the velocity {quote_bytes(words[-1])}", 0.0, MAX_SPEED)
    return TableRow(identity, degrees, tuple(word.decode() for word in words))


NUMBERING = "uc3m_thesis"  # name of the document's numbering on a robot's card
DOCUMENT_PERIOD_S = 3.0 / 128.0
"""What the document divided by for its velocity column: three frames of the controller."""

_DOCUMENT_STEP = 4


class Velocity(Enum):
    """What to write into a table's velocity column.

    TRUE: the largest speed of the joint in any of its steps. DOCUMENT: the document's own formula, to
    compare with it; nothing may be driven by it.
    """

    TRUE = "true"
    DOCUMENT = "document"


def document_velocity(motion: Motion) -> dict[int, float]:
    """Return the document's "angular velocity" column by its IDs [rad/s]. Never drive anything by it.

    The column is headed rad/s, yet it is the speed of no step. All 66 rows of the three tables are
    |initial - step 4| / (3/128 s): the way from the pose before the cycle to the cycle's last pose, a way
    that is never gone, in three frames of the controller, a time that nothing takes. Played at 1/8 s a
    step, ID 1 of the forward table reaches 3.80 rad/s where the column says 1.31, ID 16 of the left one
    2.21 where it says 5.45, and ID 8, which moves, is said to stand. IDs without a joint have 0.

    Args:
        motion: with the initial pose as `start`; the last keyframe stands for step 4 where there are fewer.
    """
    poses = motion.resolved_poses()
    last = min(_DOCUMENT_STEP, len(poses) - 1)
    return _by_id(motion, np.abs(poses[last].angles - poses[0].angles) / DOCUMENT_PERIOD_S)


def step_speeds(motion: Motion) -> dict[int, float]:
    """Return the largest mean speed of any step, a loop's seam included, by the document's IDs [rad/s]."""
    poses = [pose.angles for pose in motion.resolved_poses()]
    times = [frame.reach_s / motion.speed for frame in motion.keyframes]
    ways = [after - before for before, after in pairwise(poses)]
    if motion.loops:
        ways.append(poses[1] - poses[-1])
        times.append(times[0])
    speeds = np.array([np.abs(way) / time for way, time in zip(ways, times, strict=True) if time > 0.0])
    return _by_id(motion, speeds.max(axis=0) if len(speeds) else np.zeros(len(motion.joints)))


def _by_id(motion: Motion, values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> dict[int, float]:
    joints = robot_of_motion(motion).numbering(NUMBERING)
    of_joint = dict(zip(motion.joints, np.nan_to_num(values).tolist(), strict=True))
    return {i: of_joint.get(joints.get(i, ""), 0.0) for i in range(1, max(joints) + 1)}


STEP_S = 0.125
"""Time of a step, which the table does not say: played so, the forward table walks (physics.md)."""

PRINTED_DEG = 0.005 + 1e-9  # half of the last printed decimal [deg]


def table_motion(table: JointTable, card: Robot, *, name: str, path: Path | None = None) -> Motion:
    """Return a table as a motion: started from the initial pose, its steps repeated for ever.

    Angles printed to two decimals are read as the tick they stand for.
    """
    ids = card.ids(NUMBERING)
    joints = tuple(joint for joint in card.joint_names if joint in ids)
    rows = table.row_of
    for joint in joints:
        if ids[joint] not in rows:
            raise FormatError(f"no row for ID {ids[joint]}, the {joint}", where=Where(path), hint="add it")
    columns = [
        [_angle(card.servo(joint), printed) for printed in rows[ids[joint]].degrees] for joint in joints
    ]
    poses = [Pose(joints, np.array(angles)) for angles in zip(*columns, strict=True)]
    return Motion(
        name,
        card.name,
        joints,
        tuple(Keyframe(pose, STEP_S, easing=Easing.LINEAR) for pose in poses[1:]),
        repeat=None,
        start=poses[0],
        source="joint table of the UC3M thesis (2013)",
        origin=Origin(UC3M_CSV, table, remarks=table.remarks, path=path, robot=card),
    )


def _angle(servo: Servo, printed_deg: float) -> float:
    """Return the joint angle [rad] of printed servo degrees: that of the tick they stand for, if any."""
    tick = round(printed_deg / servo.tick_deg)
    if abs(tick * servo.tick_deg - printed_deg) <= PRINTED_DEG:
        return servo.from_ticks(float(tick))
    return servo.from_servo_deg(printed_deg)


def table_with(motion: Motion, *, velocity: Velocity = Velocity.TRUE) -> tuple[JointTable, tuple[str, ...]]:
    """Return the table of a motion, and what of the motion is lost in it.

    A motion read from a table gives the same bytes while nothing was edited: then the document's own
    velocity column stays. Once an angle changed, all of that column says what `velocity` asks for.

    Raises:
        FormatError: a joint of the robot has no angle at some step, so that there is nothing to write.
    """
    card = robot_of_motion(motion)
    origin = origin_of(motion, UC3M_CSV)
    old = origin.document if origin is not None and isinstance(origin.document, JointTable) else None
    columns = _columns(motion, card)
    identities = [row.id for row in old.rows] if old else range(1, max(columns) + 1)
    n_cells = 2 + len(motion.keyframes)
    rows = [_row(i, columns.get(i), old.row_of[i] if old else None, n_cells) for i in identities]
    same = old is not None and [row.cells[:-1] for row in rows] == [row.cells[:-1] for row in old.rows]
    if old is not None and same and velocity is Velocity.TRUE:
        return old, lost_in_table(motion, card)
    speeds = document_velocity(motion) if velocity is Velocity.DOCUMENT else step_speeds(motion)
    rows = [replace(row, cells=(*row.cells[:-1], f"{speeds.get(row.id, 0.0):.2f}")) for row in rows]
    return (old or JointTable(())).with_cells(tuple(rows)), lost_in_table(motion, card)


def _columns(motion: Motion, card: Robot) -> dict[int, tuple[Servo, list[float]]]:
    """Return servo and degrees, initial pose and steps, by the document's ID; held joints filled in."""
    poses = [pose.on(card.joint_names) for pose in motion.resolved_poses()]
    found = {}
    for identity, joint in card.numbering(NUMBERING).items():
        servo = card.servo(joint)
        degrees = [servo.to_servo_deg(pose.angle(joint)) for pose in poses]
        if any(map(math.isnan, degrees)):
            what = f"motion {motion.name!r} does not say where {joint} is at every step"
            raise FormatError(what, hint="a joint table needs an angle of every joint")
        found[identity] = servo, degrees
    return found


def _row(
    identity: int, column: tuple[Servo, list[float]] | None, before: TableRow | None, n_cells: int
) -> TableRow:
    """Return a row; an ID without a joint keeps its row, or has zeros."""
    if column is None:
        if before is not None and len(before.cells) == n_cells + 1:
            return before
        return TableRow(identity, (0.0,) * (n_cells - 1), (str(identity), *["0.00"] * n_cells))
    servo, degrees = column
    cells = [_cell(angle, servo, before, place) for place, angle in enumerate(degrees, 1)]
    return TableRow(identity, tuple(map(float, cells)), (str(identity), *cells, "0.00"))


def _cell(angle_deg: float, servo: Servo, before: TableRow | None, place: int) -> str:
    """Return an angle as the document prints them, a whole tick; a cell that says so already stays."""
    is_there = before is not None and place <= len(before.degrees)
    if before is not None and is_there and abs(before.degrees[place - 1] - angle_deg) <= PRINTED_DEG:
        return before.cells[place]
    ticks = min(max(round(angle_deg / servo.tick_deg), 0), servo.ticks - 1)
    hundredths = math.floor(ticks * servo.tick_deg * 100.0 + 0.5)  # 103.125 is printed 103.13
    return f"{hundredths / 100.0:.2f}"


def lost_in_table(motion: Motion, card: Robot) -> tuple[str, ...]:
    """Return what of a motion a joint table cannot hold, in words."""
    frames = motion.keyframes
    free = {joint for frame in frames for joint in frame.pose.free}
    strange = set(motion.joints) - set(card.numbering(NUMBERING).values())
    times = sorted({frame.reach_s / motion.speed for frame in frames} - {STEP_S})
    checks = (
        (times, f"times: a table says none, each step is read back as {STEP_S:g} s"),
        (any(frame.pause_s for frame in frames), "pauses"),
        (any(frame.easing is not Easing.LINEAR for frame in frames), "easing: it is read back as linear"),
        (any(frame.stiffness for frame in frames), "stiffness"),
        (motion.repeat is not None, "its end: it is read back as repeated for ever"),
        (motion.next is not None or motion.exit is not None, "next and exit motion"),
        (motion.start is None, "that it has no start pose of its own: the initial pose is written for one"),
        (strange, f"joints without an ID: {', '.join(sorted(strange))}"),
        (free, f"torque off at {', '.join(sorted(free))}: written where the joint was"),
    )
    return (*(text for lost, text in checks if lost), *describe_lost_lights(motion))


ROBOT = "robotis_bioloid"  # whose joints the document numbered
QUANTUM = Quantum(angle_rad=math.radians(300.0 / 1024.0))
"""A tick of an AX servo; a table says no times at all."""


def _read(data: bytes, path: Path, card: Robot | None) -> MotionFile:
    table = read_table(data, path)
    motion = table_motion(table, robot(ROBOT) if card is None else card, name=path.stem, path=path)
    return MotionFile.of_single_motion(UC3M_CSV, path, motion, table.remarks, table)


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
