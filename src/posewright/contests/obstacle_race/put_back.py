"""Where a touched robot is put: at the same place, or as near to it as a hand finds room.

Being put back must not gain way, so places no further along the leg come first, with a hand's room
around them or at least the robot's own; only where there is none of them near, as deep behind a wall of
boxes, is the robot put ahead, by as little as may be. It is never put past a line: lines are walked over.
"""

from __future__ import annotations

import math

import numpy as np

from posewright.arenas import Arena, footprints, point_distances
from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import PutBackRules
from posewright.units import wrap_angle

_RING_M = 0.01
_DIRECTIONS = 72
_SLACK_M = 1e-9


def clear_place(
    x_m: float, y_m: float, boxes: Floats, arena: Arena, *, rules: PutBackRules, forward: float
) -> tuple[float, float]:
    """Return the nearest place with room around it that does not gain way, `forward` being +1 or -1.

    Of two equally near ones the one further back is taken. Where there is no room anywhere near, the
    roomiest place that does not gain way is taken. Boxes are poses x y z qw qx qy qz, `(n_boxes, 7)`.
    """
    wanted_x_m, line_x_m = _before_lines(x_m, arena, forward)
    points = np.array([wanted_x_m, y_m]) + _offsets(forward, rules.reach_m)
    room = _room(points, boxes, arena)
    behind = forward * (points[:, 0] - wanted_x_m) <= _SLACK_M
    before_line = forward * (points[:, 0] - line_x_m) <= _SLACK_M
    for fit in (
        behind & (room >= rules.clearance_m - _SLACK_M),
        behind & (room >= rules.least_m - _SLACK_M),
        before_line & (room >= rules.least_m - _SLACK_M),
    ):
        if fit.any():
            return tuple(points[int(fit.argmax())].tolist())
    return tuple(points[int(np.where(behind, room, -np.inf).argmax())].tolist())


def turned_towards(heading_rad: float, goal_rad: float, at_most_rad: float) -> float:
    """Return `heading_rad` turned towards the goal, by no more than is allowed [rad]."""
    off = wrap_angle(goal_rad - heading_rad)
    return wrap_angle(heading_rad + math.copysign(min(abs(off), at_most_rad), off))


def _before_lines(x_m: float, arena: Arena, forward: float) -> tuple[float, float]:
    """Return the place itself, or the last line where it is on or past that, and the line it may not pass.

    A robot whose middle is before a line has its heels before the line's far edge, however its legs are
    bent: it has not crossed it, and will do so on its own feet.
    """
    edges = [line.x - forward * line.width_m / 2.0 for line in arena.lines]
    ahead = [edge for edge in edges if forward * (edge - x_m) >= 0.0]
    if not ahead:
        last = max(edges, key=lambda edge: forward * edge)
        return last, last
    return x_m, min(ahead, key=lambda edge: forward * edge)


def _offsets(forward: float, reach_m: float) -> Floats:
    """Return offsets around a place, nearest first and of those the furthest back first `(n, 2)` [m]."""
    angles = np.arange(_DIRECTIONS) * 2.0 * np.pi / _DIRECTIONS
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ring = ring[np.lexsort((np.abs(angles - np.pi), forward * ring[:, 0].round(9)))]
    radii = _RING_M * np.arange(1, round(reach_m / _RING_M) + 1)
    return np.concatenate([np.zeros((1, 2)), (radii[:, None, None] * ring).reshape(-1, 2)])


def _room(points: Floats, boxes: Floats, arena: Arena) -> Floats:
    """Return how far each point is from the nearest box or wall, negative outside the field `(n,)` [m]."""
    x, y = points[:, 0], points[:, 1]
    room = np.minimum.reduce([x, arena.size_x - x, arena.size_y / 2.0 - np.abs(y)])
    if len(boxes):
        room = np.minimum(room, point_distances(points, *footprints(boxes, arena.box_size)).min(axis=1))
    return np.asarray(room)
