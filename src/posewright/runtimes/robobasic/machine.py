"""A program in memory, and the machine that runs it, statement by statement, in its own time."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

from posewright.errors import InputError, UnknownNameError
from posewright.runtimes.robobasic.board import Board, ProgramError
from posewright.runtimes.robobasic.servos import board_facts
from posewright.runtimes.robobasic.tree import Finding, Severity, Source

WORD_MASK = 0xFFFF
US_PER_MS = 1000


class StopReason(Enum):
    """Why a program is over."""

    END = "END"
    STOP = "STOP"
    LAST_LINE = "its last line"
    RETURN = "RETURN without GOSUB"
    ERROR = "error"
    BREAKPOINT = "breakpoint"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its place among the values, and the largest value it holds."""

    name: str
    place: int
    most: int


Step = Callable[["Machine"], int]
"""A statement made ready: it acts, and returns the address of the next."""


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A program ready to be run.

    Attributes:
        steps: by address.
        lines: of the source, by address; counted from 1.
        labels: addresses, by name in capitals.
        variables: by name in capitals.
        findings: what is wrong with it or odd about it, by lines; what has an error is not among its steps.
    """

    source: Source
    steps: tuple[Step, ...]
    lines: tuple[int, ...]
    labels: Mapping[str, int]
    variables: Mapping[str, Variable]
    findings: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """What it is called: its file, without the ending."""
        return re.sub(r"(?i)\.bas$", "", self.source.name)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is most likely a mistake in it, and keeps it from nothing."""
        return tuple(one for one in self.findings if one.severity is Severity.WARNING)

    def address_of(self, place: str) -> int:
        """Return the address of a label, or of the first statement on or after a line.

        Raises:
            InputError: there is no such label or line.
        """
        if (found := self.labels.get(place.strip().upper())) is not None:
            return found
        last = self.lines[-1] if self.lines else 0
        if place.strip() in map(str, range(1, last + 1)):
            return next(at for at, line in enumerate(self.lines) if line >= int(place))
        raise UnknownNameError.among(f"label or line (1..{last})", place, [*self.labels])


@dataclass(slots=True, eq=False)
class Machine:
    """Runs a program on a board.

    Attributes:
        clock_us: the program's own time; it runs until that is where the world's is.
        at: the address of the statement that comes next.
        values: of the variables, by their places.
        gosubs: addresses to which RETURN goes back.
        rounds: how often a jump back led to an address while no routine was called, by address.
        steps: how many statements it has run.
        stopped: why it is over; None while it runs.
        breakpoints: addresses before which it stops.
        waits: whether a statement has waited for servos.
    """

    program: Program
    board: Board
    clock_us: int = 0
    at: int = 0
    values: list[int] = field(default_factory=list)
    gosubs: list[int] = field(default_factory=list)
    rounds: dict[int, int] = field(default_factory=dict)
    steps: int = 0
    stopped: StopReason | None = None
    error: ProgramError | None = None
    breakpoints: Collection[int] = ()
    pulse_us: int = 0
    waits: bool = False

    def __post_init__(self) -> None:
        self.values = [0] * len(self.program.variables)
        self.pulse_us = round(self.board.servos.period_s * 1e6)

    @property
    def line(self) -> int:
        """The line of the statement that comes next; the last where it is over."""
        lines = self.program.lines
        return lines[min(self.at, len(lines) - 1)] if lines else 0

    @property
    def variables(self) -> dict[str, int]:
        """Values by the names of the variables, as they are declared."""
        return {one.name: self.values[one.place] for one in self.program.variables.values()}

    def set_variable(self, name: str, value: int) -> None:
        """Give a variable a value, as a person with a debugger does.

        Raises:
            InputError: there is no such variable, or it does not hold that.
        """
        variable = self.program.variables.get(name.upper())
        if variable is None:
            raise UnknownNameError.among("variable", name, [v.name for v in self.program.variables.values()])
        if not 0 <= value <= variable.most:
            raise InputError(f"{name} = {value}", hint=f"0..{variable.most}")
        self.values[variable.place] = value

    def run_until(self, until_us: int) -> None:
        """Run until the program's time is there, it waits for servos, or it is over."""
        steps, statement_us = self.program.steps, board_facts().statement_us
        n_steps = len(steps)
        while self.clock_us < until_us and self.stopped is None:
            if self.at >= n_steps:
                self.stopped = StopReason.LAST_LINE
                return
            if self.at in self.breakpoints:
                self.stopped = StopReason.BREAKPOINT
                return
            before = self.at
            self.clock_us += statement_us
            self.steps += 1
            try:
                self.at = steps[before](self)
            except ProgramError as error:
                self.error, self.stopped = error, StopReason.ERROR
                return

    def step(self) -> None:
        """Run one statement, breakpoint or not; servos for which it waits get their pulses at once."""
        if self.stopped in {None, StopReason.BREAKPOINT}:
            kept, self.breakpoints, self.stopped = self.breakpoints, (), None
            self.waits = True
            while self.waits:
                self.waits = False
                self.run_until(self.clock_us + 1)
                if self.waits:
                    self.board.servos.pulse()
            self.breakpoints = kept

    def wait(self, at: int) -> int:
        """Run the statement at `at` again after the next pulse."""
        self.clock_us = -(-self.clock_us // self.pulse_us) * self.pulse_us
        self.waits = True
        return at

    def fail(self, line: int, message: str, hint: str = "") -> ProgramError:
        """Return the error of the statement on a line."""
        where = self.program.source.where(line)
        return ProgramError(message, where=where, hint=hint or None)

    def call(self, at: int, target: int) -> int:
        """Go to a routine from the statement at `at`."""
        if len(self.gosubs) >= board_facts().most_gosubs:
            hint = "a routine left by GOTO never returns, and the board runs out of memory"
            raise self.fail(self.line, f"GOSUB is nested deeper than {board_facts().most_gosubs}", hint)
        self.gosubs.append(at + 1)
        return target

    def go(self, at: int, target: int) -> int:
        """Jump from the statement at `at`; a jump back says that a loop came round."""
        if target <= at and not self.gosubs:
            self.rounds[target] = self.rounds.get(target, 0) + 1
        return target
