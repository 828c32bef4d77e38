"""What is asked of a running chart: whether conditions can ever hold together at a certain place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from posewright.charts.checks.recorder import Moment, TickTrace
from posewright.charts.checks.solver import Claim, shows
from posewright.charts.expression import Expression
from posewright.charts.types import Value


class Standing(NamedTuple):
    """A place in a tick at which a question is asked.

    Attributes:
        held: what every name stands at.
        passed: how many expressions the tick had computed before.
        moment: the microstep, where the place is the choice of ways in one.
    """

    held: Mapping[str, Value]
    passed: int
    moment: Moment | None = None


class When(Enum):
    """Which microsteps count."""

    ACTIVE = "all in which the state is active"
    ASKED = "those in which it is asked, nothing inside it having had a way to take"
    FIRST = "the first of a tick only: a chart that runs to completion ends when no guard holds"


@dataclass(frozen=True)
class Microstep:
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
class Computing:
    """The places at which an expression of some states is computed."""

    nodes: frozenset[int]
    expression: Expression

    def standings(self, tick: TickTrace) -> Iterator[Standing]:
        """Yield where in a tick that was."""
        for passed, asked in enumerate(tick.asked):
            if asked.expression is self.expression:
                yield Standing(asked.held, passed)


@dataclass(frozen=True, eq=False)
class Question:
    """Whether, at a certain place, all that is claimed can be so at once."""

    place: Microstep | Computing
    claims: tuple[Claim, ...]

    @property
    def nodes(self) -> frozenset[int]:
        """The states that it is about."""
        return self.place.nodes

    @property
    def names(self) -> frozenset[str]:
        """What it reads."""
        return frozenset[str]().union(*(claim.names for claim in self.claims))

    def shown_by(self, tick: TickTrace) -> Standing | None:
        """Return where a tick answers it with yes."""
        for place in self.place.standings(tick):
            if shows(self.claims, place.held):
                return place
        return None
