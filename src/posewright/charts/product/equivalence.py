"""Whether two charts behave alike: both are walked side by side through everything that can happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.product.product import StatePair
from posewright.charts.product.space import ProductSpace, ValueNeededError
from posewright.charts.reachability import AbstractState, Limits, Place, ReachabilityGraph, Trace, WorkBudget
from posewright.charts.types import Value, format_value
from posewright.display import Lines
from posewright.errors import InputError, PosewrightError

PAIRED = Limits(states=200_000, doubtful_states=20_000, cases=200_000, cases_of_one=200_000)
"""How far two charts are followed side by side."""


@dataclass(frozen=True)
class Equivalence:
    """The outcome of walking two charts side by side.

    Attributes:
        equal: whether the charts behave alike; None where not every case was tried and none of those that
            were tried told them apart: then it is not known.
        cases: ways in which a tick of both can go that were tried.
        start: the pair of states from which the counterexample starts.
        counterexample: the fewest inputs, tick by tick, after which the outputs differ; none if they do not.
        outputs: what the two charts' outputs then are; none of a chart whose tick fails.
        reasons: in words, why it is not known.
    """

    equal: bool | None
    cases: int
    start: tuple[str, str] | None = None
    counterexample: Trace = ()
    outputs: tuple[Mapping[str, Value], Mapping[str, Value]] | None = None
    reasons: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the answer holds for every case there is."""
        return self.equal is not None

    def to_dict(self, a: Chart, b: Chart) -> dict[str, object]:
        """Return what came of comparing these charts, fit for JSON."""
        return {
            "charts": [a.name, b.name],
            "equal": self.equal,
            "proved": self.proved,
            "cases": self.cases,
            "start": list(self.start) if self.start else None,
            "inputs": [dict(row) for row in self.counterexample],
            "outputs": [dict(outputs) for outputs in self.outputs] if self.outputs else None,
            "reasons": list(self.reasons),
        }

    def lines(self, a: Chart, b: Chart) -> Lines:
        """Yield the same for people."""
        names = (a.name, b.name)
        if a.name == b.name:
            names = (str(a.path or "the first"), str(b.path or "the second"))
        if self.equal is True:
            proof = f"proved over {self.cases} cases" if self.cases else "proved, for they say the same"
            yield f"{names[0]} and {names[1]} behave alike: {proof}"
            return
        if self.equal is None:
            yield f"{names[0]} and {names[1]}: not known; nothing told them apart in {self.cases} cases"
            yield from (f"  {reason}" for reason in self.reasons)
            return
        start = f" from {' and '.join(dict.fromkeys(self.start))}" if self.start else ""
        yield f"{names[0]} and {names[1]} differ after {len(self.counterexample)} ticks{start}:"
        first = 0
        for row, equal_rows in groupby(self.counterexample):
            last = first + len(list(equal_rows)) - 1
            ticks = f"tick {first}" if first == last else f"ticks {first} to {last}"
            yield f"  {ticks}: {_values_text(row)}"
            first = last + 1
        for name, outputs in zip(names, self.outputs or (), strict=False):
            yield f"  {name}: {_values_text(outputs) or 'the tick fails: a division by zero, or no end'}"

    def __bool__(self) -> bool:
        """Return whether the charts are equal and that is proved."""
        return self.equal is True


def _values_text(values: Mapping[str, Value]) -> str:
    return " ".join(f"{name}={format_value(value)}" for name, value in values.items())


