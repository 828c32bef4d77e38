"""A program as it is written is made ready to run: labels become addresses, blocks become jumps.

What is wrong with it is found on the way, all of it, each with its line: a program with an error is not run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from posewright.runtimes.robobasic import moving, peripherals, tree
from posewright.runtimes.robobasic.board import ProgramError
from posewright.runtimes.robobasic.expressions import Value
from posewright.runtimes.robobasic.machine import Machine, Program, StopReason
from posewright.runtimes.robobasic.steps import Exits, Misused, Steps, as_group
from posewright.runtimes.robobasic.syntax import is_stray

MOST_STEPS = 100_000
WORDS = moving.WORDS | peripherals.WORDS
"""The statements that are no flow, by their words."""


@dataclass(slots=True)
class _Block:
    """An IF or FOR that is open, and the steps that have to learn where it ends."""

    kind: str
    line: int
    otherwise: list[int] = field(default_factory=list)
    leaves: list[list[int]] = field(default_factory=list)
    name: str = ""
    begin: int = 0
    last: Value | None = None
    had_else: bool = False


def compile_source(source: tree.Source) -> Program:
    """Return a program made ready; a statement with an error is left out, and is among its `findings`."""
    return Compiler(source).program()


def ready_program(source: tree.Source) -> Program:
    """Return a program made ready.

    Raises:
        ProgramError: it has errors; the first, and all `others`.
    """
    program = compile_source(source)
    errors = [
        ProgramError(one.message, where=source.where(one.line), hint=one.hint or None)
        for one in program.findings
        if one.severity is tree.Severity.ERROR
    ]
    if errors:
        errors[0].other_errors = tuple(errors[1:])
        raise errors[0]
    return program


class Compiler:
    """Makes one program ready; what the statements that are no flow do is in `moving` and `peripherals`.

    Attributes:
        steps: made so far.
        names: what its names mean.
    """

    def __init__(self, source: tree.Source) -> None:
        self.source = source
        self.steps = Steps()
        self.names = self.steps.names
        self._label_lines: dict[str, int] = {}
        self._blocks: list[_Block] = []
        self._unclosed = tree.unclosed_ifs(source.lines)
        self._declare(source.lines)

    # What is declared, wherever in the program it is.

    def _declare(self, lines: Iterable[tree.Line]) -> None:
        for line in lines:
            self.names.line = line.number
            if line.label:
                self._declare_label(line)
            match line.statement:
                case tree.Dim(declared):
                    for name, kind in declared:
                        self.names.declare_variable(name, kind)
                case tree.Const(name, value):
                    self.names.declare_constant(name, value)
                case tree.Command() as command if command.key == "POS" and line.label:
                    self.steps.poses[line.label.upper()] = command
                case _:
                    pass

    def _declare_label(self, line: tree.Line) -> None:
        key = line.label.upper()
        if key in self._label_lines:
            self.names.find(
                "label-twice",
                f"the label {line.label} is already on line {self._label_lines[key]}",
                "give each its own name",
            )
            return
        self._label_lines[key] = line.number
        self.steps.labels[key] = [-1]

    # Statements.

    def program(self) -> Program:
        """Make all lines ready, and return the program."""
        for line in self.source.lines:
            self.names.line = line.number
            if line.label:
                self._close_open_ifs(line.label)
            if line.label and self._label_lines.get(line.label.upper()) == line.number:
                self.steps.labels[line.label.upper()][0] = self.steps.at
            if line.problem:
                how = tree.Severity.WARNING if is_stray(line.code) else tree.Severity.ERROR
                self.names.find("syntax", line.problem, line.hint, how, line.column)
            elif line.statement is not None:
                self._statement(line.statement, whole_line=True)
            if self.steps.at > MOST_STEPS:
                self.names.find("too-long", "the program is too long", f"at most {MOST_STEPS:,} statements")
                break
        self._close_open_ifs("")
        for block in self._blocks:
            self.names.line = block.line
            end = "ENDIF" if block.kind == "IF" else "NEXT"
            self.names.find("open-block", f"this {block.kind} has no {end}", f"{end} on a line of its own")
            self._close(block)
        labels = {name: found[0] for name, found in self.steps.labels.items()}
        found = tuple(sorted(self.names.findings, key=lambda one: one.line))
        steps = tuple(self.steps.steps), tuple(self.steps.lines)
        return Program(self.source, *steps, labels, self.names.variables, found)

    def _statement(self, statement: tree.Statement, *, whole_line: bool = False) -> None:
        match statement:
            case tree.Let(place, value):
                self._assign(place, value)
            case tree.If():
                self._if(statement, whole_line=whole_line)
            case tree.ElseIf() | tree.Else() | tree.EndIf():
                self._branch(statement)
            case tree.For():
                self._for(statement, whole_line=whole_line)
            case tree.Next(name):
                self._next(name)
            case tree.Goto(label):
                self._jump(self.steps.target(label))
            case tree.Gosub(label):
                self._gosub(label)
            case tree.Return():
                self.steps.add(_return, Exits(falls=False, returns=True))
            case tree.On():
                self._on(statement)
            case tree.End():
                self.steps.stop(StopReason.END)
            case tree.Command():
                _add_command(self.steps, statement)
            case _:
                pass  # DIM and CONST are declared already

    def _jump(self, target: list[int]) -> None:
        at = self.steps.at
        self.steps.add(lambda machine: machine.go(at, target[0]), Exits((target,), falls=False))

    def _gosub(self, label: str) -> None:
        at, target = self.steps.at, self.steps.target(label, "GOSUB")
        self.steps.add(lambda machine: machine.call(at, target[0]), Exits((target,), calls=True))

    def _on(self, on: tree.On) -> None:
        at, value = self.steps.at, self.names.value(on.value)
        targets = tuple(self.steps.target(label, "GOSUB" if on.gosub else "GOTO") for label in on.labels)

        def step(machine: Machine) -> int:
            number = value(machine)
            if number >= len(targets):
                return at + 1
            target = targets[number][0]
            return machine.call(at, target) if on.gosub else machine.go(at, target)

        self.steps.add(step, Exits(targets, calls=on.gosub))

    def _assign(self, name: tree.Name, expression: tree.Expression) -> None:
        value, variable = self.names.value(expression), self.names.variable(name.name)
        if variable is None:
            return
        self.names.written.setdefault(name.key, self.names.line)
        place, most, bit = variable.place, variable.most, self.names.bit(name, variable)
        following = self.steps.at + 1
        known = self.names.constant(expression)
        if known is not None and bit is None and known > most:
            hint = f"a BYTE holds 0..{most}; {known & most} is what remains"
            self.names.find("too-large", f"{name.name} = {known} is too large", hint, tree.Severity.WARNING)

        def step(machine: Machine) -> int:
            machine.values[place] = value(machine) & most
            return following

        def set_bit(machine: Machine) -> int:
            mask = 1 << (bit or 0)
            machine.values[place] = machine.values[place] & ~mask | (mask if value(machine) & 1 else 0)
            return following

        self.steps.add(step if bit is None else set_bit)

    def _unless(self, condition: tree.Expression) -> list[int]:
        """Add a step that goes on where a condition holds; return the list to put in where it goes else."""
        value, following, otherwise = self.names.value(condition), self.steps.at + 1, [0]
        exits = Exits((otherwise,), condition=condition)
        self.steps.add(lambda machine: following if value(machine) else otherwise[0], exits)
        return otherwise

    def _if(self, statement: tree.If, *, whole_line: bool) -> None:
        otherwise = self._unless(statement.condition)
        if statement.then is None:
            if not whole_line:
                self.names.find("block", "a block begins on a line of its own", "IF condition THEN")
            self._blocks.append(_Block("IF", self.names.line, otherwise))
            return
        self._statement(statement.then)
        if statement.otherwise is not None:
            leave = [0]
            self._jump(leave)
            otherwise[0] = self.steps.at
            self._statement(statement.otherwise)
            leave[0] = self.steps.at
        else:
            otherwise[0] = self.steps.at

    def _branch(self, statement: tree.ElseIf | tree.Else | tree.EndIf) -> None:
        word = type(statement).__name__.upper()
        block = self._blocks[-1] if self._blocks else None
        if block is None or block.kind != "IF":
            inside = f"; the FOR of line {block.line} is open" if block is not None else ""
            self.names.find(
                "no-block", f"{word} without IF{inside}", "IF condition THEN, on a line of its own, before"
            )
            return
        if isinstance(statement, tree.EndIf):
            self._close(self._blocks.pop())
            return
        if block.had_else:
            self.names.find("no-block", f"{word} after the ELSE of this IF", "ELSE comes last")
        leave = [0]
        self._jump(leave)
        block.leaves.append(leave)
        block.otherwise[0] = self.steps.at
        if isinstance(statement, tree.ElseIf):
            block.otherwise = self._unless(statement.condition)
        else:
            block.had_else, block.otherwise = True, [0]
        if statement.then is not None:
            self._statement(statement.then)

    def _close_open_ifs(self, label: str) -> None:
        """Close what has no ENDIF anywhere; public templates have such, so their compiler takes it."""
        while self._blocks and self._blocks[-1].line in self._unclosed:
            block = self._blocks.pop()
            self._close(block)
            place = f"before the label {label}" if label else f"on line {self.names.line}"
            self._find_at(
                block.line,
                "open-block",
                "this IF has no ENDIF",
                f"ENDIF on a line of its own; it is taken to end {place}",
            )

    def _find_at(self, line: int, rule: str, message: str, hint: str) -> None:
        """Take note of something odd about another line than the one at hand."""
        self.names.findings.append(tree.Finding(line, rule, message, hint, tree.Severity.WARNING))

    def _close(self, block: _Block) -> None:
        if block.otherwise:
            block.otherwise[0] = self.steps.at
        for leave in block.leaves:
            leave[0] = self.steps.at

    def _for(self, statement: tree.For, *, whole_line: bool) -> None:
        if not whole_line:
            self.names.find("block", "FOR stands on a line of its own", "IF condition THEN, FOR below it")
        self._assign(tree.Name(statement.name), statement.first)
        block = _Block("FOR", self.names.line, name=statement.name, begin=self.steps.at)
        self.names.looked_at.setdefault(statement.name.upper(), self.names.line)
        block.last = self.names.value(statement.last)
        known, counted = self.names.constant(statement.last), self.names.variables.get(statement.name.upper())
        if known is not None and counted is not None and known > counted.most:
            hint = f"a BYTE holds 0..{counted.most}; DIM {statement.name} AS INTEGER"
            self.names.find("too-large", f"this FOR never reaches {known}", hint, tree.Severity.WARNING)
        self._blocks.append(block)

    def _next(self, name: str | None) -> None:
        self._close_open_ifs("")
        block = self._blocks[-1] if self._blocks else None
        if block is None or block.kind != "FOR" or block.last is None:
            inside = f"; the IF of line {block.line} is open" if block is not None else ""
            self.names.find("no-block", f"NEXT without FOR{inside}", "FOR variable = first TO last, before")
            return
        if name is not None and name.upper() != block.name.upper():
            self.names.find(
                "no-block", f"NEXT {name} in the FOR of {block.name}, line {block.line}", f"NEXT {block.name}"
            )
        self._blocks.pop()
        self.steps.loops.append((block.line, self.names.line))
        variable = self.names.variable(block.name)
        if variable is None:
            return
        place, most, last, begin, following = (
            variable.place,
            variable.most,
            block.last,
            block.begin,
            self.steps.at + 1,
        )

        def step(machine: Machine) -> int:
            value = machine.values[place] + 1
            machine.values[place] = value & most
            return begin if value <= last(machine) else following

        self.steps.add(step, Exits(([begin],)))


def _return(machine: Machine) -> int:
    if machine.gosubs:
        return machine.gosubs.pop()
    machine.stopped = StopReason.RETURN
    return machine.at


def _add_command(steps: Steps, command: tree.Command) -> None:
    """Make a statement ready; one that nobody knows, or that is not used so, is told, and does nothing."""
    command = as_group(command)
    if (word := WORDS.get(command.key)) is None:
        if command.key in steps.labels:
            what = f"the label {command.name} is no statement"
            steps.names.find("unknown-statement", what, f"GOTO {command.name}, or GOSUB {command.name}")
            return
        steps.names.pass_over(command.name, WORDS.keys() | tree.FLOW_WORDS.keys())
        return
    try:
        word.add(steps, command)
    except Misused:
        steps.names.find("arguments", f"wrong arguments for {command.key}", word.usage)
