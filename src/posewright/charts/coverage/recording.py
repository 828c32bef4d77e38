"""Runs a chart and records what the run sees of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from posewright.charts.coverage.coverage import Coverage, facts_of
from posewright.charts.coverage.goal import Fact, Goals, goals_of
from posewright.charts.coverage.watching import Evaluation, watched
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Interpreter, Outcome, Snapshot
from posewright.charts.model import Chart
from posewright.charts.scenarios import Row, Scenario, read_scenario, rows_of
from posewright.errors import ExpressionError


class CoverageRecorder:
    """Steps a chart like an interpreter, and records what every step sees.

    Attributes:
        last: evaluations of the last step, in order.
    """

    def __init__(self, interpreter: Interpreter, goals: Goals | None = None) -> None:
        self.interpreter = interpreter
        self.goals = goals_of(interpreter.chart, interpreter.machine) if goals is None else goals
        self.visited: set[int] = set()
        self.taken: set[tuple[int, int]] = set()
        self.evaluations: set[Evaluation] = set()
        self.last: list[Evaluation] = []
        self._watched: dict[int, Callable[[Any], Any]] = {
            id(expression): watched(expression, first, self._note, decides=site.decides)
            for first, site in self.goals.sites
            for expression in site.lowered
        }

    def _note(self, evaluation: Evaluation) -> None:
        self.last.append(evaluation)

    def step(self, state: Snapshot, inputs: Mapping[str, object]) -> Snapshot:
        """Return where the chart stands after one tick; as `Interpreter.step`."""
        return self.outcome(state, inputs).after

    def outcome(self, state: Snapshot, inputs: Mapping[str, object]) -> Outcome:
        """Return what comes of one tick; what it saw before an error counts as well."""
        self.last.clear()
        try:
            found = self.interpreter.outcome(state, inputs, self._compute)
        finally:
            self.evaluations.update(self.last)
        self.taken.update((way.source, way.index) for way in found.taken)
        for way in found.taken:
            self.visited |= self._passed(way)
        self.visited.update(found.after.numbers)
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
        found = {fact for evaluation in self.last for fact in facts_of(evaluation)}
        if outcome is not None:
            found.update(("way", way.source, way.index) for way in outcome.taken)
            found.update(("state", number) for number in outcome.after.numbers)
        return frozenset(found)

    def _compute(self, expression: Expression, env: Mapping[str, Any]) -> Any:
        watch = self._watched.get(id(expression))
        return expression.evaluate(env) if watch is None else watch(env)

    def _passed(self, way: CompoundTransition) -> set[int]:
        """Return states that a way leaves and enters, whether or not the tick ends there."""
        nodes = self.interpreter.machine.nodes
        met = {way.source, *(goal.node for goal in way.goals if goal.memory is None)}
        return {number for one in met for number in (one, *nodes[one].around) if number}

    @property
    def coverage(self) -> Coverage:
        """What was seen so far."""
        seen = frozenset(self.visited), frozenset(self.taken), frozenset(self.evaluations)
        return Coverage(self.goals, *seen)


def cover_run(chart: Chart, rows: Iterable[Row], start: str | None = None) -> Coverage:
    """Run a chart over rows of inputs, and return what the run covers.

    Raises:
        ExpressionError: a guard or an action divides by zero.
        UnknownNameError: there is no state called `start`.
    """
    recorder = CoverageRecorder(Interpreter(chart))
    recorder.run(rows, start)
    return recorder.coverage


def cover_scenarios(chart: Chart, scenarios: Iterable[Scenario | Path | str]) -> Coverage:
    """Run scenarios, and return what all of them together cover; one ends at the first tick that fails.

    Raises:
        DocumentError: a scenario cannot be read.
    """
    recorder = CoverageRecorder(Interpreter(chart))
    for one in scenarios:
        scenario = one if isinstance(one, Scenario) else read_scenario(one, chart)
        with suppress(ExpressionError):
            recorder.run(rows_of(scenario, chart))
    return recorder.coverage
