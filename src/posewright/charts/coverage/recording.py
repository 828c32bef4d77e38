"""Runs a chart and records what the run sees of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.obligation import Fact, TestObligations
from posewright.charts.coverage.watching import Evaluation, watched
from posewright.charts.expression import Expression
from posewright.charts.machine import Interpreter, Outcome, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios import Row


class CoverageRecorder:
    """Steps a chart like an interpreter, and records what every step sees.

    Attributes:
        facts: what was seen so far.
        last: evaluations of the last step, in order.
    """

    def __init__(self, interpreter: Interpreter, obligations: TestObligations | None = None) -> None:
        self.interpreter = interpreter
        self.obligations = obligations or TestObligations(interpreter.machine)
        self.facts: set[Fact] = set()
        self.last: list[Evaluation] = []
        self._shows: dict[Evaluation, frozenset[Fact]] = {}
        self._watched = {
            id(expression): watched(expression, site.first, self.last.append, decides=site.decides)
            for site in self.obligations.sites
            for expression in site.lowered
        }

    @property
    def coverage(self) -> Coverage:
        """What was seen so far."""
        return Coverage(self.obligations, frozenset(self.facts))

    def step(self, state: Snapshot, inputs: Mapping[str, object]) -> Snapshot:
        """Return where the chart stands after one tick; as `Interpreter.step`."""
        return self.outcome(state, inputs).after

    def outcome(self, state: Snapshot, inputs: Mapping[str, object]) -> Outcome:
        """Return what comes of one tick; what it saw before an error counts as well."""
        self.last.clear()
        found = None
        try:
            found = self.interpreter.outcome(state, inputs, self._compute)
        finally:
            self.facts |= self.shown(found)
        self.facts.update(self._passed(found))
        return found

    def run(self, rows: Iterable[Row], start: str | None = None) -> None:
        """Take one tick a row, from the very start or from a state."""
        interpreter = self.interpreter
        state = interpreter.initial() if start is None else interpreter.entered(start)
        for row in rows:
            if row.start is not None:
                state = interpreter.entered(row.start)
            state = self.step(state, row.inputs)

    def shown(self, outcome: Outcome | None) -> frozenset[Fact]:
        """Return the facts that the last step saw; `outcome` is what came of it, None where it failed."""
        found: set[Fact] = set()
        for evaluation in self.last:
            if evaluation not in self._shows:
                self._shows[evaluation] = frozenset(_facts_of(evaluation))
            found |= self._shows[evaluation]
        if outcome is not None:
            found.update(("way", way.source, way.index) for way in outcome.taken)
            found.update(("state", number) for number in outcome.after.numbers)
        return frozenset(found)

    def _compute(self, expression: Expression, env: Mapping[str, Any]) -> Any:
        watch = self._watched.get(id(expression))
        return expression.evaluate(env) if watch is None else watch(env)

    def _passed(self, outcome: Outcome) -> Iterator[Fact]:
        """Yield segments by which ways lead, and states that they leave and enter, if only in passing."""
        nodes = self.interpreter.machine.nodes
        for way in outcome.taken:
            for segment in way.segments[1:]:
                yield "segment", self.obligations.segments[id(segment)]
            for one in (way.source, *(goal.node for goal in way.goals if goal.memory is None)):
                yield from (("state", number) for number in (one, *nodes[one].around) if number)


def cover_run(chart: Chart, rows: Iterable[Row], start: str | None = None) -> Coverage:
    """Run a chart over rows of inputs, and return what the run covers.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: there is no state called `start`.
    """
    recorder = CoverageRecorder(Interpreter(chart))
    recorder.run(rows, start)
    return recorder.coverage


def _facts_of(evaluation: Evaluation) -> Iterator[Fact]:
    """Yield what an evaluation of a decision shows."""
    decision, outcome, seen, brought = evaluation
    yield "decision", decision, outcome
    for bit in _bits(seen):
        yield "condition", decision, bit
    for bit in _bits(brought):
        yield "effect", decision, bit, outcome


def _bits(number: int) -> Iterator[int]:
    while number:
        bit = number & -number
        yield bit
        number ^= bit
