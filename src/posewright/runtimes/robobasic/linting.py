"""What is wrong with a program, or odd about it: what compiling finds, and what a look at the whole tells.

Names that nothing sets or reads, labels that nothing goes to, lines that are never reached, jumps into a FOR,
routines that do not come back; and by `move_rules` how it moves its servos.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from posewright.robots import Robot
from posewright.robots import robot as robot_named
from posewright.runtimes.robobasic import tree
from posewright.runtimes.robobasic.ad_ports import moved_plugs
from posewright.runtimes.robobasic.compiling import Compiler
from posewright.runtimes.robobasic.expressions import GIVEN
from posewright.runtimes.robobasic.flow import Flow
from posewright.runtimes.robobasic.move_rules import MoveRules, column_of, finding
from posewright.runtimes.robobasic.opening import ROBOT

_ASTRAY = {"syntax", "unknown-label"}
"""Where there is one of these, nobody knows where lines lead."""

_WORSE = {tree.Severity.ERROR: 0, tree.Severity.WARNING: 1, tree.Severity.HINT: 2}


def lint(source: tree.Source, robot: Robot | str = ROBOT) -> tuple[tree.Finding, ...]:
    """Return everything that is wrong with a program or odd about it, by lines; what is worse comes first.

    Args:
        source: of the program.
        robot: whose joints and servos it is to spare, or its name.

    Raises:
        UnknownNameError: there is no such robot.
        InputError: it is not driven by an MR-C3024.
    """
    card = robot_named(robot) if isinstance(robot, str) else robot
    compiler = Compiler(source)
    compiler.program()
    found = [_placed(source, one) for one in compiler.names.findings]
    found += _names(source, compiler)
    found += [finding(source.lines[one.line - 1], "plug", one.message) for one in moved_plugs(source)]
    if not any(one.rule in _ASTRAY and one.severity is tree.Severity.ERROR for one in found):
        found += _FlowRules(source, compiler).look()
    found += MoveRules(card, compiler.names.constant, compiler.steps.poses).look(source.lines)
    return tuple(sorted(dict.fromkeys(found), key=_order))


def _order(one: tree.Finding) -> tuple[int, int, int, str, str]:
    return one.line, _WORSE[one.severity], one.column, one.rule, one.message


def _placed(source: tree.Source, one: tree.Finding) -> tree.Finding:
    """Return what compiling found with the column where the statement begins, if it knows of no other."""
    return replace(one, column=column_of(source.lines[one.line - 1])) if one.column == 1 else one


def _names(source: tree.Source, compiler: Compiler) -> Iterator[tree.Finding]:
    """Yield variables that nothing sets, or that nothing reads."""
    names, lines = compiler.names, source.lines
    declared, assigned, looked_at = names.declared, names.written, names.looked_at
    for key, variable in compiler.names.variables.items():
        name = variable.name
        if key in GIVEN:
            continue
        if key in looked_at and key not in assigned:
            what, hint = f"{name} is read but never given a value", f"for example {name} = 0 at the beginning"
            yield finding(lines[looked_at[key] - 1], "never-set", what, hint, tree.Severity.WARNING)
        elif key in assigned and key not in looked_at:
            yield finding(lines[assigned[key] - 1], "never-read", f"{name} is given a value but never read")
        elif key in declared and key not in assigned:
            yield finding(lines[declared[key] - 1], "unused-variable", f"{name} is declared but never used")


class _FlowRules:
    """Looks at where the lines of one program lead; where no other calls it by ACTION, RR is 0."""

    def __init__(self, source: tree.Source, compiler: Compiler) -> None:
        self._lines, self._steps = source.lines, compiler.steps
        self._flow = Flow(compiler.steps, source.lines)
        self._constant = compiler.names.constant
        self._reached = self._flow.reached(calls=True)
        self._named = {one.label.upper() for one in compiler.steps.mentions}

    def look(self) -> Iterator[tree.Finding]:
        """Yield what there is to say."""
        yield from self._never_reached()
        for line in self._lines:
            if line.label and line.label.upper() not in self._named and self._is_reached(line):
                yield finding(line, "unused-label", f"the label {line.label} is not used")
        for one, begin in self._flow.into_loops():
            what = f"this jumps into the FOR of line {begin}, where the label {one.label} is"
            hint = f"{one.word} a label above that FOR"
            yield finding(self._lines[one.line - 1], "into-for", what, hint, tree.Severity.WARNING)
        yield from self._outside()

    def _is_reached(self, line: tree.Line) -> bool:
        return self._flow.addresses[line.number] in self._reached

    def _never_reached(self) -> Iterator[tree.Finding]:
        """Yield where lines begin that are never reached: once for each routine of them."""
        head: tree.Line | None = None
        told = False
        for line in self._lines:
            if self._is_reached(line):
                head, told = None, False
                continue
            if line.label and not (
                told and (self._flow.comes_down(line) or line.label.upper() in self._named)
            ):
                head, told = line, False
            if not told and _acts(line.statement):
                told = True
                yield self._dead(line, head)

    def _dead(self, line: tree.Line, head: tree.Line | None) -> tree.Finding:
        if head is None:
            severity = (
                tree.Severity.HINT
                if isinstance(line.statement, tree.Return | tree.Goto | tree.End)
                else tree.Severity.WARNING
            )
            hint = "the line above goes elsewhere, and this has no label"
            return finding(line, "never-reached", "this is never reached", hint, severity)
        if head.label.upper() in self._named:
            what = f"{head.label} is never reached, nor is anything that goes there"
        else:
            what = f"{head.label} is never reached: nothing goes there"
        return finding(head, "never-reached", what)

    def _outside(self) -> Iterator[tree.Finding]:
        """Yield a RETURN, and the last line, that is come to where it should not be; who leaves a routine."""
        n = self._steps.at
        outside = self._flow.reached(known=self._known)
        for at in sorted(outside - {n}):
            if self._steps.exits[at].returns:
                what = "this RETURN can be reached without a GOSUB"
                hint = "put END or GOTO above the routine"
                yield finding(self._line(at), "no-gosub", what, hint, tree.Severity.WARNING)
        for at in sorted(self._flow.reached(self._flow.called(), self._known) - outside - {n}):
            if not outside.isdisjoint(self._flow.next(at, self._known)):
                hint = "each GOSUB takes memory until its RETURN"
                yield finding(self._line(at), "no-return", "this leaves a routine without a RETURN", hint)
        if n in self._reached and self._lines:
            last = next(
                (line for line in reversed(self._lines) if line.label or line.statement), self._lines[0]
            )
            if n in outside:
                yield finding(last, "no-end", "the program ends after its last line", "END would say so")
            else:
                hint = "RETURN, or GOTO"
                yield finding(last, "no-end", "the last routine has no RETURN", hint, tree.Severity.WARNING)

    def _line(self, address: int) -> tree.Line:
        return self._lines[self._steps.lines[address] - 1]

    def _known(self, condition: tree.Expression) -> int | None:
        return self._constant(_at_rest(condition))


def _at_rest(condition: tree.Expression) -> tree.Expression:
    """Return a condition with 0 for RR, which is what calls a program by its number."""
    if isinstance(condition, tree.Chain):
        return replace(condition, operands=tuple(_zero_for_rr(one) for one in condition.operands))
    return _zero_for_rr(condition)


def _zero_for_rr(operand: tree.Operand) -> tree.Operand:
    return tree.Number(0, "0") if isinstance(operand, tree.Name) and operand.key == "RR" else operand


def _acts(statement: tree.Statement | None) -> bool:
    """Tell whether a statement does anything when it is come by."""
    if isinstance(statement, tree.Command):
        return statement.key not in {"POS", "FILL"}
    return statement is not None and not isinstance(
        statement, tree.Dim | tree.Const | tree.Else | tree.ElseIf | tree.EndIf
    )
