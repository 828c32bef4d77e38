"""Displaced boxes and touches, and their grouping into incidents that cost one penalty each.

A box counts as displaced when a corner of its footprint may have moved further than the rules allow. The push
ends when the box comes to rest, and the next displacement is measured from its new place.

A referee who lifts a fallen robot off a box touches it once. So a displaced box and a touch are one incident
if the touch is about that box, or about a fall, and the box moved between shortly before the touch's cause
began and shortly after the touch. A touch because of a displaced box is one incident with the box's last
displacement before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import DisplacementRules
from posewright.recordings import Event


@dataclass(frozen=True, slots=True)
class Displacement:
    """A displacement of a box.

    Attributes:
        time_s: when it exceeded the limit [s].
        box: number of the box in the layout, from 1.
        displacement_m: the displacement at that time [m].
    """

    time_s: float
    box: int
    displacement_m: float


@dataclass(slots=True)
class _Push:
    """A box in motion, with the place and time of its last motion."""

    x: float
    y: float
    moved_s: float


class DisplacementDetector:
    """Detects displaced boxes; the result does not depend on how rows are split into calls.

    Args:
        rules: the rules of displacements.
        corner_m: distance of a box's corners from its middle, seen from above [m].
    """

    def __init__(self, rules: DisplacementRules, corner_m: float) -> None:
        self._rules = rules
        self._corner_m = corner_m
        self._rest_poses: Floats = np.empty((0, 7))  # of each box when it last was at rest
        self._pushes: dict[int, _Push] = {}  # of the boxes in motion, by index

    def advance(self, times: Floats, boxes: Floats) -> list[Displacement]:
        """Return the displacements in further rows, boxes `(n, n_boxes, 7)`, in the order of time."""
        if not boxes.size:
            return []
        if not len(self._rest_poses):
            self._rest_poses = np.array(boxes[0])
        # the usual case: boxes that nothing touches sleep, and their poses do not change
        if not self._pushes and (boxes == self._rest_poses).all():
            return []
        is_displaced = _corner_travel(boxes, self._rest_poses, self._corner_m) > self._rules.displaced_m
        moving_boxes = set(np.flatnonzero(is_displaced.any(axis=0)).tolist()) | set(self._pushes)
        displacements: list[Displacement] = []
        for box in moving_boxes:
            displacements += self._follow_box(box, times, boxes[:, box])
        return sorted(displacements, key=lambda displacement: (displacement.time_s, displacement.box))

    def _follow_box(self, box: int, times: Floats, poses: Floats) -> list[Displacement]:
        """Return the displacements of one box in further rows.

        The box is at rest or pushed in turn. From rest, the next row is searched in which it is displaced too
        far, which begins a push; from there, the row in which it comes to rest again.

        Args:
            box: index of the box.
            times: the times of the rows, `(n,)` [s].
            poses: the poses of the box, `(n, 7)`.
        """
        displacements: list[Displacement] = []
        row = 0
        while row < len(times):
            is_at_rest = box not in self._pushes
            if is_at_rest:
                distances_m = _corner_travel(poses[row:], self._rest_poses[box], self._corner_m)
                is_displaced = distances_m > self._rules.displaced_m
                if not is_displaced.any():
                    break
                n_rows_at_rest = int(is_displaced.argmax())
                row += n_rows_at_rest
                time_s = float(times[row])
                displacement_m = float(distances_m[n_rows_at_rest])
                displacements.append(Displacement(time_s, box=box + 1, displacement_m=displacement_m))
                self._pushes[box] = _Push(x=float(poses[row, 0]), y=float(poses[row, 1]), moved_s=time_s)
            row = self._follow_until_rest(box, row, times, poses)
        return displacements

    def _follow_until_rest(self, box: int, first_row: int, times: Floats, poses: Floats) -> int:
        """Follow a pushed box until it rests, and store its new pose of rest, which ends the push.

        A box rests when it has stayed within `still_m` of one place for `settled_s`, as the rules say.

        Args:
            box: index of the box.
            first_row: the row to begin with.
            times: the times of the rows, `(n,)` [s].
            poses: the poses of the box, `(n, 7)`: position [m] and quaternion.

        Returns:
            The row after the one at which it comes to rest; the number of rows if it does not.
        """
        push = self._pushes[box]
        positions = zip(times[first_row:].tolist(), *poses[first_row:, :2].T.tolist(), strict=True)
        for row, (time_s, x, y) in enumerate(positions, first_row):
            if math.hypot(x - push.x, y - push.y) > self._rules.still_m:
                push.x = x
                push.y = y
                push.moved_s = time_s
            elif time_s - push.moved_s >= self._rules.settled_s:
                self._rest_poses[box] = poses[row]
                del self._pushes[box]
                return row + 1
        return len(times)


def _corner_travel(poses: Floats, rest_poses: Floats, corner_m: float) -> Floats:
    """Return an upper bound of a footprint corner's motion, the shift plus the rotation, `(...,)` [m]."""
    shift = np.hypot(poses[..., 0] - rest_poses[..., 0], poses[..., 1] - rest_poses[..., 1])
    cos_half_angle = np.abs((poses[..., 3:] * rest_poses[..., 3:]).sum(axis=-1))
    return np.asarray(shift + corner_m * 2.0 * np.arccos(np.minimum(cos_half_angle, 1.0)))


