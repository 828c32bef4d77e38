"""What the statements do that move nothing: ports, lines, memory, sound and display."""

from __future__ import annotations

import re
from collections.abc import Callable

from posewright.runtimes.robobasic.expressions import FUNCTIONS, Value
from posewright.runtimes.robobasic.machine import US_PER_MS, Machine, StopReason
from posewright.runtimes.robobasic.servos import board_facts, group_of
from posewright.runtimes.robobasic.steps import Exits, Misused, Steps, Word, fields_of, numbers
from posewright.runtimes.robobasic.tree import Argument, Call, Command, Name, Number, Severity, Text, label_of

BITS_A_BYTE = 10
RATES = "1200, 2400, 4800, 9600, 19200, ..."


_HORNS = "it trims the servo horns of one robot; the simulated ones need no trim"


_EDITOR = "it is for the original editor's debugger"
_OTHER_BOARD = "the MR-C3024 has nothing of the kind; the recording notes it"


def _noted(what: str, why: str = "") -> Callable[[Steps, Command], None]:
    """Return what makes a statement ready that is only told."""

    def add(steps: Steps, command: Command) -> None:
        if why and command.key not in steps.noted:  # once: a program of 2000 lines has fifty
            steps.noted.add(command.key)
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


PLAIN_WORDS = {"SETON", "SETOFF", "ALLON", "ALLOFF", "DEC", "HEX", "BIN", "ON", "OFF", "INIT"}


def _out(steps: Steps, command: Command) -> None:
    (pin, value), line = numbers(steps, command, 2), steps.names.line
    pin = _checked(steps, command, pin, FUNCTIONS["IN"])
    if (known := steps.names.constant(command.arguments[1])) is not None and known > 1:
        hint = f"0 or 1; the lowest bit, {known & 1}, is used"
        steps.names.find("range", f"OUT of {known}", hint, Severity.WARNING)
    steps.act(lambda machine: machine.board.output(pin(machine), value(machine) & 1, line))


def _byte_out(steps: Steps, command: Command) -> None:
    (port, value), line = numbers(steps, command, 2), steps.names.line
    port = _checked(steps, command, port, FUNCTIONS["BYTEIN"])
    steps.act(lambda machine: machine.board.output_byte(port(machine), value(machine) & 0xFF, line))


def _toggle(steps: Steps, command: Command) -> None:
    (pin,), line = numbers(steps, command, 1), steps.names.line
    pin = _checked(steps, command, pin, FUNCTIONS["IN"])

    def toggle(machine: Machine) -> None:
        at = pin(machine)
        machine.board.output(at, 1 - machine.board.outputs.get(at, 0), line)

    steps.act(toggle)


def _checked(steps: Steps, command: Command, port: Value, ports: tuple[int, int]) -> Value:
    """Return a port, or pin; one that is not there is told, before the run where it is a constant."""
    known, line, (low, high) = steps.names.constant(command.arguments[0]), steps.names.line, ports
    if known is not None and not low <= known <= high:
        steps.names.find("port", f"there is no {command.key} {known}", f"{low}..{high}")

    def checked(machine: Machine) -> int:
        if not low <= (asked := port(machine)) <= high:
            raise machine.fail(line, f"{command.key} {asked}", f"{low}..{high}")
        return asked

    return checked


def _erx(steps: Steps, command: Command) -> None:
    match command.arguments:
        case (rate, Name() as name, target) if rate is not None and (label := label_of(target)) is not None:
            _rate(steps, command)
        case _:
            raise Misused
    variable, at, there = steps.names.variable(name.name), steps.at, steps.target(label)
    if variable is None:
        return
    steps.names.written.setdefault(name.key, steps.names.line)

    def step(machine: Machine) -> int:
        byte = machine.board.look("ERX", 0)
        if byte < 0:
            return machine.go(at, there[0])
        machine.values[variable.place] = byte & variable.most
        return at + 1

    steps.add(step, Exits((there,)))


