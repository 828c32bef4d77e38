"""Marks on states and transitions, such as what a run has covered; and which states are active."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from posewright.charts.drawing.diagram import Way
from posewright.charts.model import Chart


class Mark(Enum):
    """How far a state or a transition has been tried."""

    COVERED = "covered"
    PARTLY = "partly covered"
    MISSED = "not covered"

    @property
    def sign(self) -> str:
        """What stands before a transition with the mark, so that colour is not needed to tell."""
        return {Mark.COVERED: "", Mark.PARTLY: "~ ", Mark.MISSED: "✗ "}[self]

    @property
    def look(self) -> str:
        """The name of its look in a picture."""
        return self.name.lower()


Marks = Mapping[Way | str, Mark]
"""Marks of states by name, and of transitions by state (or junction) and place among its transitions."""


@dataclass(frozen=True)
class Highlight:
    """Active states: the innermost ones, and those around them."""

    inner: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()


def mark_of(marks: Marks, ways: Iterable[Way]) -> Mark | None:
    """Return the mark of several transitions together; partly where they differ."""
    found = {marks[way] for way in ways if way in marks}
    return next(iter(found)) if len(found) == 1 else Mark.PARTLY if found else None


def names_in(active: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the states named by one name, by several joined with `+`, or by a list of such."""
    if active is None:
        return ()
    parts = [active] if isinstance(active, str) else active
    return tuple(name.strip() for part in parts for name in part.split("+"))


def highlight(chart: Chart, active: str | Iterable[str] | None) -> Highlight:
    """Return which states of a chart are to be highlighted.

    Raises:
        UnknownNameError: there is no state of one of the names.
    """
    names = [chart.state(name).name for name in names_in(active)]
    outer: set[str] = set()
    for name in names:
        parent = chart.parents[name]
        while parent is not None:
            outer.add(parent)
            parent = chart.parents[parent]
    return Highlight(frozenset(names) - outer, frozenset(outer))
