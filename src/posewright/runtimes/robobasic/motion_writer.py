"""Writes motions as a RoboBASIC program: a routine for each, and a beginning that calls one after the other.

    bow:
        SPEED 5
        MOVE G6A, 100, 58, 135, 160, 100      ' an empty field leaves its servo
        MOVE G6D, 100, 58, 135, 160, 100
        WAIT
        DELAY 500
        RETURN

`motion_reader` reads the same motions from it, to half a count, and to a pulse if a SPEED has the right time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.formats import Rounding
from posewright.formats.writing import describe_limit_violations
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.robots import robot as find_robot
from posewright.runtimes.robobasic.compiler import STATEMENTS
from posewright.runtimes.robobasic.expressions import PORT_FUNCTIONS
from posewright.runtimes.robobasic.formatter import format_source
from posewright.runtimes.robobasic.load import ROBOT
from posewright.runtimes.robobasic.routine_writer import COUNTER, LIMBS, RoutineWriter
from posewright.runtimes.robobasic.servos import board_parameters, find_group
from posewright.runtimes.robobasic.syntax import decode_source, read_source
from posewright.runtimes.robobasic.tree import AUTO, FLOW_WORDS

MAX_LABEL_LENGTH = 64
_SUFFIX_LENGTH = 8
"""Characters of a label that are left for `motion_` before it, or a number after it."""

RESERVED_WORDS = (
    STATEMENTS.keys()
    | PORT_FUNCTIONS.keys()
    | FLOW_WORDS.keys()
    | {"AS", "TO", "MOD", "AND", "OR", "XOR", COUNTER, AUTO}
)
"""Names that no label may have, in capitals."""


@dataclass(frozen=True)
class MotionsProgram:
    """Motions as a program.

    Attributes:
        text: the text of the program, with line feeds as line endings.
        labels: the labels of the routines, in the order of the motions.
        losses: what of the motions the program does not contain.
        remarks: what the program contains differently.
        rounding: the largest changes of a keyframe's angle and time.
    """

    text: str
    labels: tuple[str, ...]
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    rounding: Rounding

    @property
    def data(self) -> bytes:
        """The file for the original editor: CP949 with DOS line endings; UTF-8 if CP949 would be misread."""
        text = self.text.replace("\n", "\r\n")
        data = text.encode("cp949")
        return data if decode_source(data)[0] == text else text.encode("utf-8-sig")


def write_motions(
    motions: Sequence[Motion], robot: Robot | str = ROBOT, speed_counts_s: float | None = None
) -> MotionsProgram:
    """Return a program that plays motions one after the other, with a routine for each.

    Args:
        motions: the motions of the robot.
        robot: its servos have the board's numbers as IDs.
        speed_counts_s: counts a second at SPEED 1; the board's by default.

    Raises:
        InputError: there is no motion, one is for another robot, or an angle is outside of 10..190 counts.
    """
    robot = find_robot(robot) if isinstance(robot, str) else robot
    if not motions:
        raise InputError("there is no motion to write", hint="expected one or more motions")
    for motion in motions:
        if motion.robot != robot.name:
            hint = f"`posewright motion convert --robot {robot.name}` transfers its joints by name"
            raise InputError(f"motion {motion.name!r} is for {motion.robot}, not {robot.name}", hint=hint)
    labels = _choose_labels(motions)
    writers = [RoutineWriter(motion, robot, speed_counts_s) for motion in motions]
    routines = [[*writer.write_routine(label)] for label, writer in zip(labels, writers, strict=True)]
    uses_high_speed = any(writer.uses_high_speed for writer in writers)
    lines = [*_write_beginning(labels, motions, robot)]
    for label, routine in zip(labels, routines, strict=True):
        lines += ["", f"{label}:"]
        if uses_high_speed and not routine[0].startswith("HIGHSPEED"):
            lines.append("    HIGHSPEED SETOFF")
        lines += [f"    {line}" for line in routine]
    losses: list[str] = []
    remarks: list[str] = []
    for writer in writers:
        prefix = f"{writer.motion.name}: " if len(motions) > 1 else ""
        losses += [f"{prefix}{loss}" for loss in writer.losses()]
        remarks += [f"{prefix}{remark}" for remark in describe_limit_violations(writer.motion)]
    for label, motion in zip(labels, motions, strict=True):
        if label != motion.name:
            remarks.append(f"motion {motion.name!r} has the label {label}")
    if sum(motion.repeat is None for motion in motions) > 1:
        remarks.append("of several motions that repeat for ever, the program plays only the first")
    rounding = Rounding(
        max(writer.max_angle_error_rad for writer in writers),
        max(writer.max_time_error_s for writer in writers),
    )
    text = format_source(read_source("\n".join(lines) + "\n"))
    return MotionsProgram(text, labels, losses=tuple(losses), remarks=tuple(remarks), rounding=rounding)


def _choose_labels(motions: Sequence[Motion]) -> tuple[str, ...]:
    """Return a different label for each motion, made from its name."""
    labels: list[str] = []
    used_labels: set[str] = set()  # in capitals
    for motion in motions:
        characters = [character if _may_be_in_label(character) else "_" for character in motion.name]
        stem = "".join(characters)[: MAX_LABEL_LENGTH - _SUFFIX_LENGTH].strip("_") or "motion"
        if not _is_valid_label(stem):
            stem = f"motion_{stem}"
        label = stem
        number = 1
        while label.upper() in used_labels:
            number += 1
            label = f"{stem}_{number}"
        labels.append(label)
        used_labels.add(label.upper())
    return tuple(labels)


def _may_be_in_label(character: str) -> bool:
    """Whether a character may be in a name and exists in the encoding of the original editor."""
    is_in_cp949 = character == character.encode("cp949", "replace").decode("cp949")
    return (character.isalnum() or character == "_") and is_in_cp949


def _is_valid_label(label: str) -> bool:
    """Whether a text begins like a name and is not a reserved word."""
    is_reserved = label.upper() in RESERVED_WORDS or find_group(label) is not None
    return label[0].isidentifier() and not is_reserved


def _write_beginning(labels: Sequence[str], motions: Sequence[Motion], robot: Robot) -> Iterator[str]:
    """Yield the lines before the first routine: the set-up of the servos, and a call of each routine.

    The set-up goes by groups of six servos, one for each limb of which the robot has a servo: their
    directions (DIR), those that hold where they are at first (GETMOTORSET), and their torque (MOTOR). A
    motion that repeats for ever never returns, so such motions are called last.

    Args:
        labels: the label of each motion's routine.
        motions: the motions; a `repeat` of None is for ever.
        robot: the robot, whose servos have the board's numbers as IDs.
    """
    parameters = board_parameters()
    servo_numbers = {servo.id for servo in robot.servos}
    limbs = {name: group for name, group in LIMBS.items() if servo_numbers.intersection(group)}
    yield f"' Motions of a RoboNova-1 (MR-C3024), written by Posewright: {', '.join(labels)}."
    if any((motion.repeat or 1) > 1 for motion in motions):
        yield f"DIM {COUNTER} AS INTEGER"
    yield ""
    yield "PTP SETON"
    yield "PTP ALLON"
    for name, group in limbs.items():
        directions = [str(parameters.directions[number]) for number in group]
        yield f"DIR {name}, {', '.join(directions)}"
    yield ""
    for name, group in limbs.items():
        presence_flags = ["1" if number in servo_numbers else "0" for number in group]
        yield f"GETMOTORSET {name}, {', '.join(presence_flags)}"
    yield f"SPEED {parameters.first_speed}"
    for name in limbs:
        yield f"MOTOR {name}"
    yield ""
    endless_labels: list[str] = []
    for label, motion in zip(labels, motions, strict=True):
        if motion.repeat is None:
            endless_labels.append(label)
        else:
            yield f"GOSUB {label}"
    for label in endless_labels:
        yield f"GOSUB {label}"
    yield "END"
