"""What the statements do that are no flow: servos, ports, lines, memory, sound and display."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from posewright.runtimes.robobasic.board import Gyro
from posewright.runtimes.robobasic.expressions import Severity, Value
from posewright.runtimes.robobasic.machine import Machine, StopReason
from posewright.runtimes.robobasic.servos import board_facts, group_of
from posewright.runtimes.robobasic.steps import Steps
from posewright.runtimes.robobasic.tree import Argument, Call, Command, Name, Text

GROUPS = "G6A..G6E, G8A..G8D, G12, G16, G24, G32"
US_PER_MS = 1000
BITS_A_BYTE = 10


@dataclass(frozen=True, slots=True)
class Word:
    """A statement: how it is written, and what makes it ready."""

    usage: str
    add: Callable[[Steps, Command], None]


def add_command(steps: Steps, command: Command) -> None:
    """Make a statement ready; one that nobody knows is told, and does nothing."""
    word = WORDS.get(command.key)
    if word is not None:
        word.add(steps, command)
        return
    if found := re.fullmatch(r"MOVE(6|8|12|16|24|32)", command.key):
        _move(steps, Command("MOVE", (Name(f"G{found[1]}"), *command.arguments)), f"{command.key} a, b, , d")
        return
    steps.names.find_unknown("statement", command.name, WORDS)


def _misused(steps: Steps, command: Command) -> None:
    usage = WORDS[command.key].usage if command.key in WORDS else command.key
    steps.names.find("arguments", f"{command.key} is not used so", f"right is {usage}")


def _numbers(steps: Steps, command: Command, n: int) -> list[Value] | None:
    """Return so many numbers of a statement made ready, or take note that they are not there."""
    if len(command.arguments) != n or any(one is None or isinstance(one, Text) for one in command.arguments):
        _misused(steps, command)
        return None
    return [steps.names.value(one) for one in command.arguments]


def _group(steps: Steps, command: Command) -> range | None:
    first = command.arguments[0] if command.arguments else None
    found = group_of(first.name) if isinstance(first, Name) and first.bit is None else None
    if found is None:
        name = first.name if isinstance(first, Name) else "this"
        steps.names.find("group", f"{name} is no group of servos", GROUPS)
    return found


def _fields(steps: Steps, command: Command, low: int, high: int, usage: str = "") -> dict[int, Value] | None:
    """Return the fields behind a group by their servos, those that are empty left out."""
    servos = _group(steps, command)
    if servos is None:
        return None
    fields = list(command.arguments[1:])
    while len(fields) > len(servos) and fields[-1] is None:  # a comma at the end is common
        fields.pop()
    if len(fields) > len(servos):
        steps.names.find(
            "fields", f"{len(fields)} fields for {len(servos)} servos", usage or f"at most {len(servos)}"
        )
        return None
    found: dict[int, Value] = {}
    for servo, one in zip(servos, fields, strict=False):
        if one is None:
            continue
        known, value = steps.names.constant(one), steps.names.value(one)
        if known is not None and not low <= known <= high:
            steps.names.find("range", f"{known} for servo {servo}", f"{low}..{high}")
        found[servo] = value if known is not None else _within(value, servo, low, high, steps.names.line)
    return found


def _within(value: Value, servo: int, low: int, high: int, line: int) -> Value:
    def checked(machine: Machine) -> int:
        found = value(machine)
        if not low <= found <= high:
            raise machine.fail(line, f"{found} for servo {servo}", f"{low}..{high}")
        return found

    return checked


def _move(steps: Steps, command: Command, usage: str = "") -> None:
    low, high = board_facts().counts
    if command.arguments and not re.match(r"(?i)G\d", getattr(command.arguments[0], "name", "")):
        command = Command(command.name, (Name("G24"), *command.arguments))
    fields, at = _fields(steps, command, low, high, usage), steps.at
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
    label = command.arguments[0] if len(command.arguments) == 1 else None
    if not isinstance(label, Name):
        _misused(steps, command)
    elif (pose := steps.poses.get(label.key)) is not None:
        _move(steps, Command("MOVE", pose.arguments))
    else:
        steps.names.find_unknown("label", label.name, steps.poses, f"there is no {label.name}: POS")


def _pos(steps: Steps, command: Command) -> None:
    """POS is only what MOVEPOS looks at; whoever comes by goes on."""
    low, high = board_facts().counts
    _fields(steps, command, low, high)


def _wait(steps: Steps, command: Command) -> None:
    if command.arguments:
        _misused(steps, command)
    at = steps.at
    steps.add(lambda machine: machine.wait(at) if machine.board.servos.is_moving else at + 1)


def _delay(steps: Steps, command: Command) -> None:
    if numbers := _numbers(steps, command, 1):
        (value,) = numbers

        def delay(machine: Machine) -> None:
            machine.clock_us += value(machine) * US_PER_MS

        steps.act(delay)


def _speed(steps: Steps, command: Command) -> None:
    if numbers := _numbers(steps, command, 1):
        (value,) = numbers
        low, high = board_facts().speeds
        known = steps.names.constant(command.arguments[0])
        if known is not None and not low <= known <= high:
            hint = f"{low}..{high}; the nearest of these is taken"
            steps.names.find("range", f"SPEED {known}", hint, Severity.WARNING)

        def speed(machine: Machine) -> None:
            machine.board.servos.speed = value(machine)

        steps.act(speed)


def _switch(words: Mapping[str, tuple[str, bool]]) -> Callable[[Steps, Command], None]:
    """Return what makes a statement ready that is one of some words, and sets a flag of the servos."""

    def add(steps: Steps, command: Command) -> None:
        word = command.arguments[0] if len(command.arguments) == 1 else None
        if not isinstance(word, Name) or word.key not in words:
            _misused(steps, command)
            return
        attribute, on = words[word.key]
        steps.act(lambda machine: setattr(machine.board.servos, attribute, on))

    return add


def _directions(steps: Steps, command: Command) -> None:
    fields = _fields(steps, command, 0, 1)
    if fields is not None:

        def turn(machine: Machine) -> None:
            for servo, value in fields.items():
                machine.board.servos.directions[servo] = value(machine)

        steps.act(turn)


def _servo(steps: Steps, command: Command) -> None:
    if (numbers := _numbers(steps, command, 2)) is None:
        return
    (which, where), line, (low, high) = numbers, steps.names.line, board_facts().counts

    def place(machine: Machine) -> None:
        servo, counts = which(machine), where(machine)
        if servo > 31 or not low <= counts <= high:
            raise machine.fail(line, f"SERVO {servo}, {counts}", f"SERVO 0..31, {low}..{high}")
        machine.board.servos.place(servo, counts)
        machine.board.effects += 1

    steps.act(place)


def _servos_named(steps: Steps, command: Command) -> Callable[[Machine], list[int]] | None:
    """Return which servos `MOTOR G24`, `MOTOR 3`, `MOTOR ALLON` mean."""
    one = command.arguments[0] if len(command.arguments) == 1 else None
    if one is None or isinstance(one, Text):
        _misused(steps, command)
        return None
    if isinstance(one, Name) and one.key in {"ALLON", "ALLOFF"}:
        return lambda _: list(range(32))
    if isinstance(one, Name) and (group := group_of(one.name)) is not None:
        return lambda _: list(group)
    value, line = steps.names.value(one), steps.names.line

    def single(machine: Machine) -> list[int]:
        if (servo := value(machine)) > 31:
            raise machine.fail(line, f"there is no servo {servo}", "0..31")
        return [servo]

    return single


def _motor(steps: Steps, command: Command) -> None:
    word = command.arguments[0] if command.arguments else None
    off = command.key == "MOTOROFF" or (isinstance(word, Name) and word.key == "ALLOFF")
    if (named := _servos_named(steps, command)) is not None:
        line, told = steps.names.line, word.key if isinstance(word, Name) else "a servo"

        def switch(machine: Machine) -> None:
            servos = named(machine)
            if off:
                machine.board.servos.release(servos)
            else:
                machine.board.servos.drive(servos)
            machine.board.tell("motor", line, servos=told, on=not off)

        steps.act(switch)


def _get_motor_set(steps: Steps, command: Command) -> None:
    fields = _fields(steps, command, 0, 1)
    if fields is not None:

        def take(machine: Machine) -> None:
            for servo, value in fields.items():
                if value(machine) and (found := machine.board.look("MOTORIN", servo)):
                    machine.board.servos.place(servo, found)
            machine.board.effects += 1

        steps.act(take)


def _noted(what: str, why: str = "") -> Callable[[Steps, Command], None]:
    """Return what makes a statement ready that is only told."""

    def add(steps: Steps, command: Command) -> None:
        if why:
            steps.names.find("no-effect", f"{command.key} does nothing here", why, Severity.HINT)
        values = [_told_value(steps, one) for one in command.arguments]
        line = steps.names.line

        def note(machine: Machine) -> None:
            numbers = [value(machine) for value in values]
            machine.board.tell(what, line, statement=command.key, numbers=numbers)

        steps.act(note)

    return add


def _told_value(steps: Steps, argument: Argument) -> Callable[[Machine], object]:
    if isinstance(argument, Name) and (group_of(argument.name) or argument.key in PLAIN_WORDS):
        word = argument.key
        return lambda _: word
    if argument is None or isinstance(argument, Text):
        text = None if argument is None else argument.text
        return lambda _: text
    return steps.names.value(argument)


PLAIN_WORDS = {"SETON", "SETOFF", "ALLON", "ALLOFF", "DEC", "HEX", "BIN", "ON", "OFF"}


def _out(steps: Steps, command: Command) -> None:
    if (numbers := _numbers(steps, command, 2)) is not None:
        (port, value), line = numbers, steps.names.line
        steps.act(lambda machine: machine.board.output(port(machine), value(machine), line))


def _pulse(steps: Steps, command: Command) -> None:
    """TOGGLE and PULSE of a pin."""
    if not command.arguments:
        _misused(steps, command)
        return
    port, line = steps.names.value(command.arguments[0]), steps.names.line

    def toggle(machine: Machine) -> None:
        pin = port(machine)
        machine.board.output(pin, 1 - min(1, machine.board.outputs.get(pin, 0)), line)

    steps.act(toggle)


def _erx(steps: Steps, command: Command) -> None:
    match command.arguments:
        case (baud, Name() as name, Name(label, None)) if baud is not None:
            pass
        case _:
            _misused(steps, command)
            return
    variable, at, target = steps.names.variable(name.name), steps.at, steps.target(label)
    steps.names.value(baud)
    if variable is None:
        return

    def step(machine: Machine) -> int:
        byte = machine.board.look("ERX", 0)
        if byte < 0:
            return machine.go(at, target[0])
        machine.values[variable.place] = byte & variable.most
        return at + 1

    steps.add(step)


def _etx(steps: Steps, command: Command) -> None:
    if (numbers := _numbers(steps, command, 2)) is None:
        return
    (baud, value), line = numbers, steps.names.line

    def send(machine: Machine) -> None:
        bits_s, byte = baud(machine), value(machine) & 0xFF
        if bits_s == 0:
            raise machine.fail(line, "ETX at 0 bits a second", "1200, 2400, 4800, 9600, 19200, ...")
        machine.clock_us += BITS_A_BYTE * 1_000_000 // bits_s
        machine.board.sent.append(byte)
        machine.board.tell("sent", line, byte=byte)

    steps.act(send)


def _poke(area: str) -> Callable[[Steps, Command], None]:
    def add(steps: Steps, command: Command) -> None:
        if (numbers := _numbers(steps, command, 2)) is not None:
            address, value = numbers

            def poke(machine: Machine) -> None:
                getattr(machine.board, area)[address(machine)] = value(machine) & 0xFF
                machine.board.effects += 1

            steps.act(poke)

    return add


_NOTE = re.compile(r"[A-GMN0-9#+\-.<>$ ]", re.IGNORECASE)
_PITCH = re.compile(r"[A-GMN]", re.IGNORECASE)


def _music(steps: Steps, command: Command) -> None:
    match command.arguments:
        case (Text(notes),):
            n, line = len(_PITCH.findall(notes)), steps.names.line
        case _:
            _misused(steps, command)
            return

    def play(machine: Machine) -> None:
        machine.clock_us += n * 60_000_000 // max(1, machine.board.tempo)
        machine.board.tell("music", line, notes=notes, tempo=machine.board.tempo)

    steps.act(play)


def _tempo(steps: Steps, command: Command) -> None:
    if numbers := _numbers(steps, command, 1):
        (value,) = numbers
        steps.act(lambda machine: setattr(machine.board, "tempo", value(machine)))


def _beep(steps: Steps, command: Command) -> None:  # noqa: ARG001 -- numbers after it, if any, are not known
    line = steps.names.line

    def beep(machine: Machine) -> None:
        machine.clock_us += board_facts().beep_ms * US_PER_MS
        machine.board.tell("beep", line)

    steps.act(beep)


def _print(steps: Steps, command: Command) -> None:
    """PRINT: texts, numbers as the display's codes, and FORMAT(value, DEC, digits) as digits."""
    if any(one is None for one in command.arguments):
        _misused(steps, command)
        return
    pieces = [_printed(steps, one) for one in command.arguments]
    line = steps.names.line
    steps.act(lambda machine: machine.board.tell("print", line, text="".join(one(machine) for one in pieces)))


