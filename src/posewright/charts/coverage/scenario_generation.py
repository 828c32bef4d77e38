"""Generation of scenarios that cover a chart: few runs, each extended for as long as it covers something new.

The runs cover everything that can be covered, and distinguish the chart from all its mutants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from os.path import relpath
from pathlib import Path
from typing import NamedTuple

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.feasibility import (
    FeasibleCoverage,
    compute_feasible_coverage,
    exclude_infeasible,
)
from posewright.charts.coverage.obligation import Fact, format_transition_name
from posewright.charts.coverage.recorder import CoverageRecorder
from posewright.charts.machine import CompoundTransition, Interpreter, Snapshot, TickExecution
from posewright.charts.model import Chart
from posewright.charts.mutation import (
    Distinction,
    Distinguisher,
    InputRow,
    Mutant,
    MutantStatus,
    explore_small_variables,
    mutants,
)
from posewright.charts.reachability import Exploration, explore
from posewright.charts.scenarios import (
    Expectation,
    Row,
    Scenario,
    ScenarioStep,
    TickInputs,
    save_scenario,
    split_events,
)
from posewright.documents import PlainData
from posewright.errors import InputError, PosewrightError

CHART_ENDING = ".chart.yaml"

DESCRIPTION = "Written by `chart cover`: what the chart did when this was written."


@dataclass(frozen=True, eq=False)
class Cover:
    """Scenarios that cover a chart.

    Attributes:
        coverage: the coverage of all of them together.
        infeasible: transitions that no run can take, and why.
        complete: whether it is proved that nothing else can be covered.
    """

    chart: Chart
    scenarios: tuple[Scenario, ...]
    coverage: Coverage
    infeasible: Mapping[CompoundTransition, str]
    complete: bool

    def save(self, folder: Path | str | None = None) -> list[Path]:
        """Write the scenarios as files beside the chart, or in another folder; return their paths.

        Each file names the chart by its path relative to the file's folder.
        """
        chart_folder = self.chart.path.parent if self.chart.path else Path()
        target_folder = chart_folder if folder is None else Path(folder)
        paths = []
        for scenario in self.scenarios:
            path = target_folder / f"{scenario.name}.scenario.yaml"
            chart_path = Path(relpath(chart_folder / scenario.chart, target_folder)).as_posix()
            save_scenario(replace(scenario, chart=chart_path), path)
            paths.append(path)
        return paths

    def _repr_svg_(self) -> str:
        return self.coverage.svg()

    def data(self) -> dict[str, PlainData]:
        """Return the result as plain data for JSON."""
        machine = self.coverage.obligations.machine
        return {
            **self.coverage.data(),
            "complete": self.complete,
            "scenarios": [{"name": scenario.name, "ticks": scenario.ticks} for scenario in self.scenarios],
            "infeasible_transitions": [
                {
                    "name": format_transition_name(machine, transition),
                    "line": transition.line,
                    "reason": reason,
                }
                for transition, reason in self.infeasible.items()
            ],
        }


def cover_chart(chart: Chart, exploration: Exploration | None = None) -> Cover:
    """Return a small set of scenarios that takes every transition that can be taken.

    The exploration of the chart shows what can be covered: states, transitions, decisions with both outcomes,
    conditions with both values, the effect of each condition alone. The scenarios are then extended by inputs
    that distinguish the chart from mutants with one small fault: the values at which comparisons change, the
    tick before a time is over.

    Args:
        chart: the chart to be covered.
        exploration: the exploration of the chart, to be reused.
    """
    exploration = exploration or explore(chart)
    feasible_coverage = compute_feasible_coverage(exploration)
    covering_runs = CoveringRuns(feasible_coverage)
    covering_runs.generate()
    mutant_killing_runs = MutantKillingRuns(covering_runs.runs, exploration.interpreter)
    detailed_exploration = explore_small_variables(chart)
    if not detailed_exploration.complete:
        mutant_killing_runs.extend(exploration)
    mutant_killing_runs.extend(detailed_exploration)
    runs = mutant_killing_runs.runs
    recorder = CoverageRecorder(exploration.interpreter, feasible_coverage.coverage.obligations)
    for run in runs:
        recorder.run(map(Row, run.rows))
    file_name = chart.path.name if chart.path else f"{chart.name}{CHART_ENDING}"
    prefix = f"{file_name.removesuffix(CHART_ENDING)}.cover_"
    scenarios = tuple(
        Scenario(f"{prefix}{number}", tuple(run.steps()), file_name, description=DESCRIPTION)
        for number, run in enumerate(runs, start=1)
    )
    return Cover(
        chart,
        scenarios,
        coverage=exclude_infeasible(recorder.coverage, feasible_coverage),
        infeasible=feasible_coverage.infeasible_transitions,
        complete=exploration.complete,
    )


MAX_RUN_TICKS = 600
"""Ticks after which a run is not extended any more: a minute at ten a second."""


@dataclass(frozen=True, eq=False)
class GeneratedRun:
    """A run of a chart from the start.

    Attributes:
        interpreter: the interpreter of the chart.
        rows: inputs and events, tick by tick.
        states: state of the chart after each tick.
    """

    interpreter: Interpreter
    rows: tuple[InputRow, ...] = ()
    states: tuple[Snapshot, ...] = field(default=(), repr=False)

    @property
    def end_state(self) -> Snapshot:
        """State at the end."""
        return self.states[-1] if self.states else self.interpreter.initial()

    @property
    def is_full(self) -> bool:
        """Whether it is long enough not to be extended."""
        return len(self.rows) >= MAX_RUN_TICKS

    @cached_property
    def tick_inputs(self) -> tuple[TickInputs, ...]:
        """The rows as arguments of `TickExecution.run`."""
        return tuple(split_events(self.interpreter.chart, row) for row in self.rows)

    def extended(self, rows: Sequence[InputRow]) -> GeneratedRun:
        """Return the run with further ticks, up to the first that fails."""
        state = self.end_state
        states = list(self.states)
        for row in rows:
            try:
                state = self.interpreter.step(state, row)
            except PosewrightError:
                break
            states.append(state)
        all_rows = (*self.rows, *rows)
        return GeneratedRun(self.interpreter, rows=all_rows[: len(states)], states=tuple(states))

    def kills(self, mutant: Interpreter) -> bool:
        """Return whether a mutant shows other active states or outputs in this run, or fails."""
        n_outputs = len(self.interpreter.chart.outputs)  # the values of a snapshot begin with the outputs
        mutant_state = mutant.initial()
        for tick_inputs, state in zip(self.tick_inputs, self.states, strict=True):
            try:
                mutant_state = TickExecution(mutant.machine, mutant_state).run(*tick_inputs)
            except PosewrightError:
                return True
            if mutant_state.configuration != state.configuration:
                return True
            if mutant_state.values[:n_outputs] != state.values[:n_outputs]:
                return True
        return False

    def steps(self) -> Iterator[ScenarioStep]:
        """Yield the steps of a scenario that expects what the chart did.

        Every tick with an event, a changed input or a changed expectation becomes a step. The ticks between
        two of these are another step, which expects the same throughout.
        """
        machine = self.interpreter.machine
        previous_inputs: InputRow = {
            name: value_type.default for name, value_type in machine.chart.inputs.items()
        }
        previous_expectation = Expectation()
        n_unchanged = 0
        for row, state in zip(self.rows, self.states, strict=True):
            inputs = {name: row[name] for name in machine.chart.inputs}
            changes = {name: value for name, value in inputs.items() if previous_inputs[name] != value}
            events = tuple(name for name in machine.chart.events if row.get(name))
            active_leaves = tuple(machine.nodes[leaf].name for leaf in state.configuration)
            expectation = Expectation(inside=active_leaves, values=dict(state.outputs))
            if not changes and not events and expectation == previous_expectation:
                n_unchanged += 1
                continue
            if n_unchanged:
                yield ScenarioStep(ticks=n_unchanged, throughout=previous_expectation)
            yield ScenarioStep(set=changes, send=events, expect=expectation)
            previous_inputs = inputs
            previous_expectation = expectation
            n_unchanged = 0
        if n_unchanged:
            yield ScenarioStep(ticks=n_unchanged, throughout=previous_expectation)


MAX_NODES_AHEAD = 20_000
"""Nodes that are searched for something new to cover, before another run is begun."""

MAX_RUNS_EXTENDED = 4
"""Runs, the last ones, that are tried to be extended before another is begun."""


class CoveringRuns:
    """Generates runs that cover everything that can be covered, the nearest first.

    Attributes:
        exploration: the exploration of the chart.
        graph: the explored graph; its nodes are the states that runs reach.
        recorder: runs ticks, and records what they cover.
        ticks_by_state: what ticks from a state cover; states without anything uncovered are dropped.
        uncovered_facts: facts (such as a state entered or a transition taken) that are not covered yet.
        runs: the generated runs.
    """

    def __init__(self, feasible_coverage: FeasibleCoverage) -> None:
        """Collect the facts that ticks without errors can cover, such as states entered; none is covered yet.

        Args:
            feasible_coverage: what each tick from each explored state covers.
        """
        self.exploration = feasible_coverage.exploration
        self.graph = self.exploration.graph
        self.recorder = CoverageRecorder(self.exploration.interpreter, feasible_coverage.coverage.obligations)
        self.ticks_by_state = {
            state: [tick for tick in ticks if tick.ends_without_error]
            for state, ticks in feasible_coverage.ticks_by_state.items()
        }
        self.uncovered_facts: set[Fact] = set()
        for ticks in self.ticks_by_state.values():
            for tick in ticks:
                self.uncovered_facts |= tick.facts
        self.runs: list[GeneratedRun] = []

    def generate(self) -> None:
        """Generate runs until nothing is uncovered, and store them in `runs`.

        A run is extended by the nearest tick that covers something. Where there is none nearby, or the run is
        full, another run is begun, which first goes to the farthest such tick.
        """
        run = GeneratedRun(self.exploration.interpreter)
        while self.uncovered_facts:
            rows = None if run.is_full else self._find_rows_to_nearest(run.end_state)
            if rows is None:
                if run.rows:
                    self.runs.append(run)
                run = GeneratedRun(self.exploration.interpreter)
                rows = self._find_rows_to_farthest()
            run = self._extend(run, rows)
        if run.rows:
            self.runs.append(run)

    def _find_rows_to_nearest(self, state: Snapshot) -> tuple[InputRow, ...] | None:
        """Return inputs that lead to the nearest state with something uncovered, and those that cover it.

        What the last tick covers is marked as covered. Returns None if there is no such state nearby.

        Args:
            state: the state from which they lead there.
        """
        start_node = self.exploration.node_of(state)
        if start_node is None:
            return None
        nearest = self.graph.find_nearest(self._has_uncovered, start=start_node, max_nodes=MAX_NODES_AHEAD)
        if nearest is None:
            return None
        nearest_state = self.graph.abstract_states[nearest.node].snapshot
        return (*nearest.rows, self._mark_best_tick_covered(nearest_state))

    def _has_uncovered(self, node: int) -> bool:
        """Return whether a tick from a node of the graph covers something uncovered."""
        if node >= len(self.graph.abstract_states):
            return False  # the exploration did not follow its ticks
        return self._covers_uncovered(self.graph.abstract_states[node].snapshot)

    def _covers_uncovered(self, state: Snapshot) -> bool:
        """Return whether a tick from a state covers something uncovered; if none does, drop its ticks."""
        ticks = self.ticks_by_state.get(state, [])
        if any(not tick.facts.isdisjoint(self.uncovered_facts) for tick in ticks):
            return True
        self.ticks_by_state.pop(state, None)
        return False

    def _mark_best_tick_covered(self, state: Snapshot) -> InputRow:
        """Mark the facts of the tick that covers most from a state as covered, and return its inputs."""
        best_tick = max(self.ticks_by_state[state], key=lambda tick: len(tick.facts & self.uncovered_facts))
        self.uncovered_facts -= best_tick.facts
        return best_tick.inputs

    def _find_rows_to_farthest(self) -> tuple[InputRow, ...]:
        """Return inputs to the farthest state with something uncovered, and those that cover it.

        What the last tick covers is marked as covered.
        """
        states = filter(self._covers_uncovered, self.exploration.distinct_states)
        farthest = max(states, key=lambda state: self.graph.depth(self.exploration.node_of(state) or 0))
        return (*self.exploration.trace_to(farthest), self._mark_best_tick_covered(farthest))

    def _extend(self, run: GeneratedRun, rows: tuple[InputRow, ...]) -> GeneratedRun:
        """Return a run with further ticks, and mark what they cover as covered.

        Args:
            run: the run to be extended.
            rows: the inputs of the further ticks, none of which fails.
        """
        state = run.end_state
        new_states = []
        for row in rows:
            outcome = self.recorder.run_tick(state, row)
            self.uncovered_facts -= self.recorder.tick_facts(outcome)
            state = outcome.after
            new_states.append(state)
        return GeneratedRun(run.interpreter, (*run.rows, *rows), (*run.states, *new_states))


class Survivor(NamedTuple):
    """A mutant that no run kills, with its interpreter."""

    mutant: Mutant
    interpreter: Interpreter


class MutantKillingRuns:
    """Extends runs until they kill all mutants of a chart that can be killed.

    Attributes:
        runs: the runs.
        interpreter: the interpreter of the chart.
        survivors: the mutants that no run kills.
    """

    def __init__(self, runs: Sequence[GeneratedRun], interpreter: Interpreter) -> None:
        """Collect the mutants of the chart (each has one small fault) that no run tells from it.

        Args:
            runs: runs of the chart.
            interpreter: the interpreter of the chart.
        """
        self.interpreter = interpreter
        self.runs = list(runs)
        self.survivors: list[Survivor] = []
        for mutant in mutants(interpreter.chart):
            with suppress(InputError):  # a mutant that cannot be run is killed anyway
                mutant_interpreter = Interpreter(mutant.chart)
                if not self._is_killed(mutant_interpreter):
                    self.survivors.append(Survivor(mutant, mutant_interpreter))

    def _is_killed(self, mutant: Interpreter) -> bool:
        """Return whether some run shows a difference between the mutant and the chart."""
        return any(run.kills(mutant) for run in self.runs)

    def extend(self, exploration: Exploration) -> None:
        """Extend the runs so that they kill the surviving mutants, by inputs found in an exploration.

        Only mutants about which it cannot decide remain survivors; those that it proves equal to the chart
        are dropped.
        """
        distinguisher = Distinguisher(exploration)
        undecided_survivors = []
        for survivor in self.survivors:
            if self._is_killed(survivor.interpreter):
                continue
            distinction = distinguisher.distinguish(survivor.mutant, prove=False)
            if distinction.status is MutantStatus.DISTINGUISHED:
                self._extend_to_kill(distinction, survivor.interpreter, exploration)
            elif distinction.status is MutantStatus.UNKNOWN:
                undecided_survivors.append(survivor)
        self.survivors = undecided_survivors

    def _extend_to_kill(
        self, distinction: Distinction, mutant: Interpreter, exploration: Exploration
    ) -> None:
        """Extend one of the last runs so that it kills a mutant, or add another run that does.

        Args:
            distinction: the state and inputs that show a difference; nothing is done if it has no state.
            mutant: the interpreter of the mutant.
            exploration: the exploration that the state is from.
        """
        if distinction.start_state is None:
            return
        last_runs = list(enumerate(self.runs))[-MAX_RUNS_EXTENDED:]
        for index, run in reversed(last_runs):
            if run.is_full:  # it is too long to be extended
                continue
            for rows in _rows_between(run.end_state, distinction.start_state, exploration):
                extended_run = run.extended((*rows, *distinction.inputs))
                if extended_run.kills(mutant):
                    self.runs[index] = extended_run
                    return
        rows = (*exploration.trace_to(distinction.start_state), *distinction.inputs)
        self.runs.append(GeneratedRun(self.interpreter).extended(rows))


def _rows_between(
    start: Snapshot, goal: Snapshot, exploration: Exploration
) -> Iterator[tuple[InputRow, ...]]:
    """Yield inputs from a state to the nearest one that behaves as the goal, then inputs to the goal itself.

    A state behaves as the goal if all its steps are the same, whatever its counters are. Either is left out
    if it is not among the `MAX_NODES_AHEAD` nearest states.

    Args:
        start: the state from which the inputs lead.
        goal: the state to which they lead.
        exploration: the exploration of the chart.
    """
    graph = exploration.graph
    state_space = exploration.state_space
    start_node = exploration.node_of(start)
    goal_node = exploration.node_of(goal)
    abstract_goal = state_space.abstract_state(*state_space.split_counters(goal))
    if start_node is None:
        return

    def behaves_as_goal(node: int) -> bool:
        is_expanded = node < len(graph.abstract_states)
        return is_expanded and graph.abstract_states[node] is abstract_goal

    def is_goal(node: int) -> bool:
        return node == goal_node

    for is_target in (behaves_as_goal, is_goal):
        nearest = graph.find_nearest(is_target, start=start_node, max_nodes=MAX_NODES_AHEAD)
        if nearest is not None:
            yield nearest.rows
