"""What could be neither shown nor excluded."""

from __future__ import annotations

from dataclasses import replace

from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.search import Search
from posewright.charts.checks.solver import Answer
from posewright.charts.machine import Node


def suspected(inspection: Inspection, search: Search, rule: Rule, claim: str, node: Node) -> Finding:
    """Return what to say of a question that no run answered, though not all runs were looked at.

    Args:
        inspection: of the chart.
        search: for a run.
        rule: what was looked for.
        claim: what would be so, after "whether".
        node: the state it is about.
    """
    line = node.state.line if node.state is not None else None
    answer = inspection.solver.ask(search.question.claims)
    reason = search.undecided or why(inspection)
    if answer.possible is None or answer.case is None:
        return not_proved(f"whether {claim} is not known: {answer.reason or reason}", node.name, line)
    case = _case(inspection, node, answer)
    what = f"{claim} {replace(case, state='')}".strip()  # the claim says where
    message = f"{what}; no run that comes there is known, yet none could be excluded: {reason}"
    return Finding(Level.ERROR, rule, message, node.name, case, line, proved=False)


def _case(inspection: Inspection, node: Node, answer: Answer) -> Counterexample:
    case, chart = answer.case or {}, inspection.chart
    inputs = {name: case[name] for name in chart.inputs if name in case}
    return Counterexample(node.name, inputs, {name: case[name] for name in chart.variables if name in case})


def not_proved(message: str, state: str | None = None, line: int | None = None) -> Finding:
    """Return the note that something was not decided."""
    return Finding(Level.NOTE, Rule.NOT_PROVED, message, state, None, line, proved=False)


def why(inspection: Inspection) -> str:
    """Return why not everything that can happen was explored."""
    return "; ".join(inspection.exploration.reasons) or "not everything that can happen was tried"
