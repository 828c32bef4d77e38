"""The compilation of statements for ports, the serial line, memory, sound and display."""

from __future__ import annotations

import re
from collections.abc import Callable

from posewright.runtimes.robobasic.board import BasicBoard
from posewright.runtimes.robobasic.expressions import PORT_FUNCTIONS, CompiledExpression
from posewright.runtimes.robobasic.machine import US_PER_MS, BasicMachine, StopReason
from posewright.runtimes.robobasic.servos import board_parameters, find_group
from posewright.runtimes.robobasic.step_builder import (
    Exits,
    StatementKind,
    StepBuilder,
    WrongArgumentsError,
    compile_fields,
    compile_numbers,
)
from posewright.runtimes.robobasic.tree import (
    Argument,
    CommandStatement,
    FunctionCall,
    Identifier,
    Number,
    Severity,
    Text,
    label_of_argument,
)

KEYWORD_ARGUMENTS = {"SETON", "SETOFF", "ALLON", "ALLOFF", "DEC", "HEX", "BIN", "ON", "OFF", "INIT"}
"""Names that are keywords when they are an argument."""

# Statements that only record an event.

_HORNS = "it trims the servo horns of one robot; the simulated ones need no trim"
_EDITOR = "it is for the original editor's debugger"
_OTHER_BOARD = "the MR-C3024 has no such device; the recording notes the statement"


def _event_compiler(event: str, reason: str = "") -> Callable[[StepBuilder, CommandStatement], None]:
    """Return the compiler of a statement that only records an event.

    Args:
        event: the kind of the event.
        reason: why the statement has no effect here; reported once for each keyword of a program.
    """

    def compile_event(builder: StepBuilder, command: CommandStatement) -> None:
        """Compile a statement into a step that records `event` with the values of its arguments.

        `event` and `reason` are those of `_event_compiler`: the event's kind, and why there is no effect.
        """
        if reason and command.key not in builder.reported_keywords:
            builder.reported_keywords.add(command.key)
            builder.symbols.report("no-effect", f"{command.key} has no effect here", reason, Severity.HINT)
        evaluators = [_compile_event_argument(builder, argument) for argument in command.arguments]
        line = builder.symbols.line

        def record(machine: BasicMachine) -> None:
            values = [evaluate(machine) for evaluate in evaluators]
            machine.board.record_event(event, line, statement=command.key, numbers=values)

        builder.add_action(record)

    return compile_event


def _compile_event_argument(builder: StepBuilder, argument: Argument) -> Callable[[BasicMachine], object]:
    """Return a function that evaluates a number, a text, a group or a keyword; None for an empty one."""
    match argument:
        case None:
            return lambda _: None
        case Text(text):
            return lambda _: text
        case Identifier(name) if find_group(name) is not None or argument.key in KEYWORD_ARGUMENTS:
            keyword = argument.key
            return lambda _: keyword
        case _:
            return builder.symbols.compile_value(argument)


# Ports.


