"""What holds between several inputs at once, and inputs for which it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from typing import Protocol

from posewright.charts.expression import Expression
from posewright.charts.reachability.axis import Domain, Spans, plainest
from posewright.charts.types import Value

TRIED = 400
"""Combinations of values that are tried before a solver is asked."""


@dataclass(frozen=True)
class Relation:
    """A condition over several inputs, with all registers put in as numbers, and whether it is to hold."""

    condition: Expression
    holds: bool = True

    @cached_property
    def names(self) -> frozenset[str]:
        """The inputs that it reads."""
        return self.condition.names

    def turned(self) -> Relation:
        """Return the relation that holds where this one does not."""
        return replace(self, holds=not self.holds)


@dataclass(frozen=True)
class Found:
    """What a solver found.

    Attributes:
        values: of the inputs that the relations read; None: none were found.
        unknown: why it is not known that there are none; empty where it is.
    """

    values: Mapping[str, Value] | None
    unknown: str = ""


class Decider(Protocol):
    """Who decides what trying does not: the prover."""

    def decide(
        self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: Sequence[Relation]
    ) -> Found:
        """Return values of the inputs within the sets for which all relations hold."""


@dataclass
class Solver:
    """Finds inputs for which relations hold: by trying, else by asking the prover; and remembers."""

    decider: Decider | None = None
    known: dict[object, Found] = field(default_factory=dict)

    def find(
        self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: tuple[Relation, ...]
    ) -> Found:
        """Return values of the inputs within the sets for which all relations hold.

        Relations that have no input in common are looked at apart from each other.
        """
        values: dict[str, Value] = {}
        for group in _groups(relations):
            names = sorted(frozenset[str]().union(*(relation.names for relation in group)))
            key = (group, tuple([(name, sets[name]) for name in names]))
            if key not in self.known:
                self.known[key] = self.found({name: axes[name] for name in names}, sets, group)
            found = self.known[key]
            if found.values is None:
                return found
            values |= found.values
        return Found(values)

    def found(
        self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: tuple[Relation, ...]
    ) -> Found:
        """Return the same, not having asked before; every input is read by some relation."""
        tried = self.tried(axes, sets, relations)
        if tried is not None:
            return Found(tried)
        if self.decider is None:
            texts = ", ".join(dict.fromkeys(f"`{one.condition}`" for one in relations))
            return Found(None, f"no solver is installed to decide {texts}")
        return self.decider.decide(axes, sets, relations)

    def tried(
        self, axes: Mapping[str, Domain], sets: Mapping[str, Spans], relations: tuple[Relation, ...]
    ) -> Mapping[str, Value] | None:
        """Return values that fit, if one of a few combinations does."""
        several = [_some(axes[name], sets[name]) for name in axes]
        for values in islice(product(*several), TRIED):
            point = dict(zip(axes, values, strict=True))
            if all(bool(one.condition.evaluate(point)) is one.holds for one in relations):
                return point
        return None


def _groups(relations: tuple[Relation, ...]) -> list[tuple[Relation, ...]]:
    """Return relations in groups, so that no input is read in two of them."""
    groups: list[tuple[frozenset[str], tuple[Relation, ...]]] = []
    for relation in relations:
        apart = [group for group in groups if not group[0] & relation.names]
        met = [group for group in groups if group[0] & relation.names]
        names = relation.names.union(*(group[0] for group in met))
        groups = [*apart, (names, (*(one for group in met for one in group[1]), relation))]
    return [members for _, members in groups]


def _some(axis: Domain, spans: Spans) -> list[Value]:
    """Return the plainest value of a set, its ends and the middle."""
    low, high = spans[0][0], spans[-1][1]
    middle = sum(spans[len(spans) // 2]) // 2
    values = [plainest(axis, spans), *(axis.value(i) for i in (low, high, middle))]
    return list(dict.fromkeys(values))