def _printed(steps: Steps, argument: Argument) -> Callable[[Machine], str]:
    match argument:
        case Text(text):
            return lambda _: text
        case Call(name, (value, Name() as base, *digits)) if name.upper() == "FORMAT":
            number = steps.names.value(value)
            width = steps.names.constant(digits[0]) or 0 if digits else 0
            return lambda machine: _formatted(number(machine), base.key, width)
        case _:
            code = steps.names.value(argument)
            return lambda machine: _display_code(code(machine))


def _formatted(value: int, base: str, width: int) -> str:
    text = f"{value:X}" if base == "HEX" else f"{value:b}" if base == "BIN" else str(value)
    return text.zfill(min(width, 16))[-16:]


def _display_code(code: int) -> str:
    return chr(code) if 32 <= code < 127 else f"<{code:02X}>"


def _gyro(attribute: str, low: int, high: int) -> Callable[[Steps, Command], None]:
    """Return what makes GYROSET, GYRODIR or GYROSENSE ready."""

    def add(steps: Steps, command: Command) -> None:
        fields = _fields(steps, command, low, high)
        if fields is None:
            return

        def feel(machine: Machine) -> None:
            for servo, value in fields.items():
                gyro = machine.board.gyros.setdefault(servo, Gyro())
                setattr(gyro, attribute, value(machine))
            machine.board.effects += 1

        steps.act(feel)

    return add


