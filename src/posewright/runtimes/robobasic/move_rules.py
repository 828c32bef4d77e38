"""What is odd about how a program moves servos, as far as its text tells: limits, speed, what waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from posewright.robots import Robot
from posewright.runtimes.robobasic import tree
from posewright.runtimes.robobasic.paces import Pace
from posewright.runtimes.robobasic.servos import MIDDLE, board_facts, board_servos, group_of
from posewright.runtimes.robobasic.steps import as_group

_SLACK = 0.5
"""Counts are whole, limits are not."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What the joint of a servo can: from which count to which, and how many a second without load."""

    joint: str
    low: float
    high: float
    fastest: float

    @classmethod
    def of(cls, robot: Robot, joint: str) -> Reach:
        """Return what a joint of a robot can."""
        servo, limits = robot.servo(joint), robot.joint(joint)
        low, high = sorted(servo.to_ticks(end) for end in (limits.lower_rad, limits.upper_rad))
        return cls(joint, low, high, servo.no_load_speed_rad_s / servo.tick_rad)


class MoveRules:
    """Looks through the lines of one program, from the first to the last.

    What SPEED and HIGHSPEED say is known from where it stands up to the next label, block or GOSUB.
    """

    def __init__(
        self, robot: Robot, constant: Callable[[tree.Argument], int | None], poses: Mapping[str, tree.Command]
    ) -> None:
        self._reaches = {number: Reach.of(robot, joint) for number, joint in board_servos(robot).items()}
        self._constant, self._poses = constant, poses
        self._mirrored: set[int] = set()
        self._missing: set[int] = set()
        self._never_high = True
        self._speed: int | None = board_facts().first_speed
        self._high: bool | None = False
        self._laid_down: dict[int, int] = {}
        self._told_waiting = False

    def look(self, lines: Sequence[tree.Line]) -> Iterator[tree.Finding]:
        """Yield what there is to say."""
        found = ((line, one) for line in lines for one in tree.statements_in(line.statement))
        commands = [(line, one) for line, one in found if isinstance(one, tree.Command)]
        self._never_high = not any(one.key == "HIGHSPEED" and _word(one) == "SETON" for _, one in commands)
        for line, one in commands:
            if one.key == "DIR":
                yield from self._direction(line, one)
        first = next((line for line, one in commands if _is_move(one)), None)
        if first is not None and not any(map(_asks_where, lines)):
            what = "the servos may jump at this first MOVE: the program has not asked where they are"
            yield finding(first, "jump", what, "GETMOTORSET G24, 1, 1, ..., at the beginning")
        for line in lines:
            yield from self._line(line)

    def _line(self, line: tree.Line) -> Iterator[tree.Finding]:
        if line.label:
            self._forget()
            self._told_waiting = False
        for statement in tree.statements_in(line.statement):
            if isinstance(statement, tree.Command):
                yield from self._counts(line, statement)
        if isinstance(line.statement, tree.Command):
            yield from self._command(line, line.statement)
        elif any(map(_changes_speed, tree.statements_in(line.statement))):
            self._forget()
        elif isinstance(line.statement, tree.If):
            self._laid_down.clear()

    def _forget(self) -> None:
        self._speed, self._high = None, False if self._never_high else None
        self._laid_down.clear()

    def _command(self, line: tree.Line, command: tree.Command) -> Iterator[tree.Finding]:
        match command.key, command.arguments:
            case "SPEED", (value,):
                low, high = board_facts().speeds
                known = self._constant(value)
                self._speed = None if known is None else min(max(known, low), high)
            case "HIGHSPEED", _:
                self._high = {"SETON": True, "SETOFF": False}.get(_word(command))
            case (("WAIT" | "DELAY"), _):
                self._laid_down.clear()
            case "MOVEPOS", (tree.Name() as name,) if name.key in self._poses:
                yield from self._moved(line, self._poses[name.key])
            case _ if _is_move(command):
                yield from self._moved(line, command)

    def _moved(self, line: tree.Line, command: tree.Command) -> Iterator[tree.Finding]:
        servos = [servo for servo, _, _ in _fields(command)]
        before = next((self._laid_down[one] for one in servos if one in self._laid_down), None)
        if before is not None and not self._told_waiting:
            self._told_waiting = True  # once for a routine: some do it all the way
            what = f"this MOVE waits for that of line {before}: they share a servo"
            yield finding(line, "no-wait", what, "a WAIT between them would say so")
        self._laid_down.update(dict.fromkeys(servos, line.number))
        fastest = min((self._reaches[one].fastest for one in servos if one in self._reaches), default=None)
        if fastest is None or self._speed is None or self._high is None:
            return
        rate = Pace(self._speed, self._high).rate(board_facts().speed_counts_s)
        if rate > fastest:
            most = fastest / Pace(1, self._high).rate(board_facts().speed_counts_s)
            asked = f"SPEED {self._speed} here asks for {rate:.0f} counts a second"
            what = f"{asked}; the servos manage {fastest:.0f}"
            hint = f"over a long way they arrive late; at SPEED {int(most)} they keep up"
            yield finding(line, "too-fast", what, hint)
            self._speed = None  # said once

    def _counts(self, line: tree.Line, command: tree.Command) -> Iterator[tree.Finding]:
        if command.key == "SERVO" and len(command.arguments) == 2:
            servo = self._constant(command.arguments[0])
            yield from () if servo is None else self._count(line, servo, command.arguments[1], 1)
        elif _is_move(command) or command.key == "POS":
            for servo, place, field in _fields(command):
                yield from self._count(line, servo, field, place if command is line.statement else -1)

    def _count(self, line: tree.Line, servo: int, field: tree.Argument, place: int) -> Iterator[tree.Finding]:
        low, high = board_facts().counts
        counts, reach = self._constant(field), self._reaches.get(servo)
        if counts is None or not low <= counts <= high:  # which compiling tells
            return
        if reach is None:
            if counts != MIDDLE and servo not in self._missing:
                self._missing.add(servo)
                what = f"this robot has no servo {servo}, which is sent to {counts}"
                yield finding(
                    line, "no-servo", what, f"write {MIDDLE}, or leave the field empty", place=place
                )
            return
        ends = reach.low, reach.high
        if servo in self._mirrored:
            ends = 2 * MIDDLE - reach.high, 2 * MIDDLE - reach.low
        if not ends[0] - _SLACK <= counts <= ends[1] + _SLACK:
            what = f"{counts} is beyond the limits of {reach.joint} (servo {servo})"
            hint = f"{ends[0]:.0f}..{ends[1]:.0f}"
            yield finding(line, "joint-limit", what, hint, tree.Severity.WARNING, place=place)

    def _direction(self, line: tree.Line, command: tree.Command) -> Iterator[tree.Finding]:
        for servo, place, field in _fields(command):
            value, usual = self._constant(field), board_facts().directions[servo]
            if value in {0, 1} and value != usual and servo in self._reaches:
                self._mirrored.add(servo)
                what = f"DIR turns {self._reaches[servo].joint} (servo {servo}) the other way round"
                hint = f"programs for this robot use {usual}"
                yield finding(line, "direction", what, hint, tree.Severity.WARNING, place=place)


