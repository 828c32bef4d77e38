"""A plain interpreter of charts, written from docs/chart-semantics.md alone.

It knows charts as they are written: it parses the texts of expressions itself and imports neither the
expressions' trees nor the machine, so that it can disagree with both. It is slow and knows no shortcut.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from posewright.charts.model import (
    Actions,
    Assign,
    Branch,
    Chart,
    ChartKind,
    HistoryKind,
    Promise,
    PromiseKind,
    Raise,
    State,
    StateTarget,
    StepMode,
    Transition,
)
from posewright.charts.types import FloatType, IntType, Type

from .reference_text import ROOT, Env, FaultError, Read, Text, fit

MOST_MICROSTEPS = 1000


@dataclass(frozen=True)
class Where:
    """Where a chart stands: what is active, what is held, remembered, counted, and still owed."""

    active: frozenset[str] = frozenset()
    values: tuple[Any, ...] = ()
    history: tuple[tuple[tuple[str, bool], frozenset[str]], ...] = ()
    counts: tuple[tuple[Any, int], ...] = ()
    owed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Way:
    """A transition with the segments that follow it over junctions."""

    source: str
    segments: tuple[Transition, ...]

    @property
    def line(self) -> int | None:
        return self.segments[-1].line

    @property
    def go(self) -> tuple[StateTarget, ...]:
        return self.segments[-1].go


@dataclass
class Seen:
    """What was seen in a tick."""

    overlaps: list[tuple[str, Way, Way]] = field(default_factory=list)
    gaps: set[str] = field(default_factory=set)
    taken: list[Way] = field(default_factory=list)
    entered: set[str] = field(default_factory=set)
    out_of_range: set[tuple[str, int | None]] = field(default_factory=set)
    overflows: int = 0
    cut_arguments: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)


class Reference:
    """Runs one chart."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.states: dict[str, State] = {}
        self.parent: dict[str, str] = {}
        self.children: dict[str, tuple[str, ...]] = {}
        self.add(ROOT, chart.states)
        self.order = {name: i for i, name in enumerate([ROOT, *self.states])}
        self.ways = {name: tuple(self.ways_of(name)) for name in self.states}
        self.variables: dict[str, Type] = {**chart.outputs, **chart.locals}
        self.asked_history = {
            (target.state, target.history is HistoryKind.DEEP) for target in self.targets() if target.history
        }
        self.reads: dict[tuple[str, str], Read] = {}
        self.elders = self.all_elders()
        self.furthest, self.rounds = self.longest_times()
        self.heard = {event for ways in self.ways.values() for way in ways for event in way.segments[0].on}
        self.forced: dict[str, Way] = {}

    def add(self, name: str, states: tuple[State, ...]) -> None:
        self.children[name] = tuple(state.name for state in states)
        for state in states:
            self.states[state.name], self.parent[state.name] = state, name
            self.add(state.name, state.states)

    def targets(self) -> Iterator[StateTarget]:
        yield from self.chart.initial
        for state in self.states.values():
            yield from state.initial
        for ways in self.ways.values():
            for way in ways:
                yield from way.go

    def ways_of(self, name: str) -> Iterator[Way]:
        for transition in self.states[name].transitions:
            yield from (Way(name, segments) for segments in self.onward((transition,)))

    def onward(self, before: tuple[Transition, ...]) -> Iterator[tuple[Transition, ...]]:
        last = before[-1]
        following = self.chart.junctions[last.junction] if last.junction else last.then
        if not following:
            yield before
        for segment in following:
            yield from self.onward((*before, segment))

    def all_elders(self) -> dict[int, list[Transition]]:
        """Return, for each `when: else`, the transitions before it that it denies."""
        found: dict[int, list[Transition]] = {}
        groups = [state.transitions for state in self.states.values()] + list(self.chart.junctions.values())
        while groups:
            group = groups.pop()
            for i, one in enumerate(group):
                groups += [one.then] if one.then else []
                if one.is_else:
                    same = [o for o in group[:i] if ({*o.on} & {*one.on} if o.on or one.on else True)]
                    found[id(one)] = same
        return found

    # -- states

    def is_parallel(self, name: str) -> bool:
        return self.chart.parallel if name == ROOT else self.states[name].parallel

    def around(self, name: str) -> list[str]:
        """Return the states around one, the nearest first, the chart last."""
        found = []
        while name != ROOT:
            name = self.parent[name]
            found.append(name)
        return found

    def inside(self, name: str) -> set[str]:
        return {one for child in self.children[name] for one in ({child} | self.inside(child))}

    def leaves(self, active: Iterable[str]) -> list[str]:
        return sorted((one for one in active if not self.children[one]), key=self.order.__getitem__)

    # -- expressions

    def read(self, text: str, state: str = ROOT) -> Read:
        key = (text, state)
        if key not in self.reads:
            self.reads[key] = Text(self, state).read(text)
        return self.reads[key]

    def longest_times(self) -> tuple[int, int]:
        """Return the most ticks that anything waits for, and after how many ticks all `every` repeat."""
        most, rounds = 1, 1
        for timing, seconds in Text.times_in(self):
            ticks = self.ticks(seconds)
            most = max(most, ticks)
            rounds = math.lcm(rounds, ticks) if timing == "every" else rounds
        for state in self.states.values():
            most = max([most, self.ticks(state.min_s), *(self.ticks(t.after_s) for t in state.transitions)])
        return most + 2, rounds

    def ticks(self, seconds: float) -> int:
        return math.ceil(seconds / self.chart.period_s - 1e-9)

    # -- runs

    def start(self) -> Where:
        values = [self.chart.initial_values.get(name, kind.default) for name, kind in self.variables.items()]
        return Where(values=tuple(values), owed=tuple(-1 for _ in self.chart.promises))

    def tick(self, where: Where, inputs: Mapping[str, Any], events: Iterable[str] = ()) -> tuple[Where, Seen]:
        """Return where the chart stands after a tick, and what was seen in it."""
        tick = Tick(self, where, inputs, tuple(events))
        try:
            return tick.run()
        except FaultError as fault:
            fault.seen = tick.seen
            raise


