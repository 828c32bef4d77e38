"""What the statements do that move nothing: ports, lines, memory, sound and display."""

from __future__ import annotations

import re
from collections.abc import Callable

from posewright.runtimes.robobasic.machine import Machine, StopReason
from posewright.runtimes.robobasic.servos import board_facts, group_of
from posewright.runtimes.robobasic.steps import Misused, Steps, Word, fields_of, numbers
from posewright.runtimes.robobasic.tree import Argument, Call, Command, Name, Severity, Text

US_PER_MS = 1000
BITS_A_BYTE = 10


_AT_HAND = "it is for the horns of one robot, as they were screwed on; the simulated ones are straight"


_OTHER_BOARD = "a C3024 has nothing of the kind; it is told in the recording"


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
    (port, value), line = numbers(steps, command, 2), steps.names.line
    steps.act(lambda machine: machine.board.output(port(machine), value(machine), line))


def _pulse(steps: Steps, command: Command) -> None:
    """TOGGLE and PULSE of a pin."""
    if not command.arguments:
        raise Misused
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
            raise Misused
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
    (baud, value), line = numbers(steps, command, 2), steps.names.line
    if steps.names.constant(command.arguments[0]) == 0:
        steps.names.find("range", "ETX at 0 bits a second", "1200, 2400, 4800, 9600, 19200, ...")

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
        address, value = numbers(steps, command, 2)

        def poke(machine: Machine) -> None:
            getattr(machine.board, area)[address(machine)] = value(machine) & 0xFF
            machine.board.effects += 1

        steps.act(poke)

    return add


_PITCH = re.compile(r"[A-GMN]", re.IGNORECASE)


def _music(steps: Steps, command: Command) -> None:
    match command.arguments:
        case (Text(notes),):
            n, line = len(_PITCH.findall(notes)), steps.names.line
        case _:
            raise Misused

    def play(machine: Machine) -> None:
        machine.clock_us += n * 60_000_000 // max(1, machine.board.tempo)
        machine.board.tell("music", line, notes=notes, tempo=machine.board.tempo)

    steps.act(play)


def _tempo(steps: Steps, command: Command) -> None:
    (value,) = numbers(steps, command, 1)
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
        raise Misused
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
            if isinstance(argument, Name) and steps.names.constant(argument) is None:
                hint = f"FORMAT({argument.name}, DEC, 3) shows its digits"
                what = f"PRINT shows the sign whose code {argument.name} is"
                steps.names.find("print-code", what, hint, Severity.HINT)
            return lambda machine: _display_code(code(machine))


def _formatted(value: int, base: str, width: int) -> str:
    text = f"{value:X}" if base == "HEX" else f"{value:b}" if base == "BIN" else str(value)
    return text.zfill(min(width, 16))[-16:]


def _display_code(code: int) -> str:
    return chr(code) if 32 <= code < 127 else f"<{code:02X}>"


def _stop(steps: Steps, command: Command) -> None:
    if command.arguments:
        raise Misused
    at = steps.at

    def stop(machine: Machine) -> int:
        machine.stopped = StopReason.STOP
        return at

    steps.add(stop)


def _zero(steps: Steps, command: Command) -> None:
    """ZERO, OFFSET: looked through and told; the simulated robot's horns are straight."""
    low, high = board_facts().zero
    fields_of(steps, command, low, high)
    _noted(command.key.lower(), _AT_HAND)(steps, command)


def _nothing(steps: Steps, command: Command) -> None:
    """FILL, which lays out the memory of their steps, and what only their editor reads."""
    for one in command.arguments:
        if one is not None and not isinstance(one, Text):
            steps.names.constant(one)


WORDS = {
    "STOP": Word("STOP", _stop),
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
    "PWM": Word("PWM port, duty", _noted("pwm")),
    "FPWM": Word("FPWM port, frequency, duty", _noted("pwm")),
    "AIMOTOR": Word("AIMOTOR ...", _noted("aimotor", _OTHER_BOARD)),
    "MOTORMODE": Word("MOTORMODE G6A, 1, ...", _noted("motormode", _OTHER_BOARD)),
    "ACTION": Word("ACTION number", _noted("action", _OTHER_BOARD)),
    "FILL": Word("FILL value, address", _nothing),
}
