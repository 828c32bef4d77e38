"""Special moves: tables of the cycles at which poses of an EKMoves.h are loaded.

```yaml
ekmotion: mine
frames: 16                       # of the vector that leads to a pose, 1..16
moves:
  Kickb:
    command: 102
    steps:                       # cycle, array of the header; `head` or `legs` loads only those
      - [1, KICK_101_01]
      - [50, KICK_101_02, legs]
    end: 60                      # the cycle that answers MOVING_FINISH
```

Source: seeds.md A4: a cycle is one joint vector; the head has indices 0 to 3, the legs 4 to 15.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated

from posewright.documents import Bounds, FieldReader, Node, parse_document, read_record, read_text
from posewright.errors import DocumentError, FormatError, UnknownNameError, Where
from posewright.formats.ekmoves.document import JOINT_ORDER, PoseArray
from posewright.formats.ekmoves.reader import read_header
from posewright.formats.file_kind import read_file_bytes
from posewright.robots import Joint, Robot
from posewright.runtimes.openr.regions import MAX_FRAMES, to_micro_radians

RESERVED = (0, 998, 999, 1000)
"""Commands of walking and others, which are no special moves (seeds.md A4)."""

MAX_CYCLES = 100_000
MIN_COMMAND = -(2**31)
MAX_COMMAND = 2**31 - 1
"""A command is a C int."""

POSES = Path(__file__).parent / "EKMoves.h"
MOVES = Path(__file__).parent / "ekmotion.yaml"
"""Our own poses and moves, designed for the simulated dog."""

_N_HEAD_JOINTS = 4


class BodyPart(Enum):
    """The joints into which a pose is loaded."""

    ALL = "all"
    HEAD = "head"
    LEGS = "legs"

    @property
    def indices(self) -> range:
        """Indices of its joints in an array."""
        begin = _N_HEAD_JOINTS if self is BodyPart.LEGS else 0
        end = _N_HEAD_JOINTS if self is BodyPart.HEAD else len(JOINT_ORDER)
        return range(begin, end)

    def overlaps(self, part: BodyPart) -> bool:
        """Return whether two parts have a joint in common."""
        return BodyPart.ALL in (self, part) or self is part


@dataclass(frozen=True, slots=True)
class PoseLoad:
    """Sets the joints of a part to the angles of an array, at a cycle that is counted from 1."""

    cycle: int
    pose: str
    part: BodyPart = BodyPart.ALL
    where: Where | None = field(default=None, compare=False, repr=False)


def _read_load(node: Node) -> PoseLoad:
    """Return the load of a pose array from `[cycle, array]` or `[cycle, array, part]`."""
    values = node.items()
    if len(values) not in (2, 3):
        node.fail(f"{len(values)} values", hint="write [cycle, array], as in [50, KICK_101_02]")
    cycle, array, *part_values = values
    part = BodyPart.ALL
    for value in part_values:  # one or none
        part = BodyPart(value.choice("part", [choice.value for choice in BodyPart]))
    return PoseLoad(cycle.integer(low=1, high=MAX_CYCLES), array.text(), part, node.where)


@dataclass(frozen=True, slots=True, repr=False)
class SpecialMove:
    """A special move.

    Attributes:
        command: its number.
        steps: poses in the order of their cycles.
        end: the cycle that answers MOVING_FINISH.
        name: the name in MoveToPos, such as `Kickb`.
    """

    command: Annotated[int, Bounds(MIN_COMMAND, MAX_COMMAND)]
    steps: tuple[Annotated[PoseLoad, FieldReader(_read_load)], ...]
    end: Annotated[int, Bounds(1, MAX_CYCLES)]
    name: str = ""

    def __post_init__(self) -> None:
        if self.command in RESERVED:
            message = f"command {self.command} is reserved"
            raise DocumentError(message, hint="walking and others have 0, 998, 999 and 1000")
        if not self.steps:
            raise DocumentError("no steps", hint="at least one [cycle, array]")
        previous_cycle = 0
        loaded_parts = [BodyPart.ALL]
        for step in self.steps:
            if step.cycle > previous_cycle:
                previous_cycle = step.cycle
                loaded_parts = []
            elif step.cycle < previous_cycle or any(map(step.part.overlaps, loaded_parts)):
                message = f"cycle {step.cycle} comes after cycle {previous_cycle}"
                hint = "cycles increase; head and legs may be loaded at the same cycle"
                raise DocumentError(message, where=step.where, hint=hint)
            loaded_parts.append(step.part)
        last_step = self.steps[-1]
        if self.end <= last_step.cycle:
            message = f"the move ends at cycle {self.end}, before {last_step.pose} is reached"
            raise DocumentError(message, hint=f"end it after cycle {last_step.cycle}")

    def pose_loads_at(self, cycle: int) -> Iterable[PoseLoad]:
        """Return the poses that are loaded at a cycle."""
        return (step for step in self.steps if step.cycle == cycle)

    def __str__(self) -> str:
        return f"{self.command} {self.name}"

    def __repr__(self) -> str:
        return f"SpecialMove({self}: {len(self.steps)} steps, {self.end} cycles)"


@dataclass(frozen=True)
class SpecialMoves:
    """A table of moves, with the poses of a header.

    Attributes:
        moves_by_command: the moves that can be executed, by the number of their command.
        poses: the poses by name, 16 angles in the header's order [micro-radians].
        frames_per_pose: number of frames of the vector that leads to a pose.
        moves_without_poses: moves that lack arrays in the header, by command.
        limit_remarks: messages about poses beyond the robot's limits.
    """

    moves_by_command: Mapping[int, SpecialMove]
    poses: Mapping[str, tuple[int, ...]] = field(repr=False)
    frames_per_pose: int = MAX_FRAMES
    moves_without_poses: Mapping[int, SpecialMove] = field(default_factory=dict)
    limit_remarks: tuple[str, ...] = ()


def _read_moves(node: Node) -> tuple[SpecialMove, ...]:
    """Return the moves of a document; raise a DocumentError if two have the same number."""
    moves: dict[int, SpecialMove] = {}
    for name, entry in node.fields().items():
        move = read_record(entry, SpecialMove, name=name)
        if move.command in moves:
            owner = moves[move.command].name
            entry.fail(f"command {move.command} is that of {owner}", hint="give each move its own number")
        moves[move.command] = move
    return tuple(moves.values())


@dataclass(frozen=True)
class _MoveTable:
    """The document."""

    ekmotion: str
    moves: Annotated[tuple[SpecialMove, ...], FieldReader(_read_moves)]
    frames: Annotated[int, Bounds(1, MAX_FRAMES)] = MAX_FRAMES


def open_moves(
    poses: Path | None = None, moves: Path | None = None, robot: Robot | None = None
) -> SpecialMoves:
    """Read a table of moves and the header with its poses.

    With our own table, moves whose poses are not in the header become `moves_without_poses`.

    Args:
        poses: an EKMoves.h; None for ours.
        moves: a table; None for ours.
        robot: the robot whose limits the poses are checked against; None for no check.

    Raises:
        DocumentError: the table is faulty.
        FormatError: the header cannot be read; or the robot cannot take a pose.
        UnknownNameError: the table names an array that is not in the header.
    """
    header = poses or POSES
    pose_arrays = read_header(read_file_bytes(header), header).arrays
    angles_by_name = {
        array.name: tuple(to_micro_radians(math.radians(angle)) for angle in array.degrees)
        for array in pose_arrays
    }
    path = moves or MOVES
    table = read_record(parse_document(read_text(path), path), _MoveTable)
    available: dict[int, SpecialMove] = {}
    missing: dict[int, SpecialMove] = {}
    for move in table.moves:
        steps_without_pose = [step for step in move.steps if step.pose not in angles_by_name]
        if not steps_without_pose:
            available[move.command] = move
            continue
        if moves is not None:
            step = steps_without_pose[0]
            raise UnknownNameError.among("array", step.pose, angles_by_name, where=step.where)
        missing[move.command] = move
    used_poses = {step.pose for move in available.values() for step in move.steps}
    joints = {} if robot is None else {joint.name: joint for joint in robot.joints}
    remarks: list[str] = []
    for array in pose_arrays:
        if array.name in used_poses:
            remarks += _limit_remarks(array, joints, Where(header, array.line))
    return SpecialMoves(available, angles_by_name, table.frames, missing, limit_remarks=tuple(remarks))


def _limit_remarks(array: PoseArray, joints: Mapping[str, Joint], where: Where) -> Iterator[str]:
    """Yield remarks about angles beyond limits; raise a FormatError if a joint cannot reach one."""
    for name, angle in zip(JOINT_ORDER, array.degrees, strict=True):
        joint = joints.get(name)
        if joint is None or joint.allows(math.radians(angle)):
            continue
        subject = f"{array.name}: {name} at {angle:g} deg is beyond"
        limits = _format_range(joint.lower_rad, joint.upper_rad)
        if not joint.reaches(math.radians(angle)):
            reach = _format_range(joint.hardware_lower_rad, joint.hardware_upper_rad)
            message = f"{subject} what it can do"
            raise FormatError(message, where=where, hint=f"it can do {reach}, and should {limits}")
        yield f"{where}: {subject} its limits {limits}"


def _format_range(lower_rad: float, upper_rad: float) -> str:
    return f"{math.degrees(lower_rad):g} to {math.degrees(upper_rad):g}"
