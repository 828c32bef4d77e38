"""Equivalence of two charts: both are explored side by side, with the same inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.model import Chart
from posewright.charts.product.product import StatePair
from posewright.charts.product.space import ProductSpace, ValueNeededError
from posewright.charts.reachability import (
    AbstractState,
    ExplorationLimits,
    ReachabilityGraph,
    StateKey,
    SymbolicStep,
    Trace,
    WorkBudget,
)
from posewright.charts.types import Value, format_value
from posewright.display import Lines
from posewright.errors import InputError, PosewrightError

PRODUCT_LIMITS = ExplorationLimits(
    max_states=200_000, max_states_if_incomplete=20_000, max_cases=200_000, max_cases_per_state=200_000
)
"""Default limits of exploring two charts side by side."""


@dataclass(frozen=True)
class Equivalence:
    """The result of comparing two charts.

    Attributes:
        equal: whether the charts behave alike; None if not every case was tried and none of those tried
            shows a difference.
        cases: number of steps of both charts that were tried.
        start: the names of the states of both charts from which the counterexample starts; None if they are
            equal.
        counterexample: the shortest rows of inputs after which the outputs differ; empty if they do not.
        outputs: the outputs of the two charts then; empty for a chart whose tick fails.
        reasons: why it is not known.
    """

    equal: bool | None
    cases: int
    start: tuple[str, str] | None = None
    counterexample: Trace = ()
    outputs: tuple[Mapping[str, Value], Mapping[str, Value]] | None = None
    reasons: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the answer holds for every case."""
        return self.equal is not None

    def to_dict(self, a: Chart, b: Chart) -> dict[str, object]:
        """Return the result as plain data for JSON; `a` and `b` are the compared charts."""
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
        """Yield the lines of the result for a terminal; `a` and `b` are the compared charts."""
        name_a = a.name
        name_b = b.name
        if name_a == name_b:
            name_a = str(a.path or "the first")
            name_b = str(b.path or "the second")
        if self.equal is True:
            proof = (
                f"proved over {self.cases} cases" if self.cases else "proved, their definitions are the same"
            )
            yield f"{name_a} and {name_b} behave alike: {proof}"
            return
        if self.equal is None:
            yield f"{name_a} and {name_b}: not known; no difference in {self.cases} cases"
            yield from (f"  {reason}" for reason in self.reasons)
            return
        start_text = f" from {' and '.join(dict.fromkeys(self.start))}" if self.start else ""
        yield f"{name_a} and {name_b} differ after {len(self.counterexample)} ticks{start_text}:"
        yield from self._counterexample_lines()
        for name, outputs in zip((name_a, name_b), self.outputs or (), strict=False):
            values = _format_values(outputs) or "the tick fails: division by zero, or an endless loop"
            yield f"  {name}: {values}"

    def _counterexample_lines(self) -> Iterator[str]:
        """Yield the inputs of the counterexample, one line for all neighbouring ticks with equal inputs."""
        first_tick = 0
        for row, equal_rows in groupby(self.counterexample):
            last_tick = first_tick + len(list(equal_rows)) - 1
            ticks = f"tick {first_tick}" if first_tick == last_tick else f"ticks {first_tick} to {last_tick}"
            yield f"  {ticks}: {_format_values(row)}"
            first_tick = last_tick + 1

    def __bool__(self) -> bool:
        """Return whether the charts are equal and that is proved."""
        return self.equal is True


def _format_values(values: Mapping[str, Value]) -> str:
    return " ".join(f"{name}={format_value(value)}" for name, value in values.items())


def equivalent(
    a: Chart, b: Chart, *, every_state: bool = False, limits: ExplorationLimits = PRODUCT_LIMITS
) -> Equivalence:
    """Return whether two charts give the same outputs for the same inputs and events, tick by tick.

    The result is true only where that is proved. The charts may have different states, locals, junctions and
    functions: only their inputs and outputs are compared.

    Args:
        a: one chart.
        b: another with the same inputs, events and outputs.
        every_state: start from every state that both have by name, besides the initial one; a truth table
            is then compared on every row, reachable or not.
        limits: the limits of the exploration.

    Raises:
        InputError: the charts have different inputs, events or outputs.
    """
    _require_same_interface(a, b)
    if _are_identical(a, b):
        return Equivalence(equal=True, cases=0)
    first = Interpreter(a)
    second = Interpreter(b)
    starts = [StatePair(first.initial(), second.initial())]
    if every_state:
        shared_names = sorted(set(a.state_names) & set(b.state_names))
        starts += [StatePair(first.snapshot_in(name), second.snapshot_in(name)) for name in shared_names]
    exploration = _explore_product(first, second, starts, limits)
    graph = exploration.graph
    n_cases = exploration.space.n_cases
    incomplete_reasons = exploration.incomplete_reasons
    # the exploration stops at the first state that shows a difference
    if not graph.abstract_states or not _shows_difference(graph.abstract_states[-1]):
        return Equivalence(
            equal=None if incomplete_reasons else True, cases=n_cases, reasons=incomplete_reasons
        )
    last_node = len(graph.abstract_states) - 1
    differing_step = next(filter(_step_shows_difference, graph.abstract_states[-1].steps))
    trace = (*graph.trace(last_node), differing_step.inputs)
    start = exploration.start_by_key[graph.state_keys[graph.start_of(last_node)]]
    first_outputs = _run_for_outputs(first, start.first, trace)
    second_outputs = _run_for_outputs(second, start.second, trace)
    if first_outputs == second_outputs:
        reason = "outputs seemed to differ after some inputs, but a run with them shows no difference"
        return Equivalence(equal=None, cases=n_cases, reasons=(*incomplete_reasons, reason))
    return Equivalence(
        equal=False,
        cases=n_cases,
        start=(start.first.state, start.second.state),
        counterexample=trace,
        outputs=(first_outputs, second_outputs),
    )


