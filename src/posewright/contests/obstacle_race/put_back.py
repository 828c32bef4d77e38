"""The place where a robot is put back after a touch: the same place, or the nearest one with room.

Being put back must not gain distance. Places no further along the leg come first, with room for a hand or at
least for the robot. Only if there is none nearby, as behind a wall of boxes, is the robot put ahead, by as
little as possible. It is never put past a line, as lines must be walked over.
"""

from __future__ import annotations

import math

import numpy as np

from posewright.arenas import Arena, footprints, obstacle_distances, point_distances
from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import PutBackRules
from posewright.units import wrap_angle

_RING_M = 0.01
_DIRECTIONS = 72
_TOLERANCE_M = 1e-9


def find_clear_place(
    x_m: float, y_m: float, boxes: Floats, arena: Arena, *, rules: PutBackRules, forward: float
) -> tuple[float, float]:
    """Return the nearest place with room that does not gain distance; of equals, the one further back.

    If there is no room nearby, the place with most room that does not gain distance is returned.

    Args:
        x_m: where the robot was [m].
        y_m: where the robot was [m].
        boxes: poses x y z qw qx qy qz, `(n_boxes, 7)`.
        arena: the field.
        rules: how much room is needed, and how far a place may be.
        forward: direction of the leg, +1 or -1.

    Returns:
        x and y [m].
    """
    start_x_m, line_x_m = _limit_to_line(x_m, arena, forward)
    points = np.array([start_x_m, y_m]) + _search_offsets(forward, rules.reach_m)
    room = _room_around(points, boxes, arena)
    gains_nothing = forward * (points[:, 0] - start_x_m) <= _TOLERANCE_M
    is_before_line = forward * (points[:, 0] - line_x_m) <= _TOLERANCE_M
    has_hand_room = room >= rules.clearance_m - _TOLERANCE_M  # for the robot and a hand that puts it down
    has_robot_room = room >= rules.least_m - _TOLERANCE_M
    for is_suitable in (
        gains_nothing & has_hand_room,
        gains_nothing & has_robot_room,
        is_before_line & has_robot_room,
    ):
        if is_suitable.any():
            nearest = int(is_suitable.argmax())  # the points are in the order of their distance
            return tuple(points[nearest].tolist())
    roomiest = int(np.where(gains_nothing, room, -np.inf).argmax())
    return tuple(points[roomiest].tolist())


def turn_towards(heading_rad: float, goal_rad: float, max_turn_rad: float) -> float:
    """Return a heading turned towards a goal by at most `max_turn_rad` [rad]."""
    offset = wrap_angle(goal_rad - heading_rad)
    return wrap_angle(heading_rad + math.copysign(min(abs(offset), max_turn_rad), offset))


def _limit_to_line(x_m: float, arena: Arena, forward: float) -> tuple[float, float]:
    """Return a position limited to the last line, and the next line, which may not be passed [m].

    A robot whose middle is before a line has its heels before the line's far edge, however its legs are bent,
    so it has not crossed the line.
    """
    edges = [line.x - forward * line.width_m / 2.0 for line in arena.lines]
    edges_ahead = [edge for edge in edges if forward * (edge - x_m) >= 0.0]
    if not edges_ahead:
        last_edge = max(edges, key=lambda edge: forward * edge)
        return last_edge, last_edge
    return x_m, min(edges_ahead, key=lambda edge: forward * edge)


def _search_offsets(forward: float, reach_m: float) -> Floats:
    """Return offsets from a place, `(n, 2)` [m]: first 0, then points on rings around the place.

    The rings are `_RING_M` apart, the nearest first, up to `reach_m`. On a ring, the points furthest back
    come first.

    Args:
        forward: the sign of x in which the robot walks, 1.0 or -1.0.
        reach_m: the radius of the outermost ring.
    """
    angles = np.arange(_DIRECTIONS) * 2.0 * np.pi / _DIRECTIONS
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    # `lexsort` sorts by its last key first; the other one makes the order of equals definite
    order = np.lexsort((np.abs(angles - np.pi), forward * directions[:, 0].round(9)))
    radii = _RING_M * np.arange(1, round(reach_m / _RING_M) + 1)
    rings = (radii[:, None, None] * directions[order]).reshape(-1, 2)
    return np.concatenate([np.zeros((1, 2)), rings])


def _room_around(points: Floats, boxes: Floats, arena: Arena) -> Floats:
    """Return each point's distance from the nearest obstacle, negative outside the field, `(n,)` [m].

    Obstacles are boxes, the edges of the field, and its fixed shapes.
    """
    x = points[:, 0]
    y = points[:, 1]
    room = np.minimum.reduce([x, arena.size_x - x, arena.size_y / 2.0 - np.abs(y)])
    fixed_distances = obstacle_distances(points, arena)
    if fixed_distances.size:
        room = np.minimum(room, fixed_distances.min(axis=1))
    if len(boxes):
        room = np.minimum(room, point_distances(points, *footprints(boxes, arena.box_sizes)).min(axis=1))
    return np.asarray(room)
