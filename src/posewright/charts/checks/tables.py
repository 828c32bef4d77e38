"""Truth tables as functions: every case fits one row, and one only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from posewright.charts.checks.conditions import differ
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.solver import Answer, Solver, claims
from posewright.charts.checks.undecided import not_proved
from posewright.charts.expression import Function, FunctionRow


class Tables:
    """Looks for cases of a function that fit no row, or two."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        for function in self.inspection.chart.functions.values():
            solver = Solver(function.takes)
            yield from self.gap(function, solver)
            for one, other in combinations(function.rows, 2):
                yield from self.overlap(function, solver, one, other)
            self.inspection.solver.proved += solver.proved
            self.inspection.solver.missing = self.inspection.solver.missing or solver.missing

    def gap(self, function: Function, solver: Solver) -> Iterator[Finding]:
        """Yield that a case fits no row, if there is one."""
        answer = solver.ask(claims(false=[row.when for row in function.rows]))
        if answer.possible:
            case = case_of(function, answer)
            message = f"no row of {function.name} fits {case}: add one"
            yield Finding(Level.ERROR, Rule.FUNCTION_GAP, message, None, case, function.line)
        elif answer.possible is None:
            text = f"whether every case fits a row of {function.name} is not known: {answer.reason}"
            yield not_proved(text, None, function.line)

    def overlap(
        self, function: Function, solver: Solver, one: FunctionRow, other: FunctionRow
    ) -> Iterator[Finding]:
        """Yield that a case fits two rows, if there is one."""
        both = claims([one.when, other.when])
        rows = f"the rows in lines {one.line} and {other.line} of {function.name}"
        answer = solver.ask((*both, *claims([differ(one.give, other.give)])))
        if answer.possible:
            case = case_of(function, answer)
            message = f"{rows} fit at once {case}, and do not give the same"
            yield Finding(Level.ERROR, Rule.FUNCTION_OVERLAP, message, None, case, other.line)
            return
        if answer.possible is None:
            yield not_proved(f"whether {rows} fit at once is not known: {answer.reason}", None, other.line)
            return
        answer = solver.ask(both)
        if answer.possible:
            case = case_of(function, answer)
            message = f"{rows} fit at once {case}; both give the same"
            yield Finding(Level.NOTE, Rule.FUNCTION_OVERLAP, message, None, case, other.line)


def case_of(function: Function, answer: Answer) -> Counterexample:
    """Return a value for every parameter."""
    found = answer.case or {}
    return Counterexample("", {name: found.get(name, kind.zero) for name, kind in function.takes.items()})
