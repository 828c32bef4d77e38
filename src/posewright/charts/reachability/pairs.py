"""Two charts side by side: every way in which a tick of both can go, with one and the same inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.charts.machine import Asked, Interpreter, Snapshot
from posewright.charts.reachability.clocks import Counts
from posewright.charts.reachability.computed import (
    Comparing,
    Noting,
    Term,
    constant_term,
    fitted,
    is_large,
    put_in,
    read_by,
    unread_outputs,
)
from posewright.charts.reachability.inputs import InputSpace
from posewright.charts.reachability.limits import Limits
from posewright.charts.reachability.path import PathCondition, paths
from posewright.charts.reachability.situations import AbstractStates
from posewright.charts.types import Value

Held = tuple[tuple[Term, Term] | None, ...]
"""What both hold in each output that is compared by terms; None: the same, but it is not known what."""

PairRest = tuple[int, int, Held]


@dataclass(frozen=True)
class PairPlace:
    """Where two charts stand, as far as it can make a difference."""

    rest: PairRest
    counts: tuple[Counts, Counts]


@dataclass(frozen=True, eq=False)
class PairCase:
    """One of the ways in which a tick of both can go.

    Attributes:
        inputs: that show it.
        rest: what both are after it, counters aside; None where one fails, or where they differ.
        running: counters that go on.
        differs: whether the outputs then differ, or only one of the ticks fails.
    """

    inputs: Mapping[str, Value]
    rest: PairRest | None
    running: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    differs: bool = False


class NotToldError(Exception):
    """One chart sets an output and the other keeps it: then it has to be told what it was.

    It never leaves the walk over pairs, which begins again.
    """

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


class Pairs:
    """Two charts with the same inputs, events and outputs.

    Args:
        a: runs the one.
        b: runs the other.
        limits: how far to go.
        told: outputs whose values are told apart, and how often that was asked for: where they are set to
            constants, or (2) whatever they are set to. Of others it is enough that both hold the same.

    Attributes:
        doubts: in words, why cases may be missing.
        count: cases looked at.
    """

    def __init__(self, a: Interpreter, b: Interpreter, limits: Limits, told: Mapping[str, int]) -> None:
        outputs = a.chart.outputs
        self.inputs = InputSpace.of(a.chart)
        self.limits = limits
        self.told = told
        terms = unread_outputs(a.machine) & unread_outputs(b.machine)
        terms -= {name for name in told if told[name] > 1 or not is_large(outputs[name])}
        self.by_terms = tuple(name for name in outputs if name in terms)
        self.by_value = tuple(name for name in outputs if name not in terms)
        self.sides = (self.side(a, terms), self.side(b, terms))
        self.notes = tuple(
            Noting(side.machine, terms, side.follower.answers, self.inputs.axes) for side in self.sides
        )
        self.comparing = Comparing(self.inputs.axes, outputs)
        self.known: dict[object, tuple[PairCase, ...]] = {}
        self.doubts: dict[str, None] = {}
        self.count = 0

    def side(self, run: Interpreter, terms: frozenset[str]) -> AbstractStates:
        """Return what looks into one of the charts, of which these outputs are compared by terms."""
        keep = (*self.by_value, *read_by(run.machine, terms))
        return AbstractStates(run, self.inputs, Asked(run.machine, ()), keep, self.limits)

    def start(self, one: Snapshot, other: Snapshot) -> PairPlace:
        """Return the place of two states whose outputs are known."""
        values = [(name, one.outputs[name], other.outputs[name]) for name in self.by_terms]
        held = tuple(
            None if a == b and name not in self.told else (constant_term(a), constant_term(b))
            for name, a, b in values
        )
        (rest, counts), (other_rest, other_counts) = self.sides[0].split(one), self.sides[1].split(other)
        return PairPlace((rest, other_rest, held), (counts, other_counts))

    def cases(self, place: PairPlace) -> tuple[PairCase, ...]:
        """Return the ways in which a tick from a place can go, one of those that come to the same."""
        looks = tuple(
            side.clocks.looks(counts) for side, counts in zip(self.sides, place.counts, strict=True)
        )
        key = (place.rest, looks)
        if key not in self.known:
            found = self.look(place)
            self.count += len(found)
            first = {(case.rest, case.running, case.differs): case for case in reversed(found)}
            self.known[key] = tuple(reversed(first.values()))
        return self.known[key]

    def onward(self, place: PairPlace, case: PairCase) -> PairPlace | None:
        """Return the place after a tick, None where there is none to go on from."""
        if case.rest is None:
            return None
        one, other = self.sides
        counts = (
            one.clocks.onward(place.counts[0], case.running[0]),
            other.clocks.onward(place.counts[1], case.running[1]),
        )
        return PairPlace(case.rest, counts)

    def look(self, place: PairPlace) -> tuple[PairCase, ...]:
        """Follow every path of a tick of both."""
        one, other = self.sides
        states = (
            one.joined(place.rest[0], place.counts[0]),
            other.joined(place.rest[1], place.counts[1]),
        )

        def take(path: PathCondition) -> PairCase:
            return self.together(states, place.rest[2], path)

        found = []
        for path, case in paths(self.inputs, take, self.limits.cases_of_one):
            found.append(case)
            self.doubts |= dict.fromkeys(f"{states[0].state}: {doubt}" for doubt in path.doubts)
        return tuple(found)

    def together(self, states: tuple[Snapshot, Snapshot], held: Held, path: PathCondition) -> PairCase:
        """Return what comes of one path."""
        one, other = self.sides
        for noting in self.notes:
            noting.terms.clear()
        first = one.follower.follow(states[0], path)
        second = other.follower.follow(states[1], path)
        if first.after is None or second.after is None:
            return PairCase(path.inputs(), None, differs=first.after is not second.after)
        same = all(first.env[name] == second.env[name] for name in self.by_value)
        found = self.held(held, path) if same else None
        if found is None:
            return PairCase(path.inputs(), None, differs=True)
        (rest, counts), (other_rest, other_counts) = one.split(first.after), other.split(second.after)
        running = one.clocks.running(counts), other.clocks.running(other_counts)
        return PairCase(path.inputs(), (rest, other_rest, found), running)

    def held(self, before: Held, path: PathCondition) -> Held | None:
        """Return what the outputs are after a tick, None where they differ."""
        found: list[tuple[Term, Term] | None] = []
        for name, known in zip(self.by_terms, before, strict=True):
            set_to = (noting.terms.get(name) for noting in self.notes)
            one, other = (self.put_in(term, before, number) for number, term in enumerate(set_to))
            if known is not None:
                one, other = one or known[0], other or known[1]
            missing = self.missing(name, one, other)
            if missing is not None:
                raise NotToldError(missing)
            if one is None or other is None or missing is not None:
                found.append(None)
            elif self.comparing.differ(name, one, other, path):
                return None
            else:
                found.append(self.remembered(name, one, other))
        return tuple(found)

    def put_in(self, term: Term | None, before: Held, side: int) -> Term | None:
        """Return a term in which the outputs that it reads are put in as far as they are known."""
        if term is None or not term.reads(self.by_terms):
            return term
        known = {
            name: held[side].expression.tree for name, held in zip(self.by_terms, before, strict=True) if held
        }
        return put_in(term, known)

    def missing(self, name: str, one: Term | None, other: Term | None) -> str | None:
        """Return which output has to be told for the terms of one to be compared; None where none has."""
        if one == other:
            return None
        if one is None or other is None:
            return name
        return next(iter((*one.reads(self.by_terms), *other.reads(self.by_terms))), None)

    def remembered(self, name: str, one: Term, other: Term) -> tuple[Term, Term] | None:
        """Return what is to be known of an output that is the same in both."""
        if name not in self.told or one.value is None or other.value is None:
            return None
        kind = self.comparing.outputs[name]
        return constant_term(fitted(kind, one.value)), constant_term(fitted(kind, other.value))
