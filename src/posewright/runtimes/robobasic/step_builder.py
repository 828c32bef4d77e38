"""The steps of a program under compilation, and the compilation of statements' arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from posewright.runtimes.robobasic.expressions import CompiledExpression, SymbolTable
from posewright.runtimes.robobasic.machine import BasicMachine, Step, StopReason
from posewright.runtimes.robobasic.servos import find_group
from posewright.runtimes.robobasic.tree import (
    AUTO,
    CommandStatement,
    Expression,
    FunctionCall,
    Identifier,
    Text,
)


@dataclass(slots=True, eq=False)
class JumpTarget:
    """The address of the step that a jump goes to; the compiler may set it after the jump is compiled."""

    address: int = 0


@dataclass(frozen=True, slots=True)
class Exits:
    """The steps that may follow a step.

    Attributes:
        targets: where it jumps to, or the routines that it calls.
        falls_through: whether the next step may follow.
        is_call: whether it calls `targets`, which return.
        condition: if set, the next step follows if it holds, and `targets` otherwise.
        is_return: whether the step after the call of its routine follows.
    """

    targets: tuple[JumpTarget, ...] = ()
    falls_through: bool = True
    is_call: bool = False
    condition: Expression | None = None
    is_return: bool = False


@dataclass(frozen=True, slots=True)
class LabelReference:
    """A label that a statement with some keyword refers to; lines count from 1."""

    line: int
    label: str
    keyword: str


class LoopLines(NamedTuple):
    """The lines of a FOR and of its NEXT."""

    for_line: int
    next_line: int


class StepBuilder:
    """Collects the steps of one program.

    Attributes:
        symbols: variables, constants and findings; `symbols.line` is the line under compilation.
        steps: the steps; the index of a step is its address.
        line_number_of_step: for each of `steps`, its line of the source.
        exits_of_step: for each of `steps`, the steps that may follow it.
        label_references: the references of statements to labels.
        loop_lines: the lines of each FOR and its NEXT.
        target_by_label: the target of jumps to a label, by its name in capitals.
        pose_statement_by_label: the POS statement of a label, by its name in capitals.
        reported_keywords: keywords of statements without effect that have been reported.
    """

    def __init__(self) -> None:
        """Begin a program without steps."""
        self.symbols = SymbolTable()
        self.steps: list[Step] = []
        # Of each step, in the order of `steps`.
        self.line_number_of_step: list[int] = []
        self.exits_of_step: list[Exits] = []
        # Of the whole program.
        self.label_references: list[LabelReference] = []
        self.loop_lines: list[LoopLines] = []
        self.target_by_label: dict[str, JumpTarget] = {}
        self.pose_statement_by_label: dict[str, CommandStatement] = {}
        self.reported_keywords: set[str] = set()

    @property
    def next_address(self) -> int:
        """The address of the step that is added next."""
        return len(self.steps)

    def add(self, step: Step, exits: Exits = Exits()) -> None:
        """Add a step."""
        self.steps.append(step)
        self.exits_of_step.append(exits)
        self.line_number_of_step.append(self.symbols.line)

    def add_action(self, action: Callable[[BasicMachine], None]) -> None:
        """Add a step that acts on the machine and goes on to the next."""
        following = self.next_address + 1

        def step(machine: BasicMachine) -> int:
            action(machine)
            return following

        self.add(step)

    def add_stop(self, reason: StopReason) -> None:
        """Add a step that stops the program."""
        address = self.next_address

        def step(machine: BasicMachine) -> int:
            machine.stop_reason = reason
            return address

        self.add(step, Exits(falls_through=False))

    def resolve_label(self, label: str, keyword: str = "GOTO") -> JumpTarget:
        """Return the target of a jump to a label, and record the reference.

        An unknown label is reported and stands for the step that follows the statement. AUTO, a routine of
        the board's firmware that no program contains, does so, too, but is never reported.

        Args:
            label: the label as written.
            keyword: the keyword of the statement that refers to it.
        """
        self.label_references.append(LabelReference(self.symbols.line, label, keyword))
        target = self.target_by_label.get(label.upper())
        if target is not None:
            return target
        if label.upper() != AUTO:
            self.symbols.report_unknown("label", label, self.target_by_label)
        following = self.next_address + 1  # the jump itself gets the next address
        return JumpTarget(following)


class WrongArgumentsError(Exception):
    """A statement has other arguments than its usage says; the compiler reports the usage."""


@dataclass(frozen=True, slots=True)
class StatementKind:
    """A statement of the language: its usage, and the function that compiles it.

    The function raises WrongArgumentsError if the arguments do not match the usage.
    """

    usage: str
    compile: Callable[[StepBuilder, CommandStatement], None]


def normalize_move(command: CommandStatement) -> CommandStatement:
    """Return `MOVE24 a, b` and `MOVE a, b` as `MOVE G24, a, b`, and any other statement as it is."""
    first = command.arguments[0] if command.arguments else None
    first_name = first.name if isinstance(first, Identifier | FunctionCall) else ""
    sized_move = re.fullmatch(r"MOVE(12|16|24|32)", command.key)
    if sized_move:
        group = f"G{sized_move[1]}"
    elif command.key == "MOVE" and command.arguments and not re.match(r"(?i)G\d", first_name):
        group = "G24"
    else:
        return command
    return CommandStatement("MOVE", (Identifier(group), *command.arguments))


def compile_numbers(builder: StepBuilder, command: CommandStatement, n: int) -> list[CompiledExpression]:
    """Return the functions that evaluate the arguments of a statement, which are `n` numbers.

    Raises:
        WrongArgumentsError: it has more or fewer arguments, or an empty one, or a text.
    """
    if len(command.arguments) != n:
        raise WrongArgumentsError
    if any(argument is None or isinstance(argument, Text) for argument in command.arguments):
        raise WrongArgumentsError
    return [builder.symbols.compile_value(argument) for argument in command.arguments]


def compile_fields(
    builder: StepBuilder, command: CommandStatement, low: int, high: int
) -> dict[int, CompiledExpression] | None:
    """Compile the fields behind the group of a statement such as MOVE.

    Fields out of range are reported now if they are constant, and are run-time errors otherwise.

    Args:
        builder: the builder of the program.
        command: the statement.
        low: smallest value.
        high: largest value.

    Returns:
        The functions that evaluate the fields, by servo, without empty fields; None if the group is unknown
        or there are too many fields, which is reported.
    """
    symbols = builder.symbols
    first = command.arguments[0] if command.arguments else None
    servos = find_group(first.name) if isinstance(first, Identifier) and first.bit is None else None
    if servos is None:
        name = first.name if isinstance(first, Identifier) else "the first argument"
        symbols.report("group", f"{name} is not a group of servos", "G6A..G6E, G8A..G8D, G12, G16, G24, G32")
        return None
    fields = list(command.arguments[1:])
    if len(fields) == len(servos) + 1 and fields[-1] is None:  # a comma at the end is common
        fields.pop()
    if len(fields) > len(servos):
        message = f"{len(fields)} fields for {len(servos)} servos"
        symbols.report("fields", message, f"expected at most {len(servos)}")
        return None
    compiled_fields: dict[int, CompiledExpression] = {}
    for servo, field in zip(servos, fields, strict=False):  # fields at the end may be left out
        if field is None:
            continue
        constant = symbols.fold_constant(field)
        evaluate = symbols.compile_value(field)
        if constant is None:
            evaluate = _add_range_check(evaluate, servo, low, high, symbols.line)
        elif not low <= constant <= high:
            symbols.report("range", f"{constant} is out of range for servo {servo}", f"{low}..{high}")
        compiled_fields[servo] = evaluate
    return compiled_fields


def _add_range_check(
    evaluate: CompiledExpression, servo: int, low: int, high: int, line: int
) -> CompiledExpression:
    """Return a function like `evaluate` that raises an error of a line if the value is out of range."""

    def evaluate_checked(machine: BasicMachine) -> int:
        value = evaluate(machine)
        if not low <= value <= high:
            raise machine.error_at(line, f"{value} for servo {servo}", f"{low}..{high}")
        return value

    return evaluate_checked