def _stop(steps: Steps, command: Command) -> None:
    if command.arguments:
        _misused(steps, command)
    at = steps.at

    def stop(machine: Machine) -> int:
        machine.stopped = StopReason.STOP
        return at

    steps.add(stop)


def _zero(steps: Steps, command: Command) -> None:
    """ZERO, OFFSET: looked through and told; the simulated robot's horns are straight."""
    low, high = board_facts().zero
    _fields(steps, command, low, high)
    _noted(command.key.lower(), _AT_HAND)(steps, command)


def _nothing(steps: Steps, command: Command) -> None:
    """FILL, which lays out the memory of their steps, and what only their editor reads."""
    for one in command.arguments:
        if one is not None and not isinstance(one, Text):
            steps.names.constant(one)


_AT_HAND = "it is for the horns of one robot, as they were screwed on; the simulated ones are straight"
_OTHER_BOARD = "a C3024 has nothing of the kind; it is told in the recording"

WORDS: dict[str, Word] = {
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
    "STOP": Word("STOP", _stop),
    "SERVO": Word("SERVO number, counts", _servo),
    "MOTOR": Word("MOTOR G24, a number, or ALLON", _motor),
    "MOTOROFF": Word("MOTOROFF G24, or a number", _motor),
    "GETMOTORSET": Word("GETMOTORSET G6A, 1, 1, 1, 1, 1, 0", _get_motor_set),
    "ZERO": Word("ZERO G6A, 80..120, ...", _zero),
    "OFFSET": Word("OFFSET G6A, ...", _noted("offset", _AT_HAND)),
    "INIT": Word("INIT G6A, ...", _noted("init", _AT_HAND)),
    "OUT": Word("OUT port, 0 or 1", _out),
    "TOGGLE": Word("TOGGLE port", _pulse),
    "PULSE": Word("PULSE port", _pulse),
    "BYTEOUT": Word("BYTEOUT port, value", _out),
    "ERX": Word("ERX 4800, variable, label where nothing came", _erx),
    "ETX": Word("ETX 4800, value", _etx),
    "RX": Word("RX ...", _noted("serial", _OTHER_BOARD)),
    "TX": Word("TX ...", _noted("serial", _OTHER_BOARD)),
    "POKE": Word("POKE address, value", _poke("memory")),
    "ROMPOKE": Word("ROMPOKE address, value", _poke("eeprom")),
    "MUSIC": Word('MUSIC "CDE"', _music),
    "PLAY": Word('PLAY "CDE"', _music),
    "TEMPO": Word("TEMPO beats a minute", _tempo),
    "BEEP": Word("BEEP", _beep),
    "SOUND": Word("SOUND ...", _noted("sound")),
    "PRINT": Word('PRINT "text", code, FORMAT(variable, DEC, digits)', _print),
    "LCDINIT": Word("LCDINIT", _noted("display")),
    "CLS": Word("CLS", _noted("display")),
    "CSON": Word("CSON", _noted("display")),
    "CSOFF": Word("CSOFF", _noted("display")),
    "LOCATE": Word("LOCATE x, y", _noted("display")),
    "CONT": Word("CONT value", _noted("display")),
    "GYROSET": Word("GYROSET G6A, 0..4, ...", _gyro("port", 0, 4)),
    "GYRODIR": Word("GYRODIR G6A, 0 or 1, ...", _gyro("turned", 0, 1)),
    "GYROSENSE": Word("GYROSENSE G6A, 0..255, ...", _gyro("sense", 0, 255)),
    "PWM": Word("PWM port, duty", _noted("pwm")),
    "FPWM": Word("FPWM port, frequency, duty", _noted("pwm")),
    "FASTSERVO": Word("FASTSERVO number, counts", _servo),
    "AIMOTOR": Word("AIMOTOR ...", _noted("aimotor", _OTHER_BOARD)),
    "MOTORMODE": Word("MOTORMODE G6A, 1, ...", _noted("motormode", _OTHER_BOARD)),
    "ACTION": Word("ACTION number", _noted("action", _OTHER_BOARD)),
    "FILL": Word("FILL value, address", _nothing),
}
