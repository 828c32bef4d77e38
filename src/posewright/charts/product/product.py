"""The product of two charts: a tick of both, with one and the same inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from posewright.charts.expression import Expression
from posewright.charts.machine import Snapshot
from posewright.charts.product.terms import TermRecorder
from posewright.charts.reachability import AbstractStates, Followed, PathCondition

StatePair = tuple[Snapshot, Snapshot]


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """Where a tick of both came to along one path.

    Attributes:
        one, other: what came of each chart's tick.
        one_terms, other_terms: what each set the variables to that are compared by terms.
    """

    one: Followed
    other: Followed
    one_terms: Mapping[str, Expression]
    other_terms: Mapping[str, Expression]


class Product:
    """Two charts with the same inputs and events, side by side.

    Args:
        one: states of one chart.
        other: states of the other one.
        by_terms: variables whose values are not told apart; what they are set to is recorded as terms.
    """

    def __init__(self, one: AbstractStates, other: AbstractStates, by_terms: Collection[str]) -> None:
        self.one = one
        self.other = other
        self.inputs = one.inputs
        self._one_recorder = TermRecorder(one, by_terms)
        self._other_recorder = TermRecorder(other, by_terms)

    def follow(self, pair: StatePair, path: PathCondition) -> PairOutcome:
        """Take one tick of both along a path."""
        one = self._one_recorder.follow(pair[0], path)
        other = self._other_recorder.follow(pair[1], path)
        return PairOutcome(one, other, self._one_recorder.terms, self._other_recorder.terms)
