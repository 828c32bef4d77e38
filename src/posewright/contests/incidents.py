"""Incidents: what of all touches and displaced boxes counts as one penalty.

A judge who takes a fallen robot off the box it fell upon touches it once. So a displaced box is one
incident with a touch where the touch is about that box, or a fall, and the box moved between shortly
before the incident began and shortly after the touch. A touch because of a displaced box is one
incident with the box's last displacement before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from posewright.contests.displacement import Displacement
from posewright.recordings import Event

BOX_MOVED = "box_moved"
FALL = "fall"


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that costs a penalty.

    Attributes:
        time_s: when it was seen [s].
        reason: `fall`, `jam`, `box_moved`, or another a touch was noted with.
        box: the box it is about, counted from 0; None where it is about none.
    """

    time_s: float
    reason: str
    box: int | None


@dataclass(frozen=True, slots=True)
class Touch:
    """One touch of the robot by a person.

    Attributes:
        time_s: when the robot was let go [s].
        reason: why.
        box: the box it is about; None where it is about none.
        since_s: when what led to it began [s].
    """

    time_s: float
    reason: str
    box: int | None
    since_s: float

    @classmethod
    def of(cls, event: Event) -> Self:
        """Read a `touch` event, whoever noted it."""
        box, since = event.data.get("box"), event.data.get("since_s")
        return cls(
            event.time_s,
            str(event.data.get("reason", "touch")),
            box if _is_count(box) else None,
            float(since) if isinstance(since, int | float) else event.time_s,
        )

    def covers(self, moved: Displacement, margin_s: float) -> bool:
        """Return whether a displaced box belongs to what this touch was for."""
        about = self.reason == FALL or self.box == moved.box
        return about and self.since_s - margin_s <= moved.time_s <= self.time_s + margin_s


def incidents(
    touches: Sequence[Touch], moved: Sequence[Displacement], margin_s: float
) -> tuple[Incident, ...]:
    """Return what costs a penalty, in the order of time."""
    alone = [hit for hit in moved if not any(touch.covers(hit, margin_s) for touch in touches)]
    for touch in touches:
        if touch.reason == BOX_MOVED:
            alone = _without_last(alone, touch, margin_s)
    found = [Incident(touch.time_s, touch.reason, touch.box) for touch in touches]
    found += [Incident(hit.time_s, BOX_MOVED, hit.box) for hit in alone]
    return tuple(sorted(found, key=lambda incident: incident.time_s))


def _without_last(moved: list[Displacement], touch: Touch, margin_s: float) -> list[Displacement]:
    before = [hit for hit in moved if touch.box in {None, hit.box} and hit.time_s <= touch.time_s + margin_s]
    return [hit for hit in moved if not before or hit is not before[-1]]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
