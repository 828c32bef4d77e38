"""What the picture of a contest shows besides field and paths: plain data, drawn in figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import numpy as np

from posewright.arrays import Floats
from posewright.recordings import Recording


class MarkKind(Enum):
    """What a mark stands for, which decides its colour."""

    PENALTY = "penalty"
    """Something that cost points."""
    MILESTONE = "milestone"
    """Something reached or begun: the end of a leg, a touch that counts."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened once: a sign on the field, a line across everything drawn over time [s].

    Where it has no place in the field, x and y are None [m].
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
        """Return a mark where a robot then was, the first where none is named."""
        row = min(int(np.searchsorted(recording.times, time_s)), recording.n_rows - 1)
        x_m, y_m = recording.robot(robot).base[row, :2].tolist()
        return cls(time_s, x_m, y_m, label.replace("_", " "), kind)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A number over time, `(n,)` each; series of one group share a colour.

    A dotted one tells what might have been rather than what was.
    """

    title: str
    unit: str
    times: Floats
    values: Floats
    group: int = 0
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the time, such as a leg, a try or a round: that part of the robots' paths is drawn apart."""

    begin_s: float
    end_s: float
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class ContestPicture:
    """What a contest adds to the picture of a recording; marks and spans are in the order of time.

    The series are drawn in one plot, whose title is `series_title`.
    """

    headline: str
    marks: tuple[Mark, ...] = ()
    series: tuple[Series, ...] = ()
    spans: tuple[Span, ...] = ()
    series_title: str = ""


def spans_of(begins_s: Iterable[float], end_s: float, what: str) -> tuple[Span, ...]:
    """Return spans one after the other, numbered from 1."""
    pairs = pairwise([*begins_s, end_s])
    return tuple(Span(begin, end, f"{what} {number}") for number, (begin, end) in enumerate(pairs, 1))
