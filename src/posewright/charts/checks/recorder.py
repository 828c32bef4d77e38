"""A tick that is looked over the shoulder: what it asked, what it was told, what it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Interpreter, Machine, Snapshot, Tick
from posewright.charts.model import Assign
from posewright.charts.types import Value
from posewright.errors import ExpressionError, PosewrightError

Rows = tuple[Mapping[str, Value], ...]
"""Inputs of every tick, from the very start."""


class Asked(NamedTuple):
    """An expression that was computed.

    Attributes:
        held: what every name stood at.
        value: what it came to; None where it divided by zero.
    """

    expression: Expression
    held: Mapping[str, Value]
    value: Any


class Moment(NamedTuple):
    """A microstep about to be taken.

    Attributes:
        event: that it deals with; None: it asks what asks for no event.
        held: what every name stood at.
        passed: how many expressions the tick had computed before.
        asked: the same for each state that was asked for its ways, none of what is inside having had one.
        chosen: the ways it then took.
    """

    event: str | None
    active: frozenset[int]
    held: Mapping[str, Value]
    passed: int
    asked: Mapping[int, int]
    chosen: tuple[CompoundTransition, ...]


class Write(NamedTuple):
    """A variable that was set.

    Attributes:
        passed: the expression whose value it was, as its place in `asked`.
        after: how many expressions had been computed when it was set.
    """

    name: str
    action: Assign
    passed: int
    after: int


class TickTrace(Tick):
    """A tick that keeps note of all that happens.

    Attributes:
        asked, moments, writes: in order.
        error: why it did not end, None where it did.
        after: where the chart stands after it, None where it did not end.
    """

    def __init__(self, machine: Machine, state: Snapshot) -> None:
        super().__init__(machine, state, self.note)
        self.asked: list[Asked] = []
        self.moments: list[Moment] = []
        self.writes: list[Write] = []
        self.asking: dict[int, int] = {}
        self.error: PosewrightError | None = None
        self.after: Snapshot | None = None
        self.snapshot: Mapping[str, Value] = {}

    def record(self, inputs: Mapping[str, Value]) -> TickTrace:
        """Take the tick, to its end or to where it fails."""
        chart = self.machine.chart
        given = {name: inputs[name] for name in chart.inputs}
        try:
            self.after = self.run(given, [event for event in chart.events if inputs.get(event)])
        except PosewrightError as error:
            self.error = error
        return self

    def held(self) -> Mapping[str, Value]:
        """Return what every name stands at, for as long as nothing changes it."""
        if self.snapshot != self.env:
            self.snapshot = dict(self.env)
        return self.snapshot

    def note(self, expression: Expression, env: dict[str, Any]) -> Any:
        """Compute an expression and keep note of it."""
        held = self.held()
        try:
            value = expression.evaluate(env)
        except ExpressionError:
            self.asked.append(Asked(expression, held, None))
            raise
        self.asked.append(Asked(expression, held, value))
        return value

    def choose(self, event: str | None) -> list[CompoundTransition]:
        """Choose, and keep note of what was asked."""
        active, held, passed = self.moves.active(self.configuration), self.held(), len(self.asked)
        self.asking = {}
        chosen = super().choose(event)
        ways = self.moves.of(self.configuration, self.history, tuple(chosen)).ways if chosen else ()
        self.moments.append(Moment(event, active, held, passed, self.asking, ways))
        return chosen

    def holds(self, way: CompoundTransition) -> bool:
        """Ask a way, and keep note of when its state was first asked."""
        self.asking.setdefault(way.source, len(self.asked))
        return super().holds(way)

    def set(self, action: Assign) -> None:
        """Set variables, and keep note of which."""
        first = len(self.asked)
        super().set(action)
        after = len(self.asked)
        self.writes += [Write(name, action, first + i, after) for i, name in enumerate(action.values)]


def record(interpreter: Interpreter, state: Snapshot, inputs: Mapping[str, Value]) -> TickTrace:
    """Return the tick that follows on a state with these inputs."""
    return TickTrace(interpreter.machine, state).record(inputs)