def finding(
    line: tree.Line,
    rule: str,
    message: str,
    hint: str = "",
    severity: tree.Severity = tree.Severity.HINT,
    *,
    place: int = -1,
) -> tree.Finding:
    """Return something about a line, or about what stands behind so many commas of it."""
    return tree.Finding(line.number, rule, message, hint, severity, column_of(line, place))


def column_of(line: tree.Line, place: int = -1) -> int:
    """Return where the statement of a line begins, or what stands behind so many of its commas."""
    at = 0
    if line.label:
        at = line.code.find(":") + 1
    for _ in range(place):
        at = line.code.find(",", at) + 1
    rest = line.code[at:]
    return at + len(rest) - len(rest.lstrip()) + 1 if rest.strip() else 1


def _asks_where(line: tree.Line) -> bool:
    """Tell whether a line asks where servos are, by GETMOTORSET or MOTORIN."""
    return any(
        (isinstance(one, tree.Command) and one.key == "GETMOTORSET") or any(tree.calls_of(one, "MOTORIN"))
        for one in tree.statements_in(line.statement)
    )


def _changes_speed(statement: tree.Statement) -> bool:
    """Tell whether the lines below a statement may not count on the SPEED above it."""
    if isinstance(statement, tree.Command):
        return statement.key in {"SPEED", "HIGHSPEED"}
    return isinstance(
        statement, tree.ElseIf | tree.Else | tree.EndIf | tree.For | tree.Next | tree.Gosub | tree.On
    )


def _word(command: tree.Command) -> str:
    first = command.arguments[0] if command.arguments else None
    return first.key if isinstance(first, tree.Name) else ""


def _fields(command: tree.Command) -> Iterator[tuple[int, int, tree.Argument]]:
    """Yield the servos that a statement names, the place of each field among its arguments, and the field."""
    grouped = as_group(command)
    begin = 1 + len(command.arguments) - len(grouped.arguments)
    fields = enumerate(grouped.arguments[1:], begin)
    for servo, (place, field) in zip(group_of(_word(grouped)) or (), fields, strict=False):
        if field is not None:
            yield servo, place, field


def _is_move(command: tree.Command) -> bool:
    return as_group(command).key == "MOVE"
