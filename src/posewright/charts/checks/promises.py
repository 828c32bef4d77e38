"""Promises: proved by going through everything that the chart can do, or broken by a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf

from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check, watched_by
from posewright.charts.machine import format_broken_promise, format_promise
from posewright.charts.model import Chart, Promise, PromiseKind
from posewright.charts.reachability import (
    USUAL,
    Exploration,
    Limits,
    ReachabilityGraph,
    SymbolicStep,
    WorkBudget,
    explore,
)
from posewright.charts.types import Value


class CheckStatus(Enum):
    """Whether a promise is kept."""

    PROVED = "proved"
    BROKEN = "broken"
    BOUNDED = "bounded"


@dataclass(frozen=True)
class PromiseResult:
    """What became of a promise.

    Attributes:
        verdict: proved for every run; broken by the trace; or not broken as far as was looked.
        trace: of a broken promise, the shortest rows of inputs from the very start after which it is.
        depth: ticks from the start: of a broken promise the length of the trace; of a bounded one, those up
            to which every run was looked at, 0 where some inputs were left out from the start.
        message: all that in words.
        state: of a broken promise, the states active after the trace.
    """

    promise: Promise
    verdict: CheckStatus
    trace: tuple[Mapping[str, Value], ...]
    depth: int
    message: str
    state: str = ""


Way = tuple[int, tuple[SymbolicStep, ...]]
"""A node of the graph, and ticks from there on."""


class Waiting:
    """The ticks of a walk after which a goal does not hold.

    Args:
        graph: of all that a chart can do.
        when: which of the watched conditions asks.
        goal: which of them answers.
    """

    def __init__(self, graph: ReachabilityGraph, when: int, goal: int) -> None:
        self.when = when
        self.onward = [
            [
                (to, step)
                for _, step, to in graph.successors(node)
                if to is not None and not step.answers[goal]
            ]
            for node in range(len(graph))
        ]
        self.longest = self._longest()

    def _longest(self) -> list[float]:
        """Return for how many ticks the goal may be missing from each node on; infinity for ever.

        The nodes are taken up from those behind which there is none; what is never taken up leads into a
        circle.
        """
        before: list[list[int]] = [[] for _ in self.onward]
        for node, onward in enumerate(self.onward):
            for to, _ in onward:
                before[to].append(node)
        left = [len(onward) for onward in self.onward]
        ready = [node for node, count in enumerate(left) if not count]
        found, length = [inf] * len(left), [0.0] * len(left)
        for node in ready:
            found[node] = length[node]
            for earlier in before[node]:
                length[earlier] = max(length[earlier], found[node] + 1)
                left[earlier] -= 1
                if not left[earlier]:
                    ready.append(earlier)
        return found

    def unanswered(self, ticks: int) -> Way | None:
        """Return the earliest tick that asks and may get no answer in `ticks` more, and these."""
        for node, onward in enumerate(self.onward):
            for to, step in onward:
                if step.answers[self.when] and self.longest[to] >= ticks:
                    return node, (step, *self._walk(to, ticks))
        return None

    def _walk(self, node: int, ticks: int) -> Iterator[SymbolicStep]:
        for left in range(ticks - 1, -1, -1):
            node, step = next(one for one in self.onward[node] if self.longest[one[0]] >= left)
            yield step


def prove_promises(chart: Chart, *, limits: Limits = USUAL) -> tuple[PromiseResult, ...]:
    """Return what becomes of the promises of a chart, in their order."""
    if not chart.promises:
        return ()
    return check_promises(explore(chart, watching=watched_by(*chart.promises), limits=limits), limits=limits)


def check_promises(seen: Exploration, *, limits: Limits = USUAL) -> tuple[PromiseResult, ...]:
    """Return what becomes of the promises of a chart that was explored.

    A promise whose conditions the exploration did not watch, or of which it tells too little, is explored
    for by itself: what another promise asks would make states differ that are the same to this one.
    """
    budget = WorkBudget(limits)
    return tuple(_check(seen, promise, limits, budget) for promise in seen.chart.promises)


def _check(seen: Exploration, promise: Promise, limits: Limits, budget: WorkBudget) -> PromiseResult:
    asked = watched_by(promise)
    if all(one in seen.watching for one in asked):
        result = _verdict(seen, promise)
        if result.verdict is not CheckStatus.BOUNDED or set(asked) == set(seen.watching):
            return result
    return _verdict(explore(seen.chart, watching=asked, limits=limits, budget=budget), promise)


def _verdict(seen: Exploration, promise: Promise) -> PromiseResult:
    """Return what becomes of a promise whose conditions were watched while its chart was explored."""
    broken = _broken(seen, promise)
    if broken is not None:
        return broken
    if seen.complete:
        return PromiseResult(promise, CheckStatus.PROVED, (), 0, f"`{format_promise(promise)}` is proved")
    depth = 0 if seen.looked.doubts else seen.graph.whole_depth
    how_far = f"up to {depth} ticks from the start" if depth else f"in {len(seen.graph.states)} states"
    message = (
        f"`{format_promise(promise)}` is not broken {how_far}, which is not all: {'; '.join(seen.reasons)}"
    )
    return PromiseResult(promise, CheckStatus.BOUNDED, (), depth, message)


def _broken(seen: Exploration, promise: Promise) -> PromiseResult | None:
    """Return how a promise is broken by the shortest run that does, None where there is none."""
    when = seen.watching.index(promise.when)
    if promise.goal is None:
        found = _at_once(seen.graph, when, bad=promise.kind is PromiseKind.NEVER)
    else:
        waiting = Waiting(seen.graph, when, seen.watching.index(promise.goal))
        found = waiting.unanswered(seen.chart.ticks_within(promise.within_s))
    if found is None:
        return None
    node, steps = found
    trace = (*seen.trace(node), *(step.inputs for step in steps))
    state = steps[-1].after.state if steps[-1].after is not None else ""
    message = format_broken_promise(promise, len(trace), state, len(steps) - 1)
    return PromiseResult(promise, CheckStatus.BROKEN, trace, len(trace), message, state)


def _at_once(graph: ReachabilityGraph, when: int, *, bad: bool) -> Way | None:
    edges = (edge for node in range(len(graph)) for edge in graph.successors(node))
    return next(((edge.source, (edge.step,)) for edge in edges if edge.step.answers[when] is bad), None)


class Promised(Check):
    """Looks for runs that break a promise of the chart; of one that is proved there is nothing to say."""

    def findings(self) -> Iterator[Finding]:
        """Yield the promises that are broken, and those that are not proved."""
        if not self.chart.promises:
            return
        for result in check_promises(self.inspection.exploration, limits=self.inspection.limits):
            if result.verdict is CheckStatus.BROKEN:
                yield self._broken(result)
            elif result.verdict is CheckStatus.BOUNDED:
                yield not_proved(result.message, None, result.promise.line)

    def _broken(self, result: PromiseResult) -> Finding:
        promise, message = result.promise, result.message
        _, tick = self.inspection.last_tick(result.trace)
        place = self.inspection.one_of(result.state)
        read = {name for one in watched_by(promise) for name in one.names}
        case = self.inspection.counterexample(place, result.trace[-1], tick.env, read)
        if not promise.name.startswith(f"{promise.kind.value} ") and promise.name not in message:
            message = f"{promise.name}: {message}"
        return Finding(Level.ERROR, Rule.PROMISE, message, place, case, promise.line, result.trace)
