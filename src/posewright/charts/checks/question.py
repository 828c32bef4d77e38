"""A tick as it was run, and what is asked of it: whether conditions hold together at a certain place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from posewright.charts.checks.solver import CheckClaim, all_hold
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Env, Interpreter, Machine, Snapshot, TickExecution
from posewright.charts.model import Assign
from posewright.charts.types import Value
from posewright.errors import ExpressionError, PosewrightError

Rows = tuple[Mapping[str, Value], ...]
"""Inputs of every tick, from the very start."""


class Evaluation(NamedTuple):
    """An expression that was computed.

    Attributes:
        held: what every name stood at.
        value: what it came to; None where it divided by zero.
    """

    expression: Expression
    held: Mapping[str, Value]
    value: Value | None


class MicrostepTrace(NamedTuple):
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


class TickTrace(TickExecution):
    """A tick that keeps note of all that happens.

    Attributes:
        asked, moments, writes: in order.
        after: where the chart stands after it, None where it did not end.
    """

    def __init__(self, machine: Machine, state: Snapshot) -> None:
        super().__init__(machine, state, self.note)
        self.asked: list[Evaluation] = []
        self.moments: list[MicrostepTrace] = []
        self.writes: list[Write] = []
        self.asking: dict[int, int] = {}
        self.after: Snapshot | None = None
        self.snapshot: Mapping[str, Value] = {}

    def held(self) -> Mapping[str, Value]:
        """Return what every name stands at, for as long as nothing changes it."""
        if self.snapshot != self.env:
            self.snapshot = dict(self.env)
        return self.snapshot

    def note(self, expression: Expression, env: Env) -> Value:
        """Compute an expression and keep note of it."""
        held = self.held()
        try:
            value: Value = expression.evaluate(env)
        except ExpressionError:
            self.asked.append(Evaluation(expression, held, None))
            raise
        self.asked.append(Evaluation(expression, held, value))
        return value

    def choose(self, event: str | None) -> list[CompoundTransition]:
        """Choose, and keep note of what was asked."""
        active, held, passed = self.planner.active_nodes(self.configuration), self.held(), len(self.asked)
        self.asking = {}
        chosen = super().choose(event)
        ways = (
            self.planner.plan(self.configuration, self.history, tuple(chosen)).transitions if chosen else ()
        )
        self.moments.append(MicrostepTrace(event, active, held, passed, self.asking, ways))
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
    """Return the tick that follows on a state with these inputs, up to its end or to where it fails."""
    tick, chart = TickTrace(interpreter.machine, state), interpreter.chart
    given = {name: inputs[name] for name in chart.inputs}
    with suppress(PosewrightError):
        tick.after = tick.run(given, [event for event in chart.events if inputs.get(event)])
    return tick


class Standing(NamedTuple):
    """A place in a tick at which a question is asked.

    Attributes:
        held: what every name stands at.
        passed: how many expressions the tick had computed before.
        moment: the microstep, where the place is the choice of ways in one.
    """

    held: Mapping[str, Value]
    passed: int
    moment: MicrostepTrace | None = None


class When(Enum):
    """Which microsteps count."""

    ACTIVE = "all in which the state is active"
    ASKED = "those in which it is asked, nothing inside it having had a way to take"
    FIRST = "the first of a tick only: a chart that runs to completion ends when no guard holds"


@dataclass(frozen=True)
class AtChoice:
    """The places at which the ways of a state are asked.

    Attributes:
        events: one of which the microstep deals with; None: what asks for no event.
    """

    node: int
    events: frozenset[str | None]
    when: When

    @property
    def nodes(self) -> frozenset[int]:
        """The state."""
        return frozenset({self.node})

    def standings(self, tick: TickTrace) -> Iterator[Standing]:
        """Yield where in a tick that was."""
        for moment in tick.moments[:1] if self.when is When.FIRST else tick.moments:
            if moment.event not in self.events:
                continue
            if self.when is not When.ASKED and self.node in moment.active:
                yield Standing(moment.held, moment.passed, moment)
            elif self.when is When.ASKED and self.node in moment.asked:
                yield Standing(moment.held, moment.asked[self.node], moment)


@dataclass(frozen=True, eq=False)
class AtEvaluation:
    """The places at which an expression of some states is computed."""

    nodes: frozenset[int]
    expression: Expression

    def standings(self, tick: TickTrace) -> Iterator[Standing]:
        """Yield where in a tick that was."""
        for passed, asked in enumerate(tick.asked):
            if asked.expression is self.expression:
                yield Standing(asked.held, passed)


@dataclass(frozen=True, eq=False)
class CheckQuestion:
    """Whether, at a certain place, all that is claimed can be so at once."""

    place: AtChoice | AtEvaluation
    claims: tuple[CheckClaim, ...]

    @property
    def names(self) -> frozenset[str]:
        """What it reads."""
        return frozenset[str]().union(*(claim.names for claim in self.claims))

    def shown_by(self, tick: TickTrace) -> Standing | None:
        """Return where a tick answers it with yes."""
        for place in self.place.standings(tick):
            if all_hold(self.claims, place.held):
                return place
        return None
