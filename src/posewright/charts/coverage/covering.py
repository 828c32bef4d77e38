"""Writes scenarios that cover a chart: few, each as long as it finds something new.

The runs show all that there is to be seen, and tell the chart from all its mutants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from os.path import relpath
from pathlib import Path

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.feasible import Feasible, feasible, with_feasible
from posewright.charts.coverage.obligation import Fact, way_name
from posewright.charts.coverage.recording import CoverageRecorder
from posewright.charts.machine import CompoundTransition, Interpreter, Snapshot, TickExecution
from posewright.charts.model import Chart
from posewright.charts.mutation import (
    Distinction,
    Distinguisher,
    InputRow,
    MutantStatus,
    explore_kept,
    mutants,
)
from posewright.charts.reachability import Exploration, explore
from posewright.charts.scenarios import Expectation, Given, Row, Scenario, ScenarioStep, given, save_scenario
from posewright.documents import PlainData
from posewright.errors import InputError, PosewrightError

CHART_ENDING = ".chart.yaml"

DESCRIPTION = "Written by `chart cover`: what the chart did when this was written."


@dataclass(frozen=True, eq=False)
class Cover:
    """Scenarios that cover a chart.

    Attributes:
        coverage: of all of them together.
        infeasible: ways that no run can take, and why.
        complete: whether it is proved that nothing else can be covered.
    """

    chart: Chart
    scenarios: tuple[Scenario, ...]
    coverage: Coverage
    infeasible: Mapping[CompoundTransition, str]
    complete: bool

    def save(self, folder: Path | str | None = None) -> list[Path]:
        """Write the scenarios as files beside the chart, or in another folder; return their paths."""
        beside = self.chart.path.parent if self.chart.path else Path()
        place = beside if folder is None else Path(folder)
        paths = [place / f"{one.name}.scenario.yaml" for one in self.scenarios]
        for scenario, path in zip(self.scenarios, paths, strict=True):
            chart = Path(relpath(beside / scenario.chart, place)).as_posix()
            save_scenario(replace(scenario, chart=chart), path)
        return paths

    def _repr_svg_(self) -> str:
        return self.coverage.svg()

    def data(self) -> dict[str, PlainData]:
        """Return the result as plain data."""
        machine = self.coverage.obligations.machine
        return {
            **self.coverage.data(),
            "complete": self.complete,
            "scenarios": [{"name": one.name, "ticks": one.ticks} for one in self.scenarios],
            "infeasible_transitions": [
                {"name": way_name(machine, way), "line": way.line, "reason": reason}
                for way, reason in self.infeasible.items()
            ],
        }


def cover_chart(chart: Chart, exploration: Exploration | None = None) -> Cover:
    """Return a small set of scenarios that takes every transition that can be taken.

    They are led by what an exploration of the chart reaches: states, transitions, decisions both ways,
    conditions both ways, the effect of each condition alone. Then they are extended by the inputs that tell
    the chart from versions of it with one small fault: the values at which comparisons change, the tick
    before a time is over.

    Args:
        chart: to be covered.
        exploration: of it, where there is one already.
    """
    exploration = exploration or explore(chart)
    possible = feasible(exploration)
    covering = CoveringRuns(possible)
    covering.run()
    telling = TellingRuns(covering.drafts, exploration.interpreter)
    kept = explore_kept(chart)
    for seen in (kept,) if kept.complete else (exploration, kept):
        telling.extend(seen)
    recorder = CoverageRecorder(exploration.interpreter, possible.coverage.obligations)
    for draft in telling.drafts:
        recorder.run(map(Row, draft.rows))
    coverage = with_feasible(recorder.coverage, possible)
    file = chart.path.name if chart.path else f"{chart.name}{CHART_ENDING}"
    name = f"{file.removesuffix(CHART_ENDING)}.cover_"
    scenarios = tuple(
        Scenario(f"{name}{number}", tuple(draft.steps()), file, description=DESCRIPTION)
        for number, draft in enumerate(telling.drafts, start=1)
    )
    return Cover(chart, scenarios, coverage, possible.infeasible_ways, exploration.complete)


DRAFT_TICKS = 600
"""Ticks of a draft: a minute, at ten a second."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A run from the very start.

    Attributes:
        rows: inputs and events, tick by tick.
        states: where the chart stood after each.
    """

    interpreter: Interpreter
    rows: tuple[InputRow, ...] = ()
    states: tuple[Snapshot, ...] = field(default=(), repr=False)

    @property
    def end(self) -> Snapshot:
        """Where the chart stands at the end."""
        return self.states[-1] if self.states else self.interpreter.initial()

    @property
    def is_full(self) -> bool:
        """Whether another one is begun rather than this one extended."""
        return len(self.rows) >= DRAFT_TICKS

    @cached_property
    def given(self) -> tuple[Given, ...]:
        """The rows as ticks take them."""
        return tuple(given(self.interpreter.chart, row) for row in self.rows)

    def extended(self, rows: Sequence[InputRow]) -> Draft:
        """Return the run with further ticks; a tick that fails, and what follows it, is left out."""
        state, states = self.end, list(self.states)
        for row in rows:
            try:
                state = self.interpreter.step(state, row)
            except PosewrightError:
                break
            states.append(state)
        return Draft(self.interpreter, (*self.rows, *rows)[: len(states)], tuple(states))

    def tells(self, other: Interpreter) -> bool:
        """Return whether another chart with the same states is seen to do something else."""
        outputs = len(self.interpreter.chart.outputs)
        state = other.initial()
        for row, wanted in zip(self.given, self.states, strict=True):
            try:
                state = TickExecution(other.machine, state).run(*row)
            except PosewrightError:
                return True
            if (
                state.configuration != wanted.configuration
                or state.values[:outputs] != wanted.values[:outputs]
            ):
                return True
        return False

    def steps(self) -> Iterator[ScenarioStep]:
        """Yield a step for every tick at which something changes, and one for the ticks between two.

        Each expects what the chart did.
        """
        machine = self.interpreter.machine
        held: InputRow = {name: kind.default for name, kind in machine.chart.inputs.items()}
        count, quiet = 0, Expectation()
        for row, state in zip(self.rows, self.states, strict=True):
            inputs = {name: row[name] for name in machine.chart.inputs}
            events = tuple(name for name in machine.chart.events if row.get(name))
            inside = tuple(machine.nodes[leaf].name for leaf in state.configuration)
            expected = Expectation(inside=inside, values=dict(state.outputs))
            changed = {name: value for name, value in inputs.items() if held[name] != value}
            if not changed and not events and expected == quiet:
                count += 1
                continue
            if count:
                yield ScenarioStep(ticks=count, throughout=quiet)
            yield ScenarioStep(set=changed, send=events, expect=expected)
            held, count, quiet = inputs, 0, expected
        if count:
            yield ScenarioStep(ticks=count, throughout=quiet)


MAX_PLACES = 20_000
"""States that are looked at for a way on, before it is begun anew from the start."""

EXTENDED = 4
"""Runs, the last ones, that are tried to be extended before another is begun."""


class CoveringRuns:
    """Runs a chart to everything that can be seen of it, the nearest first.

    Attributes:
        left: facts not seen yet.
        drafts: the runs.
    """

    def __init__(self, possible: Feasible) -> None:
        self.exploration = possible.exploration
        self.graph = possible.exploration.graph
        self.recorder = CoverageRecorder(possible.exploration.interpreter, possible.coverage.obligations)
        self.offers = {
            state: [(one.inputs, one.facts) for one in shown if one.ends]
            for state, shown in possible.shown.items()
        }
        self.left: set[Fact] = {
            fact for offer in self.offers.values() for _, facts in offer for fact in facts
        }
        self.drafts: list[Draft] = []

    def run(self) -> None:
        """Run until nothing is left."""
        draft = Draft(self.exploration.interpreter)
        while self.left:
            rows = None if draft.is_full else self.onward(draft.end)
            if rows is None:
                self.drafts += [draft] if draft.rows else []
                draft, rows = Draft(self.exploration.interpreter), self.farthest()
            draft = self.extended(draft, rows)
        self.drafts += [draft] if draft.rows else []

    def onward(self, state: Snapshot) -> tuple[InputRow, ...] | None:
        """Return the inputs that lead to the nearest place with something new, and show it."""
        start = self.exploration.node_of(state)
        if start is None:
            return None
        found = self.graph.find_nearest(self.is_new, start=start, max_nodes=MAX_PLACES)
        return None if found is None else (*found[1], self.best(self.graph.states[found[0]].state))

    def is_new(self, number: int) -> bool:
        """Return whether a place has something new to be seen."""
        return number < len(self.graph.states) and self.shows_new(self.graph.states[number].state)

    def shows_new(self, state: Snapshot) -> bool:
        """Return whether some tick from a situation shows something new; forget it where none does."""
        offer = self.offers.get(state, [])
        if any(not facts.isdisjoint(self.left) for _, facts in offer):
            return True
        self.offers.pop(state, None)
        return False

    def best(self, state: Snapshot) -> InputRow:
        """Return the inputs that show most that is new; what they promise is not asked for again."""
        inputs, facts = max(self.offers[state], key=lambda one: len(one[1] & self.left))
        self.left -= facts
        return inputs

    def farthest(self) -> tuple[InputRow, ...]:
        """Return inputs that lead from the start to the farthest place with something new, and show it."""
        new = filter(self.shows_new, self.exploration.distinct_states)
        state = max(new, key=lambda one: self.graph.depth(self.exploration.node_of(one) or 0))
        return (*self.exploration.trace_to(state), self.best(state))

    def extended(self, draft: Draft, rows: tuple[InputRow, ...]) -> Draft:
        """Return a run with further ticks, having noted what they show."""
        states = [draft.end]
        for row in rows:
            outcome = self.recorder.outcome(states[-1], row)
            self.left -= self.recorder.shown(outcome)
            states.append(outcome.after)
        return Draft(draft.interpreter, (*draft.rows, *rows), (*draft.states, *states[1:]))


class TellingRuns:
    """Extends runs until they tell a chart from all its mutants that can be told from it.

    Attributes:
        drafts: the runs.
        left: mutants that none of them tells.
    """

    def __init__(self, drafts: Sequence[Draft], interpreter: Interpreter) -> None:
        self.interpreter = interpreter
        self.drafts = list(drafts)
        self.left = []
        for mutant in mutants(interpreter.chart):
            with suppress(InputError):  # one that cannot be run is told anyway
                other = Interpreter(mutant.chart)
                if not self.is_told(other):
                    self.left.append((mutant, other))

    def is_told(self, other: Interpreter) -> bool:
        """Return whether some run tells a mutant."""
        return any(draft.tells(other) for draft in self.drafts)

    def extend(self, exploration: Exploration) -> None:
        """Extend the runs by what an exploration says of the mutants that are left."""
        distinguisher = Distinguisher(exploration)
        left = []
        for mutant, other in self.left:
            if self.is_told(other):
                continue
            told = distinguisher.distinguish(mutant, prove=False)
            if told.status is MutantStatus.APART:
                self.extend_by(told, other, exploration)
            elif told.status is MutantStatus.UNKNOWN:
                left.append((mutant, other))
        self.left = left

    def extend_by(self, told: Distinction, other: Interpreter, exploration: Exploration) -> None:
        """Extend one of the last runs so that it tells a mutant, or begin another one."""
        if told.before is None:
            return
        for number, draft in reversed([*enumerate(self.drafts)][-EXTENDED:]):
            for onward in () if draft.is_full else _onward(draft.end, told.before, exploration):
                longer = draft.extended((*onward, *told.inputs))
                if longer.tells(other):
                    self.drafts[number] = longer
                    return
        rows = (*exploration.trace_to(told.before), *told.inputs)
        self.drafts.append(Draft(self.interpreter).extended(rows))


def _onward(start: Snapshot, goal: Snapshot, exploration: Exploration) -> Iterator[tuple[InputRow, ...]]:
    """Yield inputs that lead to where a tick can go the same ways as in a state, and to that state itself."""
    graph, looked = exploration.graph, exploration.state_space
    first, last = exploration.node_of(start), exploration.node_of(goal)
    alike = looked.abstract_state(*looked.split(goal))
    if first is None:
        return
    for wanted in (
        lambda number: number < len(graph.states) and graph.states[number] is alike,
        lambda number: number == last,
    ):
        found = graph.find_nearest(wanted, start=first, max_nodes=MAX_PLACES)
        if found is not None:
            yield found[1]
