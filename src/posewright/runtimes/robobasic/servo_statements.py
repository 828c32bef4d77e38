"""The compilation of statements that move servos or set how they move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from posewright.runtimes.robobasic.board import GyroCorrection
from posewright.runtimes.robobasic.machine import US_PER_MS, BasicMachine
from posewright.runtimes.robobasic.servos import N_SERVOS, BoardServos, board_parameters, find_group
from posewright.runtimes.robobasic.step_builder import (
    LabelReference,
    StatementKind,
    StepBuilder,
    WrongArgumentsError,
    compile_fields,
    compile_numbers,
)
from posewright.runtimes.robobasic.tree import CommandStatement, Identifier, Severity, Text, label_of_argument


def _compile_move(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of MOVE: it waits while one of its servos is busy, then queues the move."""
    low, high = board_parameters().counts
    compiled_fields = compile_fields(builder, command, low, high)
    if compiled_fields is None:  # the error has been reported
        return
    address = builder.next_address
    servos = tuple(compiled_fields)

    def start_move(machine: BasicMachine) -> int:
        """Queue the move once the servos have finished the one before."""
        board = machine.board
        if board.servos.is_busy(servos):
            return machine.retry_after_pulse(address)
        targets = {servo: evaluate_counts(machine) for servo, evaluate_counts in compiled_fields.items()}
        board.servos.queue_move(targets)
        board.effect_count += 1
        return address + 1

    builder.add(start_move)


