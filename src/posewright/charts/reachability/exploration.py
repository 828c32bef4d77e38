"""Exploration of a chart: every state it can reach, and every way in which a tick can go there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.model import Chart
from posewright.charts.proof import SolverBudget
from posewright.charts.reachability.abstraction import abstract_registers
from posewright.charts.reachability.graph import ReachabilityGraph
from posewright.charts.reachability.limits import DEFAULT_LIMITS, ExplorationLimits, WorkBudget
from posewright.charts.reachability.path import InputSpace
from posewright.charts.reachability.states import ChartStateSpace, SymbolicStep
from posewright.charts.types import Value
from posewright.errors import InputError


@dataclass(frozen=True, eq=False)
class Exploration:
    """Everything that a chart can do.

    Only differences that can have an effect distinguish states: a register that nothing reads keeps its
    initial value, and of a number that is only compared with constants one value represents all that compare
    the same. `find_representative` returns the state that represents another.

    Attributes:
        interpreter: the interpreter of the chart.
        watched_conditions: the conditions whose values every step has, as passed to `explore`.
        state_space: the abstract states.
        graph: how the states were reached, and what follows each of them.
        incomplete_reasons: why the exploration is not complete; empty if it is.
    """

    interpreter: Interpreter
    watched_conditions: tuple[Expression, ...]
    state_space: ChartStateSpace
    graph: ReachabilityGraph
    incomplete_reasons: tuple[str, ...] = ()

    @property
    def chart(self) -> Chart:
        """The explored chart."""
        return self.interpreter.chart

    @property
    def machine(self) -> Machine:
        """The machine of the chart."""
        return self.interpreter.machine

    @property
    def complete(self) -> bool:
        """Whether every step of every reached state was followed, and the steps cover all inputs."""
        return not self.incomplete_reasons

    @cached_property
    def reached_states(self) -> tuple[Snapshot, ...]:
        """The states that were reached, breadth first, from the one before the first tick.

        There may be many that differ only in their counters; see `distinct_states`.
        """
        return tuple(self.state_space.join_counters(*state_key) for state_key in self.graph.state_keys)

    @cached_property
    def distinct_states(self) -> tuple[Snapshot, ...]:
        """One reached state of each abstract state: states that differ in more than their counters.

        They show everything that can happen in a tick.
        """
        return tuple(abstract_state.snapshot for abstract_state in self.graph.distinct_abstract_states)

    def merged_variables(self, names: Collection[str]) -> frozenset[str]:
        """Return those of some outputs and locals of which the exploration merges values.

        One value then represents several that the chart cannot tell apart, so a comparison of the values in
        different explored states shows nothing.
        """
        abstractions = self.state_space.abstractions
        return frozenset(name for name in names if name in abstractions and abstractions[name].merges_values)

    def find_representative(self, state: Snapshot) -> Snapshot:
        """Return the state that represents a state in the exploration, whether that was reached or not."""
        return self.state_space.join_counters(*self.state_space.split_counters(state))

    def steps_from(self, state: Snapshot) -> tuple[SymbolicStep, ...]:
        """Return all steps from any state of the chart."""
        return self.state_space.steps_from(state)

    def trace_to(self, state: Snapshot) -> tuple[Mapping[str, Value], ...]:
        """Return the shortest rows of inputs from the start to a state.

        Raises:
            InputError: the state was not reached.
        """
        node = self.node_of(state)
        if node is None:
            raise InputError(f"{state!r} was not reached", hint="pass one of `reached_states`")
        return self.trace(node)

    def node_of(self, state: Snapshot) -> int | None:
        """Return the number of a state's node in the graph; None if it was not reached."""
        return self.graph.node_by_state_key.get(self.state_space.split_counters(state))

    def trace(self, node: int) -> tuple[Mapping[str, Value], ...]:
        """Return the shortest rows of inputs from the start to a node of the graph."""
        return self.graph.trace(node)

    @cached_property
    def taken_transitions(self) -> Mapping[CompoundTransition, tuple[Snapshot, SymbolicStep]]:
        """For each transition that can be taken, the first state and step that take it."""
        first_steps: dict[CompoundTransition, tuple[Snapshot, SymbolicStep]] = {}
        for abstract_state in self.graph.distinct_abstract_states:
            for step in abstract_state.steps:
                for transition in step.taken_transitions:
                    first_steps.setdefault(transition, (abstract_state.snapshot, step))
        return first_steps


def explore(
    chart: Chart,
    *,
    watched_conditions: Sequence[Expression] = (),
    tracked: Collection[str] = (),
    values_to_try: Mapping[str, Collection[Value]] | None = None,
    limits: ExplorationLimits = DEFAULT_LIMITS,
    interpreter: Interpreter | None = None,
    solver_budget: SolverBudget | None = None,
    budget: WorkBudget | None = None,
) -> Exploration:
    """Explore everything that a chart can do.

    Args:
        chart: the chart to be explored.
        watched_conditions: conditions over inputs, events, outputs, locals and states, which are evaluated
            after every tick; every step has their values.
        tracked: outputs and locals whose exact values are kept even where nothing reads them.
        values_to_try: values of outputs and locals that are tried even where not all inputs can be.
        limits: the limits of the exploration.
        interpreter: the interpreter of the chart, to be reused.
        solver_budget: effort of proving, shared with other users of the prover.
        budget: work, shared with other explorations.
    """
    interpreter = interpreter or Interpreter(chart)
    budget = budget or WorkBudget(limits)
    conditions = TickConditions(interpreter.machine, watched_conditions)
    inputs = InputSpace.of(chart, solver_budget)
    abstractions = abstract_registers(
        interpreter.machine, conditions.lowered_conditions, tracked, values_to_try
    )
    state_space = ChartStateSpace(interpreter, inputs, conditions, abstractions, limits=limits, budget=budget)
    graph = ReachabilityGraph(state_space)
    graph.explore([state_space.split_counters(interpreter.initial())], limits)
    incomplete_reasons = [*state_space.incomplete_reasons]
    if graph.stop_reason:
        incomplete_reasons.append(graph.stop_reason)
    return Exploration(
        interpreter,
        tuple(watched_conditions),
        state_space,
        graph,
        incomplete_reasons=tuple(incomplete_reasons),
    )
