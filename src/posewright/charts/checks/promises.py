"""Promises: proved by going through everything that the chart can do, or broken by a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import inf

from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check, watched_by
from posewright.charts.machine import how_broken, text_of
from posewright.charts.model import Chart, Promise, PropertyKind
from posewright.charts.reachability import (
    USUAL,
    AbstractState,
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


class Waiting:
    """The ticks of a walk after which a goal does not hold.

    Args:
        graph: of all that a chart can do.
        when: which of the watched conditions asks.
        goal: which of them answers.
    """

    def __init__(self, graph: ReachabilityGraph, when: int, goal: int) -> None:
        self.graph = graph
        self.when = when
        self.goal = goal
        self.known: dict[AbstractState, tuple[int, ...]] = {}
        self.longest = self._longest()

    def missing(self, situation: AbstractState) -> tuple[int, ...]:
        """Return which of the ticks from a situation the goal does not hold after."""
        if situation not in self.known:
            onward = enumerate(situation.onward)
            self.known[situation] = tuple(i for i, one in onward if not one.answers[self.goal])
        return self.known[situation]

    def steps(self, place: int) -> Iterator[tuple[int, SymbolicStep]]:
        """Yield the places that follow without the goal, and a case that leads there."""
        if place < len(self.graph.states):
            situation, following = self.graph.states[place], self.graph.following[place]
            for i in self.missing(situation):
                yield following[i], situation.cases[situation.onward[i].case]

    def _longest(self) -> list[float]:
        """Return for how many ticks the goal may be missing from each place on; infinity for ever.

        The places are taken up from those behind which there is none; what is never taken up leads into a
        circle.
        """
        places = range(len(self.graph))
        before: list[list[int]] = [[] for _ in places]
        left = [0] * len(places)
        for place, situation in enumerate(self.graph.states):
            following = self.graph.following[place]
            for i in self.missing(situation):
                before[following[i]].append(place)
                left[place] += 1
        found = [0.0 if not count else inf for count in left]
        ready = [place for place in places if not left[place]]
        length = [0.0] * len(places)
        for place in ready:
            for earlier in before[place]:
                length[earlier] = max(length[earlier], found[place] + 1)
                left[earlier] -= 1
                if not left[earlier]:
                    found[earlier] = length[earlier]
                    ready.append(earlier)
        return found

    def question(self, ticks: int) -> tuple[int, int, SymbolicStep] | None:
        """Return the earliest tick that asks and may get no answer within `ticks` more.

        Returns:
            the place before that tick, the one after it, and a case that leads there.
        """
        for place, situation in enumerate(self.graph.states):
            following = self.graph.following[place]
            for i in self.missing(situation):
                asked = situation.onward[i]
                if asked.answers[self.when] and self.longest[following[i]] >= ticks:
                    return place, following[i], situation.cases[asked.case]
        return None

    def journey(self, place: int, ticks: int) -> Iterator[SymbolicStep]:
        """Yield the cases of a journey of so many ticks without the goal."""
        for left in range(ticks - 1, -1, -1):
            place, case = next(one for one in self.steps(place) if self.longest[one[0]] >= left)
            yield case


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
    watched = all(one in seen.watching for one in asked)
    if watched:
        result = check_promise(seen, promise)
        if result.verdict is not CheckStatus.BOUNDED or set(asked) == set(seen.watching):
            return result
    return check_promise(explore(seen.chart, watching=asked, limits=limits, budget=budget), promise)


def check_promise(seen: Exploration, promise: Promise) -> PromiseResult:
    """Return what becomes of a promise whose conditions were watched while its chart was explored."""
    broken = _broken(seen, promise)
    if broken is not None:
        return broken
    if seen.complete:
        return PromiseResult(promise, CheckStatus.PROVED, (), 0, f"`{text_of(promise)}` is proved")
    depth = 0 if seen.looked.doubts else seen.graph.whole_depth
    how_far = f"up to {depth} ticks from the start" if depth else f"in {len(seen.graph.states)} states"
    message = f"`{text_of(promise)}` is not broken {how_far}, which is not all: {'; '.join(seen.reasons)}"
    return PromiseResult(promise, CheckStatus.BOUNDED, (), depth, message)


def _broken(seen: Exploration, promise: Promise) -> PromiseResult | None:
    """Return how a promise is broken by the shortest run that does, None where there is none."""
    when = seen.watching.index(promise.when)
    if promise.goal is None:
        return _broken_at_once(seen, promise, when)
    ticks = seen.chart.ticks_within(promise.within_s)
    waiting = Waiting(seen.graph, when, seen.watching.index(promise.goal))
    question = waiting.question(ticks)
    if question is None:
        return None
    place, to, case = question
    return _result(seen, promise, place, (case, *waiting.journey(to, ticks)))


def _broken_at_once(seen: Exploration, promise: Promise, when: int) -> PromiseResult | None:
    bad = promise.vow is PropertyKind.NEVER
    kept: set[AbstractState] = set()
    for place, situation in enumerate(seen.graph.states):
        if situation not in kept:
            for one in situation.onward:
                if one.answers[when] is bad:
                    return _result(seen, promise, place, (situation.cases[one.case],))
            kept.add(situation)
    return None


def _result(
    seen: Exploration, promise: Promise, place: int, cases: tuple[SymbolicStep, ...]
) -> PromiseResult:
    """Return how a promise is broken: from a place on, by some ticks of which the first asks."""
    trace = (*seen.trace(place), *(case.inputs for case in cases))
    after = cases[-1].after
    state = after.state if after is not None else ""
    message = how_broken(promise, len(trace), state, len(cases) - 1)
    return PromiseResult(promise, CheckStatus.BROKEN, trace, len(trace), message, state)


class Promised(Check):
    """Looks for runs that break a promise of the chart; of one that is proved there is nothing to say."""

    def findings(self) -> Iterator[Finding]:
        """Yield the promises that are broken, and those that are not proved."""
        if not self.chart.promises:
            return
        for result in check_promises(self.inspection.exploration, limits=self.inspection.limits):
            if result.verdict is CheckStatus.BROKEN:
                yield self.broken(result)
            elif result.verdict is CheckStatus.BOUNDED:
                yield not_proved(result.message, None, result.promise.line)

    def broken(self, result: PromiseResult) -> Finding:
        """Return what to say of a broken promise."""
        name, read = result.promise.name, set(result.promise.when.names)
        if result.promise.goal is not None:
            read |= result.promise.goal.names
        _, tick = self.inspection.last_tick(result.trace)
        place = self.inspection.one_of(result.state)
        case = self.inspection.counterexample(place, result.trace[-1], tick.env, read)
        told = name.startswith(f"{result.promise.vow.value} ") or name in result.message
        message = result.message if told else f"{name}: {result.message}"
        line = result.promise.line
        return Finding(Level.ERROR, Rule.PROMISE, message, place, case, line, result.trace)
