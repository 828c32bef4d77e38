"""Promises of a chart: proved by exploring everything the chart can do, or broken by a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf

from posewright.charts.checks.analysis import Check, promise_conditions
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.machine import format_broken_promise, format_promise
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


class CheckStatus(Enum):
    """Whether a promise holds in every run, is broken by one, or holds as far as was explored."""

    PROVED = "proved"
    BROKEN = "broken"
    BOUNDED = "bounded"


@dataclass(frozen=True)
class PromiseResult:
    """The result of checking a promise.

    Attributes:
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


GraphPath = tuple[int, tuple[SymbolicStep, ...]]
"""A node of the graph, and the steps that follow from there."""


class ResponseCheck:
    """Finds runs in which a condition is not followed by a goal within a number of ticks.

    Args:
        graph: explored with both conditions watched.
        when_index: index of the condition among the watched conditions.
        goal_index: index of the goal among them.
    """

    def __init__(self, graph: ReachabilityGraph, when_index: int, goal_index: int) -> None:
        """Collect the steps after which the goal is false; arguments as in the class."""
        self.when_index = when_index
        self.steps_without_goal = [
            [
                (target, step)
                for _, step, target in graph.successors(node)
                if target is not None and not step.condition_values[goal_index]
            ]
            for node in range(len(graph))
        ]
        self.longest_without_goal = self._compute_longest_without_goal()

    def _compute_longest_without_goal(self) -> list[float]:
        """Return, for each node, the maximum number of ticks for which the goal may stay false.

        It is infinite where the goal may stay false for ever.

        Nodes are processed once all their successors are, as in a topological sort; those that are never
        processed lead into a cycle.
        """
        predecessors: list[list[int]] = [[] for _ in self.steps_without_goal]
        for node, steps in enumerate(self.steps_without_goal):
            for target, _ in steps:
                predecessors[target].append(node)
        n_open_successors = [len(steps) for steps in self.steps_without_goal]
        queue = [node for node, count in enumerate(n_open_successors) if not count]
        longest = [inf] * len(n_open_successors)
        lengths = [0.0] * len(n_open_successors)
        for node in queue:
            longest[node] = lengths[node]
            for predecessor in predecessors[node]:
                lengths[predecessor] = max(lengths[predecessor], longest[node] + 1)
                n_open_successors[predecessor] -= 1
                if not n_open_successors[predecessor]:
                    queue.append(predecessor)
        return longest

    def find_violation(self, ticks: int) -> GraphPath | None:
        """Return the earliest step at which the condition holds and the goal may fail for `ticks` more."""
        for node, steps in enumerate(self.steps_without_goal):
            for target, step in steps:
                if step.condition_values[self.when_index] and self.longest_without_goal[target] >= ticks:
                    return node, (step, *self._walk_without_goal(target, ticks))
        return None

    def _walk_without_goal(self, node: int, ticks: int) -> Iterator[SymbolicStep]:
        """Yield `ticks` steps from a node in which the goal fails."""
        for ticks_after in range(ticks - 1, -1, -1):
            node, step = next(
                (target, step)
                for target, step in self.steps_without_goal[node]
                if self.longest_without_goal[target] >= ticks_after
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

    A promise that the exploration did not watch, or left undecided, is explored for on its own: the
    conditions of other promises keep states apart that are the same to this one.
    """
    budget = WorkBudget(limits)
    return tuple(
        _check_promise(exploration, promise, limits, budget) for promise in exploration.chart.promises
    )


def _check_promise(
    exploration: Exploration, promise: Promise, limits: ExplorationLimits, budget: WorkBudget
) -> PromiseResult:
    """Return the verdict on a promise, from a shared exploration if it suffices, else from one of its own."""
    conditions = promise_conditions(promise)
    if all(condition in exploration.watched_conditions for condition in conditions):
        result = _decide_promise(exploration, promise)
        if result.verdict is not CheckStatus.BOUNDED or set(conditions) == set(
            exploration.watched_conditions
        ):
            return result
    own_exploration = explore(exploration.chart, watched_conditions=conditions, limits=limits, budget=budget)
    return _decide_promise(own_exploration, promise)


def _decide_promise(exploration: Exploration, promise: Promise) -> PromiseResult:
    """Return the result for a promise whose conditions the exploration watched."""
    violation = _find_violation(exploration, promise)
    if violation is not None:
        node, steps = violation
        trace = (*exploration.trace(node), *(step.inputs for step in steps))
        after = steps[-1].next_state
        state = after.state if after is not None else ""
        message = format_broken_promise(promise, len(trace), state, waited=len(steps) - 1)
        return PromiseResult(
            promise, CheckStatus.BROKEN, trace, depth=len(trace), message=message, state=state
        )
    if exploration.complete:
        return PromiseResult(
            promise,
            verdict=CheckStatus.PROVED,
            trace=(),
            depth=0,
            message=f"`{format_promise(promise)}` is proved",
        )
    depth = 0 if exploration.state_space.incomplete_reasons else exploration.graph.complete_depth
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
    violating_value = promise.kind is PromiseKind.NEVER
    for node in range(len(graph)):
        for edge in graph.successors(node):
            if edge.step.condition_values[when_index] is violating_value:
                return edge.source, (edge.step,)
    return None


class BrokenPromises(Check):
    """Finds runs that break a promise of the chart."""

    def findings(self) -> Iterator[Finding]:
        """Yield an error for each broken promise, and a note for each that is not proved."""
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
        state_name = self.analysis.first_state(result.state)
        names = {name for condition in promise_conditions(promise) for name in condition.names}
        case = self.analysis.build_counterexample(state_name, result.trace[-1], tick.env, names)
        has_default_name = promise.name.startswith(f"{promise.kind.value} ")
        message = result.message
        if not has_default_name and promise.name not in message:
            message = f"{promise.name}: {message}"
        return Finding(
            Level.ERROR,
            Rule.PROMISE,
            message,
            state=state_name,
            counterexample=case,
            line=promise.line,
            trace=result.trace,
        )
