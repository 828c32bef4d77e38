"""Whether two charts behave alike: both are walked side by side through everything that can happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.reachability.graph import ReachabilityGraph, Trace
from posewright.charts.reachability.limits import Limits, WorkBudget
from posewright.charts.reachability.product import NotToldError, ProductSpace
from posewright.charts.reachability.states import AbstractState
from posewright.charts.types import Value
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

    def __bool__(self) -> bool:
        """Return whether the charts are equal and that is proved."""
        return self.equal is True


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
    told: dict[str, int] = {}
    budget, runs = WorkBudget(limits), (Interpreter(a), Interpreter(b))
    while True:
        try:
            return _compare(ProductSpace(*runs, limits, budget, told), every_state=every_state)
        except NotToldError as missing:
            told[missing.output] = told.get(missing.output, 0) + 1


def is_alike(a: Chart, b: Chart) -> bool:
    """Return whether two charts are the same but for their names and what they promise."""
    if a is b:
        return True
    one, other = (replace(chart, name="", promises=(), resources=(), form=None) for chart in (a, b))
    numbers = [repr(sorted(chart.constants.items())) for chart in (a, b)]  # for Python 2 and 2.0 are equal
    return one == other and numbers[0] == numbers[1]


def _compare(space: ProductSpace, *, every_state: bool) -> Equivalence:
    runs = space.runs
    starts = [tuple(run.initial() for run in runs)]
    if every_state:
        names = set(runs[0].chart.state_names) & set(runs[1].chart.state_names)
        starts += [tuple(run.entered(name) for run in runs) for name in sorted(names)]
    places = {space.start(*both): both for both in reversed(starts)}
    graph = ReachabilityGraph(space)
    graph.explore(reversed(places), space.limits, until=_tells_apart)
    reasons = (*space.doubts, graph.stopped) if graph.stopped else tuple(space.doubts)
    last = graph.states[-1] if graph.states else None
    if last is None or not _tells_apart(last):
        return Equivalence(None if reasons else True, space.count, reasons=reasons)
    number = len(graph.states) - 1
    step = next(step for step in last.cases if step.answers[0])
    trace = (*graph.trace(number), step.inputs)
    start = places[graph.places[graph.start_of(number)]]
    one, other = (_outputs_after(*both, trace) for both in zip(runs, start, strict=True))
    if one == other:
        reason = "outputs were thought to differ, and in the run they do not"
        return Equivalence(None, space.count, reasons=(*reasons, reason))
    return Equivalence(False, space.count, (start[0].state, start[1].state), trace, (one, other))


def _tells_apart(state: AbstractState) -> bool:
    return any(step.answers[0] for step in state.cases)


def _outputs_after(run: Interpreter, state: Snapshot, trace: Trace) -> Mapping[str, Value]:
    try:
        for row in trace:
            state = run.step(state, row)
    except PosewrightError:
        return {}
    return dict(state.outputs)
