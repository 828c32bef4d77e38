"""Proves promises by going through everything that the chart can do."""

from __future__ import annotations

from posewright.charts.checks.promise_result import CheckStatus, PromiseResult
from posewright.charts.checks.waiting import Waiting
from posewright.charts.expression import Expression
from posewright.charts.machine import Obligation, how_broken, text_of
from posewright.charts.model import Chart, Promise, PropertyKind
from posewright.charts.reachability import USUAL, AbstractState, Exploration, Limits, SymbolicStep, explore


def watched_by(*promises: Promise) -> tuple[Expression, ...]:
    """Return the conditions of promises, which an exploration that is to check them has to watch."""
    conditions = (one for promise in promises for one in (promise.when, promise.goal))
    return tuple(dict.fromkeys(one for one in conditions if one is not None))


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
    return tuple(_check(seen, promise, limits) for promise in seen.chart.promises)


def _check(seen: Exploration, promise: Promise, limits: Limits) -> PromiseResult:
    asked = watched_by(promise)
    watched = all(one in seen.watching for one in asked)
    if watched:
        result = check_promise(seen, promise)
        if result.verdict is not CheckStatus.BOUNDED or set(asked) == set(seen.watching):
            return result
    return check_promise(explore(seen.chart, watching=asked, limits=limits), promise)


def check_promise(seen: Exploration, promise: Promise) -> PromiseResult:
    """Return what becomes of a promise whose conditions were watched while its chart was explored."""
    broken = _broken(seen, promise)
    if broken is not None:
        return broken
    if seen.complete:
        return PromiseResult(promise, CheckStatus.PROVED, (), 0, f"`{text_of(promise)}` is proved")
    depth = 0 if seen.looked.doubts else seen.walk.whole_depth
    how_far = f"up to {depth} ticks from the start" if depth else f"in {len(seen.walk.situations)} states"
    message = f"`{text_of(promise)}` is not broken {how_far}, which is not all: {'; '.join(seen.reasons)}"
    return PromiseResult(promise, CheckStatus.BOUNDED, (), depth, message)


def _broken(seen: Exploration, promise: Promise) -> PromiseResult | None:
    """Return how a promise is broken by the shortest run that does, None where there is none."""
    when = seen.watching.index(promise.when)
    if promise.goal is None:
        return _broken_at_once(seen, promise, when)
    ticks = Obligation.of(promise, seen.chart).ticks
    waiting = Waiting(seen.walk, when, seen.watching.index(promise.goal))
    question = waiting.question(ticks)
    if question is None:
        return None
    place, to, case = question
    return _result(seen, promise, place, (case, *waiting.journey(to, ticks)))


def _broken_at_once(seen: Exploration, promise: Promise, when: int) -> PromiseResult | None:
    bad = promise.vow is PropertyKind.NEVER
    kept: set[AbstractState] = set()
    for place, situation in enumerate(seen.walk.situations):
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