def _etx(steps: Steps, command: Command) -> None:
    if len(command.arguments) != 2:
        raise Misused
    rate, value, line = _rate(steps, command), steps.names.value(command.arguments[1]), steps.names.line

    def send(machine: Machine) -> None:
        bits_s, byte = rate(machine), value(machine) & 0xFF
        if bits_s == 0:
            raise machine.fail(line, "ETX at 0 bits a second", RATES)
        machine.clock_us += BITS_A_BYTE * 1_000_000 // bits_s
        machine.board.tell("sent", line, byte=byte)

    steps.act(send)


def _rate(steps: Steps, command: Command) -> Value:
    """Return the bits a second of ERX and ETX; they are a word of the language, and may be 115200."""
    rate = command.arguments[0]
    if isinstance(rate, Number):
        if rate.value == 0:
            steps.names.find("range", f"{command.key} at 0 bits a second", RATES)
        return lambda _: rate.value
    return steps.names.value(rate)


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
        case Call(name, (value, Name() as base, *digits)) if name.upper() == "FORMAT" and base.key in BASES:
            number = steps.names.value(value)
            width = steps.names.constant(digits[0]) or 0 if digits else 0
            return lambda machine: _formatted(number(machine), base.key, width)
        case Call(name) if name.upper() == "FORMAT":
            raise Misused
        case _:
            code = steps.names.value(argument)
            if isinstance(argument, Name) and steps.names.constant(argument) is None:
                hint = f"FORMAT({argument.name}, DEC, 3) shows digits"
                what = f"PRINT shows the character with the code {argument.name}, not its digits"
                steps.names.find("print-code", what, hint, Severity.HINT)
            return lambda machine: _display_code(code(machine))


BASES = {"DEC": "d", "HEX": "X", "BIN": "b"}
MOST_DIGITS = 16
"""A line of the display."""


def _formatted(value: int, base: str, width: int) -> str:
    return format(value, BASES[base]).zfill(min(width, MOST_DIGITS))[-MOST_DIGITS:]


def _display_code(code: int) -> str:
    return chr(code) if 32 <= code < 127 else f"<{code:02X}>"


def _stop(steps: Steps, command: Command) -> None:
    if command.arguments:
        raise Misused
    steps.stop(StopReason.STOP)


def _zero(steps: Steps, command: Command) -> None:
    """ZERO, OFFSET: looked through and told; the simulated robot's horns are straight."""
    low, high = board_facts().zero
    fields_of(steps, command, low, high)
    _noted(command.key.lower(), _HORNS)(steps, command)


def _nothing(steps: Steps, command: Command) -> None:
    """FILL, which lays out the memory of their steps."""


WORDS = {
    "STOP": Word("STOP", _stop),
    "ZERO": Word("ZERO G6A, 80..120, ...", _zero),
    "OFFSET": Word("OFFSET G6A, ...", _noted("offset", _HORNS)),
    "INIT": Word("INIT G6A, ...", _noted("init", _HORNS)),
    "OUT": Word("OUT port, 0 or 1", _out),
    "TOGGLE": Word("TOGGLE port", _toggle),
    "PULSE": Word("PULSE port", _noted("pulse")),
    "BYTEOUT": Word("BYTEOUT port, value", _byte_out),
    "ERX": Word("ERX 4800, variable, label where nothing came", _erx),
    "ETX": Word("ETX 4800, value", _etx),
    "RX": Word("RX 4800, variable, label where nothing came", _erx),
    "TX": Word("TX 4800, value", _etx),
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
    "RUN": Word("RUN", _noted("run", _EDITOR)),
    "BREAK": Word("BREAK", _noted("break", _EDITOR)),
    "ACTION": Word("ACTION number", _noted("action", _OTHER_BOARD)),
    "FILL": Word("FILL value, address", _nothing),
}
