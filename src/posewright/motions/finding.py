"""A finding: one place where a motion breaks, or nearly breaks, a design rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How bad it is: an error breaks a rule, a warning comes near, a note is only to be known."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """What is found, where, and by how much.

    Attributes:
        level: how bad it is.
        rule: the rule's name: finite, limit, coupled, speed, step, pose, duration, camera or free.
        message: one sentence.
        keyframe: counted from 1; 0 is the start pose; None is the motion as a whole. Of several the worst.
        joint: None where it is of no one joint. Of several the worst.
        value: what was found, in `unit`; None where there is nothing to measure.
        limit: what would have been the most (or the least) allowed.
        unit: deg, deg/s, s or frames; empty where there is none.
        times_s: when, the worst first [s] since the motion was started; empty for the motion as a whole.
        keyframes: all it is about, rising, where one finding speaks for several.
    """

    level: Level
    rule: str
    message: str
    keyframe: int | None = None
    joint: str | None = None
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    times_s: tuple[float, ...] = ()
    keyframes: tuple[int, ...] = ()

    @property
    def excess(self) -> float:
        """How far the value is from the limit, in `unit`; 0 where there is nothing to measure."""
        return 0.0 if self.value is None or self.limit is None else abs(self.value - self.limit)
