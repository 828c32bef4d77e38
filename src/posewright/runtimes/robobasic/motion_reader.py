"""Reads the static routines of a program as motions, by running each routine and recording the servos' moves.

A routine begins at a label, or at the beginning of the program, and ends with its RETURN, END, STOP or last
line; if it goes back to its own label by GOTO, it repeats for ever. It starts with SPEED, HIGHSPEED, PTP and
DIR as the beginning of the program sets them, and the robot stands. A keyframe holds the MOVEs between two
pulses. Its time is as accurate as the assumed speed of SPEED 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.motions import Keyframe, Motion, Pose
from posewright.motions.motion import STAND
from posewright.robots import Robot
from posewright.robots import robot as find_robot
from posewright.runtimes.robobasic.load import ROBOT, open_program
from posewright.runtimes.robobasic.machine import CompiledProgram
from posewright.runtimes.robobasic.routine_run import (
    MAX_STATEMENTS,
    RecordedMove,
    RoutineRun,
    inherit_settings,
)
from posewright.runtimes.robobasic.servos import BoardServos, board_joints
from posewright.runtimes.robobasic.speed_settings import encode_speed_settings
from posewright.runtimes.robobasic.tree import CommandStatement, SourceLine

MIN_STATEMENTS = 2_000
"""Each routine may run so many statements, even after all routines together have run `MAX_STATEMENTS`."""

DECIMALS = 4
"""Of an angle in degrees; a count is a degree, apart from rounding errors of its size in radians."""


@dataclass(frozen=True)
class Routine:
    """A routine of a program.

    Attributes:
        label: as written; empty for the beginning of the program.
        line: the line of the label, from 1.
        motion: None if the routine is not static or moves nothing.
        failure: why the routine is not static; empty if it is.
        failure_line: the line of the statement that makes it so; 0 for a static routine.
        remarks: what the motion does not contain, or contains differently.
    """

    label: str
    line: int
    motion: Motion | None
    failure: str = ""
    failure_line: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def is_static(self) -> bool:
        """Whether the routine does the same whenever it is called."""
        return not self.failure


def read_routines(
    program: CompiledProgram | str | Path, robot: Robot | str = ROBOT, speed_counts_s: float | None = None
) -> tuple[Routine, ...]:
    """Return the routines of a program: its beginning, and one for each label, in the order of lines.

    Args:
        program: a program that ships with the package, by name; a file; or a compiled program.
        robot: its servos have the board's numbers as IDs.
        speed_counts_s: counts a second at SPEED 1; the board's by default.

    Raises:
        InputError: there is no such program, it has errors, or the robot is not driven by such a board.
    """
    program = program if isinstance(program, CompiledProgram) else open_program(program)
    robot = find_robot(robot) if isinstance(robot, str) else robot
    reader = _RoutineReader(program, robot, speed_counts_s)
    routines = [reader.read_routine(label="", line_number=1)]
    for line in program.source.lines:
        if _begins_routine(line):
            routines.append(reader.read_routine(line.label, line.number))
    return tuple(routines)


def read_motions(
    program: CompiledProgram | str | Path, robot: Robot | str = ROBOT, speed_counts_s: float | None = None
) -> tuple[tuple[Motion, ...], tuple[str, ...]]:
    """Return the motions of a program's static routines, and remarks about what they do not contain.

    See `read_routines` for arguments and errors.
    """
    motions: list[Motion] = []
    remarks: list[str] = []
    for routine in read_routines(program, robot, speed_counts_s):
        if routine.motion is not None:
            motions.append(routine.motion)
            remarks += [f"{routine.motion.name}: {remark}" for remark in routine.remarks]
    return tuple(motions), tuple(remarks)


def standing_counts(robot: Robot) -> dict[int, float]:
    """Return the positions of a standing robot's servos in counts, by their numbers on the board.

    Raises:
        InputError: the robot is not driven by such a board.
    """
    numbers = board_joints(robot)
    return dict(zip(numbers, map(float, robot.to_ticks(robot.pose(STAND))), strict=True))


def _begins_routine(line: SourceLine) -> bool:
    """Whether a line has the label of a routine; the label of a pose is none."""
    is_pose = isinstance(line.statement, CommandStatement) and line.statement.key == "POS"
    return bool(line.label) and not is_pose


class _RoutineReader:
    """Reads the routines of one program."""

    def __init__(self, program: CompiledProgram, robot: Robot, speed_counts_s: float | None) -> None:
        self._program = program
        self._robot = robot
        self._speed_counts_s = speed_counts_s
        self._standing_counts = standing_counts(robot)
        self._joint_of_servo = dict(zip(self._standing_counts, robot.joint_names, strict=True))  # by servo
        self._beginning = RoutineRun(
            program,
            servos=self._standing_servos(),
            servo_numbers=self._joint_of_servo.keys(),
            address=0,
            at_power_on=True,
        )
        self._statements_left = MAX_STATEMENTS  # for all further routines together

    def _standing_servos(self) -> BoardServos:
        return BoardServos(self._standing_counts, self._robot.frame_period_s, self._speed_counts_s)

    def read_routine(self, label: str, line_number: int) -> Routine:
        """Return the routine at a label: its motion, found by running it, or why it has none.

        Args:
            label: as written; empty for the beginning of the program, which has been run already.
            line_number: the line of the label, from 1.
        """
        if label:
            run = RoutineRun(
                self._program,
                servos=inherit_settings(self._standing_servos(), self._beginning.servos),
                servo_numbers=self._joint_of_servo.keys(),
                address=self._program.labels[label.upper()],
                max_statements=max(self._statements_left, MIN_STATEMENTS),
            )
            self._statements_left -= run.n_statements
        else:
            run = self._beginning
        if run.failure:
            return Routine(label, line_number, motion=None, failure=run.failure, failure_line=run.line)
        moves, end_pulses = run.one_pass()
        if not moves:
            return Routine(label, line_number, motion=None)
        motion = self._build_motion(self._motion_name(label), moves, end_pulses, repeats=run.repeats)
        source = str(self._program.source.where(line_number))
        return Routine(label, line_number, replace(motion, source=source), remarks=tuple(run.remarks()))

    def _motion_name(self, label: str) -> str:
        """Return the name of a routine's motion; that of the beginning is the program's name."""
        if label:
            return f"line_{label}" if label[0].isdigit() else label
        name = self._program.name or "program"
        return f"{name}_begin" if name.upper() in self._program.labels else name

    def _build_motion(
        self, name: str, moves: Sequence[RecordedMove], end_pulses: int, *, repeats: bool
    ) -> Motion:
        """Return the motion of a routine's moves.

        A pause before the first move becomes a keyframe without angles, unless the routine repeats, whose
        passes end with that pause.

        Args:
            name: the name of the motion.
            moves: the moves of one pass.
            end_pulses: number of pulses sent at the end of the pass.
            repeats: whether the routine repeats for ever.
        """
        servos: set[int] = set()
        for move in moves:
            servos |= move.target_counts_by_servo.keys() | move.released_servos
        joints = tuple(joint for servo, joint in self._joint_of_servo.items() if servo in servos)
        next_begin_pulses = [*(move.begin_pulse for move in moves[1:]), end_pulses]
        keyframes = [
            self._build_keyframe(move, next_begin_pulse, joints)
            for move, next_begin_pulse in zip(moves, next_begin_pulses, strict=True)
        ]
        speeds = [move.speed for move in moves]
        first_pause_pulses = moves[0].begin_pulse
        if first_pause_pulses and not repeats:
            first_pause_s = self._to_seconds(first_pause_pulses)
            keyframes = [Keyframe(Pose.of(joints, {}), reach_s=0.0, pause_s=first_pause_s), *keyframes]
            speeds = [None, *speeds]
        return Motion(
            name,
            self._robot.name,
            joints,
            keyframes=tuple(keyframes),
            repeat=None if repeats else 1,
            extras=encode_speed_settings(speeds),
            card=self._robot,
        )

    def _build_keyframe(self, move: RecordedMove, next_begin_pulse: int, joints: tuple[str, ...]) -> Keyframe:
        """Return the keyframe of a move, with a pause until the next move begins.

        The board moves its servos once per pulse, the period of their control signal; counts are its units of
        angle.

        Args:
            move: the move as it was recorded while the program ran.
            next_begin_pulse: the pulse at which the next move begins.
            joints: the names of the motion's joints.
        """
        angles: dict[str, float] = {}
        for servo, counts in move.target_counts_by_servo.items():
            joint = self._joint_of_servo[servo]
            degrees = math.degrees(self._robot.servo(joint).from_ticks(counts))
            angles[joint] = math.radians(round(degrees, DECIMALS))
        free_joints = {self._joint_of_servo[servo] for servo in move.released_servos}
        pose = Pose.of(joints, angles, free_joints)
        pause_pulses = max(0, next_begin_pulse - move.end_pulse)
        return Keyframe(pose, self._to_seconds(move.n_pulses), self._to_seconds(pause_pulses))

    def _to_seconds(self, pulses: int) -> float:
        """Return the time of a number of pulses of the servos [s], one in each frame."""
        return round(pulses * self._robot.frame_period_s, 9)
