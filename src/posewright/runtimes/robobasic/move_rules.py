"""Checks of how a program moves servos: joint limits, speeds, waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posewright.robots import Robot
from posewright.runtimes.robobasic import tree
from posewright.runtimes.robobasic.servos import MIDDLE, board_joints, board_parameters, find_group
from posewright.runtimes.robobasic.speed_settings import SpeedSetting
from posewright.runtimes.robobasic.step_builder import normalize_move

_TOLERANCE = 0.5
"""Counts are integers, limits are not."""


@dataclass(frozen=True, slots=True)
class ServoRange:
    """The range and speed of a joint in counts of its servo.

    Attributes:
        joint: its name.
        low: lower limit [counts].
        high: upper limit [counts].
        max_speed: without load [counts/s].
    """

    joint: str
    low: float
    high: float
    max_speed: float

    @classmethod
    def of(cls, robot: Robot, joint: str) -> ServoRange:
        """Return the range of a joint of a robot."""
        servo = robot.servo(joint)
        limits = robot.joint(joint)
        low, high = sorted(servo.to_ticks(limit) for limit in (limits.lower_rad, limits.upper_rad))
        return cls(joint, low, high, servo.no_load_speed_rad_s / servo.tick_rad)


class _ServoField(NamedTuple):
    """A field of a statement such as MOVE that is not empty.

    Attributes:
        servo: the servo that it is for.
        n_commas: the number of commas before it in the statement.
        value: its expression.
    """

    servo: int
    n_commas: int
    value: tree.Argument


class MoveRules:
    """Checks the moves of one program, line by line.

    SPEED and HIGHSPEED count as known up to the next label, block or GOSUB.

    Args:
        robot: the robot whose limits apply.
        fold_constant: returns the value of a constant expression, or None.
        poses: POS statements by label in capitals.
    """

    def __init__(
        self,
        robot: Robot,
        fold_constant: Callable[[tree.Argument], int | None],
        poses: Mapping[str, tree.CommandStatement],
    ) -> None:
        joints = board_joints(robot)
        self._range_of_servo = {servo: ServoRange.of(robot, joint) for servo, joint in joints.items()}
        self._fold_constant = fold_constant
        self._pose_statements = poses
        self._mirrored_servos: set[int] = set()  # numbers of the servos that DIR reverses
        self._reported_servos: set[int] = set()  # numbers without a servo
        self._uses_high_speed = False
        self._known_speed: int | None = board_parameters().first_speed  # of SPEED; None where it is unknown
        self._known_high_speed: bool | None = False  # of HIGHSPEED; None where it is unknown
        self._last_move_lines: dict[int, int] = {}  # by servo, the line of a MOVE that may still run
        self._is_wait_reported = False

    def check(self, lines: Sequence[tree.SourceLine]) -> Iterator[tree.BasicFinding]:
        """Yield the findings about the lines of the program.

        All DIR statements are checked first, since they decide which counts are mirrored; then whether the
        first MOVE may jump; then line by line, as SPEED and the moves that may still run change.
        """
        commands: list[tuple[tree.SourceLine, tree.CommandStatement]] = []
        for line in lines:
            for statement in tree.statements_in(line.statement):
                if isinstance(statement, tree.CommandStatement):
                    commands.append((line, statement))
        self._uses_high_speed = any(
            command.key == "HIGHSPEED" and _first_name(command) == "SETON" for _, command in commands
        )
        for line, command in commands:
            if command.key == "DIR":
                yield from self._check_direction(line, command)
        first_move = next((line for line, command in commands if _is_move(command)), None)
        if first_move is not None and not any(map(_reads_positions, lines)):
            message = "the servos may jump at this first MOVE: the program has not read their positions"
            yield finding_at(first_move, "jump", message, hint="GETMOTORSET G24, 1, 1, ..., at the beginning")
        for line in lines:
            yield from self._check_line(line)

    def _check_line(self, line: tree.SourceLine) -> Iterator[tree.BasicFinding]:
        """Yield findings about the positions and moves in a line, and follow the speed that it sets.

        At a label, and after a statement that may change the speed, the speed is unknown. After an IF it is
        not known which moves still run.
        """
        if line.label:
            self._forget_speed()
            self._is_wait_reported = False
        for statement in tree.statements_in(line.statement):
            if isinstance(statement, tree.CommandStatement):
                yield from self._check_positions(line, statement)
        if isinstance(line.statement, tree.CommandStatement):
            yield from self._follow_command(line, line.statement)
        elif any(map(_may_change_speed, tree.statements_in(line.statement))):
            self._forget_speed()
        elif isinstance(line.statement, tree.IfStatement):
            self._last_move_lines.clear()

    def _forget_speed(self) -> None:
        self._known_speed = None
        self._known_high_speed = None if self._uses_high_speed else False
        self._last_move_lines.clear()

    def _follow_command(
        self, line: tree.SourceLine, command: tree.CommandStatement
    ) -> Iterator[tree.BasicFinding]:
        """Update the state of servos and speed by a statement; yield findings about moves."""
        match command.key, command.arguments:
            case "SPEED", (argument,):
                low, high = board_parameters().speeds
                speed = self._fold_constant(argument)
                self._known_speed = None if speed is None else min(max(speed, low), high)
            case "HIGHSPEED", _:
                self._known_high_speed = {"SETON": True, "SETOFF": False}.get(_first_name(command))
            case (("WAIT" | "DELAY"), _):
                self._last_move_lines.clear()
            case "MOVEPOS", (tree.Identifier() as label,) if label.key in self._pose_statements:
                yield from self._check_move(line, self._pose_statements[label.key])
            case _ if _is_move(command):
                yield from self._check_move(line, command)

    def _check_move(
        self, line: tree.SourceLine, command: tree.CommandStatement
    ) -> Iterator[tree.BasicFinding]:
        """Yield findings about a move that waits for another, or is too fast for its servos."""
        yield from self._check_wait(line, command)
        yield from self._check_speed(line, command)

    def _check_wait(
        self, line: tree.SourceLine, command: tree.CommandStatement
    ) -> Iterator[tree.BasicFinding]:
        """Yield a finding about a move that waits for an earlier one of its servos; remember its line.

        It is reported once per routine, since some routines do it in every move.
        """
        servos = [field.servo for field in _servo_fields_of(command)]
        previous_lines = [self._last_move_lines[servo] for servo in servos if servo in self._last_move_lines]
        if previous_lines and not self._is_wait_reported:
            self._is_wait_reported = True
            message = f"this MOVE waits for that of line {previous_lines[0]}: they share a servo"
            yield finding_at(line, "no-wait", message, hint="a WAIT between them makes that explicit")
        self._last_move_lines.update(dict.fromkeys(servos, line.number))

    def _check_speed(
        self, line: tree.SourceLine, command: tree.CommandStatement
    ) -> Iterator[tree.BasicFinding]:
        """Yield a finding about a move that is faster than the slowest of its servos.

        The program sets the speed by SPEED, a small integer, which HIGHSPEED multiplies; the parameters of
        the board convert them to counts a second, the unit of the servos' greatest speeds. Nothing is found
        where the setting is unknown.
        """
        servos = [field.servo for field in _servo_fields_of(command)]
        max_speeds_counts_s = [
            self._range_of_servo[servo].max_speed for servo in servos if servo in self._range_of_servo
        ]
        if not max_speeds_counts_s or self._known_speed is None or self._known_high_speed is None:
            return
        max_counts_s = min(max_speeds_counts_s)
        counts_s_at_speed_1 = board_parameters().speed_counts_s
        setting = SpeedSetting(self._known_speed, high_speed=self._known_high_speed)
        requested_counts_s = setting.rate(counts_s_at_speed_1)
        if requested_counts_s <= max_counts_s:
            return
        unit_setting = SpeedSetting(1, high_speed=self._known_high_speed)
        max_speed = int(max_counts_s / unit_setting.rate(counts_s_at_speed_1))
        requested = f"SPEED {self._known_speed} here requests {requested_counts_s:.0f} counts a second"
        hint = f"in long moves they arrive late; at SPEED {max_speed} they keep up"
        yield finding_at(
            line, rule="too-fast", message=f"{requested}; the servos manage {max_counts_s:.0f}", hint=hint
        )
        self._known_speed = None  # so that it is reported once

    def _check_positions(
        self, line: tree.SourceLine, command: tree.CommandStatement
    ) -> Iterator[tree.BasicFinding]:
        """Check the counts of a SERVO, MOVE or POS against the range of each servo."""
        if command.key == "SERVO" and len(command.arguments) == 2:
            servo = self._fold_constant(command.arguments[0])
            if servo is not None:
                yield from self._check_position(line, servo, command.arguments[1], n_commas=1)
        elif _is_move(command) or command.key == "POS":
            for field in _servo_fields_of(command):
                # behind THEN the column of the field is not known
                n_commas = field.n_commas if command is line.statement else None
                yield from self._check_position(line, field.servo, field.value, n_commas)

    def _check_position(
        self, line: tree.SourceLine, servo: int, position: tree.Argument, n_commas: int | None
    ) -> Iterator[tree.BasicFinding]:
        """Yield a finding if a position is beyond the joint's limits or there is no such servo.

        Args:
            line: the line of the statement.
            servo: the number of the servo.
            position: the position in counts; one that is not constant is not checked.
            n_commas: the number of commas before it in the statement; None if that is not known.
        """
        low, high = board_parameters().counts
        counts = self._fold_constant(position)
        if counts is None or not low <= counts <= high:  # the compiler reports the latter
            return
        servo_range = self._range_of_servo.get(servo)
        if servo_range is None:
            if counts != MIDDLE and servo not in self._reported_servos:
                self._reported_servos.add(servo)
                message = f"this robot has no servo {servo}, which is sent to {counts}"
                hint = f"write {MIDDLE}, or leave the field empty"
                yield finding_at(line, "no-servo", message, hint, n_commas=n_commas)
            return
        low_limit = servo_range.low
        high_limit = servo_range.high
        if servo in self._mirrored_servos:
            low_limit = 2 * MIDDLE - servo_range.high
            high_limit = 2 * MIDDLE - servo_range.low
        if not low_limit - _TOLERANCE <= counts <= high_limit + _TOLERANCE:
            message = f"{counts} is beyond the limits of {servo_range.joint} (servo {servo})"
            hint = f"{low_limit:.0f}..{high_limit:.0f}"
            yield finding_at(
                line, "joint-limit", message, hint, severity=tree.Severity.WARNING, n_commas=n_commas
            )

    def _check_direction(
        self, line: tree.SourceLine, command: tree.CommandStatement
    ) -> Iterator[tree.BasicFinding]:
        """Yield a finding for each servo that a DIR turns the other way than programs for this robot."""
        for servo, n_commas, value in _servo_fields_of(command):
            direction = self._fold_constant(value)
            usual_direction = board_parameters().directions[servo]
            if direction in {0, 1} and direction != usual_direction and servo in self._range_of_servo:
                self._mirrored_servos.add(servo)
                message = f"DIR reverses {self._range_of_servo[servo].joint} (servo {servo})"
                hint = f"programs for this robot use {usual_direction}"
                yield finding_at(
                    line, "direction", message, hint, severity=tree.Severity.WARNING, n_commas=n_commas
                )


def finding_at(
    line: tree.SourceLine,
    rule: str,
    message: str,
    hint: str = "",
    severity: tree.Severity = tree.Severity.HINT,
    *,
    n_commas: int | None = None,
) -> tree.BasicFinding:
    """Return a finding about a line, at its statement or, with `n_commas`, at an argument."""
    return tree.BasicFinding(line.number, rule, message, hint, severity, column=column_of(line, n_commas))


def column_of(line: tree.SourceLine, n_commas: int | None = None) -> int:
    """Return the column, from 1, of a line's statement, or of its argument after a number of commas.

    Args:
        line: the line.
        n_commas: the number of commas before the argument; None for the statement.
    """
    start = line.code.find(":") + 1 if line.label else 0
    for _ in range(n_commas or 0):
        start = line.code.find(",", start) + 1
    remainder = line.code[start:]
    if not remainder.strip():
        return 1
    n_spaces = len(remainder) - len(remainder.lstrip())
    return start + n_spaces + 1


def _reads_positions(line: tree.SourceLine) -> bool:
    """Whether a line reads the positions of servos, by GETMOTORSET or MOTORIN."""
    for statement in tree.statements_in(line.statement):
        if isinstance(statement, tree.CommandStatement) and statement.key == "GETMOTORSET":
            return True
        if any(tree.find_calls(statement, "MOTORIN")):
            return True
    return False


def _may_change_speed(statement: tree.Statement) -> bool:
    """Whether SPEED may have another value after a statement."""
    if isinstance(statement, tree.CommandStatement):
        return statement.key in {"SPEED", "HIGHSPEED"}
    return isinstance(
        statement, tree.ElseIf | tree.Else | tree.EndIf | tree.For | tree.Next | tree.Gosub | tree.On
    )


def _first_name(command: tree.CommandStatement) -> str:
    """Return the first argument of a statement in capitals if it is a name; otherwise an empty text."""
    first = command.arguments[0] if command.arguments else None
    return first.key if isinstance(first, tree.Identifier) else ""


def _servo_fields_of(command: tree.CommandStatement) -> Iterator[_ServoField]:
    """Yield the fields of a statement that are not empty."""
    normalized = normalize_move(command)
    servos = find_group(_first_name(normalized)) or ()
    # the statement may have no group as its first argument, as in MOVE24 100, 100
    n_commas_before_first = 1 + len(command.arguments) - len(normalized.arguments)
    numbered_values = enumerate(normalized.arguments[1:], n_commas_before_first)
    for servo, (n_commas, value) in zip(servos, numbered_values, strict=False):  # fields may be left out
        if value is not None:
            yield _ServoField(servo, n_commas, value)


def _is_move(command: tree.CommandStatement) -> bool:
    return normalize_move(command).key == "MOVE"