def _compile_movepos(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of MOVEPOS: a MOVE to the pose of the POS statement at a label."""
    label = label_of_argument(command.arguments[0]) if len(command.arguments) == 1 else None
    if label is None:
        raise WrongArgumentsError
    builder.label_references.append(LabelReference(builder.symbols.line, label, "MOVEPOS"))
    pose = builder.pose_statement_by_label.get(label.upper())
    if pose is None:
        builder.symbols.report_unknown(
            "label", label, builder.pose_statement_by_label, f"there is no {label}: POS"
        )
    else:
        _compile_move(builder, CommandStatement("MOVE", pose.arguments))


def _compile_pos(builder: StepBuilder, command: CommandStatement) -> None:
    """Check the fields of a POS; only MOVEPOS uses them, so it has no step."""
    low, high = board_parameters().counts
    compile_fields(builder, command, low, high)


def _compile_wait(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of WAIT: it waits until no servo moves."""
    if command.arguments:
        raise WrongArgumentsError
    address = builder.next_address

    def wait(machine: BasicMachine) -> int:
        if machine.board.servos.is_moving:
            return machine.retry_after_pulse(address)
        return address + 1

    builder.add(wait)


def _compile_delay(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of DELAY: it advances the clock."""
    (evaluate_ms,) = compile_numbers(builder, command, n=1)

    def delay(machine: BasicMachine) -> None:
        machine.clock_us += evaluate_ms(machine) * US_PER_MS

    builder.add_action(delay)


def _compile_speed(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of SPEED: it sets the speed of further moves; a constant out of range is a warning."""
    (evaluate_speed,) = compile_numbers(builder, command, n=1)
    low, high = board_parameters().speeds
    constant = builder.symbols.fold_constant(command.arguments[0])
    if constant is not None and not low <= constant <= high:
        hint = f"{low}..{high}; the nearest of these is used"
        builder.symbols.report("range", f"SPEED {constant} is out of range", hint, Severity.WARNING)

    def set_speed(machine: BasicMachine) -> None:
        machine.board.servos.set_speed(evaluate_speed(machine))

    builder.add_action(set_speed)


class _Switch(Enum):
    """A switch of the servos."""

    SYNC_GROUP = "PTP SETON"
    SYNC_ALL = "PTP ALLON"
    HIGH_SPEED = "HIGHSPEED"


_PTP = {
    "SETON": (_Switch.SYNC_GROUP, True),
    "SETOFF": (_Switch.SYNC_GROUP, False),
    "ALLON": (_Switch.SYNC_ALL, True),
    "ALLOFF": (_Switch.SYNC_ALL, False),
}
_HIGHSPEED = {"SETON": (_Switch.HIGH_SPEED, True), "SETOFF": (_Switch.HIGH_SPEED, False)}


def _set_switch(servos: BoardServos, switch: _Switch, is_on: bool) -> None:
    """Set one of the modes in which the servos move."""
    match switch:
        case _Switch.SYNC_GROUP:
            servos.group_arrives_together = is_on
        case _Switch.SYNC_ALL:
            servos.all_arrive_together = is_on
        case _Switch.HIGH_SPEED:
            servos.high_speed = is_on


def _switch_compiler(
    settings: Mapping[str, tuple[_Switch, bool]],
) -> Callable[[StepBuilder, CommandStatement], None]:
    """Return the compiler of a statement with one keyword that sets a switch of the servos.

    Args:
        settings: by keyword, such as `SETON`, the switch and whether it is on then.
    """

    def compile_switch(builder: StepBuilder, command: CommandStatement) -> None:
        """Add a step that sets the switch which `settings` has for the statement's keyword."""
        keyword = command.arguments[0] if len(command.arguments) == 1 else None
        if not isinstance(keyword, Identifier) or keyword.key not in settings:
            raise WrongArgumentsError
        switch, is_on = settings[keyword.key]
        builder.add_action(lambda machine: _set_switch(machine.board.servos, switch, is_on))

    return compile_switch


def _compile_dir(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of DIR: it sets the directions of servos."""
    compiled_fields = compile_fields(builder, command, low=0, high=1)
    if compiled_fields is None:  # the error has been reported
        return

    def set_directions(machine: BasicMachine) -> None:
        for servo, evaluate_direction in compiled_fields.items():
            machine.board.servos.directions[servo] = evaluate_direction(machine)

    builder.add_action(set_directions)


def _compile_servo(builder: StepBuilder, command: CommandStatement) -> None:
    """Compile SERVO: a constant out of range is an error; at run time the statement is skipped.

    Public programs begin with SERVO 16, S16 for a servo that the robot does not have, whose MOTORIN is 0.
    """
    evaluate_servo, evaluate_counts = compile_numbers(builder, command, n=2)
    low, high = board_parameters().counts
    line = builder.symbols.line
    limits_of_arguments = ((0, N_SERVOS - 1), (low, high))  # of the servo's number, and of its counts
    for argument, (smallest, largest) in zip(command.arguments, limits_of_arguments, strict=True):
        constant = builder.symbols.fold_constant(argument)
        if constant is not None and not smallest <= constant <= largest:
            hint = f"SERVO 0..{N_SERVOS - 1}, {low}..{high}"
            builder.symbols.report("range", f"SERVO with {constant} is out of range", hint)

    def jump(machine: BasicMachine) -> None:
        """Set the servo's position at once; numbers out of range are recorded and skipped."""
        servo = evaluate_servo(machine)
        counts = evaluate_counts(machine)
        if servo < N_SERVOS and low <= counts <= high:
            machine.board.servos.jump(servo, counts)
            machine.board.effect_count += 1
        else:
            numbers = [servo, counts]
            machine.board.record_event("skipped", line, statement=command.key, numbers=numbers)

    builder.add_action(jump)


def _compile_servo_selection(
    builder: StepBuilder, command: CommandStatement
) -> Callable[[BasicMachine], list[int]]:
    """Return a function that returns the servos that `MOTOR G24`, `MOTOR 3` or `MOTOR ALLON` selects.

    A constant for which there is no servo is reported now; any other is an error at run time.

    Raises:
        WrongArgumentsError: the statement has not one argument, or a text.
    """
    argument = command.arguments[0] if len(command.arguments) == 1 else None
    if argument is None or isinstance(argument, Text):
        raise WrongArgumentsError
    if isinstance(argument, Identifier):
        if argument.key in {"ALLON", "ALLOFF"}:
            return lambda _: list(range(N_SERVOS))
        group = find_group(argument.name)
        if group is not None:
            return lambda _: list(group)
    evaluate_servo = builder.symbols.compile_value(argument)
    line = builder.symbols.line
    constant = builder.symbols.fold_constant(argument)
    if constant is not None and constant >= N_SERVOS:
        builder.symbols.report("range", f"there is no servo {constant}", f"0..{N_SERVOS - 1}")

    def select_servo(machine: BasicMachine) -> list[int]:
        servo = evaluate_servo(machine)
        if servo >= N_SERVOS:
            raise machine.error_at(line, f"there is no servo {servo}", f"0..{N_SERVOS - 1}")
        return [servo]

    return select_servo


def _compile_motor(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of MOTOR or MOTOROFF: it switches the torque of servos."""
    argument = command.arguments[0] if command.arguments else None
    keyword = argument.key if isinstance(argument, Identifier) else ""
    is_on = command.key != "MOTOROFF" and keyword != "ALLOFF"
    select_servos = _compile_servo_selection(builder, command)
    line = builder.symbols.line

    def switch_torque(machine: BasicMachine) -> None:
        """Switch the torque of the selected servos on or off."""
        servos = select_servos(machine)
        if is_on:
            machine.board.servos.enable_torque(servos)
        else:
            machine.board.servos.disable_torque(servos)
        label = f"servo {servos[0]}" if len(servos) == 1 else keyword
        machine.board.record_event("motor", line, servos=label, on=is_on)

    builder.add_action(switch_torque)


def _compile_getmotorset(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of GETMOTORSET: the servos whose field is 1 hold where they are."""
    compiled_fields = compile_fields(builder, command, low=0, high=1)
    if compiled_fields is None:  # the error has been reported
        return

    def hold_positions(machine: BasicMachine) -> None:
        """Let the selected servos hold the positions that they are in."""
        for servo, evaluate_selection in compiled_fields.items():
            if not evaluate_selection(machine):
                continue
            position = machine.board.servo_position(servo)
            if position:  # 0 if the robot has no such servo
                machine.board.servos.jump(servo, position)
        machine.board.effect_count += 1

    builder.add_action(hold_positions)


def _set_gyro_port(gyro: GyroCorrection, value: int) -> None:
    gyro.port = value


def _set_gyro_direction(gyro: GyroCorrection, value: int) -> None:
    gyro.inverted = value != 0


def _set_gyro_sensitivity(gyro: GyroCorrection, value: int) -> None:
    gyro.sensitivity = value


def _gyro_compiler(
    set_value: Callable[[GyroCorrection, int], None], max_value: int
) -> Callable[[StepBuilder, CommandStatement], None]:
    """Return the compiler of GYROSET, GYRODIR or GYROSENSE, which set a value for each servo of a group.

    Args:
        set_value: stores a value in the gyro correction of a servo.
        max_value: the greatest value that the statement takes; the least is 0.
    """

    def compile_gyro(builder: StepBuilder, command: CommandStatement) -> None:
        """Add a step that calls `set_value` for the gyro correction of each servo of the statement."""
        compiled_fields = compile_fields(builder, command, low=0, high=max_value)
        if compiled_fields is None:  # the error has been reported
            return

        def set_gyros(machine: BasicMachine) -> None:
            for servo, evaluate in compiled_fields.items():
                correction = machine.board.gyros.setdefault(servo, GyroCorrection())
                set_value(correction, evaluate(machine))
            machine.board.effect_count += 1

        builder.add_action(set_gyros)

    return compile_gyro


STATEMENTS = {
    "MOVE": StatementKind("MOVE G6A, 100, 76, , 93, 100", _compile_move),
    "MOVEPOS": StatementKind("MOVEPOS label, of a line label: POS G6A, ...", _compile_movepos),
    "POS": StatementKind("label: POS G6A, 100, 76, 145", _compile_pos),
    "WAIT": StatementKind("WAIT", _compile_wait),
    "DELAY": StatementKind("DELAY milliseconds", _compile_delay),
    "SPEED": StatementKind("SPEED 1..15", _compile_speed),
    "PTP": StatementKind("PTP SETON, SETOFF, ALLON or ALLOFF", _switch_compiler(_PTP)),
    "HIGHSPEED": StatementKind("HIGHSPEED SETON or SETOFF", _switch_compiler(_HIGHSPEED)),
    "DIR": StatementKind("DIR G6A, 1, 0, 0, 1, 0, 0", _compile_dir),
    "SERVO": StatementKind("SERVO number, counts", _compile_servo),
    "FASTSERVO": StatementKind("FASTSERVO number, counts", _compile_servo),
    "MOTOR": StatementKind("MOTOR G24, a number, or ALLON", _compile_motor),
    "MOTOROFF": StatementKind("MOTOROFF G24, or a number", _compile_motor),
    "GETMOTORSET": StatementKind("GETMOTORSET G6A, 1, 1, 1, 1, 1, 0", _compile_getmotorset),
    "GYROSET": StatementKind("GYROSET G6A, 0..4, ...", _gyro_compiler(_set_gyro_port, 4)),
    "GYRODIR": StatementKind("GYRODIR G6A, 0 or 1, ...", _gyro_compiler(_set_gyro_direction, 1)),
    "GYROSENSE": StatementKind("GYROSENSE G6A, 0..255, ...", _gyro_compiler(_set_gyro_sensitivity, 255)),
}
"""The statements by keyword."""
