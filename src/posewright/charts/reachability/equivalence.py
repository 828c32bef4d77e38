"""Whether two charts behave alike: both are walked side by side through everything that can happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.reachability.limits import Limits
from posewright.charts.reachability.product import NotToldError, PairCase, PairPlace, Pairs
from posewright.charts.types import Value
from posewright.errors import InputError, PosewrightError

MAX_STEPS = 200_000
"""Cases and pairs of states looked at before the walk is called off."""

Trail = tuple[Mapping[str, Value], ...]


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
    counterexample: Trail = ()
    outputs: tuple[Mapping[str, Value], Mapping[str, Value]] | None = None
    reasons: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the answer holds for every case there is."""
        return self.equal is not None

    def __bool__(self) -> bool:
        """Return whether the charts are equal and that is proved."""
        return self.equal is True


def equivalent(a: Chart, b: Chart, *, every_state: bool = False) -> Equivalence:
    """Return whether two charts give the same outputs for the same inputs and events, tick by tick.

    What is returned is true where they are proved equal, and only there. The charts may have other states,
    locals, junctions and functions: only what goes in and comes out is compared.

    Args:
        a: one chart.
        b: another with the same inputs, events and outputs.
        every_state: start from every state that both have by name, besides the initial one; a truth table
            is then compared on every row, reachable or not.

    Raises:
        InputError: the charts have different inputs, events or outputs.
    """
    for word, ours, theirs in (("inputs", a.inputs, b.inputs), ("outputs", a.outputs, b.outputs)):
        if dict(ours) != dict(theirs):
            raise InputError(
                f"{a.name} and {b.name} have different {word}", hint=f"{list(ours)}, {list(theirs)}"
            )
    if set(a.events) != set(b.events):
        raise InputError(
            f"{a.name} and {b.name} have different events", hint=f"{list(a.events)}, {list(b.events)}"
        )
    if a is b:
        return Equivalence(True, 0)
    told: dict[str, int] = {}
    while True:
        try:
            return _Walk(a, b, told).run(every_state=every_state)
        except NotToldError as missing:
            told[missing.output] = told.get(missing.output, 0) + 1


@dataclass(frozen=True, eq=False)
class _Node:
    """A place that both charts came to, and how."""

    place: PairPlace
    start: tuple[Snapshot, Snapshot]
    before: _Node | None = None
    inputs: Mapping[str, Value] | None = None

    def trail(self) -> Trail:
        """Return the inputs that led here from the start."""
        rows, node = [], self
        while node.before is not None and node.inputs is not None:
            rows.append(node.inputs)
            node = node.before
        return tuple(reversed(rows))


class _Walk:
    def __init__(self, a: Chart, b: Chart, told: Mapping[str, int]) -> None:
        self.charts = (a, b)
        self.runs = (Interpreter(a), Interpreter(b))
        self.pairs = Pairs(*self.runs, Limits(cases_of_one=MAX_STEPS), told)

    def starts(self, every_state: bool) -> Iterator[tuple[Snapshot, Snapshot]]:
        one, other = self.runs
        yield one.initial(), other.initial()
        if every_state:
            for name in sorted(set(self.charts[0].state_names) & set(self.charts[1].state_names)):
                yield one.entered(name), other.entered(name)

    def run(self, *, every_state: bool) -> Equivalence:
        pairs = self.pairs
        waiting = deque(_Node(pairs.start(*both), both) for both in self.starts(every_state))
        met = {node.place for node in waiting}
        while waiting:
            if max(pairs.count, len(met)) > MAX_STEPS:
                return Equivalence(None, pairs.count, reasons=(*pairs.doubts, f"more than {MAX_STEPS} cases"))
            node = waiting.popleft()
            for case in pairs.cases(node.place):
                if case.differs:
                    return self.told(node, case)
                following = pairs.onward(node.place, case)
                if following is not None and following not in met:
                    met.add(following)
                    waiting.append(_Node(following, node.start, node, case.inputs))
        return Equivalence(None if pairs.doubts else True, pairs.count, reasons=tuple(pairs.doubts))

    def told(self, node: _Node, case: PairCase) -> Equivalence:
        """Return how the charts differ."""
        trail = (*node.trail(), case.inputs)
        one, other = (
            _outputs_after(run, start, trail) for run, start in zip(self.runs, node.start, strict=True)
        )
        if one == other:
            reason = "outputs were thought to differ, and in the run they do not"
            return Equivalence(None, self.pairs.count, reasons=(*self.pairs.doubts, reason))
        names = node.start[0].state, node.start[1].state
        return Equivalence(False, self.pairs.count, names, trail, (one, other))


def _outputs_after(run: Interpreter, state: Snapshot, trail: Trail) -> Mapping[str, Value]:
    try:
        for row in trail:
            state = run.step(state, row)
    except PosewrightError:
        return {}
    return dict(state.outputs)
