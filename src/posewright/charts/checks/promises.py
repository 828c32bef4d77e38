"""Promises of a chart: proved by exploring everything the chart can do, or broken by a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import NamedTuple

from posewright.charts.checks.analysis import Check, promise_conditions
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.tick_trace import MicrostepTrace
from posewright.charts.checks.transition_text import format_transition
from posewright.charts.machine import CompoundTransition, format_broken_promise, format_promise
from posewright.charts.model import Chart, Promise, PromiseKind
from posewright.charts.reachability import (
    DEFAULT_LIMITS,
    Exploration,
    ExplorationLimits,
    ReachabilityGraph,
    SymbolicStep,
    WorkBudget,
    explore,
)
from posewright.charts.types import Value
from posewright.errors import ExpressionError


class CheckStatus(Enum):
    """Whether a promise holds in every run, is broken by one, or holds as far as was explored."""

    PROVED = "proved"
    BROKEN = "broken"
    BOUNDED = "bounded"


@dataclass(frozen=True)
class PromiseResult:
    """The result of checking a promise.

    Attributes:
        promise: the promise.
        verdict: proved for every run; broken by the trace; or not broken within a bounded exploration.
        trace: for a broken promise, the shortest rows of inputs from the start after which it is broken.
        depth: ticks from the start. For a broken promise, the length of the trace; for a bounded one, the
            ticks up to which every run was explored, 0 if some inputs were left out from the start.
        message: the result as a sentence.
        state: for a broken promise, the states that are active after the trace.
    """

    promise: Promise
    verdict: CheckStatus
    trace: tuple[Mapping[str, Value], ...]
    depth: int
    message: str
    state: str = ""


class GraphPath(NamedTuple):
    """A path in the graph.

    Attributes:
        start_node: the node where it begins.
        steps: the steps from there.
    """

    start_node: int
    steps: tuple[SymbolicStep, ...]


class StepToNode(NamedTuple):
    """A step, and the node of the graph that it leads to."""

    target_node: int
    step: SymbolicStep


class ResponseCheck:
    """Finds runs in which a condition is not followed by a goal within a number of ticks.

    Args:
        graph: explored with both conditions watched.
        when_index: index of the condition among the watched conditions.
        goal_index: index of the goal among them.

    Attributes:
        steps_without_goal: for each node, the steps after which the goal is false, with their target nodes.
        longest_without_goal: for each node, for how many ticks from there the goal may stay false at most.
    """

    def __init__(self, graph: ReachabilityGraph, when_index: int, goal_index: int) -> None:
        """Collect the steps of the graph after which the goal is false, node by node."""
        self.when_index = when_index
        self.steps_without_goal: list[list[StepToNode]] = []  # one list for each node
        for node in range(len(graph)):
            steps = []
            for edge in graph.successors(node):
                if edge.target is not None and not edge.step.condition_values[goal_index]:
                    steps.append(StepToNode(edge.target, edge.step))
            self.steps_without_goal.append(steps)
        self.longest_without_goal = self._compute_longest_without_goal()

    def _compute_longest_without_goal(self) -> list[float]:
        """Return, for each node, the maximum number of ticks for which the goal may stay false.

        It is infinite where the goal may stay false for ever. Nodes are processed once all their successors
        are, as in a topological sort; those that are never processed lead into a cycle.
        """
        n_nodes = len(self.steps_without_goal)
        predecessors: list[list[int]] = [[] for _ in range(n_nodes)]
        for node, steps in enumerate(self.steps_without_goal):
            for target_node, _ in steps:
                predecessors[target_node].append(node)
        n_unprocessed_successors = [len(steps) for steps in self.steps_without_goal]
        queue = [node for node, n_unprocessed in enumerate(n_unprocessed_successors) if n_unprocessed == 0]
        longest = [inf] * n_nodes
        longest_so_far = [0.0] * n_nodes
        for node in queue:  # which grows meanwhile
            longest[node] = longest_so_far[node]
            for predecessor in predecessors[node]:
                longest_so_far[predecessor] = max(longest_so_far[predecessor], longest[node] + 1)
                n_unprocessed_successors[predecessor] -= 1
                if n_unprocessed_successors[predecessor] == 0:
                    queue.append(predecessor)
        return longest

    def find_violation(self, ticks: int) -> GraphPath | None:
        """Return the first path that breaks the promise, None if there is none.

        It begins with a step after which the condition holds and the goal is false, and goes on with as many
        steps after which the goal is still false.

        Args:
            ticks: number of ticks within which the goal has to become true.
        """
        for node, steps in enumerate(self.steps_without_goal):
            for target_node, step in steps:
                if step.condition_values[self.when_index] and self.longest_without_goal[target_node] >= ticks:
                    return GraphPath(node, (step, *self._walk_without_goal(target_node, ticks)))
        return None

    def _walk_without_goal(self, node: int, ticks: int) -> Iterator[SymbolicStep]:
        """Yield `ticks` consecutive steps from a node, after each of which the goal is false.

        The node must have such a walk: its `longest_without_goal` is at least `ticks`.
        """
        for n_remaining in reversed(range(ticks)):
            node, step = next(
                (target_node, step)
                for target_node, step in self.steps_without_goal[node]
                if self.longest_without_goal[target_node] >= n_remaining
            )
            yield step


def prove_promises(chart: Chart, *, limits: ExplorationLimits = DEFAULT_LIMITS) -> tuple[PromiseResult, ...]:
    """Explore a chart and return the result for each of its promises, in their order."""
    if not chart.promises:
        return ()
    exploration = explore(chart, watched_conditions=promise_conditions(*chart.promises), limits=limits)
    return check_promises(exploration, limits=limits)


def check_promises(
    exploration: Exploration, *, limits: ExplorationLimits = DEFAULT_LIMITS
) -> tuple[PromiseResult, ...]:
    """Return the results for the promises of a chart that was explored.

    A promise whose conditions the exploration did not evaluate, or that it left undecided, is explored for on
    its own: the conditions of other promises keep states apart that are the same to this one.
    """
    budget = WorkBudget(limits)
    return tuple(
        _check_promise(exploration, promise, limits, budget) for promise in exploration.chart.promises
    )


def _check_promise(
    exploration: Exploration, promise: Promise, limits: ExplorationLimits, budget: WorkBudget
) -> PromiseResult:
    """Return the verdict on a promise, from a shared exploration if it suffices, else from one of its own.

    Args:
        exploration: the shared exploration.
        promise: the promise.
        limits: the limits of an exploration for this promise alone.
        budget: the work that may be done for it.
    """
    conditions = promise_conditions(promise)
    if all(condition in exploration.watched_conditions for condition in conditions):
        result = _decide_promise(exploration, promise)
        # an exploration that watches only the conditions of this promise would give the same result
        is_own_exploration = set(conditions) == set(exploration.watched_conditions)
        if result.verdict is not CheckStatus.BOUNDED or is_own_exploration:
            return result
    own_exploration = explore(exploration.chart, watched_conditions=conditions, limits=limits, budget=budget)
    return _decide_promise(own_exploration, promise)


def _decide_promise(exploration: Exploration, promise: Promise) -> PromiseResult:
    """Return the result for a promise whose conditions the exploration evaluated after every tick.

    It is broken if a path through the explored graph breaks it, proved if the exploration is complete, else
    not broken as far as was explored.
    """
    violation = _find_violation(exploration, promise)
    if violation is not None:
        steps = violation.steps
        trace = (*exploration.trace(violation.start_node), *(step.inputs for step in steps))
        last_state = steps[-1].next_state
        state_name = last_state.state if last_state is not None else ""
        ticks_after_condition = len(steps) - 1  # the first step makes the condition true
        message = format_broken_promise(promise, len(trace), state_name, waited_ticks=ticks_after_condition)
        return PromiseResult(
            promise, CheckStatus.BROKEN, trace, depth=len(trace), message=message, state=state_name
        )
    if exploration.complete:
        return PromiseResult(
            promise,
            verdict=CheckStatus.PROVED,
            trace=(),
            depth=0,
            message=f"`{format_promise(promise)}` is proved",
        )
    leaves_inputs_out = bool(exploration.state_space.incomplete_reasons)
    depth = 0 if leaves_inputs_out else exploration.graph.complete_depth
    extent = (
        f"up to {depth} ticks from the start"
        if depth
        else f"in {len(exploration.graph.abstract_states)} states"
    )
    reasons = "; ".join(exploration.incomplete_reasons)
    message = (
        f"`{format_promise(promise)}` is not broken {extent}, but not everything was explored: {reasons}"
    )
    return PromiseResult(promise, verdict=CheckStatus.BOUNDED, trace=(), depth=depth, message=message)


def _find_violation(exploration: Exploration, promise: Promise) -> GraphPath | None:
    """Return the shortest path that breaks a promise, None if there is none."""
    graph = exploration.graph
    when_index = exploration.watched_conditions.index(promise.when)
    if promise.goal is not None:
        response = ResponseCheck(graph, when_index, exploration.watched_conditions.index(promise.goal))
        return response.find_violation(exploration.chart.ticks_within(promise.within_s))
    violating_value = promise.kind is PromiseKind.NEVER  # `never x` is broken by true, `always x` by false
    for node in range(len(graph)):
        for edge in graph.successors(node):
            if edge.step.condition_values[when_index] is violating_value:
                return GraphPath(edge.source, (edge.step,))
    return None


class BrokenPromises(Check):
    """Finds runs that break a promise of the chart."""

    def findings(self) -> Iterator[Finding]:
        """Yield an error for each broken promise, and a note for each that is neither broken nor proved."""
        if not self.chart.promises:
            return
        for result in check_promises(self.analysis.exploration, limits=self.analysis.limits):
            if result.verdict is CheckStatus.BROKEN:
                yield self._build_finding(result)
            elif result.verdict is CheckStatus.BOUNDED:
                yield not_proved(result.message, line=result.promise.line)

    def _build_finding(self, result: PromiseResult) -> Finding:
        """Return the error for a broken promise, with the run that breaks it."""
        promise = result.promise
        _, tick = self.analysis.run_to_last_tick(result.trace)
        state_name = self.analysis.first_state_name(result.state)
        names = {name for condition in promise_conditions(promise) for name in condition.names}
        case = self.analysis.build_counterexample(state_name, result.trace[-1], tick.env, names)
        has_default_name = promise.name.startswith(f"{promise.kind.value} ")
        message = result.message
        if not has_default_name and promise.name not in message:
            message = f"{promise.name}: {message}"
        message += self._describe_precedence(result)
        return Finding(
            Level.ERROR,
            Rule.PROMISE,
            message,
            state=state_name,
            counterexample=case,
            line=promise.line,
            trace=result.trace,
        )

    def _describe_precedence(self, result: PromiseResult) -> str:
        """Return which transition of an inner state was taken instead of one of an outer state, if any.

        It is searched in the tick in which the condition was true, and in the last one.
        """
        promise = result.promise
        waited_ticks = 0 if promise.goal is None else self.chart.ticks_within(promise.within_s)
        for n_ticks in (len(result.trace) - waited_ticks, len(result.trace)):
            _, tick = self.analysis.run_to_last_tick(result.trace[:n_ticks])
            for microstep in tick.microstep_traces:
                for taken in microstep.transitions:
                    outer = self._find_enabled_outer(taken, microstep)
                    if outer is not None:
                        inner_text = format_transition(taken)
                        return f"; {inner_text} of an inner state goes before {format_transition(outer)}"
        return ""

    def _find_enabled_outer(
        self, taken: CompoundTransition, microstep: MicrostepTrace
    ) -> CompoundTransition | None:
        """Return a transition of a state around that of a taken one whose guard was true; None without one.

        Those that wait for an event or a time are left out: values alone do not tell whether they could go.
        """
        nodes = self.analysis.machine.nodes
        for ancestor in nodes[taken.source].ancestors:
            for outer in nodes[ancestor].transitions:
                if microstep.event is None and not outer.events and not outer.wait_ticks:
                    with suppress(ExpressionError):
                        if outer.guard.evaluate(microstep.env):
                            return outer
        return None
