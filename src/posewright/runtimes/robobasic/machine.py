"""A compiled RoboBASIC program, and the machine that runs it statement by statement in simulated time."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.errors import InputError, UnknownNameError
from posewright.runtimes.robobasic.board import BasicBoard, BasicProgramError
from posewright.runtimes.robobasic.servos import board_parameters
from posewright.runtimes.robobasic.tree import BasicFinding, BasicSource, Severity

WORD_MASK = 0xFFFF
US_PER_MS = 1000


class StopReason(Enum):
    """Why a program has stopped."""

    END = "END"
    STOP = "STOP"
    LAST_LINE = "its last line"
    RETURN = "RETURN without GOSUB"
    ERROR = "error"
    BREAKPOINT = "breakpoint"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its index among the values of the machine, and its largest value."""

    name: str
    index: int
    max_value: int


Step = Callable[["BasicMachine"], int]
"""A compiled statement: acts on the machine and returns the address of the next step."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledProgram:
    """A compiled program.

    Attributes:
        source: the source text.
        steps: the steps by address.
        lines: source lines, counted from 1, by address.
        labels: addresses by name in capitals.
        variables: the variables by name in capitals.
        findings: errors, warnings and hints by line; statements with errors have no steps.
    """

    source: BasicSource
    steps: tuple[Step, ...]
    lines: tuple[int, ...]
    labels: Mapping[str, int]
    variables: Mapping[str, Variable]
    findings: tuple[BasicFinding, ...] = ()

    @property
    def name(self) -> str:
        """The name of its file, without the suffix."""
        return re.sub(r"(?i)\.bas$", "", self.source.name)

    @property
    def warnings(self) -> tuple[BasicFinding, ...]:
        """Its findings that are warnings."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)

    def address_of(self, location: str) -> int:
        """Return the address of a label, or of the first statement on or after a line.

        Args:
            location: a label or a line number.

        Raises:
            UnknownNameError: there is no such label or line.
        """
        address = self.labels.get(location.strip().upper())
        if address is not None:
            return address
        last_line = self.lines[-1] if self.lines else 0
        if location.strip() in map(str, range(1, last_line + 1)):
            return next(address for address, line in enumerate(self.lines) if line >= int(location))
        raise UnknownNameError.among(f"label or line (1..{last_line})", location, [*self.labels])


@dataclass(slots=True, eq=False)
class BasicMachine:
    """Runs a compiled program on a board.

    Attributes:
        clock_us: time of the program [us]; it runs until this reaches the time of the world.
        address: the address of the step that comes next.
        values: the values of the variables, by `Variable.index`.
        return_addresses: the stack of GOSUB.
        loop_counts: the loop counts by address, how often a jump back led there outside of any routine.
        n_statements: number of statements that were run.
        stop_reason: None while it runs.
        error: the error that stopped it.
        breakpoints: addresses before which it stops.
        pulse_us: time between two pulses of the servos [us].
        is_waiting: whether the last statement waits for servos, and comes again; it sets this for `step`.
    """

    program: CompiledProgram
    board: BasicBoard
    clock_us: int = 0
    address: int = 0
    values: list[int] = field(default_factory=list)
    return_addresses: list[int] = field(default_factory=list)
    loop_counts: dict[int, int] = field(default_factory=dict)
    n_statements: int = 0
    stop_reason: StopReason | None = None
    error: BasicProgramError | None = None
    breakpoints: Collection[int] = ()
    pulse_us: int = 0
    is_waiting: bool = False

    def __post_init__(self) -> None:
        self.values = [0] * len(self.program.variables)
        self.pulse_us = round(self.board.servos.period_s * 1e6)

    @property
    def line(self) -> int:
        """The line of the statement that comes next; the last line at the end; 0 in an empty program."""
        lines = self.program.lines
        return lines[min(self.address, len(lines) - 1)] if lines else 0

    @property
    def variables(self) -> dict[str, int]:
        """The values of the variables, by their names as declared."""
        variables = self.program.variables.values()
        return {variable.name: self.values[variable.index] for variable in variables}

    def set_variable(self, name: str, value: int) -> None:
        """Set a variable, as with a debugger.

        Raises:
            InputError: there is no such variable, or its type does not hold the value.
        """
        variable = self.program.variables.get(name.upper())
        if variable is None:
            names = [variable.name for variable in self.program.variables.values()]
            raise UnknownNameError.among("variable", name, names)
        if not 0 <= value <= variable.max_value:
            raise InputError(f"{name} cannot hold {value}", hint=f"expected 0..{variable.max_value}")
        self.values[variable.index] = value

    def run_until(self, until_us: int) -> None:
        """Run until the clock reaches a time [us] or the program stops."""
        steps = self.program.steps
        statement_us = board_parameters().statement_us
        n_steps = len(steps)
        while self.clock_us < until_us and self.stop_reason is None:
            address = self.address
            if address >= n_steps:
                self.stop_reason = StopReason.LAST_LINE
                return
            if address in self.breakpoints:
                self.stop_reason = StopReason.BREAKPOINT
                return
            self.clock_us += statement_us
            self.n_statements += 1
            try:
                self.address = steps[address](self)
            except BasicProgramError as error:
                self.error = error
                self.stop_reason = StopReason.ERROR
                return

    def step(self) -> None:
        """Run one statement, ignoring breakpoints; servos that it waits for get their pulses at once."""
        if self.stop_reason not in {None, StopReason.BREAKPOINT}:
            return
        breakpoints = self.breakpoints
        self.breakpoints = ()
        self.stop_reason = None
        must_run_again = True
        while must_run_again:
            self.is_waiting = False
            self.run_until(self.clock_us + 1)  # one statement, as each takes longer than 1 us
            must_run_again = self.is_waiting  # it set this, and comes again after a pulse
            if must_run_again:
                self.board.servos.send_pulse()
        self.breakpoints = breakpoints

    def retry_after_pulse(self, address: int) -> int:
        """Advance the clock to the next pulse and return the address of the statement to run again."""
        n_pulses = -(-self.clock_us // self.pulse_us)  # rounded up
        self.clock_us = n_pulses * self.pulse_us
        self.is_waiting = True
        return address

    def error_at(self, line: int, message: str, hint: str = "") -> BasicProgramError:
        """Return an error of the statement on a line."""
        where = self.program.source.where(line)
        return BasicProgramError(message, where=where, hint=hint or None)

    def call_routine(self, address: int, target: int) -> int:
        """Push the address after a GOSUB at `address` and return the target.

        Raises:
            BasicProgramError: routines are nested too deeply.
        """
        max_depth = board_parameters().most_gosubs
        if len(self.return_addresses) >= max_depth:
            hint = "a routine left by GOTO never returns, and the board runs out of memory"
            raise self.error_at(self.line, f"GOSUB is nested deeper than {max_depth}", hint)
        self.return_addresses.append(address + 1)
        return target

    def jump(self, address: int, target: int) -> int:
        """Count a jump back outside of any routine as a loop and return the target."""
        if target <= address and not self.return_addresses:
            self.loop_counts[target] = self.loop_counts.get(target, 0) + 1
        return target
