"""A chart and its mutant side by side: pairs of states, and ticks of both for all inputs there are.

The chart's exploration does not tell all values of all variables apart. Two charts that set such a variable
to the same term, from the same values, hold the same in it, whatever that is: so terms are compared as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from posewright.charts.machine import Counter, Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.product import PairOutcome, Product, StatePair, are_same
from posewright.charts.reachability import (
    USUAL,
    Abstraction,
    AbstractStates,
    Exploration,
    PathCondition,
    WorkBudget,
    keep_registers,
    paths,
)
from posewright.charts.types import Value
from posewright.errors import PosewrightError

MAX_PRODUCT_PATHS = 5_000
"""Ways in which one tick of both can go."""


@dataclass(frozen=True, eq=False)
class PairStep:
    """One of the ways in which a tick of both can go.

    Attributes:
        inputs: that go this way.
        one, other: where each stands after it; None where the tick fails.
        set_alike: whether both set what is not told apart by its value to the same terms.
        doubtful: whether other inputs may exist that nobody looked at.
    """

    inputs: Mapping[str, Value]
    one: Snapshot | None
    other: Snapshot | None
    set_alike: bool
    doubtful: bool


class MutantPair:
    """Follows a chart that was explored, and a mutant of it: the same states, inputs, events and outputs.

    Args:
        exploration: of the chart.
        mutant: runs the mutant.

    Attributes:
        coarse: variables that are not told apart by their values.
    """

    def __init__(self, exploration: Exploration, mutant: Interpreter) -> None:
        self.chart_states = exploration.state_space
        self.one = exploration.interpreter
        self.other = mutant
        self.outputs = len(exploration.chart.outputs)
        self.variables = len(exploration.chart.variables)
        self.one_keeps = self.chart_states.abstractions
        kept = [name for name, keep in self.one_keeps.items() if keep.single and not keep.drops]
        self.other_keeps = {  # whatever was dropped is as the chart begins, in both
            name: replace(keep, start=self.one_keeps[name].start)
            for name, keep in keep_registers(mutant.machine, (), kept).items()
        }
        self.coarse = frozenset(self.other_keeps) - frozenset(kept)
        inputs = self.chart_states.inputs
        asked = TickConditions(mutant.machine, ())
        self.mutant_states = AbstractStates(
            mutant, inputs, asked, self.other_keeps, limits=USUAL, budget=WorkBudget()
        )
        self.product = Product(self.chart_states, self.mutant_states, self.coarse)

    # What both have in common

    @cached_property
    def counters(self) -> tuple[Mapping[str, Counter], Mapping[str, Counter]]:
        """The counters of both by name, what they ask left out."""
        return _counters(self.one.machine), _counters(self.other.machine)

    @property
    def count_alike(self) -> bool:
        """Whether both count the same times, so that a state of the one is a state of the other."""
        return self.counters[0] == self.counters[1] and self.one.machine.history == self.other.machine.history

    @property
    def begin_alike(self) -> bool:
        """Whether what is not told apart of variables makes no difference to either, and begins the same."""
        one = self.one.chart.start_values()
        other = self.other.chart.start_values()
        expressions = (*self.one.machine.expressions, *self.other.machine.expressions)
        read = frozenset[str]().union(*(expression.names for expression in expressions))
        keeps = zip(self.one_keeps.values(), self.other_keeps.values(), strict=True)
        return all(one[name] == other[name] for name in self.coarse & read) and all(
            _cells(keep) == _cells(twin) for keep, twin in keeps
        )

    @property
    def ask_alike(self) -> bool:
        """Whether both ask the counters for the same numbers."""
        return self.chart_states.clocks.classes == self.mutant_states.clocks.classes

    @cached_property
    def compared_registers(self) -> list[tuple[int, int]]:
        """The places, in both, of registers that both have and that are told apart by their values."""
        one = self.one.machine.registers
        other = self.other.machine.registers
        shared = [name for name in one if name in other and name not in self.coarse]
        return [(one.index(name), other.index(name)) for name in shared]

    # Pairs of states

    def twin_of(self, state: Snapshot) -> Snapshot:
        """Return the state of the mutant that is most like one of the chart."""
        if not state.started:
            return self.other.initial()
        machine = self.other.machine
        registers = state.registers
        counters = self.counters[1]
        values = [
            min(int(registers.get(name, 0)), counters[name].limit) if name in counters else registers[name]
            for name in machine.registers
        ]
        remembered = dict(zip(state.machine.history, state.history, strict=True))
        history = tuple(remembered.get(key, ()) for key in machine.history)
        return Snapshot(machine, state.started, state.configuration, tuple(values), history)

    def steps(self, pair: StatePair) -> Iterator[PairStep]:
        """Yield every way in which a tick of both can go."""

        def take(path: PathCondition) -> PairOutcome:
            return self.product.follow(pair, path)

        for path, outcome in paths(self.product.inputs, take, MAX_PRODUCT_PATHS):
            inputs = path.inputs()
            # in a loose path some value only stood for the one it would have been
            after = self.stepped(pair, inputs) if path.loose else (outcome.one.after, outcome.other.after)
            set_alike = are_same(outcome.one_terms, outcome.other_terms)
            yield PairStep(inputs, after[0], after[1], set_alike, bool(path.doubts))

    def stepped(
        self, pair: StatePair, inputs: Mapping[str, Value]
    ) -> tuple[Snapshot | None, Snapshot | None]:
        """Return where both are run to by inputs; None where a tick fails."""

        def stepped(interpreter: Interpreter, state: Snapshot) -> Snapshot | None:
            try:
                return interpreter.step(state, inputs)
            except PosewrightError:
                return None

        return stepped(self.one, pair[0]), stepped(self.other, pair[1])

    def shows_difference(self, one: Snapshot | None, other: Snapshot | None) -> bool:
        """Return whether states or outputs differ, or just one of the ticks failed."""
        if one is None or other is None:
            return one is not other
        return (
            one.configuration != other.configuration
            or one.values[: self.outputs] != other.values[: self.outputs]
        )

    def is_same(self, step: PairStep) -> bool:
        """Return whether after a tick nothing differs that both know of."""
        one = step.one
        other = step.other
        if one is None or other is None:
            return one is other
        return (
            step.set_alike
            and one.configuration == other.configuration
            and one.history == other.history
            and all(one.values[i] == other.values[j] for i, j in self.compared_registers)
        )


def _cells(keep: Abstraction) -> tuple[object, ...]:
    return keep.drops, keep.single, keep.bounds, keep.values


def _counters(machine: Machine) -> dict[str, Counter]:
    return {counter.name: replace(counter, condition=None) for counter in machine.counters}
