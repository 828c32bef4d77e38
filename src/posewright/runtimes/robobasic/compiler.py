"""The compiler: turns the source of a program into steps; labels become addresses and blocks become jumps.

It reports all errors with their lines; a program with an error cannot run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from posewright.runtimes.robobasic import peripheral_statements, servo_statements, tree
from posewright.runtimes.robobasic.board import BasicProgramError
from posewright.runtimes.robobasic.expressions import CompiledExpression
from posewright.runtimes.robobasic.machine import BasicMachine, CompiledProgram, StopReason
from posewright.runtimes.robobasic.step_builder import (
    Exits,
    JumpTarget,
    LoopLines,
    StepBuilder,
    WrongArgumentsError,
    normalize_move,
)
from posewright.runtimes.robobasic.syntax import is_stray
from posewright.runtimes.robobasic.unclosed_ifs import find_unclosed_ifs

MAX_STEPS = 100_000
STATEMENTS = servo_statements.STATEMENTS | peripheral_statements.STATEMENTS
"""The statements other than control flow and declarations, by keyword."""


@dataclass(slots=True)
class _IfBlock:
    """An open block IF.

    Attributes:
        line: the line of the IF.
        else_target: where the last condition jumps if it does not hold; set at the next branch.
        end_targets: targets of the jumps from the ends of branches; set at the ENDIF.
        has_else: whether its ELSE has been compiled.
    """

    line: int
    else_target: JumpTarget
    end_targets: list[JumpTarget] = field(default_factory=list)
    has_else: bool = False


@dataclass(frozen=True, slots=True)
class _ForLoop:
    """An open FOR.

    Attributes:
        line: its line.
        variable_name: the name of its variable.
        begin: the address of the first step of its body.
        evaluate_last: evaluates its last value.
    """

    line: int
    variable_name: str
    begin: int
    evaluate_last: CompiledExpression


def compile_source(source: tree.BasicSource) -> CompiledProgram:
    """Compile a program; statements with errors are left out and reported in its `findings`."""
    return BasicCompiler(source).compile()


def compile_or_raise(source: tree.BasicSource) -> CompiledProgram:
    """Compile a program that has no errors.

    Raises:
        BasicProgramError: the program has errors; the first is raised, with the others in `other_errors`.
    """
    program = compile_source(source)
    errors = [
        BasicProgramError(finding.message, where=source.where(finding.line), hint=finding.hint or None)
        for finding in program.findings
        if finding.severity is tree.Severity.ERROR
    ]
    if errors:
        errors[0].other_errors = tuple(errors[1:])
        raise errors[0]
    return program


class BasicCompiler:
    """Compiles one program.

    It handles control flow; `servo_statements` and `peripheral_statements` compile all other statements.

    Attributes:
        source: the program.
        builder: collects the steps.
        symbols: variables, constants and findings.
    """

    def __init__(self, source: tree.BasicSource) -> None:
        self.source = source
        self.builder = StepBuilder()
        self.symbols = self.builder.symbols
        self._label_lines: dict[str, int] = {}  # the line of each label, by its name in capitals
        self._open_blocks: list[_IfBlock | _ForLoop] = []  # the innermost last
        self._unclosed_ifs = find_unclosed_ifs(source.lines)  # by line
        for line in source.lines:
            self.symbols.line = line.number
            self._collect_declarations(line)

    def _collect_declarations(self, line: tree.SourceLine) -> None:
        """Declare the label, variables, constants and pose of a line."""
        label_key = line.label.upper()
        if label_key in self._label_lines:
            message = f"the label {line.label} is already on line {self._label_lines[label_key]}"
            self.symbols.report("label-twice", message, "give each its own name")
        elif label_key:
            self._label_lines[label_key] = line.number
            self.builder.target_by_label[label_key] = JumpTarget(-1)  # set when the line is compiled
        match line.statement:
            case tree.Dim(declarations):
                for name, kind in declarations:
                    self.symbols.declare_variable(name, kind)
            case tree.Const(name, value):
                self.symbols.declare_constant(name, value)
            case tree.CommandStatement() as command if command.key == "POS" and label_key:
                self.builder.pose_statement_by_label[label_key] = command
            case _:
                pass

    def compile(self) -> CompiledProgram:
        """Compile all lines and return the program.

        A line sets the address of its label and adds the steps of its statement. Blocks that are open at the
        end of the program are reported; so is a program of more than `MAX_STEPS`, which is cut off there.
        """
        builder = self.builder
        for line in self.source.lines:
            self.symbols.line = line.number
            label_key = line.label.upper()
            self._close_unclosed_ifs(line.number)
            if label_key and self._label_lines.get(label_key) == line.number:
                builder.target_by_label[label_key].address = builder.next_address
            if line.problem:
                is_accepted = line.statement is not None or is_stray(line.code)
                severity = tree.Severity.WARNING if is_accepted else tree.Severity.ERROR
                self.symbols.report("syntax", line.problem, line.hint, severity, line.column)
            if line.statement is not None:
                self._compile_statement(line.statement, is_whole_line=True)
            if builder.next_address > MAX_STEPS:
                hint = f"expected at most {MAX_STEPS:,} statements"
                self.symbols.report("too-long", "the program is too long", hint)
                break
        self._close_unclosed_ifs(len(self.source.lines) + 1)
        for block in self._open_blocks:
            self.symbols.line = block.line
            keyword, end_keyword = ("IF", "ENDIF") if isinstance(block, _IfBlock) else ("FOR", "NEXT")
            message = f"this {keyword} has no {end_keyword}"
            self.symbols.report("open-block", message, f"{end_keyword} on a line of its own")
            if isinstance(block, _IfBlock):
                self._close_if(block)
        return CompiledProgram(
            self.source,
            steps=tuple(builder.steps),
            lines=tuple(builder.line_number_of_step),
            labels={name: target.address for name, target in builder.target_by_label.items()},
            variables=self.symbols.variables,
            findings=tuple(sorted(self.symbols.findings, key=lambda finding: finding.line)),
        )

    def _compile_statement(  # noqa: PLR0912 -- one case for each statement
        self, statement: tree.Statement, *, is_whole_line: bool = False
    ) -> None:
        """Add the steps of a statement; FOR and a block IF must be the whole line."""
        match statement:
            case tree.Let(target, value):
                self._compile_assignment(target, value)
            case tree.IfStatement():
                self._compile_if(statement, is_whole_line=is_whole_line)
            case tree.ElseIf() | tree.Else():
                self._compile_branch(statement)
            case tree.EndIf():
                self._compile_endif()
            case tree.For():
                self._compile_for(statement, is_whole_line=is_whole_line)
            case tree.Next(name):
                self._compile_next(name)
            case tree.Goto(label):
                self._compile_jump(self.builder.resolve_label(label))
            case tree.Gosub(label):
                self._compile_call(self.builder.resolve_label(label, "GOSUB"))
            case tree.Return():
                self.builder.add(_return, Exits(falls_through=False, is_return=True))
            case tree.On():
                self._compile_on(statement)
            case tree.End():
                self.builder.add_stop(StopReason.END)
            case tree.CommandStatement():
                self._compile_command(statement)
            case _:
                pass  # DIM and CONST are declared already

    def _compile_command(self, command: tree.CommandStatement) -> None:
        """Compile a statement of `STATEMENTS`; reports an unknown one and wrong arguments."""
        command = normalize_move(command)
        kind = STATEMENTS.get(command.key)
        if kind is None and command.key in self.builder.target_by_label:
            message = f"{command.name} is a label, not a statement"
            hint = f"GOTO {command.name}, or GOSUB {command.name}"
            self.symbols.report("unknown-statement", message, hint)
        elif kind is None:
            self.symbols.report_unknown_statement(command.name, STATEMENTS.keys() | tree.FLOW_WORDS.keys())
        else:
            try:
                kind.compile(self.builder, command)
            except WrongArgumentsError:
                self.symbols.report("arguments", f"wrong arguments for {command.key}", kind.usage)

    def _compile_assignment(self, name: tree.Identifier, expression: tree.Expression) -> None:
        """Add a step that sets a variable, or one bit of it, to the value of an expression."""
        evaluate = self.symbols.compile_value(expression)
        variable = self.symbols.resolve_variable(name.name)
        if variable is None:
            return
        self.symbols.assignment_lines.setdefault(name.key, self.symbols.line)
        bit = self.symbols.resolve_bit(name, variable)
        index = variable.index
        max_value = variable.max_value
        constant = self.symbols.fold_constant(expression)
        if constant is not None and bit is None and constant > max_value:
            message = f"{name.name} = {constant} is too large"
            hint = f"a BYTE holds 0..{max_value}; the value becomes {constant & max_value}"
            self.symbols.report("too-large", message, hint, tree.Severity.WARNING)

        def set_variable(machine: BasicMachine) -> None:
            machine.values[index] = evaluate(machine) & max_value

        def set_bit(machine: BasicMachine) -> None:
            mask = 1 << (bit or 0)
            level = evaluate(machine) & 1
            machine.values[index] = machine.values[index] & ~mask | (mask if level else 0)

        self.builder.add_action(set_variable if bit is None else set_bit)

    # Jumps.

    def _compile_jump(self, target: JumpTarget) -> None:
        address = self.builder.next_address
        self.builder.add(
            lambda machine: machine.jump(address, target.address), Exits((target,), falls_through=False)
        )

    def _compile_call(self, target: JumpTarget) -> None:
        address = self.builder.next_address
        self.builder.add(
            lambda machine: machine.call_routine(address, target.address), Exits((target,), is_call=True)
        )

    def _compile_on(self, statement: tree.On) -> None:
        """Add a step that jumps to the label with the index of the value; beyond the last one it goes on."""
        address = self.builder.next_address
        evaluate_index = self.symbols.compile_value(statement.value)
        keyword = "GOSUB" if statement.gosub else "GOTO"
        targets = tuple(self.builder.resolve_label(label, keyword) for label in statement.labels)

        def branch(machine: BasicMachine) -> int:
            """Jump to, or call, the target that the value selects; go on if there is none."""
            index = evaluate_index(machine)
            if index >= len(targets):
                return address + 1
            target_address = targets[index].address
            if statement.gosub:
                return machine.call_routine(address, target_address)
            return machine.jump(address, target_address)

        self.builder.add(branch, Exits(targets, is_call=statement.gosub))

    def _compile_condition(self, condition: tree.Expression) -> JumpTarget:
        """Add a step that goes on if a condition holds.

        Returns:
            Where it jumps otherwise; the caller sets the address.
        """
        evaluate = self.symbols.compile_value(condition)
        following = self.builder.next_address + 1
        else_target = JumpTarget()
        self.builder.add(
            lambda machine: following if evaluate(machine) else else_target.address,
            Exits((else_target,), condition=condition),
        )
        return else_target

    # IF.

    def _compile_if(self, statement: tree.IfStatement, *, is_whole_line: bool) -> None:
        """Add the steps of an IF on one line, or open a block."""
        else_target = self._compile_condition(statement.condition)
        if statement.then is None:
            if not is_whole_line:
                message = "a block IF must be on a line of its own"
                self.symbols.report("block", message, "IF condition THEN")
            self._open_blocks.append(_IfBlock(self.symbols.line, else_target))
            return
        self._compile_statement(statement.then)
        if statement.otherwise is None:
            else_target.address = self.builder.next_address
            return
        end_target = JumpTarget()
        self._compile_jump(end_target)
        else_target.address = self.builder.next_address
        self._compile_statement(statement.otherwise)
        end_target.address = self.builder.next_address

    def _compile_branch(self, statement: tree.ElseIf | tree.Else) -> None:
        """Add the steps of ELSEIF or ELSE to the open IF.

        First a jump to the end of the IF, which ends the branch above; then this branch, to which the
        condition above jumps if it does not hold. A statement without an open IF is reported.
        """
        keyword = type(statement).__name__.upper()
        block = self._require_if_block(keyword)
        if block is None:
            return
        if block.has_else:
            self.symbols.report("no-block", f"{keyword} after the ELSE of this IF", "ELSE comes last")
        end_target = JumpTarget()
        self._compile_jump(end_target)
        block.end_targets.append(end_target)
        block.else_target.address = self.builder.next_address
        if isinstance(statement, tree.ElseIf):
            block.else_target = self._compile_condition(statement.condition)
        else:
            block.has_else = True
            block.else_target = JumpTarget()
        if statement.then is not None:
            self._compile_statement(statement.then)

    def _compile_endif(self) -> None:
        if self._require_if_block("ENDIF") is not None:
            self._close_last_if()

    def _require_if_block(self, keyword: str) -> _IfBlock | None:
        """Return the innermost open block if it is an IF; otherwise report the keyword and return None."""
        block = self._open_blocks[-1] if self._open_blocks else None
        if isinstance(block, _IfBlock):
            return block
        context = "" if block is None else f"; the FOR of line {block.line} is open"
        hint = "IF condition THEN, on a line of its own, before"
        self.symbols.report("no-block", f"{keyword} without IF{context}", hint)
        return None

    def _close_last_if(self) -> None:
        block = self._open_blocks.pop()
        if isinstance(block, _IfBlock):
            self._close_if(block)

    def _close_if(self, block: _IfBlock) -> None:
        block.else_target.address = self.builder.next_address
        for end_target in block.end_targets:
            end_target.address = self.builder.next_address

    def _close_unclosed_ifs(self, line_number: int) -> None:
        """End the innermost IFs that have no ENDIF and end before a line, with a warning.

        Public templates have such IFs, so the original compiler accepts them.

        Args:
            line_number: the line, from 1; one more than the program has lines at its end.
        """
        while self._open_blocks:
            unclosed_if = self._unclosed_ifs.get(self._open_blocks[-1].line)
            if unclosed_if is None or unclosed_if.end_line > line_number:
                return
            self._close_last_if()
            hint = f"ENDIF on a line of its own; {unclosed_if.describe_end()}"
            self.symbols.findings.append(
                tree.BasicFinding(
                    unclosed_if.line,
                    rule="open-block",
                    message="this IF has no ENDIF",
                    hint=hint,
                    severity=tree.Severity.WARNING,
                )
            )

    # FOR.

    def _compile_for(self, statement: tree.For, *, is_whole_line: bool) -> None:
        """Add the first assignment of a FOR, and open its loop."""
        if not is_whole_line:
            hint = "IF condition THEN, FOR below it"
            self.symbols.report("block", "FOR must be on a line of its own", hint)
        name = statement.name
        self._compile_assignment(tree.Identifier(name), statement.first)
        begin = self.builder.next_address
        self.symbols.read_lines.setdefault(name.upper(), self.symbols.line)
        evaluate_last = self.symbols.compile_value(statement.last)
        constant = self.symbols.fold_constant(statement.last)
        variable = self.symbols.variables.get(name.upper())
        if constant is not None and variable is not None and constant > variable.max_value:
            message = f"this FOR never reaches {constant}"
            hint = f"a BYTE holds 0..{variable.max_value}; DIM {name} AS INTEGER"
            self.symbols.report("too-large", message, hint, tree.Severity.WARNING)
        self._open_blocks.append(_ForLoop(self.symbols.line, name, begin, evaluate_last))

    def _compile_next(self, name: str | None) -> None:
        """Close the open FOR with a step that increments its variable and jumps back up to the last value."""
        loop = self._open_blocks[-1] if self._open_blocks else None
        if not isinstance(loop, _ForLoop):
            context = "" if loop is None else f"; the IF of line {loop.line} is open"
            hint = "FOR variable = first TO last, before"
            self.symbols.report("no-block", f"NEXT without FOR{context}", hint)
            return
        if name is not None and name.upper() != loop.variable_name.upper():
            message = f"NEXT {name} in the FOR of {loop.variable_name}, line {loop.line}"
            self.symbols.report("no-block", message, f"NEXT {loop.variable_name}")
        self._open_blocks.pop()
        self.builder.loop_lines.append(LoopLines(loop.line, self.symbols.line))
        variable = self.symbols.resolve_variable(loop.variable_name)
        if variable is None:
            return
        index = variable.index
        max_value = variable.max_value
        evaluate_last = loop.evaluate_last
        begin = loop.begin
        following = self.builder.next_address + 1

        def increment_and_loop(machine: BasicMachine) -> int:
            incremented = machine.values[index] + 1
            machine.values[index] = incremented & max_value
            return begin if incremented <= evaluate_last(machine) else following

        self.builder.add(increment_and_loop, Exits((JumpTarget(begin),)))


def _return(machine: BasicMachine) -> int:
    if machine.return_addresses:
        return machine.return_addresses.pop()
    machine.stop_reason = StopReason.RETURN
    return machine.address
