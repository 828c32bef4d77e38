"""Two charts with the same states, side by side: one tick of both, for all inputs there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from posewright.charts.machine import Asked, Counter, Interpreter, Machine, Snapshot
from posewright.charts.mutation.writing_down import Scribe, Written
from posewright.charts.reachability import (
    Abstraction,
    Exploration,
    Follower,
    PathCondition,
    TimerAbstraction,
    keep_registers,
    paths,
)
from posewright.charts.types import Value
from posewright.errors import PosewrightError

MAX_PATHS = 5_000
"""Ways in which one tick of both can go."""

Pair = tuple[Snapshot, Snapshot]


@dataclass(frozen=True, eq=False)
class Together:
    """One of the ways in which a tick of both can go.

    Attributes:
        inputs: that go this way.
        one, other: where each stands after it; None where the tick fails.
        wrote_alike: whether both set what is not told apart by its value in the same way.
        doubtful: whether other inputs may exist that nobody looked at.
    """

    inputs: Mapping[str, Value]
    one: Snapshot | None
    other: Snapshot | None
    wrote_alike: bool
    doubtful: bool


class ProductStep:
    """Follows a chart that was explored, and another one with the same states, inputs, events and outputs.

    Args:
        exploration: of the one.
        other: the interpreter of the other.
    """

    def __init__(self, exploration: Exploration, other: Interpreter) -> None:
        self.looked = exploration.looked
        self.one, self.other = exploration.interpreter, other
        self.outputs = len(exploration.chart.outputs)
        self.variables = len(exploration.chart.variables)
        kept = [name for name, keep in self.looked.keeps.items() if keep.single and not keep.drops]
        self.keeps = {  # whatever was dropped is as the one begins, in both
            name: replace(keep, start=self.looked.keeps[name].start)
            for name, keep in keep_registers(other.machine, (), kept).items()
        }
        self.coarse = frozenset(self.keeps) - frozenset(kept)
        asked = Asked(other.machine, ())
        follower = Follower(other.machine, self.looked.inputs.axes, self.keeps, asked)
        self.scribes = Scribe(self.looked.follower, self.coarse), Scribe(follower, self.coarse)

    @cached_property
    def limits(self) -> tuple[Mapping[str, Counter], Mapping[str, Counter]]:
        """The counters of both by name, what they ask left out."""
        return _limits(self.one.machine), _limits(self.other.machine)

    @property
    def count_alike(self) -> bool:
        """Whether both count the same times, so that a state of the one is a state of the other."""
        return self.limits[0] == self.limits[1] and self.one.machine.history == self.other.machine.history

    @property
    def begin_alike(self) -> bool:
        """Whether what is not told apart of variables makes no difference to either, and begins the same."""
        one, other = self.one.chart.start_values(), self.other.chart.start_values()
        begins = all(one[name] == other[name] for name in self.coarse & self.read)
        keeps = zip(self.looked.keeps.values(), self.keeps.values(), strict=True)
        return begins and all(_cells(keep) == _cells(twin) for keep, twin in keeps)

    @property
    def read(self) -> frozenset[str]:
        """Every name that an expression of either reads; what none reads is seen, or makes no difference."""
        both = (*self.one.machine.expressions, *self.other.machine.expressions)
        return frozenset[str]().union(*(expression.names for expression in both))

    @property
    def ask_alike(self) -> bool:
        """Whether both ask the counters for the same numbers."""
        return TimerAbstraction(self.one.machine).classes == TimerAbstraction(self.other.machine).classes

    @cached_property
    def turns(self) -> dict[int, set[int]]:
        """The values of counters after which only one of the two gets another answer, by place in the one."""
        one, other = TimerAbstraction(self.one.machine), TimerAbstraction(self.other.machine)
        edges = dict(zip(other.names, map(_edges, other.classes), strict=True))
        pairs = zip(one.names, map(_edges, one.classes), strict=True)
        found = {i: own ^ edges.get(name, set()) for i, (name, own) in enumerate(pairs)}
        return {i: values for i, values in found.items() if values}

    @cached_property
    def told_apart(self) -> list[tuple[int, int]]:
        """The places, in both, of registers that both have and that are told apart by their values."""
        names = self.other.machine.registers
        shared = [name for name in self.one.machine.registers if name in names and name not in self.coarse]
        return [(self.one.machine.registers.index(name), names.index(name)) for name in shared]

    def twin_of(self, state: Snapshot) -> Snapshot:
        """Return the state of the other chart that is most like one of the first."""
        if not state.started:
            return self.other.initial()
        machine = self.other.machine
        held, limits = state.registers, self.limits[1]
        values = [
            min(int(held.get(name, 0)), limits[name].limit) if name in limits else held[name]
            for name in machine.registers
        ]
        remembered = dict(zip(state.machine.history, state.history, strict=True))
        history = tuple(remembered.get(key, ()) for key in machine.history)
        return Snapshot(machine, state.started, state.configuration, tuple(values), history)

    def step(self, pair: Pair) -> Iterator[Together]:
        """Yield every way in which a tick of both can go."""

        def take(path: PathCondition) -> tuple[Written, Written]:
            return self.scribes[0].follow(pair[0], path), self.scribes[1].follow(pair[1], path)

        for path, (one, other) in paths(self.looked.inputs, take, MAX_PATHS):
            inputs, alike, doubtful = path.inputs(), one.words == other.words, bool(path.doubts)
            if path.loose:  # some value only stood for the one it would have been
                after = _stepped(self.one, pair[0], inputs), _stepped(self.other, pair[1], inputs)
                yield Together(inputs, *after, alike, doubtful)
            else:
                yield Together(inputs, one.after, other.after, alike, doubtful)

    def plain(self, one: Snapshot, other: Snapshot) -> Pair:
        """Return a pair in which what is not told apart by its value is as at the start, or in the middle."""
        keeps = list(self.keeps.values())
        values = [keep.canonical(value) for keep, value in zip(keeps, other.values, strict=False)]
        rest = other.values[len(keeps) :]
        twin = Snapshot(other.machine, other.started, other.configuration, (*values, *rest), other.history)
        return self.looked.joined(*self.looked.split(one)), twin

    def seen_apart(self, one: Snapshot | None, other: Snapshot | None) -> bool:
        """Return whether states or outputs differ, or just one of the ticks failed."""
        if one is None or other is None:
            return one is not other
        return (
            one.configuration != other.configuration
            or one.values[: self.outputs] != other.values[: self.outputs]
        )

    def same(self, together: Together) -> bool:
        """Return whether after a tick nothing differs that both know of."""
        one, other = together.one, together.other
        if one is None or other is None:
            return one is other
        if (
            not together.wrote_alike
            or one.configuration != other.configuration
            or one.history != other.history
        ):
            return False
        return all(one.values[i] == other.values[j] for i, j in self.told_apart)


def _stepped(interpreter: Interpreter, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:
    try:
        return interpreter.outcome(state, inputs).after
    except PosewrightError:
        return None


def _edges(classes: Sequence[int]) -> set[int]:
    """Return the values that are in another class than the one before them."""
    return {i for i, (one, other) in enumerate(pairwise(classes), start=1) if one != other}


def _cells(keep: Abstraction) -> tuple[object, ...]:
    return keep.drops, keep.single, keep.bounds, keep.values


def _limits(machine: Machine) -> dict[str, Counter]:
    return {one.name: Counter(one.name, one.limit, None, one.again) for one in machine.counters}
