"""Special moves as data: which poses of an EKMoves.h are loaded at which cycles.

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
from posewright.formats.ekmoves.document import ORDER, PoseArray
from posewright.formats.ekmoves.reader import read_header
from posewright.formats.file_kind import read_file_bytes
from posewright.robots import Joint, Robot
from posewright.runtimes.openr.regions import MAX_FRAMES, micro

RESERVED = (0, 998, 999, 1000)
"""Commands that are no special moves: walking and others (seeds.md A4)."""

MOST_CYCLES = 100_000
LEAST, MOST = -(2**31), 2**31 - 1
"""A command is a C int."""

POSES, MOVES = (Path(__file__).parent / name for name in ("EKMoves.h", "ekmotion.yaml"))
"""Ours, designed for the simulated dog; nobody else's numbers."""

_HEAD = 4


class Part(Enum):
    """What a pose is loaded into."""

    ALL = "all"
    HEAD = "head"
    LEGS = "legs"

    @property
    def indices(self) -> range:
        """Of its joints in an array."""
        return range(_HEAD if self is Part.LEGS else 0, _HEAD if self is Part.HEAD else len(ORDER))

    def meets(self, other: Part) -> bool:
        """Return whether both have a joint."""
        return Part.ALL in (self, other) or self is other


@dataclass(frozen=True, slots=True)
class Load:
    """At a cycle, counted from 1, the joints of a part get the angles of an array."""

    cycle: int
    pose: str
    part: Part = Part.ALL
    where: Where | None = field(default=None, compare=False, repr=False)


def _load(node: Node) -> Load:
    parts = node.items()
    if len(parts) not in (2, 3):
        node.fail(f"{len(parts)} values", hint="right is [cycle, array], as in [50, KICK_101_02]")
    part = Part(parts[2].choice("part", [one.value for one in Part])) if len(parts) == 3 else Part.ALL
    return Load(parts[0].integer(low=1, high=MOST_CYCLES), parts[1].text(), part, node.where)


@dataclass(frozen=True, slots=True, repr=False)
class Move:
    """One special move.

    Attributes:
        command: that begins it.
        steps: in the order in which they are done.
        end: the cycle that answers MOVING_FINISH.
        name: in MoveToPos, `Kickb`.
    """

    command: Annotated[int, Bounds(LEAST, MOST)]
    steps: tuple[Annotated[Load, FieldReader(_load)], ...]
    end: Annotated[int, Bounds(1, MOST_CYCLES)]
    name: str = ""

    def __post_init__(self) -> None:
        if self.command in RESERVED:
            self._refuse(
                f"command {self.command} is reserved", "walking and others have 0, 998, 999 and 1000"
            )
        if not self.steps:
            self._refuse("no steps", "at least one [cycle, array]")
        last, parts = 0, [Part.ALL]
        for one in self.steps:
            if one.cycle > last:
                last, parts = one.cycle, []
            elif one.cycle < last or any(map(one.part.meets, parts)):
                hint = "cycles rise; head and legs may be loaded at one"
                self._refuse(f"cycle {one.cycle} comes after cycle {last}", hint, one.where)
            parts.append(one.part)
        if self.end <= self.steps[-1].cycle:
            what = f"it ends at cycle {self.end}, before {self.steps[-1].pose} was reached"
            self._refuse(what, f"the end comes after cycle {self.steps[-1].cycle}")

    def _refuse(self, what: str, right: str, where: Where | None = None) -> None:
        raise DocumentError(what, where=where, hint=right)

    def at(self, cycle: int) -> Iterable[Load]:
        """Return what is loaded at a cycle."""
        return (one for one in self.steps if one.cycle == cycle)

    def __str__(self) -> str:
        return f"{self.command} {self.name}"

    def __repr__(self) -> str:
        return f"Move({self}: {len(self.steps)} steps, {self.end} cycles)"


@dataclass(frozen=True)
class Moves:
    """A table of moves over the poses of a header.

    Attributes:
        moves: by command.
        poses: by name, 16 angles in the header's order [micro-radians].
        frames: of the vector that leads to a pose.
        missing: those that cannot be made as the header lacks arrays, by command.
        remarks: on poses beyond what a robot should do.
    """

    moves: Mapping[int, Move]
    poses: Mapping[str, tuple[int, ...]] = field(repr=False)
    frames: int = MAX_FRAMES
    missing: Mapping[int, Move] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def _moves(node: Node) -> tuple[Move, ...]:
    found: dict[int, Move] = {}
    for name, entry in node.fields().items():
        move = read_record(entry, Move, name=name)
        if move.command in found:
            other = found[move.command].name
            entry.fail(f"command {move.command} is {other}'s", hint="each has a number of its own")
        found[move.command] = move
    return tuple(found.values())


@dataclass(frozen=True)
class _Table:
    """The document."""

    ekmotion: str
    moves: Annotated[tuple[Move, ...], FieldReader(_moves)]
    frames: Annotated[int, Bounds(1, MAX_FRAMES)] = MAX_FRAMES


def open_moves(poses: Path | None = None, moves: Path | None = None, robot: Robot | None = None) -> Moves:
    """Return the moves of a table over the poses of a header, each ours where none is given.

    Our own table over somebody's header gives what the header has poses for; the rest is `missing`.

    Raises:
        DocumentError: the table is not what it should be.
        FormatError: the header cannot be read, or is none; or the robot cannot take a pose.
        UnknownNameError: the table names an array that the header does not have.
    """
    header = poses or POSES
    found = read_header(read_file_bytes(header), header).arrays
    arrays = {one.name: tuple(micro(math.radians(angle)) for angle in one.degrees) for one in found}
    path = moves or MOVES
    table = read_record(parse_document(read_text(path), path), _Table)
    unknown = [(move, one) for move in table.moves for one in move.steps if one.pose not in arrays]
    if unknown and moves is not None:
        step = unknown[0][1]
        raise UnknownNameError.among("array", step.pose, arrays, where=step.where)
    missing = {move.command: move for move, _ in unknown}
    made = {move.command: move for move in table.moves if move.command not in missing}
    loaded = {step.pose for move in made.values() for step in move.steps}
    joints = {} if robot is None else {joint.name: joint for joint in robot.joints}
    used = (one for one in found if one.name in loaded)
    remarks = tuple(told for one in used for told in _beyond(one, joints, Where(header, one.line)))
    return Moves(made, arrays, table.frames, missing, remarks)


def _beyond(array: PoseArray, joints: Mapping[str, Joint], where: Where) -> Iterator[str]:
    """Yield remarks on angles beyond the joints' limits; FormatError where none can do it."""
    for name, angle in zip(ORDER, array.degrees, strict=True):
        joint, what = joints.get(name), f"{array.name}: {name} at {angle:g} deg is beyond"
        if joint is None or joint.allows(math.radians(angle)):
            continue
        if not joint.reaches(math.radians(angle)):
            can = _span(joint.hardware_lower_rad, joint.hardware_upper_rad)
            hint = f"it can do {can}, and should {_span(joint.lower_rad, joint.upper_rad)}"
            raise FormatError(f"{what} what it can do", where=where, hint=hint)
        yield f"{where}: {what} its limits {_span(joint.lower_rad, joint.upper_rad)}"


def _span(*rad: float) -> str:
    return " to ".join(f"{math.degrees(one):g}" for one in rad)