class Tick:
    """One tick."""

    def __init__(self, of: Reference, where: Where, inputs: Env, events: tuple[str, ...]) -> None:
        self.of, self.chart, self.events = of, of.chart, events
        self.active = set(where.active)
        self.env: dict[str, Any] = dict(zip(of.variables, where.values, strict=True)) | dict(inputs)
        self.history, self.owed = dict(where.history), where.owed
        self.counts = dict(where.counts)
        self.first = not where.active
        self.queue: deque[str] = deque()
        self.raised: set[str] = set()
        self.microsteps, self.seen = 0, Seen()
        self.active_then: frozenset[str] | None = None

    def run(self) -> tuple[Where, Seen]:
        if self.first:
            self.active_then = frozenset()
            self.enter(self.whole(ROOT, {}))
            self.active_then = None
        else:
            self.let_time_pass()
        stayed = set(self.active)
        self.left: set[str] = set()
        if self.chart.steps is StepMode.ONE:
            self.microstep(None)
        self.settle()
        for event in self.events:
            self.microstep(event)
            self.settle()
        for name in sorted(stayed, key=self.of.order.__getitem__):
            if name not in self.left:
                self.act(self.of.states[name].during, name)
        if self.queue:
            self.settle()
        self.keep_promises()
        self.seen.left = self.left
        values = tuple(self.env[name] for name in self.of.variables)
        counts = tuple(sorted(self.counts.items(), key=repr))
        history = tuple(sorted(self.history.items()))
        return Where(frozenset(self.active), values, history, counts, self.owed), self.seen

    def let_time_pass(self) -> None:
        for name in self.active:
            count = self.counts.get(name, 0) + 1
            most = self.of.furthest
            self.counts[name] = count if count < most + self.of.rounds else count - self.of.rounds
        for name in sorted(self.active, key=self.of.order.__getitem__):
            for text, ticks in Text.held_in(self.of, name):
                key = (name, text, ticks)
                holds = self.compute(text, name)
                self.counts[key] = min(self.counts.get(key, 0) + 1, ticks + 1) if holds else 0

    def settle(self) -> None:
        while True:
            if self.chart.steps is StepMode.COMPLETION and self.microstep(None):
                continue
            if not self.queue:
                return
            self.microstep(self.queue.popleft())

    # -- a microstep

    def compute(self, text: str, state: str) -> Any:
        at = {"": self, **self.env}
        return self.of.read(text, state)(at)

    def may(self, way: Way, event: str | None) -> bool:
        """Return whether a way is enabled."""
        first = way.segments[0]
        if (event not in first.on) if event is not None else bool(first.on):
            return False
        return self.is_over(way) and all(self.holds(one, way.source) for one in way.segments)

    def is_over(self, way: Way) -> bool:
        """Return whether the waits of a way are over."""
        state = self.of.states[way.source]
        dwells = self.domain(way) not in (None, way.source)
        wait = max(state.min_s if dwells else 0.0, way.segments[0].after_s)
        return self.counts.get(way.source, 0) >= self.of.ticks(wait)

    def holds(self, segment: Transition, state: str) -> bool:
        if segment.is_else:
            return not any(
                self.counts.get(state, 0) >= self.of.ticks(elder.after_s) and self.holds(elder, state)
                for elder in self.of.elders[id(segment)]
            )
        return bool(self.compute(str(segment.when), state))

    def microstep(self, event: str | None) -> bool:
        chosen: list[Way] = []
        for leaf in self.of.leaves(self.active):
            for name in [leaf, *self.of.around(leaf)[:-1]]:
                enabled = self.enabled(name, event)
                self.seen.overlaps += [(name, enabled[0], other) for other in enabled[1:]]
                if enabled:
                    best = self.of.forced.get(name, enabled[0])
                    chosen += [best] if best not in chosen else []
                    break
            else:
                if event is None and not self.microsteps:
                    self.note_gap(leaf)
        kept: list[Way] = []
        for way in chosen:
            rivals = [other for other in kept if self.leaving(way) & self.leaving(other)]
            if all(way.source in self.of.inside(other.source) for other in rivals):
                kept = [*(other for other in kept if other not in rivals), way]
        if not kept:
            return False
        self.microsteps += 1
        if self.microsteps > MOST_MICROSTEPS:
            raise FaultError("does not end")
        self.take(kept)
        return True

    def enabled(self, name: str, event: str | None) -> list[Way]:
        """Return the ways of a state that are enabled; nobody asks those after the first but us."""
        ways = iter(self.of.ways[name])
        first = next((way for way in ways if self.may(way, event)), None)
        if first is None:
            return []
        found, seen, self.seen = [first], self.seen, Seen()
        for way in ways:
            with suppress(FaultError):
                found += [way] if self.may(way, event) else []
        self.seen = seen
        return found

    def note_gap(self, leaf: str) -> None:
        """Note that no transition of a state, and of those around it, is enabled though no wait is on."""
        ways = [w for name in (leaf, *self.of.around(leaf)[:-1]) for w in self.of.ways[name]]
        waits = not all(self.is_over(way) for way in ways if not way.segments[0].on)
        if not (waits or self.of.states[leaf].final):
            self.seen.gaps.add(leaf)

    def domain(self, way: Way) -> str | None:
        """Return the nearest state with one active child that is around the source and all the goals."""
        if not way.go:
            return None
        around = self.of.around(way.source)
        if any(one.local for one in way.segments):
            around = [way.source, *around]
        return next(
            name
            for name in around
            if name == ROOT
            or (not self.of.is_parallel(name) and all(self.is_within(t, name) for t in way.go))
        )

    def is_within(self, target: StateTarget, name: str) -> bool:
        """Return whether a goal is inside a state, as what a history leads back to is inside its own."""
        return target.state in self.of.inside(name) or (target.history is not None and target.state == name)

    def leaving(self, way: Way) -> set[str]:
        domain = self.domain(way)
        return set() if domain is None else self.active & self.of.inside(domain)

    def take(self, ways: list[Way]) -> None:
        leaving = {name for way in ways for name in self.leaving(way)}
        self.active_then = frozenset(self.active)
        for name, deep in self.of.asked_history:
            if name in leaving:
                below = self.active & self.of.inside(name)
                kept = self.of.leaves(below) if deep else [n for n in self.of.children[name] if n in below]
                self.history[name, deep] = frozenset(kept)
        for name in sorted(leaving, key=self.of.order.__getitem__, reverse=True):
            self.act(self.of.states[name].exit, name)
            self.left.add(name)
            self.counts = {key: n for key, n in self.counts.items() if key != name and key[0] != name}
        for way in ways:
            self.seen.taken.append(way)
            for segment in way.segments:
                self.act(segment.do, way.source)
        entering: dict[str, None] = {}
        for way in ways:
            domain = self.domain(way)
            if domain is not None:
                self.add_goals(way.go, domain, entering)
        self.active -= leaving
        self.enter(entering)
        self.active_then = None

    def is_inside(self, name: str) -> bool:
        """Return whether a state is active, or was when the microstep began whose actions are done."""
        return name in (self.active if self.active_then is None else self.active_then)

    # -- what is entered

    def add_goals(self, goals: Iterable[StateTarget], domain: str, found: dict[str, None]) -> None:
        goals = tuple(goals)
        for goal in goals:
            if goal.state != domain:
                found[goal.state] = None
            if goal.history is None:
                self.whole(goal.state, found)
                continue
            back: Iterable[str] = self.history.get(
                (goal.state, goal.history is HistoryKind.DEEP), frozenset()
            )
            for name in back or goal.default:
                found[name] = None
                self.whole(name, found)
            for name in back or goal.default:
                self.add_around(name, goal.state, found)
            if not (back or goal.default):
                self.whole(goal.state, found)
            elif self.of.is_parallel(goal.state):
                self.regions(goal.state, found)
        for goal in goals:
            if goal.state != domain:
                self.add_around(goal.state, domain, found)
        if goals and self.of.is_parallel(domain):
            self.regions(domain, found)

    def whole(self, name: str, found: dict[str, None]) -> dict[str, None]:
        initial = self.chart.initial if name == ROOT else self.of.states[name].initial
        if not initial and self.of.children[name] and not self.of.is_parallel(name):
            initial = (StateTarget(self.of.children[name][0]),)
        self.add_goals(initial, name, found)
        if self.of.is_parallel(name):
            self.regions(name, found)
        return found

    def add_around(self, name: str, top: str, found: dict[str, None]) -> None:
        for one in self.of.around(name):
            if one == top:
                return
            if one != ROOT:
                found[one] = None
            if self.of.is_parallel(one):
                self.regions(one, found)

    def regions(self, name: str, found: dict[str, None]) -> None:
        for child in self.of.children[name]:
            if child not in found and not (self.of.inside(child) & set(found)):
                found[child] = None
                self.whole(child, found)

    def enter(self, entering: Mapping[str, None]) -> None:
        for name in sorted(entering, key=self.of.order.__getitem__):
            self.active.add(name)
            self.seen.entered.add(name)
            state = self.of.states[name]
            if self.chart.kind is ChartKind.MOORE:
                for output, kind in self.chart.outputs.items():
                    self.env[output] = self.chart.initial_values.get(output, kind.default)
                self.set(state.do, name, None)
            self.act(state.entry, name)
            if state.final:
                self.put_done(self.of.parent[name])

    def put_done(self, name: str) -> None:
        """Raise the events that say what is done, outwards."""
        if name != ROOT and self.is_done(name):
            self.put(f"done.{name}")
            if self.of.is_parallel(self.of.parent[name]):
                self.put_done(self.of.parent[name])

    def is_done(self, name: str) -> bool:
        children = self.of.children[name]
        if self.of.is_parallel(name):
            return all(map(self.is_done, children))
        return any(self.of.states[child].final and child in self.active for child in children)

    # -- actions

    def act(self, actions: Actions, state: str) -> None:
        for action in actions:
            if isinstance(action, Assign):
                self.set(action.values, state, action.line)
            elif isinstance(action, Raise):
                self.put(action.event)
            elif isinstance(action, Branch):
                holds = self.compute(str(action.when), state)
                self.act(action.then if holds else action.otherwise, state)

    def set(self, values: Mapping[str, Any], state: str, line: int | None) -> None:
        computed = {name: self.compute(str(one), state) for name, one in values.items()}
        for name, value in computed.items():
            kind = self.of.variables[name]
            self.env[name] = fit(kind, value)
            if isinstance(kind, IntType | FloatType) and not kind.low <= value <= kind.high:
                self.seen.out_of_range.add((name, line))

    def put(self, event: str) -> None:
        self.raised.add(event)
        if event in self.of.heard:
            self.queue.append(event)
        if len(self.queue) > MOST_MICROSTEPS:
            raise FaultError("does not end")

    # -- promises

    def keep_promises(self) -> None:
        came = dict.fromkeys([*self.chart.events, *self.chart.local_events], False)
        self.env |= {name: name in self.raised or name in self.events for name in came}
        self.owed = tuple(map(self.owed_now, self.chart.promises, self.owed))
        for name in came:
            del self.env[name]

    def owed_now(self, promise: Promise, owed: int) -> int:
        holds = bool(self.compute(str(promise.when), ROOT))
        if promise.kind is not PromiseKind.LEADS_TO:
            if holds is (promise.kind is PromiseKind.NEVER):
                self.seen.broken.add(promise.name)
            return -1
        if self.compute(str(promise.goal), ROOT):
            return -1
        left = owed - 1 if owed >= 0 else math.floor(promise.within_s / self.chart.period_s + 1e-9)
        if owed < 0 and not holds:
            return -1
        if left <= 0 if owed >= 0 else left < 0:
            self.seen.broken.add(promise.name)
            return -1
        return left
