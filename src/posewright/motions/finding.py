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
        rule: the rule's name: finite, limit, speed, step, pose, duration or free.
        message: one sentence.
        keyframe: counted from 1; 0 is the start pose; None is the motion as a whole.
        joint: None where it is of no one joint.
        value: what was found, in `unit`; None where there is nothing to measure.
        limit: what would have been the most (or the least) allowed.
        unit: deg, deg/s or s; empty where there is none.
    """

    level: Level
    rule: str
    message: str
    keyframe: int | None = None
    joint: str | None = None
    value: float | None = None
    limit: float | None = None
    unit: str = ""
