"""The states of two charts side by side, explored as if they were one chart."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.charts.expression import Expression
from posewright.charts.machine import Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.product.product import PairOutcome, Product, StatePair
from posewright.charts.product.terms import TermComparison, constant_term, fitted, substituted, term_value
from posewright.charts.reachability import (
    SMALL,
    AbstractState,
    AbstractStates,
    Counts,
    InputSpace,
    Limits,
    PathCondition,
    Place,
    SymbolicStep,
    TimerAbstraction,
    WorkBudget,
    assignments_of,
    gathered,
    keep_registers,
    paths,
)
from posewright.charts.types import FloatType, IntType, Type

HeldTerms = tuple[tuple[Expression, Expression] | None, ...]
"""What both hold in each output that is compared by terms; None: the same, but it is not known what."""

PairRest = tuple[int, int, HeldTerms]
"""Where two charts stand: of each, the number of what its state is, counters aside; and what both hold."""


class ValueNeededError(Exception):
    """One chart sets an output and the other keeps it: then its values have to be told apart.

    It never leaves this room: the exploration begins again.
    """

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


class ProductSpace:
    """Two charts with the same inputs, events and outputs, to be explored as if they were one.

    A step of both is a `SymbolicStep` of the one, with one answer: whether it shows a difference between the
    charts, as the outputs then differ, or only one of the ticks fails. Nothing follows on a step that does.

    Outputs that nothing reads and that have many values are compared by the terms that they are set to: their
    values need not be gone through, and whoever does not set one keeps what was the same before.

    Args:
        one: runs one chart.
        other: runs the other.
        limits: how far to go.
        budget: the work that may be done.
        valued: outputs whose values are told apart, and how often that was asked for: where they are set to
            constants, or (2) whatever they are set to. Of others it is enough that both hold the same.
        compare_states: whether it is a difference, too, to be in different states; the charts have the same
            states, numbered alike.

    Attributes:
        doubts: in words, why steps may be missing.
        count: steps looked at.
    """

    def __init__(
        self,
        one: Interpreter,
        other: Interpreter,
        limits: Limits,
        budget: WorkBudget,
        valued: Mapping[str, int],
        *,
        compare_states: bool = False,
    ) -> None:
        outputs = one.chart.outputs
        terms = _unread_outputs(one.machine) & _unread_outputs(other.machine)
        terms -= {name for name, asked in valued.items() if asked > 1 or not _is_large(outputs[name])}
        inputs = InputSpace.of(one.chart)
        self.limits = limits
        self.budget = budget
        self.valued = valued
        self.compare_states = compare_states
        self.by_terms = tuple(name for name in outputs if name in terms)
        self.by_value = tuple(name for name in outputs if name not in terms)

        def states_of(interpreter: Interpreter) -> AbstractStates:
            machine = interpreter.machine
            keeps = keep_registers(machine, keep=(*self.by_value, *_read_by(machine, terms)))
            asked = TickConditions(machine, ())
            return AbstractStates(interpreter, inputs, asked, keeps, limits=limits, budget=budget)

        self.product = Product(states_of(one), states_of(other), terms)
        self.clocks = TimerAbstraction(one.machine, other.machine)
        self.comparison = TermComparison(inputs.axes, outputs)
        self.rests: list[PairRest] = []
        self.rest_numbers: dict[PairRest, int] = {}
        self.known: dict[tuple[int, int], AbstractState] = {}
        self.doubts: dict[str, None] = {}
        self.count = 0

    def start(self, pair: StatePair) -> Place:
        """Return the place of two states whose outputs are known."""
        held: list[tuple[Expression, Expression] | None] = []
        for name in self.by_terms:
            value = pair[0].outputs[name]
            other_value = pair[1].outputs[name]
            is_same = value == other_value and name not in self.valued
            held.append(None if is_same else (constant_term(value), constant_term(other_value)))
        return self._place(*pair, tuple(held))

    def _place(self, one: Snapshot, other: Snapshot, held: HeldTerms) -> Place:
        """Return the number of what the state of both is, counters aside, and the counters of both."""
        one_rest, one_counts = self.product.one.split(one)
        other_rest, other_counts = self.product.other.split(other)
        rest = one_rest, other_rest, held
        number = self.rest_numbers.setdefault(rest, len(self.rests))
        if number == len(self.rests):
            self.rests.append(rest)
        return number, (*one_counts, *other_counts)

    def at_number(self, rest: int, number: int) -> AbstractState:
        """Return what can happen in a state of both; its counters by their number."""
        key = (rest, self.clocks.looked[number])
        if key not in self.known:
            self.known[key] = self._look(self.rests[rest], self.clocks.every[number])
            self.count += len(self.known[key].cases)
        return self.known[key]

    def _look(self, rest: PairRest, counts: Counts) -> AbstractState:
        """Follow every path of a tick of both."""
        one_rest, other_rest, held = rest
        first_of_other = len(self.product.one.machine.counters)
        one = self.product.one.joined(one_rest, counts[:first_of_other])
        other = self.product.other.joined(other_rest, counts[first_of_other:])
        followed = paths(
            self.product.inputs,
            lambda path: self._step((one, other), held, path),
            self.limits.cases_of_one,
            self.budget,
        )
        state = gathered(one, ((path, *step) for path, step in followed))
        self.doubts |= state.doubts
        return state

    def _step(
        self, pair: StatePair, held: HeldTerms, path: PathCondition
    ) -> tuple[SymbolicStep, tuple[int, tuple[int, ...]] | None]:
        """Return what comes of one path: a step, and where it leads."""
        outcome = self.product.follow(pair, path)
        one = outcome.one
        other = outcome.other
        place: tuple[int, tuple[int, ...]] | None = None
        differ = one.after is not other.after  # where both fail, they do the same
        if one.after is not None and other.after is not None:
            differ = any(one.env[name] != other.env[name] for name in self.by_value)
            if self.compare_states:
                differ = differ or one.after.configuration != other.after.configuration
            held_after = None if differ else self._held_after(held, outcome, path)
            differ = held_after is None
            if held_after is not None:
                rest, counts = self._place(one.after, other.after, held_after)
                place = rest, self.clocks.running(counts)
        return SymbolicStep(path.inputs(), one.after, one.taken, one.raised, one.error, (differ,)), place

    def _held_after(self, before: HeldTerms, outcome: PairOutcome, path: PathCondition) -> HeldTerms | None:
        """Return what the outputs are after a tick, None where they differ."""
        held: list[tuple[Expression, Expression] | None] = []
        for name, known in zip(self.by_terms, before, strict=True):
            one = self._with_held(outcome.one_terms.get(name), before, 0)
            other = self._with_held(outcome.other_terms.get(name), before, 1)
            if known is not None:
                one = one or known[0]
                other = other or known[1]
            if one is None and other is None:
                held.append(None)
                continue
            if one is None or other is None:
                raise ValueNeededError(name)
            for read in (*sorted(one.names), *sorted(other.names)) if one != other else ():
                if read in self.by_terms:
                    raise ValueNeededError(read)
            if self.comparison.differ(name, one, other, path):
                return None
            held.append(self._remembered(name, one, other))
        return tuple(held)

    def _with_held(self, term: Expression | None, before: HeldTerms, side: int) -> Expression | None:
        """Return a term in which the outputs that it reads are put in as far as they are known."""
        if term is None or term.names.isdisjoint(self.by_terms):
            return term
        known = {name: held[side].tree for name, held in zip(self.by_terms, before, strict=True) if held}
        return substituted(term, known)

    def _remembered(
        self, name: str, one: Expression, other: Expression
    ) -> tuple[Expression, Expression] | None:
        """Return what is to be known of an output that is the same in both."""
        value = term_value(one)
        other_value = term_value(other)
        if name not in self.valued or value is None or other_value is None:
            return None
        kind = self.comparison.kinds[name]
        return constant_term(fitted(kind, value)), constant_term(fitted(kind, other_value))


def _unread_outputs(machine: Machine) -> frozenset[str]:
    """Return the outputs of a machine that can be compared by their terms: only such outputs read them."""
    kept: frozenset[str] = frozenset()
    while True:
        keeps = keep_registers(machine, keep=kept)
        outputs = frozenset(name for name in machine.chart.outputs if keeps[name].drops)
        read = _read_by(machine, outputs) & keeps.keys()
        if read <= kept:
            return outputs
        kept |= read


def _read_by(machine: Machine, outputs: frozenset[str]) -> frozenset[str]:
    """Return the other names that the terms of these outputs read."""
    values = (pair for action in assignments_of(machine) for pair in action.values.items())
    return frozenset[str]().union(*(value.names for name, value in values if name in outputs)) - outputs


def _is_large(kind: Type) -> bool:
    """Return whether a type has more values than are gone through one by one."""
    return isinstance(kind, FloatType) or (isinstance(kind, IntType) and kind.high - kind.low >= SMALL)