def _require_same_interface(a: Chart, b: Chart) -> None:
    """Raise an error unless two charts have the same inputs, outputs and events."""
    interfaces: dict[str, tuple[Mapping[str, object], Mapping[str, object]]] = {
        "inputs": (a.inputs, b.inputs),
        "outputs": (a.outputs, b.outputs),
        "events": (dict.fromkeys(a.events), dict.fromkeys(b.events)),
    }
    for kind, (names_of_a, names_of_b) in interfaces.items():
        if dict(names_of_a) != dict(names_of_b):
            list_a = ", ".join(names_of_a) or "none"
            list_b = ", ".join(names_of_b) or "none"
            raise InputError(
                f"{a.name} and {b.name} have different {kind}",
                hint=f"{a.name} has {list_a}; {b.name} has {list_b}",
            )


def are_equivalent_in_states(first: Interpreter, second: Interpreter, limits: ExplorationLimits) -> bool:
    """Return whether it is proved that two charts are always in the same states, with the same outputs.

    Args:
        first: the interpreter of a chart.
        second: the interpreter of a chart with the same states, inputs, events and outputs, such as a mutant.
        limits: the limits of the exploration; beyond them nothing is proved.
    """
    start = StatePair(first.initial(), second.initial())
    exploration = _explore_product(first, second, starts=[start], limits=limits, compare_states=True)
    is_complete = not exploration.incomplete_reasons
    return is_complete and not any(map(_shows_difference, exploration.graph.abstract_states))


def _are_identical(a: Chart, b: Chart) -> bool:
    """Return whether two charts are the same except for their names, promises and resources."""
    if a is b:
        return True
    stripped_a = replace(a, name="", promises=(), resources=(), declared_table_form=None)
    stripped_b = replace(b, name="", promises=(), resources=(), declared_table_form=None)
    # 2 and 2.0 are equal in Python but not in a chart
    constants_of_a = repr(sorted(a.constants.items()))
    constants_of_b = repr(sorted(b.constants.items()))
    return stripped_a == stripped_b and constants_of_a == constants_of_b


@dataclass(frozen=True)
class _ExploredProduct:
    """The exploration of two charts side by side, up to the first state that shows a difference.

    Attributes:
        start_by_key: the pairs of states with which it began, by their keys.
    """

    space: ProductSpace
    graph: ReachabilityGraph
    start_by_key: Mapping[StateKey, StatePair]

    @property
    def incomplete_reasons(self) -> tuple[str, ...]:
        """Why the exploration is not complete; empty if it is."""
        stop_reason = (self.graph.stop_reason,) if self.graph.stop_reason else ()
        return (*self.space.incomplete_reasons, *stop_reason)


def _explore_product(
    first: Interpreter,
    second: Interpreter,
    starts: Sequence[StatePair],
    limits: ExplorationLimits,
    *,
    compare_states: bool = False,
) -> _ExploredProduct:
    """Explore two charts side by side, up to the first state that shows a difference.

    Where the values of an output turn out to be needed, the exploration begins again and tells them apart.

    Args:
        first: the interpreter of the first chart.
        second: the interpreter of the second chart.
        starts: the pairs of states with which it begins.
        limits: the limits of the exploration; the work of all attempts counts.
        compare_states: whether different active states are a difference, too.
    """
    n_requests_by_output: dict[str, int] = {}  # how often the values of an output were needed
    budget = WorkBudget(limits)
    while True:
        space = ProductSpace(
            first, second, limits, budget, n_requests_by_output, compare_states=compare_states
        )
        try:
            # of pairs with the same key, the first counts: later entries of a dictionary replace earlier ones
            start_by_key = {space.start_key(pair): pair for pair in reversed(starts)}
            graph = ReachabilityGraph(space)
            graph.explore(reversed(start_by_key), limits, until=_shows_difference)
            return _ExploredProduct(space, graph, start_by_key)
        except ValueNeededError as error:
            n_requests_by_output[error.output] = n_requests_by_output.get(error.output, 0) + 1


def _shows_difference(abstract_state: AbstractState) -> bool:
    """Return whether the charts differ after some step from a state."""
    return any(map(_step_shows_difference, abstract_state.steps))


def _step_shows_difference(step: SymbolicStep) -> bool:
    """Return whether the charts differ after a step of both."""
    (differs,) = step.condition_values  # the only condition of a product
    return differs


def _run_for_outputs(interpreter: Interpreter, state: Snapshot, trace: Trace) -> Mapping[str, Value]:
    """Return the outputs after a trace from a state; empty if a tick fails."""
    try:
        for row in trace:
            state = interpreter.step(state, row)
    except PosewrightError:
        return {}
    return dict(state.outputs)