BOX_MOVED = "box_moved"
FALL = "fall"


@dataclass(frozen=True, slots=True)
class Touch:
    """A touch of the robot by a person.

    Attributes:
        time_s: when the person released the robot [s].
        reason: why.
        box: number of the box that it is about; None for no box.
        since_s: when its cause began [s].
    """

    time_s: float
    reason: str
    box: int | None
    since_s: float

    @classmethod
    def from_event(cls, event: Event) -> Self:
        """Read a `touch` event, which may lack its data."""
        box = event.data.get("box")
        since = event.data.get("since_s")
        return cls(
            event.time_s,
            str(event.data.get("reason", "touch")),
            box if isinstance(box, int) and not isinstance(box, bool) else None,
            float(since) if isinstance(since, int | float) else event.time_s,
        )

    def covers(self, displacement: Displacement, margin_s: float) -> bool:
        """Return whether a displaced box and this touch are one incident."""
        is_related = self.reason == FALL or self.box == displacement.box
        return is_related and self.since_s - margin_s <= displacement.time_s <= self.time_s + margin_s


class Incident(NamedTuple):
    """An incident that costs a penalty.

    Attributes:
        time_s: the time in the recording [s].
        reason: the reason of a touch, or `BOX_MOVED`.
        box: number of the box that it is about, from 1; None for no box.
    """

    time_s: float
    reason: str
    box: int | None


def find_incidents(
    touches: Sequence[Touch], displacements: Sequence[Displacement], margin_s: float
) -> list[Incident]:
    """Return the incidents, each of which costs one penalty, in the order of time.

    Every touch by a person is an incident. So is every displacement of a box, unless it is part of a touch:
    the touch covers it, or was made because of it.

    Args:
        touches: the touches of the robot.
        displacements: the displacements of boxes.
        margin_s: time between a touch and a displacement within which they are one incident [s].
    """
    separate_displacements = [
        displacement
        for displacement in displacements
        if not any(touch.covers(displacement, margin_s) for touch in touches)
    ]
    for touch in touches:
        if touch.reason != BOX_MOVED:
            continue
        possible_causes = [
            displacement
            for displacement in separate_displacements
            if touch.box in {None, displacement.box} and displacement.time_s <= touch.time_s + margin_s
        ]
        if possible_causes:
            cause = possible_causes[-1]  # the last displacement before the touch
            separate_displacements = [
                displacement for displacement in separate_displacements if displacement is not cause
            ]
    incidents = [Incident(touch.time_s, touch.reason, touch.box) for touch in touches]
    for displacement in separate_displacements:
        incidents.append(Incident(displacement.time_s, BOX_MOVED, displacement.box))
    return sorted(incidents, key=lambda incident: incident.time_s)
