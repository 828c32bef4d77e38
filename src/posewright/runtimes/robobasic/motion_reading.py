"""Static routines of a program as motions: what MOVE, WAIT, DELAY and SPEED come to is found by running them.

A routine is what begins at a label, or at the beginning of the program, up to its RETURN, END, STOP or last
line; where it goes back to its own label by GOTO, it repeats for ever. SPEED, HIGHSPEED, PTP and DIR are at
first as the beginning of the program leaves them, and the robot stands. A keyframe is what MOVE laid down
between two pulses; how long it takes is as good as the assumption of how fast SPEED 1 is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.motions import Keyframe, Motion, Pose
from posewright.motions.motion import STAND
from posewright.robots import Robot
from posewright.robots import robot as robot_named
from posewright.runtimes.robobasic.machine import Program
from posewright.runtimes.robobasic.opening import ROBOT, open_program
from posewright.runtimes.robobasic.paces import written_paces
from posewright.runtimes.robobasic.routine_run import MOST_STATEMENTS, Moment, RoutineRun, as_left
from posewright.runtimes.robobasic.servos import Servos, board_servos
from posewright.runtimes.robobasic.tree import Command, Line

LEAST_STATEMENTS = 2_000
"""So many statements may a routine have in any case; beyond, all share what one may have."""

DECIMALS = 4
"""Of an angle in degrees: a count is one, but for the last digits of its size in radians."""


@dataclass(frozen=True)
class Routine:
    """What begins at a label.

    Attributes:
        label: as it is written; empty for the beginning of the program.
        line: of the label, from 1.
        motion: what it does; None where it is not static, or moves nothing.
        why: why it is not static; empty where it is.
        why_line: of the statement that makes it so; 0 where it is static.
        remarks: what of it the motion does not say, in words.
    """

    label: str
    line: int
    motion: Motion | None
    why: str = ""
    why_line: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def is_static(self) -> bool:
        """Whether it does the same whenever it is called."""
        return not self.why


def routines(
    program: Program | str | Path, robot: Robot | str = ROBOT, speed_counts_s: float | None = None
) -> tuple[Routine, ...]:
    """Return the beginning of a program and what begins at each of its labels, in the order of their lines.

    Args:
        program: what is looked through: a program that ships, by name, a file, or one that was opened.
        robot: its servos have the board's numbers as IDs.
        speed_counts_s: counts a second at SPEED 1; the board's by default.

    Raises:
        InputError: there is no such program, it has errors, or the robot has no such board.
    """
    program = program if isinstance(program, Program) else open_program(program)
    reader = _Reader(program, robot_named(robot) if isinstance(robot, str) else robot, speed_counts_s)
    places = [(line.label, line.number) for line in program.source.lines if _is_routine(line)]
    return tuple(reader.routine(label, line) for label, line in [("", 1), *places])


def program_motions(
    program: Program | str | Path, robot: Robot | str = ROBOT, speed_counts_s: float | None = None
) -> tuple[tuple[Motion, ...], tuple[str, ...]]:
    """Return a motion for each static routine that moves anything, and what they do not say, in words.

    Args and errors as of `routines`.
    """
    found = routines(program, robot, speed_counts_s)
    moving = [(one.motion, one.remarks) for one in found if one.motion is not None]
    told = tuple(f"{motion.name}: {remark}" for motion, remarks in moving for remark in remarks)
    return tuple(motion for motion, _ in moving), told


def standing_counts(robot: Robot) -> dict[int, float]:
    """Return where the servos of a robot stand, in counts by their numbers on the board.

    Raises:
        InputError: the robot has no such board.
    """
    numbers = board_servos(robot)
    return dict(zip(numbers, map(float, robot.to_ticks(robot.pose(STAND))), strict=True))


def _is_routine(line: Line) -> bool:
    """Tell whether a line has a label to which a program may go; a pose has another kind of label."""
    return bool(line.label) and not (isinstance(line.statement, Command) and line.statement.key == "POS")


class _Reader:
    """Reads the routines of one program."""

    def __init__(self, program: Program, robot: Robot, speed_counts_s: float | None) -> None:
        self._program, self._robot, self._speed = program, robot, speed_counts_s
        self._stand = standing_counts(robot)
        self._joints = dict(zip(self._stand, robot.joint_names, strict=True))
        self._first = RoutineRun(program, self._servos(), self._joints.keys(), 0, at_power_on=True)
        self._left = MOST_STATEMENTS

    def _servos(self) -> Servos:
        return Servos(self._stand, self._robot.frame_period_s, self._speed)

    def routine(self, label: str, line: int) -> Routine:
        """Return what begins at a label."""
        run = self._first
        if label:
            at = self._program.labels[label.upper()]
            servos, most = as_left(run.servos, self._servos()), max(self._left, LEAST_STATEMENTS)
            run = RoutineRun(self._program, servos, self._joints.keys(), at, most)
            self._left -= run.steps
        if run.why:
            return Routine(label, line, None, run.why, run.line)
        moments, end = run.one_pass()
        if not moments:
            return Routine(label, line, None)
        motion = self._motion(self._name(label), moments, end, repeats=run.repeats)
        source = str(self._program.source.where(line))
        return Routine(label, line, replace(motion, source=source), remarks=tuple(run.remarks()))

    def _name(self, label: str) -> str:
        """Return the name of a motion: its label, or that of the program, if no label has it."""
        if label:
            return f"line_{label}" if label[0].isdigit() else label
        name = self._program.name or "program"
        return f"{name}_begin" if name.upper() in self._program.labels else name

    def _motion(self, name: str, moments: Sequence[Moment], end: int, *, repeats: bool) -> Motion:
        used = {servo for one in moments for servo in one.counts.keys() | one.free}
        joints = tuple(joint for servo, joint in self._joints.items() if servo in used)
        ends = [*(one.begin for one in moments[1:]), end]
        frames = [self._keyframe(one, until, joints) for one, until in zip(moments, ends, strict=True)]
        paces = [one.pace for one in moments]
        if moments[0].begin and not repeats:
            frames.insert(0, Keyframe(Pose.of(joints, {}), 0.0, self._seconds(moments[0].begin)))
            paces.insert(0, None)
        again = None if repeats else 1
        return Motion(
            name, self._robot.name, joints, tuple(frames), repeat=again, extras=written_paces(paces)
        )

    def _keyframe(self, one: Moment, until: int, joints: tuple[str, ...]) -> Keyframe:
        angles = {}
        for servo, counts in one.counts.items():
            joint = self._joints[servo]
            degrees = math.degrees(self._robot.servo(joint).from_ticks(counts))
            angles[joint] = math.radians(round(degrees, DECIMALS))
        pose = Pose.of(joints, angles, {self._joints[servo] for servo in one.free})
        return Keyframe(pose, self._seconds(one.n), self._seconds(max(0, until - one.end)))

    def _seconds(self, pulses: int) -> float:
        return round(pulses * self._robot.frame_period_s, 9)
