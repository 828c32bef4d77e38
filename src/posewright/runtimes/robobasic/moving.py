"""What the statements do that move servos, or say how they move."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from posewright.runtimes.robobasic.board import Gyro
from posewright.runtimes.robobasic.machine import US_PER_MS, Machine
from posewright.runtimes.robobasic.servos import N_SERVOS, board_facts, group_of
from posewright.runtimes.robobasic.steps import Mention, Misused, Steps, Word, fields_of, numbers
from posewright.runtimes.robobasic.tree import Command, Name, Severity, Text, label_of


def _move(steps: Steps, command: Command) -> None:
    low, high = board_facts().counts
    fields, at = fields_of(steps, command, low, high), steps.at
    if fields is None:
        return
    servos = tuple(fields)

    def step(machine: Machine) -> int:
        board = machine.board
        if board.servos.is_busy(servos):
            return machine.wait(at)
        board.servos.move({servo: value(machine) for servo, value in fields.items()})
        board.effects += 1
        return at + 1

    steps.add(step)


def _move_pos(steps: Steps, command: Command) -> None:
    label = label_of(command.arguments[0]) if len(command.arguments) == 1 else None
    if label is None:
        raise Misused
    steps.mentions.append(Mention(steps.names.line, label, "MOVEPOS"))
    if (pose := steps.poses.get(label.upper())) is not None:
        _move(steps, Command("MOVE", pose.arguments))
    else:
        steps.names.find_unknown("label", label, steps.poses, f"there is no {label}: POS")


def _pos(steps: Steps, command: Command) -> None:
    """POS is only what MOVEPOS looks at; whoever comes by goes on."""
    low, high = board_facts().counts
    fields_of(steps, command, low, high)


def _wait(steps: Steps, command: Command) -> None:
    if command.arguments:
        raise Misused
    at = steps.at
    steps.add(lambda machine: machine.wait(at) if machine.board.servos.is_moving else at + 1)


def _delay(steps: Steps, command: Command) -> None:
    (value,) = numbers(steps, command, 1)

    def delay(machine: Machine) -> None:
        machine.clock_us += value(machine) * US_PER_MS

    steps.act(delay)


def _speed(steps: Steps, command: Command) -> None:
    (value,) = numbers(steps, command, 1)
    low, high = board_facts().speeds
    known = steps.names.constant(command.arguments[0])
    if known is not None and not low <= known <= high:
        hint = f"{low}..{high}; the nearest of these is used"
        steps.names.find("range", f"SPEED {known}", hint, Severity.WARNING)

    def speed(machine: Machine) -> None:
        machine.board.servos.set_speed(value(machine))

    steps.act(speed)


def _switch(words: Mapping[str, tuple[str, bool]]) -> Callable[[Steps, Command], None]:
    """Return what makes a statement ready that is one of some words, and sets a flag of the servos."""

    def add(steps: Steps, command: Command) -> None:
        word = command.arguments[0] if len(command.arguments) == 1 else None
        if not isinstance(word, Name) or word.key not in words:
            raise Misused
        attribute, on = words[word.key]
        steps.act(lambda machine: setattr(machine.board.servos, attribute, on))

    return add


def _directions(steps: Steps, command: Command) -> None:
    fields = fields_of(steps, command, 0, 1)
    if fields is not None:

        def turn(machine: Machine) -> None:
            for servo, value in fields.items():
                machine.board.servos.directions[servo] = value(machine)

        steps.act(turn)


def _servo(steps: Steps, command: Command) -> None:
    """SERVO: a constant out of range is an error; what is computed so is passed over."""
    (which, where), line, (low, high) = numbers(steps, command, 2), steps.names.line, board_facts().counts
    for argument, least, most in zip(command.arguments, (0, low), (N_SERVOS - 1, high), strict=True):
        known = steps.names.constant(argument)
        if known is not None and not least <= known <= most:
            steps.names.find("range", f"SERVO with {known}", f"SERVO 0..{N_SERVOS - 1}, {low}..{high}")

    def place(machine: Machine) -> None:
        servo, counts = which(machine), where(machine)
        if servo < N_SERVOS and low <= counts <= high:
            machine.board.servos.place(servo, counts)
            machine.board.effects += 1
        else:  # public programs begin with SERVO 16, S16 for a servo that is not there, whose MOTORIN is 0
            machine.board.tell("skipped", line, statement=command.key, numbers=[servo, counts])

    steps.act(place)


def _servos_named(steps: Steps, command: Command) -> Callable[[Machine], list[int]]:
    """Return which servos `MOTOR G24`, `MOTOR 3`, `MOTOR ALLON` mean."""
    one = command.arguments[0] if len(command.arguments) == 1 else None
    if one is None or isinstance(one, Text):
        raise Misused
    if isinstance(one, Name) and one.key in {"ALLON", "ALLOFF"}:
        return lambda _: list(range(N_SERVOS))
    if isinstance(one, Name) and (group := group_of(one.name)) is not None:
        return lambda _: list(group)
    value, line = steps.names.value(one), steps.names.line
    if (known := steps.names.constant(one)) is not None and known >= N_SERVOS:
        steps.names.find("range", f"there is no servo {known}", f"0..{N_SERVOS - 1}")

    def single(machine: Machine) -> list[int]:
        if (servo := value(machine)) >= N_SERVOS:
            raise machine.fail(line, f"there is no servo {servo}", f"0..{N_SERVOS - 1}")
        return [servo]

    return single


def _motor(steps: Steps, command: Command) -> None:
    word = command.arguments[0] if command.arguments else None
    off = command.key == "MOTOROFF" or (isinstance(word, Name) and word.key == "ALLOFF")
    named, line = _servos_named(steps, command), steps.names.line

    def switch(machine: Machine) -> None:
        servos = named(machine)
        if off:
            machine.board.servos.release(servos)
        else:
            machine.board.servos.drive(servos)
        which = f"servo {servos[0]}" if len(servos) == 1 else word.key if isinstance(word, Name) else ""
        machine.board.tell("motor", line, servos=which, on=not off)

    steps.act(switch)


def _get_motor_set(steps: Steps, command: Command) -> None:
    fields = fields_of(steps, command, 0, 1)
    if fields is not None:

        def take(machine: Machine) -> None:
            for servo, value in fields.items():
                if value(machine) and (found := machine.board.position(servo)):
                    machine.board.servos.place(servo, found)
            machine.board.effects += 1

        steps.act(take)


def _gyro(attribute: str, low: int, high: int) -> Callable[[Steps, Command], None]:
    """Return what makes GYROSET, GYRODIR or GYROSENSE ready."""

    def add(steps: Steps, command: Command) -> None:
        fields = fields_of(steps, command, low, high)
        if fields is None:
            return

        def feel(machine: Machine) -> None:
            for servo, value in fields.items():
                gyro = machine.board.gyros.setdefault(servo, Gyro())
                setattr(gyro, attribute, value(machine))
            machine.board.effects += 1

        steps.act(feel)

    return add


WORDS = {
    "MOVE": Word("MOVE G6A, 100, 76, , 93, 100", _move),
    "MOVEPOS": Word("MOVEPOS label, of a line label: POS G6A, ...", _move_pos),
    "POS": Word("label: POS G6A, 100, 76, 145", _pos),
    "WAIT": Word("WAIT", _wait),
    "DELAY": Word("DELAY milliseconds", _delay),
    "SPEED": Word("SPEED 1..15", _speed),
    "PTP": Word(
        "PTP SETON, SETOFF, ALLON or ALLOFF",
        _switch(
            {
                "SETON": ("grouped", True),
                "SETOFF": ("grouped", False),
                "ALLON": ("all_together", True),
                "ALLOFF": ("all_together", False),
            }
        ),
    ),
    "HIGHSPEED": Word(
        "HIGHSPEED SETON or SETOFF", _switch({"SETON": ("high_speed", True), "SETOFF": ("high_speed", False)})
    ),
    "DIR": Word("DIR G6A, 1, 0, 0, 1, 0, 0", _directions),
    "SERVO": Word("SERVO number, counts", _servo),
    "FASTSERVO": Word("FASTSERVO number, counts", _servo),
    "MOTOR": Word("MOTOR G24, a number, or ALLON", _motor),
    "MOTOROFF": Word("MOTOROFF G24, or a number", _motor),
    "GETMOTORSET": Word("GETMOTORSET G6A, 1, 1, 1, 1, 1, 0", _get_motor_set),
    "GYROSET": Word("GYROSET G6A, 0..4, ...", _gyro("port", 0, 4)),
    "GYRODIR": Word("GYRODIR G6A, 0 or 1, ...", _gyro("turned", 0, 1)),
    "GYROSENSE": Word("GYROSENSE G6A, 0..255, ...", _gyro("sense", 0, 255)),
}
