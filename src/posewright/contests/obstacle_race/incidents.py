"""Displaced boxes and touches, and what of them counts as one penalty.

A box counts as moved when a corner of its footprint may have travelled further than the rules allow.
The push is over when the box has come to rest; from then on its new place is what it is measured from.

A judge who takes a fallen robot off the box it fell upon touches it once. So a displaced box is one
incident with a touch where the touch is about that box, or a fall, and the box moved between shortly
before the incident began and shortly after the touch. A touch because of a displaced box is one
incident with the box's last displacement before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import DisplacementRules
from posewright.recordings import Event


@dataclass(frozen=True, slots=True)
class Displacement:
    """A box, by its number in the layout, that was seen to have moved: when it was too far off; how far."""

    time_s: float
    box: int
    displacement_m: float


@dataclass(slots=True)
class _Push:
    """A box under way: where it was last seen moving, and when."""

    x: float
    y: float
    since_s: float


class BoxWatch:
    """Watches all boxes; the answer does not depend on how the rows are cut into calls."""

    def __init__(self, rules: DisplacementRules, corner_m: float) -> None:
        """Watch boxes whose corners lie `corner_m` from their middle, seen from above."""
        self._rules = rules
        self._corner_m = corner_m
        self._own: Floats = np.empty((0, 7))
        self._pushes: dict[int, _Push] = {}

    def advance(self, times: Floats, boxes: Floats) -> list[Displacement]:
        """Return the displacements in some more rows, boxes `(n, n_boxes, 7)`, in the order of time."""
        if not boxes.size:
            return []
        if not len(self._own):
            self._own = np.array(boxes[0])
        if not self._pushes and (boxes == self._own).all():
            return []  # the usual case: a box that nobody touches sleeps, and its numbers do not change
        far = _travel(boxes, self._own, self._corner_m) > self._rules.displaced_m
        restless = set(np.flatnonzero(far.any(axis=0)).tolist()) | set(self._pushes)
        found = [hit for box in restless for hit in self._follow(box, times, boxes[:, box])]
        return sorted(found, key=lambda hit: (hit.time_s, hit.box))

    def _follow(self, box: int, times: Floats, poses: Floats) -> list[Displacement]:
        found: list[Displacement] = []
        row = 0
        while row < len(times):
            if box not in self._pushes:
                travel = _travel(poses[row:], self._own[box], self._corner_m)
                far = travel > self._rules.displaced_m
                if not far.any():
                    break
                first = int(far.argmax())
                row += first
                found.append(Displacement(float(times[row]), box + 1, float(travel[first])))
                self._pushes[box] = _Push(float(poses[row, 0]), float(poses[row, 1]), found[-1].time_s)
            row = self._until_rest(box, row, times, poses)
        return found

    def _until_rest(self, box: int, row: int, times: Floats, poses: Floats) -> int:
        """Return the row after the one at which the box has come to rest, or the number of rows."""
        push = self._pushes[box]
        places = zip(times[row:].tolist(), *poses[row:, :2].T.tolist(), strict=True)
        for at, (time_s, x, y) in enumerate(places, row):
            if math.hypot(x - push.x, y - push.y) > self._rules.still_m:
                push.x, push.y, push.since_s = x, y, time_s
            elif time_s - push.since_s >= self._rules.settled_s:
                self._own[box] = poses[at]
                del self._pushes[box]
                return at + 1
        return len(times)


def _travel(poses: Floats, own: Floats, corner_m: float) -> Floats:
    """Return how far a footprint's corner may have travelled at most: shift plus turn, `(...,)` [m]."""
    shift = np.hypot(poses[..., 0] - own[..., 0], poses[..., 1] - own[..., 1])
    cos_half = np.abs((poses[..., 3:] * own[..., 3:]).sum(axis=-1))
    return np.asarray(shift + corner_m * 2.0 * np.arccos(np.minimum(cos_half, 1.0)))


BOX_MOVED = "box_moved"
FALL = "fall"


@dataclass(frozen=True, slots=True)
class Touch:
    """One touch of the robot by a person, who let it go at `time_s`; what led to it began at `since_s`."""

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
) -> list[tuple[float, str, int | None]]:
    """Return what costs a penalty, in the order of time: when it was seen, why, and the number of its box."""
    alone = [hit for hit in moved if not any(touch.covers(hit, margin_s) for touch in touches)]
    for touch in touches:
        if touch.reason == BOX_MOVED:
            about = (hit for hit in alone if touch.box in {None, hit.box})
            before = [hit for hit in about if hit.time_s <= touch.time_s + margin_s]
            alone = [hit for hit in alone if not before or hit is not before[-1]]
    found = [(touch.time_s, touch.reason, touch.box) for touch in touches]
    found += [(hit.time_s, BOX_MOVED, hit.box) for hit in alone]
    return sorted(found, key=lambda one: one[0])


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
