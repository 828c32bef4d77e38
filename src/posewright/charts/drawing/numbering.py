"""Every transition of a chart with its place and a number such as 12, or 12a for a way on from a junction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from posewright.charts.drawing.diagram import Way
from posewright.charts.model import Chart, Transition


@dataclass(frozen=True)
class Numbered:
    """A transition, or a segment of one.

    Attributes:
        start: the state or the named junction that it leaves.
        way: the transition that it belongs to.
        number: how a key calls it.
        depth: unnamed junctions on the way to it.
    """

    start: str
    transition: Transition
    way: Way
    number: str
    depth: int = 0


def numbered(chart: Chart) -> list[Numbered]:
    """Return all transitions of states and of named junctions, each before its segments."""
    found: list[Numbered] = []
    count = 0
    starts = [(state.name, state.transitions) for state in chart.every_state]
    for start, transitions in (*starts, *chart.junctions.items()):
        for i, transition in enumerate(transitions):
            count += 1
            found += _with_segments(Numbered(start, transition, (start, i), str(count)))
    return found


def segments(whole: Numbered) -> list[Numbered]:
    """Return the ways on from the unnamed junction at which a transition ends."""
    return [
        Numbered(whole.start, segment, whole.way, f"{whole.number}{_letter(i)}", whole.depth + 1)
        for i, segment in enumerate(whole.transition.then)
    ]


def _with_segments(whole: Numbered) -> Iterator[Numbered]:
    yield whole
    for segment in segments(whole):
        yield from _with_segments(segment)


def _letter(i: int) -> str:
    return ascii_lowercase[i] if i < len(ascii_lowercase) else f"({i + 1})"
