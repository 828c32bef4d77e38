"""The product of two charts: one tick of both with the same inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.expression import Expression
from posewright.charts.machine import Snapshot
from posewright.charts.product.terms import TermRecorder
from posewright.charts.reachability import ChartStateSpace, PathCondition, SymbolicTick


class StatePair(NamedTuple):
    """A state of each of two charts."""

    first: Snapshot
    second: Snapshot


@dataclass(frozen=True, eq=False)
class PairTick:
    """The result of one tick of both charts on one path.

    Attributes:
        first: the tick of the first chart.
        second: the tick of the second chart.
        first_terms: the terms over the inputs that the first chart assigned to variables that are compared as
            terms, by variable; those that it did not set are missing.
        second_terms: the same for the second chart.
    """

    first: SymbolicTick
    second: SymbolicTick
    first_terms: Mapping[str, Expression]
    second_terms: Mapping[str, Expression]


class Product:
    """Two charts with the same inputs and events, side by side.

    Args:
        first_space: states of the first chart.
        second_space: states of the second chart.
        term_variables: variables that are compared as terms over the inputs, not by their values.
    """

    def __init__(
        self, first_space: ChartStateSpace, second_space: ChartStateSpace, term_variables: Collection[str]
    ) -> None:
        """Prepare, for each chart, a recorder of the terms that are assigned to `term_variables`."""
        self.first_space = first_space
        self.second_space = second_space
        self.inputs = first_space.inputs
        self._first_recorder = TermRecorder(first_space, term_variables)
        self._second_recorder = TermRecorder(second_space, term_variables)

    def run_tick(self, pair: StatePair, path: PathCondition) -> PairTick:
        """Return the result of one tick of both charts along a path."""
        first_tick = self._first_recorder.run_tick(pair.first, path)
        second_tick = self._second_recorder.run_tick(pair.second, path)
        return PairTick(first_tick, second_tick, self._first_recorder.terms, self._second_recorder.terms)
