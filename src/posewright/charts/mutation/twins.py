"""Two charts with the same states, side by side: one tick of both, for all inputs there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.chart_state import ChartState
from posewright.charts.datatypes import Value
from posewright.charts.exploration import Exploration
from posewright.charts.exploration.asking import Asked
from posewright.charts.exploration.clocks import Clocks
from posewright.charts.exploration.following import Followed, Follower
from posewright.charts.exploration.keeping import keep_registers
from posewright.charts.exploration.path import Path
from posewright.charts.interpreter import Interpreter
from posewright.charts.machine import Counter, Machine
from posewright.errors import PosewrightError

MAX_PATHS = 5_000
"""Ways in which one tick of both can go."""

Pair = tuple[ChartState, ChartState]


@dataclass(frozen=True, eq=False)
class Together:
    """One of the ways in which a tick of both can go.

    Attributes:
        inputs: that go this way.
        one, other: where each stands after it; None where the tick fails.
        doubtful: whether other inputs may exist that nobody looked at.
    """

    inputs: Mapping[str, Value]
    one: ChartState | None
    other: ChartState | None
    doubtful: bool


class Twins:
    """Follows a chart that was explored, and another one with the same states, inputs, events and outputs.

    Args:
        exploration: of the one, with all its variables kept.
        other: the interpreter of the other.
    """

    def __init__(self, exploration: Exploration, other: Interpreter) -> None:
        self.looked = exploration.looked
        self.one, self.other = exploration.interpreter, other
        self.outputs = len(exploration.chart.outputs)
        self.variables = len(exploration.chart.variables)
        keeps = keep_registers(other.machine, (), tuple(exploration.chart.variables))
        asked = Asked(other.machine, ())
        self.follower = Follower(other.machine, self.looked.inputs.axes, keeps, asked)
        machine, names = exploration.machine, other.machine.registers
        self.shared = [(i, names.index(name)) for i, name in enumerate(machine.registers) if name in names]
        self.limits = _limits(machine), _limits(other.machine)

    @property
    def count_alike(self) -> bool:
        """Whether both count the same times, so that a state of the one is a state of the other."""
        return self.limits[0] == self.limits[1] and self.one.machine.memories == self.other.machine.memories

    @property
    def ask_alike(self) -> bool:
        """Whether both ask the counters for the same numbers."""
        return Clocks(self.one.machine).classes == Clocks(self.other.machine).classes

    def twin_of(self, state: ChartState) -> ChartState:
        """Return the state of the other chart that is most like one of the first."""
        machine = self.other.machine
        held, limits = state.registers, self.limits[1]
        values = [
            min(int(held.get(name, 0)), limits[name].limit) if name in limits else held[name]
            for name in machine.registers
        ]
        remembered = dict(zip(state.machine.memories, state.memories, strict=True))
        memories = tuple(remembered.get(key, ()) for key in machine.memories)
        return ChartState(machine, state.started, state.leaves, tuple(values), memories)

    def step(self, pair: Pair) -> Iterator[Together]:
        """Yield every way in which a tick of both can go."""

        def take(path: Path) -> tuple[Followed, Followed]:
            return self.looked.follower.follow(pair[0], path), self.follower.follow(pair[1], path)

        for path, (one, other) in self.looked.inputs.paths(take, MAX_PATHS):
            yield self.together(pair, path, one, other)

    def together(self, pair: Pair, path: Path, one: Followed, other: Followed) -> Together:
        """Return where both stand; computed anew where the path only had values that stand for others."""
        inputs, doubtful = path.inputs(), bool(path.doubts)
        if path.loose:
            after = _stepped(self.one, pair[0], inputs), _stepped(self.other, pair[1], inputs)
            return Together(inputs, *after, doubtful)
        return Together(inputs, one.after, other.after, doubtful)

    def seen_apart(self, one: ChartState | None, other: ChartState | None) -> bool:
        """Return whether states or outputs differ, or just one of the ticks failed."""
        if one is None or other is None:
            return one is not other
        return one.leaves != other.leaves or one.values[: self.outputs] != other.values[: self.outputs]

    def same(self, one: ChartState | None, other: ChartState | None) -> bool:
        """Return whether nothing that both know of differs."""
        if one is None or other is None:
            return one is other
        if one.leaves != other.leaves or one.memories != other.memories:
            return False
        return all(one.values[i] == other.values[j] for i, j in self.shared)


def _stepped(interpreter: Interpreter, state: ChartState, inputs: Mapping[str, Value]) -> ChartState | None:
    try:
        return interpreter.outcome(state, inputs).after
    except PosewrightError:
        return None


def _limits(machine: Machine) -> dict[str, Counter]:
    """Return the counters of a machine by name, what they ask left out."""
    return {one.name: Counter(one.name, one.limit, None, one.again) for one in machine.counters}
