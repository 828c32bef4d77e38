"""A promise: what must hold at every tick of every run of a chart."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from posewright.charts.expression import Expression


class PropertyKind(Enum):
    """What is promised of a condition."""

    NEVER = "never"
    ALWAYS = "always"
    LEADS_TO = "leads_to"


@dataclass(frozen=True)
class Promise:
    """Asked after every tick, of the tick's inputs and events and of everything as it stands after it.

    Attributes:
        vow: never `when`; always `when`; or `when` leads to `goal`.
        goal: what has to hold within `within_s` of every tick at which `when` holds, that tick included.
        within_s: the time allowed [s]; rounded down to whole ticks, so it is never longer than promised.
    """

    name: str
    vow: PropertyKind
    when: Expression
    goal: Expression | None = None
    within_s: float = 0.0
    line: int | None = field(default=None, compare=False)
