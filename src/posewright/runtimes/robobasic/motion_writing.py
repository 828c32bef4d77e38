"""Motions as a RoboBASIC program: a routine for each, and a beginning that calls one after the other.

    bow:
        SPEED 5
        MOVE G6A, 100, 58, 135, 160, 100      ' an empty field leaves its servo
        MOVE G6D, 100, 58, 135, 160, 100
        WAIT
        DELAY 500
        RETURN

`motion_reading` makes the same motions of it again, to half a count and a pulse where a SPEED gives the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.formats import Rounding
from posewright.formats.writing import describe_limit_violations
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named
from posewright.runtimes.robobasic.compiling import WORDS
from posewright.runtimes.robobasic.expressions import FUNCTIONS
from posewright.runtimes.robobasic.layout import formatted
from posewright.runtimes.robobasic.opening import ROBOT
from posewright.runtimes.robobasic.routine_writing import COUNTER, LIMBS, RoutineWriter
from posewright.runtimes.robobasic.servos import board_facts, group_of
from posewright.runtimes.robobasic.steps import AUTO
from posewright.runtimes.robobasic.syntax import decode_source, read_source
from posewright.runtimes.robobasic.tree import FLOW_WORDS

LONGEST_LABEL = 64
HIGH = ("HIGHSPEED SETON", "HIGHSPEED SETOFF")


@dataclass(frozen=True)
class MotionsProgram:
    """Motions as a program.

    Attributes:
        text: of the program, its lines ended by line feeds.
        labels: of the routines, in the order of the motions.
        losses: what of the motions it cannot hold, in words.
        remarks: what had to be said in another way, in words.
        rounding: the largest changes of an angle at a keyframe and of the time of one.
    """

    text: str
    labels: tuple[str, ...]
    losses: tuple[str, ...]
    remarks: tuple[str, ...]
    rounding: Rounding

    @property
    def data(self) -> bytes:
        """The file as their editor has it: CP949, lines ended as DOS does; UTF-8 where that is misread."""
        text = self.text.replace("\n", "\r\n")
        data = text.encode("cp949")
        return data if decode_source(data)[0] == text else text.encode("utf-8-sig")


def motions_program(
    motions: Sequence[Motion], robot: Robot | str = ROBOT, speed_counts_s: float | None = None
) -> MotionsProgram:
    """Return a program that plays motions, one after the other, and has a routine for each.

    Args:
        motions: of the robot.
        robot: its servos have the board's numbers as IDs.
        speed_counts_s: counts a second at SPEED 1; the board's by default.

    Raises:
        InputError: there is no motion, one is another robot's, or a joint is asked beyond 10..190 counts.
    """
    robot = robot_named(robot) if isinstance(robot, str) else robot
    if not motions:
        raise InputError("no motion is given", hint="name one or more")
    for motion in motions:
        if motion.robot != robot.name:
            hint = f"`posewright motion convert --robot {robot.name}` carries its joints over by their names"
            raise InputError(f"motion {motion.name!r} is for {motion.robot}", hint=hint)
    labels = _labels(motions)
    writers = [RoutineWriter(motion, robot, speed_counts_s) for motion in motions]
    bodies = [[*writer.routine(label)] for label, writer in zip(labels, writers, strict=True)]
    off = ["HIGHSPEED SETOFF"] if any(writer.goes_high for writer in writers) else []
    lines = [*_beginning(labels, motions, robot)]
    for label, body in zip(labels, bodies, strict=True):
        lines += ["", f"{label}:", *(f"    {line}" for line in (*off * (body[0] not in HIGH), *body))]
    many = len(motions) > 1
    losses = [f"{one.motion.name}: {loss}" if many else loss for one in writers for loss in one.losses()]
    remarks = [
        f"{motion.name}: {told}" if many else told
        for motion in motions
        for told in describe_limit_violations(motion)
    ]
    for label, motion in zip(labels, motions, strict=True):
        if label != motion.name:
            remarks.append(f"motion {motion.name!r} is at the label {label}")
    if sum(motion.repeat is None for motion in motions) > 1:
        remarks.append("of several motions that repeat for ever, the program plays only the first")
    rounding = Rounding(max(one.angle_rad for one in writers), max(one.time_s for one in writers))
    text = formatted(read_source("\n".join(lines) + "\n"))
    return MotionsProgram(text, labels, tuple(losses), tuple(remarks), rounding)


def _labels(motions: Sequence[Motion]) -> tuple[str, ...]:
    """Return a label for each motion: its name as far as that can be one, and no two alike."""
    labels: list[str] = []
    for motion in motions:
        signs = (sign if _is_word(sign) else "_" for sign in motion.name)
        stem = label = "".join(signs)[: LONGEST_LABEL - 8].strip("_") or "motion"
        if not _is_free(label):
            stem = label = f"motion_{stem}"
        number = 1
        while label.upper() in {one.upper() for one in labels}:
            number += 1
            label = f"{stem}_{number}"
        labels.append(label)
    return tuple(labels)


def _is_word(sign: str) -> bool:
    """Tell whether a sign may stand in a name, and their editor has it."""
    return (sign.isalnum() or sign == "_") and sign == sign.encode("cp949", "replace").decode("cp949")


def _is_free(label: str) -> bool:
    """Tell whether a word begins as a name does, and is none of the language's."""
    taken = (
        WORDS.keys()
        | FUNCTIONS.keys()
        | FLOW_WORDS.keys()
        | {"AS", "TO", "MOD", "AND", "OR", "XOR"}
        | {COUNTER, AUTO}
    )
    return label[0].isidentifier() and label.upper() not in taken and group_of(label) is None


def _beginning(labels: Sequence[str], motions: Sequence[Motion], robot: Robot) -> Iterator[str]:
    """Yield the lines before the first routine; motions that repeat for ever are called last."""
    facts, numbers = board_facts(), {servo.id for servo in robot.servos}
    yield f"' Motions of a RoboNova-1 (MR-C3024), written by Posewright: {', '.join(labels)}."
    if any((motion.repeat or 1) > 1 for motion in motions):
        yield f"DIM {COUNTER} AS INTEGER"
    yield from ("", "PTP SETON", "PTP ALLON")
    for name, group in LIMBS.items():
        if numbers.intersection(group):
            yield f"DIR {name}, {', '.join(str(facts.directions[servo]) for servo in group)}"
    yield ""
    for name, group in LIMBS.items():
        if numbers.intersection(group):
            yield f"GETMOTORSET {name}, {', '.join(str(int(servo in numbers)) for servo in group)}"
    yield f"SPEED {facts.first_speed}"
    yield from (f"MOTOR {name}" for name, group in LIMBS.items() if numbers.intersection(group))
    yield ""
    for for_ever in (False, True):
        yield from (
            f"GOSUB {label}"
            for label, motion in zip(labels, motions, strict=True)
            if (motion.repeat is None) == for_ever
        )
    yield "END"
