"""Two charts with the same states, side by side: one tick of both, for all inputs there are.

An exploration does not tell all values of all variables apart: one that nothing reads has no value there.
Two charts that set such a variable by the same expressions, one after the other, with the same values of all
that these read, hold the same in it, whatever that is: so how it is set is noted, besides where a tick ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from posewright.charts.expression import Expression, Tree
from posewright.charts.machine import Counter, Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.reachability import (
    Abstraction,
    Answer,
    Exploration,
    Follower,
    PathCondition,
    TimerAbstraction,
    assignments_of,
    keep_registers,
    paths,
)
from posewright.charts.types import Value
from posewright.errors import PosewrightError

MAX_PRODUCT_PATHS = 5_000
"""Ways in which one tick of both can go."""

StatePair = tuple[Snapshot, Snapshot]

Settings = tuple[tuple[str, Tree, tuple[Any, ...]], ...]
"""Variables that were set, by which expression, and what the registers held that it reads."""


@dataclass(frozen=True, eq=False)
class ProductStep:
    """One of the ways in which a tick of both can go.

    Attributes:
        inputs: that go this way.
        one, other: where each stands after it; None where the tick fails.
        set_alike: whether both set what is not told apart by its value in the same way.
        doubtful: whether other inputs may exist that nobody looked at.
    """

    inputs: Mapping[str, Value]
    one: Snapshot | None
    other: Snapshot | None
    set_alike: bool
    doubtful: bool


class Product:
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
        follower = Follower(
            other.machine, self.looked.inputs.axes, self.keeps, TickConditions(other.machine, ())
        )
        self.followers = tuple(_Noting(one, self.coarse) for one in (self.looked.follower, follower))

    # What both have in common

    @cached_property
    def limits(self) -> tuple[Mapping[str, Counter], Mapping[str, Counter]]:
        """The counters of both by name, what they ask left out."""
        return _limits(self.one.machine), _limits(self.other.machine)

    @cached_property
    def timers(self) -> tuple[TimerAbstraction, TimerAbstraction]:
        """What each can tell of counted time."""
        return TimerAbstraction(self.one.machine), TimerAbstraction(self.other.machine)

    @property
    def count_alike(self) -> bool:
        """Whether both count the same times, so that a state of the one is a state of the other."""
        return self.limits[0] == self.limits[1] and self.one.machine.history == self.other.machine.history

    @property
    def begin_alike(self) -> bool:
        """Whether what is not told apart of variables makes no difference to either, and begins the same."""
        one, other = self.one.chart.start_values(), self.other.chart.start_values()
        both = (*self.one.machine.expressions, *self.other.machine.expressions)
        read = frozenset[str]().union(*(expression.names for expression in both))
        keeps = zip(self.looked.keeps.values(), self.keeps.values(), strict=True)
        return all(one[name] == other[name] for name in self.coarse & read) and all(
            _cells(keep) == _cells(twin) for keep, twin in keeps
        )

    @property
    def ask_alike(self) -> bool:
        """Whether both ask the counters for the same numbers."""
        return self.timers[0].classes == self.timers[1].classes

    @cached_property
    def told_apart(self) -> list[tuple[int, int]]:
        """The places, in both, of registers that both have and that are told apart by their values."""
        one, other = self.one.machine.registers, self.other.machine.registers
        shared = [name for name in one if name in other and name not in self.coarse]
        return [(one.index(name), other.index(name)) for name in shared]

    # Pairs of states

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

    def plain(self, one: Snapshot, other: Snapshot) -> StatePair:
        """Return a pair in which what is not told apart by its value is as at the start, or in the middle."""
        keeps = list(self.keeps.values())
        values = [keep.canonical(value) for keep, value in zip(keeps, other.values, strict=False)]
        rest = other.values[len(keeps) :]
        twin = Snapshot(other.machine, other.started, other.configuration, (*values, *rest), other.history)
        return self.looked.joined(*self.looked.split(one)), twin

    def steps(self, pair: StatePair) -> Iterator[ProductStep]:
        """Yield every way in which a tick of both can go."""

        def take(path: PathCondition) -> list[tuple[Snapshot | None, Settings]]:
            return [one.follow(state, path) for one, state in zip(self.followers, pair, strict=True)]

        for path, ((one, set_in_one), (other, set_in_other)) in paths(
            self.looked.inputs, take, MAX_PRODUCT_PATHS
        ):
            inputs = path.inputs()
            # in a loose path some value only stood for the one it would have been
            after = self.stepped(pair, inputs) if path.loose else (one, other)
            yield ProductStep(inputs, *after, set_in_one == set_in_other, bool(path.doubts))

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

    def seen_apart(self, one: Snapshot | None, other: Snapshot | None) -> bool:
        """Return whether states or outputs differ, or just one of the ticks failed."""
        if one is None or other is None:
            return one is not other
        return (
            one.configuration != other.configuration
            or one.values[: self.outputs] != other.values[: self.outputs]
        )

    def same(self, step: ProductStep) -> bool:
        """Return whether after a tick nothing differs that both know of."""
        one, other = step.one, step.other
        if one is None or other is None:
            return one is other
        return (
            step.set_alike
            and one.configuration == other.configuration
            and one.history == other.history
            and all(one.values[i] == other.values[j] for i, j in self.told_apart)
        )


class _Noting:
    """Follows ticks, and notes how some variables are set."""

    def __init__(self, follower: Follower, names: frozenset[str]) -> None:
        self.known = frozenset(follower.machine.registers) - names
        self.found: list[tuple[str, Tree, tuple[Any, ...]]] = []
        settings = {
            id(value): self.noted(name, value, follower.answers[id(value)])
            for action in assignments_of(follower.machine)
            for name, value in action.values.items()
            if name in names
        }
        self.follower = follower.answering(settings)

    def noted(self, name: str, value: Expression, answer: Answer) -> Answer:
        """Return an answer that also notes what is set, and to what."""
        reads = sorted(value.names & self.known)

        def note(env: dict[str, Any], path: PathCondition) -> Any:
            self.found.append((name, value.tree, tuple([env[one] for one in reads])))
            return answer(env, path)

        return note

    def follow(self, state: Snapshot, path: PathCondition) -> tuple[Snapshot | None, Settings]:
        """Take one tick along a path; return where it came to, None where it failed, and what it set."""
        self.found.clear()
        after = self.follower.follow(state, path).after
        return after, tuple(self.found)


def _cells(keep: Abstraction) -> tuple[object, ...]:
    return keep.drops, keep.single, keep.bounds, keep.values


def _limits(machine: Machine) -> dict[str, Counter]:
    return {one.name: replace(one, condition=None) for one in machine.counters}