def equivalent(a: Chart, b: Chart, *, every_state: bool = False, limits: Limits = PAIRED) -> Equivalence:
    """Return whether two charts give the same outputs for the same inputs and events, tick by tick.

    What is returned is true where they are proved equal, and only there. The charts may have other states,
    locals, junctions and functions: only what goes in and comes out is compared.

    Args:
        a: one chart.
        b: another with the same inputs, events and outputs.
        every_state: start from every state that both have by name, besides the initial one; a truth table
            is then compared on every row, reachable or not.
        limits: how far to go.

    Raises:
        InputError: the charts have different inputs, events or outputs.
    """
    compared: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
        "inputs": (a.inputs, b.inputs),
        "outputs": (a.outputs, b.outputs),
        "events": (dict.fromkeys(a.events), dict.fromkeys(b.events)),
    }
    for word, (ours, theirs) in compared.items():
        if dict(ours) != dict(theirs):
            raise InputError(
                f"{a.name} and {b.name} have different {word}", hint=f"{list(ours)}, {list(theirs)}"
            )
    if is_alike(a, b):
        return Equivalence(True, 0)
    one = Interpreter(a)
    other = Interpreter(b)
    starts = [(one.initial(), other.initial())]
    if every_state:
        names = set(a.state_names) & set(b.state_names)
        starts += [(one.snapshot_in(name), other.snapshot_in(name)) for name in sorted(names)]
    explored = _explore(one, other, starts, limits)
    graph = explored.graph
    count = explored.space.count
    if not graph.states or not _shows_difference(graph.states[-1]):
        return Equivalence(None if explored.reasons else True, count, reasons=explored.reasons)
    number = len(graph.states) - 1
    step = next(step for step in graph.states[-1].cases if step.answers[0])
    trace = (*graph.trace(number), step.inputs)
    start = explored.starts[graph.places[graph.start_of(number)]]
    outputs = _outputs_after(one, start[0], trace)
    other_outputs = _outputs_after(other, start[1], trace)
    if outputs == other_outputs:
        reason = "outputs were thought to differ, and in the run they do not"
        return Equivalence(None, count, reasons=(*explored.reasons, reason))
    return Equivalence(False, count, (start[0].state, start[1].state), trace, (outputs, other_outputs))


def are_alike(one: Interpreter, other: Interpreter, limits: Limits) -> bool:
    """Return whether it is proved that two charts are always in the same states, with the same outputs.

    Args:
        one: runs a chart.
        other: runs one with the same states, inputs, events and outputs: a mutant.
        limits: how far to go; beyond, nothing is proved.
    """
    start = one.initial(), other.initial()
    explored = _explore(one, other, [start], limits, compare_states=True)
    return not explored.reasons and not any(map(_shows_difference, explored.graph.states))


def is_alike(a: Chart, b: Chart) -> bool:
    """Return whether two charts are the same but for their names and what they promise."""
    if a is b:
        return True
    one, other = (replace(chart, name="", promises=(), resources=(), form=None) for chart in (a, b))
    numbers = [repr(sorted(chart.constants.items())) for chart in (a, b)]  # for Python 2 and 2.0 are equal
    return one == other and numbers[0] == numbers[1]


@dataclass(frozen=True)
class _ExploredProduct:
    """What was explored of two charts side by side, up to the first state that shows a difference.

    Attributes:
        starts: the pair of states at each place with which the exploration began.
    """

    space: ProductSpace
    graph: ReachabilityGraph
    starts: Mapping[Place, StatePair]

    @property
    def reasons(self) -> tuple[str, ...]:
        """In words, why it is not all there is; none where it is."""
        stopped = (self.graph.stopped,) if self.graph.stopped else ()
        return (*self.space.doubts, *stopped)


def _explore(
    one: Interpreter,
    other: Interpreter,
    starts: Sequence[StatePair],
    limits: Limits,
    *,
    compare_states: bool = False,
) -> _ExploredProduct:
    """Explore two charts side by side; where an output's values turn out to be needed, begin again."""
    valued: dict[str, int] = {}
    budget = WorkBudget(limits)
    while True:
        space = ProductSpace(one, other, limits, budget, valued, compare_states=compare_states)
        try:
            places = {space.start(pair): pair for pair in reversed(starts)}
            graph = ReachabilityGraph(space)
            graph.explore(reversed(places), limits, until=_shows_difference)
            return _ExploredProduct(space, graph, places)
        except ValueNeededError as needed:
            valued[needed.output] = valued.get(needed.output, 0) + 1


def _shows_difference(state: AbstractState) -> bool:
    return any(step.answers[0] for step in state.cases)


def _outputs_after(run: Interpreter, state: Snapshot, trace: Trace) -> Mapping[str, Value]:
    try:
        for row in trace:
            state = run.step(state, row)
    except PosewrightError:
        return {}
    return dict(state.outputs)
