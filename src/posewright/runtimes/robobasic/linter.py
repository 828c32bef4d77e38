"""The linter: the compiler's findings, and checks that need the whole program.

It reports variables that are never set or read, unused labels, lines that are never reached, jumps into a
FOR, routines without RETURN, and, by `move_rules`, problems with the servos' moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from posewright.robots import Robot
from posewright.robots import robot as find_robot
from posewright.runtimes.robobasic import tree
from posewright.runtimes.robobasic.ad_ports import find_moved_sensors
from posewright.runtimes.robobasic.compiler import BasicCompiler
from posewright.runtimes.robobasic.control_flow import ControlFlow
from posewright.runtimes.robobasic.expressions import PREDEFINED_VARIABLES
from posewright.runtimes.robobasic.load import ROBOT
from posewright.runtimes.robobasic.move_rules import MoveRules, column_of, finding_at

_RULES_HIDING_FLOW = {"syntax", "unknown-label"}
"""Rules whose errors leave the control flow unknown."""

_SEVERITY_ORDER = {tree.Severity.ERROR: 0, tree.Severity.WARNING: 1, tree.Severity.HINT: 2}


def lint(source: tree.BasicSource, robot: Robot | str = ROBOT) -> tuple[tree.BasicFinding, ...]:
    """Return all findings about a RoboBASIC program, by line and then by severity.

    They are, without duplicates: the compiler's, those about variables, ports on which the program expects
    other sensors than usual, the control flow, and the moves of the servos. The control flow is checked only
    if it is known: not in a program with a syntax error or an unknown label.

    Args:
        source: the program.
        robot: the robot whose joint limits and servo speeds apply, or its name.

    Raises:
        UnknownNameError: there is no such robot.
        InputError: the robot is not driven by an MR-C3024.
    """
    robot = find_robot(robot) if isinstance(robot, str) else robot
    compiler = BasicCompiler(source)
    compiler.compile()
    findings: list[tree.BasicFinding] = []
    for finding in compiler.symbols.findings:
        column = finding.column
        if column == 1:  # the compiler does not know the column: it is that of the statement
            column = column_of(source.lines[finding.line - 1])
        findings.append(replace(finding, column=column))
    findings += _check_variables(source, compiler)
    for sensor in find_moved_sensors(source):
        findings.append(finding_at(source.lines[sensor.line - 1], "plug", sensor.message))
    error_rules = {finding.rule for finding in findings if finding.severity is tree.Severity.ERROR}
    is_flow_known = error_rules.isdisjoint(_RULES_HIDING_FLOW)
    if is_flow_known:
        findings += _FlowRules(source, compiler).check()
    move_rules = MoveRules(robot, compiler.symbols.fold_constant, compiler.builder.pose_statement_by_label)
    findings += move_rules.check(source.lines)
    distinct_findings = dict.fromkeys(findings)
    return tuple(sorted(distinct_findings, key=_sort_key))


def _sort_key(finding: tree.BasicFinding) -> tuple[int, int, int, str, str]:
    severity = _SEVERITY_ORDER[finding.severity]
    return finding.line, severity, finding.column, finding.rule, finding.message


def _check_variables(source: tree.BasicSource, compiler: BasicCompiler) -> Iterator[tree.BasicFinding]:
    """Yield a finding for each variable that is never set, never read or never used."""
    symbols = compiler.symbols
    for key, variable in symbols.variables.items():
        if key in PREDEFINED_VARIABLES:
            continue
        name = variable.name
        is_read = key in symbols.read_lines
        is_set = key in symbols.assignment_lines
        if is_read and not is_set:
            line = source.lines[symbols.read_lines[key] - 1]
            message = f"{name} is read but never given a value"
            hint = f"for example {name} = 0 at the beginning"
            yield finding_at(line, "never-set", message, hint, severity=tree.Severity.WARNING)
        elif is_set and not is_read:
            line = source.lines[symbols.assignment_lines[key] - 1]
            yield finding_at(line, "never-read", f"{name} is given a value but never read")
        elif key in symbols.declaration_lines and not is_set:
            line = source.lines[symbols.declaration_lines[key] - 1]
            yield finding_at(line, "unused-variable", f"{name} is declared but never used")


class _FlowRules:
    """Checks the control flow of one program.

    RR, which a calling program sets by ACTION, is taken to be 0.
    """

    def __init__(self, source: tree.BasicSource, compiler: BasicCompiler) -> None:
        self._source_lines = source.lines
        self._builder = compiler.builder
        self._symbols = compiler.symbols
        self._flow = ControlFlow(compiler.builder, source.lines)
        self._reachable = self._flow.reachable(follow_calls=True)
        self._used_labels = {reference.label.upper() for reference in compiler.builder.label_references}

    def check(self) -> Iterator[tree.BasicFinding]:
        """Yield the findings."""
        yield from self._check_reachability()
        for line in self._source_lines:
            if line.label and not self._is_label_used(line) and self._is_reachable(line):
                yield finding_at(line, "unused-label", f"the label {line.label} is not used")
        for reference, for_line in self._flow.jumps_into_loops():
            line = self._source_lines[reference.line - 1]
            message = f"this jumps into the FOR of line {for_line}, where the label {reference.label} is"
            hint = f"{reference.keyword} a label above that FOR"
            yield finding_at(line, "into-for", message, hint, severity=tree.Severity.WARNING)
        yield from self._check_routines()

    def _is_reachable(self, line: tree.SourceLine) -> bool:
        return self._flow.addresses[line.number] in self._reachable

    def _is_label_used(self, line: tree.SourceLine) -> bool:
        return line.label.upper() in self._used_labels

    def _check_reachability(self) -> Iterator[tree.BasicFinding]:
        """Yield one finding for each routine or run of lines that is never reached.

        A label that only such lines lead to belongs to the run above it, and gets no finding of its own.
        """
        routine: tree.SourceLine | None = None  # the label line above, if it is not reached either
        is_reported = False
        for line in self._source_lines:
            if self._is_reachable(line):
                routine = None
                is_reported = False
                continue
            is_led_to = self._flow.is_entered_from_above(line) or self._is_label_used(line)
            belongs_to_reported_run = is_reported and is_led_to
            if line.label and not belongs_to_reported_run:
                routine = line
                is_reported = False
            if not is_reported and _has_effect(line.statement):
                is_reported = True
                yield self._unreachable_finding(line, routine)

    def _unreachable_finding(
        self, line: tree.SourceLine, routine: tree.SourceLine | None
    ) -> tree.BasicFinding:
        """Return the finding about a line that is never reached, or about the routine that it is in."""
        if routine is None:
            severity = tree.Severity.WARNING
            if isinstance(line.statement, tree.Return | tree.Goto | tree.End):
                severity = tree.Severity.HINT
            hint = "the line above goes elsewhere, and this has no label"
            return finding_at(
                line, rule="never-reached", message="this is never reached", hint=hint, severity=severity
            )
        if self._is_label_used(routine):
            message = f"{routine.label} is never reached, nor is anything that goes there"
        else:
            message = f"{routine.label} is never reached: nothing goes there"
        return finding_at(routine, "never-reached", message)

    def _check_routines(self) -> Iterator[tree.BasicFinding]:
        """Yield findings about RETURN without GOSUB, routines left without RETURN, and the last line."""
        end = self._builder.next_address  # that after the last line
        # addresses that are reached without a GOSUB, and those that are reached inside a routine
        in_main_program = self._flow.reachable(evaluate=self._evaluate)
        in_routines = self._flow.reachable(self._flow.called_routines(), self._evaluate)
        for address in sorted(in_main_program - {end}):
            if self._builder.exits_of_step[address].is_return:
                message = "this RETURN can be reached without a GOSUB"
                hint = "put END or GOTO above the routine"
                yield finding_at(
                    self._line_of(address), "no-gosub", message, hint, severity=tree.Severity.WARNING
                )
        for address in sorted(in_routines - in_main_program - {end}):
            if not in_main_program.isdisjoint(self._flow.successors(address, self._evaluate)):
                message = "this leaves a routine without a RETURN"
                hint = "each GOSUB takes memory until its RETURN"
                yield finding_at(self._line_of(address), "no-return", message, hint)
        if end not in self._reachable or not self._source_lines:
            return
        last_lines = (line for line in reversed(self._source_lines) if line.label or line.statement)
        last_line = next(last_lines, self._source_lines[0])
        if end in in_main_program:
            message = "the program ends after its last line"
            yield finding_at(last_line, "no-end", message, hint="END makes that explicit")
        else:
            message = "the last routine has no RETURN"
            yield finding_at(
                last_line, "no-end", message, hint="RETURN, or GOTO", severity=tree.Severity.WARNING
            )

    def _line_of(self, address: int) -> tree.SourceLine:
        return self._source_lines[self._builder.line_number_of_step[address] - 1]

    def _evaluate(self, condition: tree.Expression) -> int | None:
        """Return the value of a condition for RR = 0; None if it is not constant then."""
        if isinstance(condition, tree.Chain):
            operands = tuple(_zero_for_rr(operand) for operand in condition.operands)
            return self._symbols.fold_constant(replace(condition, operands=operands))
        return self._symbols.fold_constant(_zero_for_rr(condition))


def _zero_for_rr(operand: tree.Operand) -> tree.Operand:
    is_rr = isinstance(operand, tree.Identifier) and operand.key == "RR"
    return tree.Number(0, "0") if is_rr else operand


def _has_effect(statement: tree.Statement | None) -> bool:
    """Whether a statement does anything at run time."""
    if isinstance(statement, tree.CommandStatement):
        return statement.key not in {"POS", "FILL"}
    return statement is not None and not isinstance(
        statement, tree.Dim | tree.Const | tree.Else | tree.ElseIf | tree.EndIf
    )
