"""Questions of the checks: can these claims hold together when a tick reaches a certain point?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from posewright.charts.checks.solver import CheckClaim, all_hold
from posewright.charts.checks.tick_trace import MicrostepTrace, TickTrace
from posewright.charts.expression import Expression
from posewright.charts.types import Value


class TickPoint(NamedTuple):
    """A point in a tick at which a question is evaluated.

    Attributes:
        env: value of every name.
        n_evaluated: number of expressions that the tick had evaluated before.
        microstep: the microstep in which transitions are chosen; None where an expression is evaluated.
    """

    env: Mapping[str, Value]
    n_evaluated: int
    microstep: MicrostepTrace | None = None


class MicrostepFilter(Enum):
    """The microsteps of a tick in which the choice of transitions in a state is considered."""

    ACTIVE = "all in which the state is active"
    EVALUATED = "those in which its guards are evaluated because no state inside it has an enabled transition"
    FIRST = "the first of a tick only: a chart that runs to completion ends when no guard holds"


@dataclass(frozen=True)
class TransitionChoice:
    """The points at which a tick chooses among the transitions of one state.

    Attributes:
        node: number of the state.
        events: the microstep processes one of these; None means transitions without an event.
        microstep_filter: which microsteps count.
    """

    node: int
    events: frozenset[str | None]
    microstep_filter: MicrostepFilter

    @property
    def nodes(self) -> frozenset[int]:
        """Numbers of the states concerned."""
        return frozenset({self.node})

    def points(self, tick: TickTrace) -> Iterator[TickPoint]:
        """Yield the points of a tick at which the choice is made.

        These are microsteps in which the state is active; with the filter EVALUATED, only those in which its
        guards are evaluated.
        """
        microsteps = tick.microstep_traces
        if self.microstep_filter is MicrostepFilter.FIRST:
            microsteps = microsteps[:1]
        for microstep in microsteps:
            if microstep.event not in self.events:
                continue
            n_evaluated: int | None
            if self.microstep_filter is MicrostepFilter.EVALUATED:
                n_evaluated = microstep.n_evaluated_before_state.get(self.node)
            else:
                n_evaluated = microstep.n_evaluated if self.node in microstep.active_nodes else None
            if n_evaluated is not None:
                yield TickPoint(microstep.env, n_evaluated, microstep)


@dataclass(frozen=True, eq=False)
class ExpressionEvaluation:
    """The points at which one expression is evaluated.

    Attributes:
        nodes: numbers of the states that use it.
        expression: the expression.
    """

    nodes: frozenset[int]
    expression: Expression

    def points(self, tick: TickTrace) -> Iterator[TickPoint]:
        """Yield the points of a tick at which the expression is evaluated."""
        for n_evaluated, evaluation in enumerate(tick.evaluations):
            if evaluation.expression is self.expression:
                yield TickPoint(evaluation.env, n_evaluated)


@dataclass(frozen=True, eq=False)
class CheckQuestion:
    """Whether all claims can be true together at some point of some tick.

    Attributes:
        location: the points of a tick that count.
        claims: the claims about the names at such a point.
    """

    location: TransitionChoice | ExpressionEvaluation
    claims: tuple[CheckClaim, ...]

    @property
    def names(self) -> frozenset[str]:
        """Names that the claims read."""
        return frozenset[str]().union(*(claim.names for claim in self.claims))

    def find_point(self, tick: TickTrace) -> TickPoint | None:
        """Return the first point of a tick at which all claims hold, None if there is none."""
        for point in self.location.points(tick):
            if all_hold(self.claims, point.env):
                return point
        return None
