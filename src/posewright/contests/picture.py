"""What the picture of a contest shows besides field and paths: plain data, drawn in figures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from posewright.arrays import Floats


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
