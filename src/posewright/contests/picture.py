"""The data that a contest adds to the picture of a recording, besides field and paths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from posewright.arrays import Floats
from posewright.recordings import Recording


class MarkKind(Enum):
    """The meaning of a mark, which decides its colour."""

    PENALTY = "penalty"
    """An incident that cost points."""
    MILESTONE = "milestone"
    """Progress: the end of a leg, a touch that counts."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment of a recording, drawn as a sign on the field and a line in plots over time.

    Attributes:
        time_s: when [s].
        x: position in the field; None for no sign [m].
        y: position in the field; None for no sign [m].
        label: text beside it.
        kind: its meaning.
    """

    time_s: float
    x: float | None
    y: float | None
    label: str
    kind: MarkKind

    @classmethod
    def at(
        cls, recording: Recording, time_s: float, label: str, kind: MarkKind, robot: str | None = None
    ) -> Mark:
        """Return a mark at the place where a robot was at a time; without a name, the first robot."""
        row = min(int(np.searchsorted(recording.times, time_s)), recording.n_rows - 1)
        x_m, y_m = recording.robot(robot).base[row, :2].tolist()
        return cls(time_s, x_m, y_m, label.replace("_", " "), kind)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A number over time.

    Attributes:
        title: the title in the legend.
        unit: the unit of the values.
        times: `(n,)` [s].
        values: `(n,)`.
        group: series of one group share a colour.
        dotted: whether it is hypothetical and drawn dotted.
    """

    title: str
    unit: str
    times: Floats
    values: Floats
    group: int = 0
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """An interval, such as a leg, a try or a round, whose part of the robots' paths is drawn separately."""

    begin_s: float
    end_s: float
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class ContestPicture:
    """What a contest adds to the picture of a recording.

    Attributes:
        headline: the result in a few words.
        marks: the marks in the order of time.
        series: drawn in one plot.
        spans: the spans in the order of time.
        series_title: title of that plot.
    """

    headline: str
    marks: tuple[Mark, ...] = ()
    series: tuple[Series, ...] = ()
    spans: tuple[Span, ...] = ()
    series_title: str = ""


def consecutive_spans(begins_s: Iterable[float], end_s: float, label: str) -> tuple[Span, ...]:
    """Return spans one after the other, with a label and a number from 1."""
    pairs = pairwise([*begins_s, end_s])
    return tuple(Span(begin, end, f"{label} {number}") for number, (begin, end) in enumerate(pairs, 1))