def _compile_out(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of OUT: it sets a pin to the lowest bit of a value."""
    evaluate_pin, evaluate_level = compile_numbers(builder, command, n=2)
    evaluate_pin = _add_port_check(builder, command, evaluate_pin, PORT_FUNCTIONS["IN"])
    line = builder.symbols.line
    constant = builder.symbols.fold_constant(command.arguments[1])
    if constant is not None and constant > 1:
        hint = f"the lowest bit, {constant & 1}, is used"
        builder.symbols.report("range", f"OUT sets 0 or 1, not {constant}", hint, Severity.WARNING)

    def set_pin(machine: BasicMachine) -> None:
        machine.board.set_pin(evaluate_pin(machine), evaluate_level(machine) & 1, line)

    builder.add_action(set_pin)


def _compile_byteout(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of BYTEOUT: it sets the eight pins of a port to the bits of a byte."""
    evaluate_port, evaluate_byte = compile_numbers(builder, command, n=2)
    evaluate_port = _add_port_check(builder, command, evaluate_port, PORT_FUNCTIONS["BYTEIN"])
    line = builder.symbols.line

    def set_pins(machine: BasicMachine) -> None:
        machine.board.set_pins(evaluate_port(machine), evaluate_byte(machine) & 0xFF, line)

    builder.add_action(set_pins)


def _compile_toggle(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of TOGGLE: it inverts a pin."""
    (evaluate_pin,) = compile_numbers(builder, command, n=1)
    evaluate_pin = _add_port_check(builder, command, evaluate_pin, PORT_FUNCTIONS["IN"])
    line = builder.symbols.line

    def toggle(machine: BasicMachine) -> None:
        pin = evaluate_pin(machine)
        level = machine.board.outputs.get(pin, 0)
        machine.board.set_pin(pin, 1 - level, line)

    builder.add_action(toggle)


def _add_port_check(
    builder: StepBuilder, command: CommandStatement, evaluate: CompiledExpression, limits: tuple[int, int]
) -> CompiledExpression:
    """Return a function like `evaluate` that raises an error if there is no port of that number.

    A constant out of range is reported now; any other is an error at run time.

    Args:
        builder: the builder of the program.
        command: the statement, whose first argument is the port.
        evaluate: evaluates that argument.
        limits: smallest and largest number of a port.
    """
    low, high = limits
    line = builder.symbols.line
    constant = builder.symbols.fold_constant(command.arguments[0])
    if constant is not None and not low <= constant <= high:
        builder.symbols.report("port", f"{command.key} has no port {constant}", f"{low}..{high}")

    def evaluate_checked(machine: BasicMachine) -> int:
        port = evaluate(machine)
        if not low <= port <= high:
            raise machine.error_at(line, f"{command.key} {port}", f"{low}..{high}")
        return port

    return evaluate_checked


# The serial line.

US_PER_S = 1_000_000
US_PER_MINUTE = 60_000_000
BITS_PER_BYTE = 10
"""With start and stop bit."""

BAUD_RATES_HINT = "1200, 2400, 4800, 9600, 19200, ..."


def _compile_erx(builder: StepBuilder, command: CommandStatement) -> None:
    """Compile ERX, which reads a byte into a variable, or jumps to a label if none has arrived."""
    match command.arguments:
        case (baud_rate, Identifier() as name, target) if baud_rate is not None:
            label = label_of_argument(target)
        case _:
            raise WrongArgumentsError
    if label is None:
        raise WrongArgumentsError
    _compile_baud_rate(builder, command)
    variable = builder.symbols.resolve_variable(name.name)
    address = builder.next_address
    no_byte_target = builder.resolve_label(label)
    if variable is None:
        return
    builder.symbols.assignment_lines.setdefault(name.key, builder.symbols.line)

    def receive(machine: BasicMachine) -> int:
        byte = machine.board.read_port("ERX", 0)
        if byte < 0:  # none has arrived
            return machine.jump(address, no_byte_target.address)
        machine.values[variable.index] = byte & variable.max_value
        return address + 1

    builder.add(receive, Exits((no_byte_target,)))


def _compile_etx(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of ETX: it sends a byte, which takes the time of 10 bits at a baud rate."""
    if len(command.arguments) != 2:
        raise WrongArgumentsError
    evaluate_baud_rate = _compile_baud_rate(builder, command)
    evaluate_byte = builder.symbols.compile_value(command.arguments[1])
    line = builder.symbols.line

    def send(machine: BasicMachine) -> None:
        """Record the sent byte, after the time that it takes."""
        bits_per_second = evaluate_baud_rate(machine)
        byte = evaluate_byte(machine) & 0xFF
        if bits_per_second == 0:
            raise machine.error_at(line, "ETX at 0 bits a second", BAUD_RATES_HINT)
        machine.clock_us += BITS_PER_BYTE * US_PER_S // bits_per_second
        machine.board.record_event("sent", line, byte=byte)

    builder.add_action(send)


def _compile_baud_rate(builder: StepBuilder, command: CommandStatement) -> CompiledExpression:
    """Compile the baud rate of ERX or ETX, which may exceed 16 bits: 115200."""
    rate = command.arguments[0]
    if not isinstance(rate, Number):
        return builder.symbols.compile_value(rate)
    if rate.value == 0:
        builder.symbols.report("range", f"{command.key} at 0 bits a second", BAUD_RATES_HINT)
    return lambda _: rate.value


# Memory.


def _poke_compiler(
    select_memory: Callable[[BasicBoard], dict[int, int]],
) -> Callable[[StepBuilder, CommandStatement], None]:
    """Return the compiler of POKE or ROMPOKE, which write a byte to a memory of the board.

    Args:
        select_memory: returns the bytes of that memory by address, those that were written.
    """

    def compile_poke(builder: StepBuilder, command: CommandStatement) -> None:
        """Add a step that writes a byte to the memory that `select_memory` returns for the board."""
        evaluate_address, evaluate_byte = compile_numbers(builder, command, n=2)

        def poke(machine: BasicMachine) -> None:
            byte = evaluate_byte(machine) & 0xFF
            select_memory(machine.board)[evaluate_address(machine)] = byte
            machine.board.effect_count += 1

        builder.add_action(poke)

    return compile_poke


# Sound.

_PITCH = re.compile(r"[A-GMN]", re.IGNORECASE)


def _compile_music(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of MUSIC: it advances the clock by the time of its notes."""
    match command.arguments:
        case (Text(notes),):
            n_notes = len(_PITCH.findall(notes))
        case _:
            raise WrongArgumentsError
    line = builder.symbols.line

    def play(machine: BasicMachine) -> None:
        machine.clock_us += n_notes * US_PER_MINUTE // max(1, machine.board.tempo)
        machine.board.record_event("music", line, notes=notes, tempo=machine.board.tempo)

    builder.add_action(play)


def _compile_tempo(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of TEMPO: it sets the beats a minute of MUSIC."""
    (evaluate_tempo,) = compile_numbers(builder, command, n=1)

    def set_tempo(machine: BasicMachine) -> None:
        machine.board.tempo = evaluate_tempo(machine)

    builder.add_action(set_tempo)


def _compile_beep(builder: StepBuilder, command: CommandStatement) -> None:  # noqa: ARG001 -- undocumented arguments are ignored
    """Add a step of BEEP."""
    line = builder.symbols.line

    def beep(machine: BasicMachine) -> None:
        machine.clock_us += board_parameters().beep_ms * US_PER_MS
        machine.board.record_event("beep", line)

    builder.add_action(beep)


# Display.

FORMAT_CODES = {"DEC": "d", "HEX": "X", "BIN": "b"}
DISPLAY_WIDTH = 16


def _compile_print(builder: StepBuilder, command: CommandStatement) -> None:
    """Add a step of PRINT, which records the printed text.

    A text is printed as it is, a number as the character of its code, and FORMAT(value, DEC, digits) as
    digits.
    """
    if any(argument is None for argument in command.arguments):
        raise WrongArgumentsError
    text_evaluators = [_compile_print_argument(builder, argument) for argument in command.arguments]
    line = builder.symbols.line

    def show(machine: BasicMachine) -> None:
        text = "".join(evaluate_text(machine) for evaluate_text in text_evaluators)
        machine.board.record_event("print", line, text=text)

    builder.add_action(show)


def _compile_print_argument(builder: StepBuilder, argument: Argument) -> Callable[[BasicMachine], str]:
    """Return a function that evaluates an argument of PRINT to text."""
    match argument:
        case Text(text):
            return lambda _: text
        case FunctionCall(function, (value, Identifier() as base, *digits)) if (
            function.upper() == "FORMAT" and base.key in FORMAT_CODES
        ):
            evaluate = builder.symbols.compile_value(value)
            width = builder.symbols.fold_constant(digits[0]) if digits else 0
            return lambda machine: _format_number(evaluate(machine), base.key, width or 0)
        case FunctionCall(function) if function.upper() == "FORMAT":
            raise WrongArgumentsError
        case _:
            evaluate_code = builder.symbols.compile_value(argument)
            if isinstance(argument, Identifier) and builder.symbols.fold_constant(argument) is None:
                message = f"PRINT shows the character with the code {argument.name}, not its digits"
                hint = f"FORMAT({argument.name}, DEC, 3) shows digits"
                builder.symbols.report("print-code", message, hint, Severity.HINT)
            return lambda machine: _character_of(evaluate_code(machine))


def _format_number(value: int, base: str, width: int) -> str:
    """Return the digits of a number to the base DEC, HEX or BIN, padded with zeros to a width."""
    digits = format(value, FORMAT_CODES[base])
    return digits.zfill(min(width, DISPLAY_WIDTH))[-DISPLAY_WIDTH:]


def _character_of(code: int) -> str:
    """Return the ASCII character of a code, or a control code in hexadecimal."""
    return chr(code) if 32 <= code < 127 else f"<{code:02X}>"


# Other statements.


def _compile_stop(builder: StepBuilder, command: CommandStatement) -> None:
    if command.arguments:
        raise WrongArgumentsError
    builder.add_stop(StopReason.STOP)


def _compile_zero(builder: StepBuilder, command: CommandStatement) -> None:
    """Compile ZERO: check its fields and record an event; simulated servo horns need no trim."""
    low, high = board_parameters().zero
    compile_fields(builder, command, low, high)
    _event_compiler("zero", _HORNS)(builder, command)


def _compile_fill(builder: StepBuilder, command: CommandStatement) -> None:
    """Compile FILL to nothing: it lays out the memory of the original compiler's code."""


STATEMENTS = {
    "STOP": StatementKind("STOP", _compile_stop),
    "ZERO": StatementKind("ZERO G6A, 80..120, ...", _compile_zero),
    "OFFSET": StatementKind("OFFSET G6A, ...", _event_compiler("offset", _HORNS)),
    "INIT": StatementKind("INIT G6A, ...", _event_compiler("init", _HORNS)),
    "OUT": StatementKind("OUT port, 0 or 1", _compile_out),
    "TOGGLE": StatementKind("TOGGLE port", _compile_toggle),
    "PULSE": StatementKind("PULSE port", _event_compiler("pulse")),
    "BYTEOUT": StatementKind("BYTEOUT port, value", _compile_byteout),
    "ERX": StatementKind("ERX 4800, variable, label if no byte has arrived", _compile_erx),
    "ETX": StatementKind("ETX 4800, value", _compile_etx),
    "RX": StatementKind("RX 4800, variable, label if no byte has arrived", _compile_erx),
    "TX": StatementKind("TX 4800, value", _compile_etx),
    "POKE": StatementKind("POKE address, value", _poke_compiler(lambda board: board.memory)),
    "ROMPOKE": StatementKind("ROMPOKE address, value", _poke_compiler(lambda board: board.eeprom)),
    "MUSIC": StatementKind('MUSIC "CDE"', _compile_music),
    "PLAY": StatementKind('PLAY "CDE"', _compile_music),
    "TEMPO": StatementKind("TEMPO beats a minute", _compile_tempo),
    "BEEP": StatementKind("BEEP", _compile_beep),
    "SOUND": StatementKind("SOUND ...", _event_compiler("sound")),
    "PRINT": StatementKind('PRINT "text", code, FORMAT(variable, DEC, digits)', _compile_print),
    "LCDINIT": StatementKind("LCDINIT", _event_compiler("display")),
    "CLS": StatementKind("CLS", _event_compiler("display")),
    "CSON": StatementKind("CSON", _event_compiler("display")),
    "CSOFF": StatementKind("CSOFF", _event_compiler("display")),
    "LOCATE": StatementKind("LOCATE x, y", _event_compiler("display")),
    "CONT": StatementKind("CONT value", _event_compiler("display")),
    "PWM": StatementKind("PWM port, duty", _event_compiler("pwm")),
    "FPWM": StatementKind("FPWM port, frequency, duty", _event_compiler("pwm")),
    "AIMOTOR": StatementKind("AIMOTOR ...", _event_compiler("aimotor", _OTHER_BOARD)),
    "MOTORMODE": StatementKind("MOTORMODE G6A, 1, ...", _event_compiler("motormode", _OTHER_BOARD)),
    "RUN": StatementKind("RUN", _event_compiler("run", _EDITOR)),
    "BREAK": StatementKind("BREAK", _event_compiler("break", _EDITOR)),
    "ACTION": StatementKind("ACTION number", _event_compiler("action", _OTHER_BOARD)),
    "FILL": StatementKind("FILL value, address", _compile_fill),
}
"""The statements by keyword."""
