"""From where a camera looks that follows a robot through a field, so that no box comes between them.

What was recorded is known as a whole, so the camera knows what will come: of all ways round the robot it
takes the one on which least is hidden, it turns least, and it stays nearest to where it should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posewright.arenas import WALLS, Arena
from posewright.arrays import Floats
from posewright.rotation import heading, rotation_matrices
from posewright.simulation.cameras import (
    FOLLOWING,
    LOOKING_UP,
    STANDING_DEG,
    CloseUp,
    FilmCamera,
    direction,
)

_STEP_S = 0.25
"""So much of the film lies between two places that are chosen."""

_AROUND_STEP_DEG = 15.0
_AROUND_DEG = np.arange(-180.0, 180.0, _AROUND_STEP_DEG)
_RAISED_DEG = np.array([0.0, -14.0, -28.0])
"""The camera may go round the robot, and so much higher than it should be."""

_HIDDEN, _ASIDE, _RAISED, _TURNING, _RISING = 30.0, 0.05, 0.25, 1.0, 1.0
"""Costs of a robot that is not seen at all, and by the square of steps of `_AROUND_DEG` and `_RAISED_DEG`: of
being elsewhere than one should, and of moving on. Chosen by looking at films of races."""

_FORESIGHT = 3
"""So many steps before a box comes in between, the camera is where it does not."""

_FOLLOWING_S, _SWINGING_S, _COURSE_S = 0.3, 0.4, 1.5
"""Over so much of the film place, direction, and the robot's course are averaged."""

_CLEARANCE_M = 0.04
"""A box is avoided as if it were so much larger on every side: a robot is wider than points of it."""

_POINTS = np.array(
    [(0, 0, 0.12), (0, 0, 0.5), (0, 0, 0.9), (0.2, 0, 0.4), (-0.2, 0, 0.4), (0, 0.2, 0.4), (0, -0.2, 0.4)]
)
"""Points of a robot that should be seen, over its height."""


@dataclass(frozen=True, slots=True)
class Sight:
    """How a camera looks in one picture.

    Attributes:
        place: what it looks at, x y z [m].
        azimuth_deg: to where, from x to the left.
        elevation_deg: how far up; negative from above.
        distance_m: from how far away [m].
    """

    place: tuple[float, float, float]
    azimuth_deg: float
    elevation_deg: float
    distance_m: float


def sights(
    arena: Arena | None,
    camera: str,
    near: CloseUp,
    base: Floats,
    boxes: Floats,
    *,
    fps: float | None = None,
) -> list[Sight] | None:
    """Return how a camera that follows a robot looks at it in each of n pictures; None for other cameras.

    Args:
        arena: the field, with its boxes; None for a bare floor, on which the camera does not turn.
        camera: its name.
        near: how high it looks, and from how far away.
        base: poses of the robot's base, `(n, 7)`.
        boxes: poses of the boxes, `(n, n_boxes, 7)`.
        fps: pictures a second of film, in which the camera moves smoothly; None for pictures on their own.
    """
    view = next((view for view in FOLLOWING if view.value == camera), None)
    if view is None or near.place is not None:
        return None
    smooth = _smoother(fps)
    azimuth, elevation = (np.full(len(base), angle) for angle in STANDING_DEG[view])
    if arena is not None:
        azimuth, elevation = _in_field(arena, view, near, base, boxes, fps=fps)
    xy, height = smooth(base[:, :2], _FOLLOWING_S), near.height_m
    return [
        Sight((float(x), float(y), height), float(around), float(up), near.distance_m)
        for (x, y), around, up in zip(xy, azimuth, elevation, strict=True)
    ]


def _smoother(fps: float | None) -> Callable[[Floats, float], Floats]:
    """Return what averages rows over so many seconds of film, with a bell's weights; ends are held."""

    def smooth(rows: Floats, seconds: float) -> Floats:
        reach = 0 if fps is None else math.ceil(3.0 * seconds * fps)
        if not reach or len(rows) < 2:
            return rows
        weights = np.exp(-0.5 * (3.0 * np.arange(-reach, reach + 1) / reach) ** 2)
        held = np.concatenate([np.repeat(rows[:1], reach, 0), rows, np.repeat(rows[-1:], reach, 0)])
        columns = held.reshape(len(held), -1).T
        return np.stack([np.convolve(one, weights / weights.sum(), "valid") for one in columns], -1).reshape(
            rows.shape
        )

    return smooth


def _in_field(
    arena: Arena, view: FilmCamera, near: CloseUp, base: Floats, boxes: Floats, *, fps: float | None
) -> tuple[Floats, Floats]:
    """Return azimuth and elevation in each picture, `(n,)` each [deg]."""
    smooth, (wanted, elevation) = _smoother(fps), STANDING_DEG[view]
    course = np.zeros(len(base))
    if view is FilmCamera.CHASE:  # it stays behind the robot
        yaw = heading(base[:, 3:])
        x, y = smooth(np.stack([np.cos(yaw), np.sin(yaw)], axis=-1), _COURSE_S).T
        course = np.degrees(np.arctan2(y, x))
    every = 1 if fps is None else max(1, round(_STEP_S * fps))
    rows = np.unique([*range(0, len(base), every), len(base) - 1])
    hidden = _hidden(arena, near, base[rows], boxes[rows], elevation)
    if fps is not None:
        hidden = _cautious(hidden)
    around, raised = _way(hidden, wanted + course[rows], is_free=fps is None)
    every_row = np.arange(len(base))
    azimuth = np.interp(every_row, rows, np.unwrap(_AROUND_DEG[around], period=360.0))
    up = np.interp(every_row, rows, elevation + _RAISED_DEG[raised])
    return smooth(azimuth, _SWINGING_S), smooth(up, _SWINGING_S)


def _hidden(arena: Arena, near: CloseUp, base: Floats, boxes: Floats, elevation_deg: float) -> Floats:
    """Return the share of the robot that is hidden from each place, `(n, azimuths, elevations)`."""
    size_m = near.height_m / LOOKING_UP
    sight = np.array([[direction(a, elevation_deg + e) for e in _RAISED_DEG] for a in _AROUND_DEG])
    middle = base[:, :3] * (1.0, 1.0, 0.0)
    eyes = middle[:, None, None] + (0.0, 0.0, near.height_m) - near.distance_m * sight
    points = middle[:, None] + size_m * _POINTS
    is_hidden = np.zeros((*eyes.shape[:-1], len(_POINTS)), dtype=bool)
    for place, turned, half in _blocks(arena, boxes):
        own_eyes = np.einsum("nji,nabj->nabi", turned, eyes - place[:, None, None])[..., None, :]
        own_points = np.einsum("nji,npj->npi", turned, points - place[:, None])[:, None, None]
        way = own_points - own_eyes
        way = np.where(np.abs(way) < 1e-9, 1e-9, way)
        first, last = (-half - own_eyes) / way, (half - own_eyes) / way
        enters = np.minimum(first, last).max(axis=-1)
        leaves = np.maximum(first, last).min(axis=-1)
        is_hidden |= (np.maximum(enters, 0.0) < np.minimum(leaves, 1.0)) & (enters < 1.0)
    share: Floats = is_hidden.mean(axis=-1)
    return share


def _cautious(hidden: Floats) -> Floats:
    """Count what is hidden just before and after, and from beside, too: a camera does not turn at once."""
    for _ in range(_FORESIGHT):
        shifted = (np.concatenate([hidden[1:], hidden[-1:]]), np.concatenate([hidden[:1], hidden[:-1]]))
        hidden = np.maximum(hidden, np.maximum(*shifted))
    beside = np.maximum(np.roll(hidden, 1, axis=1), np.roll(hidden, -1, axis=1))
    return np.maximum(hidden, 0.5 * beside)


def _blocks(arena: Arena, boxes: Floats) -> list[tuple[Floats, Floats, Floats]]:
    """Return what may hide a robot: middles `(n, 3)`, axes as columns `(n, 3, 3)`, and half the edges."""
    blocks = [
        (boxes[:, index, :3], rotation_matrices(boxes[:, index, 3:]), size / 2.0 + _CLEARANCE_M)
        for index, size in enumerate(arena.box_sizes)
    ]
    for shape in arena.shapes:
        if shape.is_solid and shape.name not in WALLS:  # those before the spectator are glass
            turn = [math.cos(shape.yaw_rad / 2.0), 0.0, 0.0, math.sin(shape.yaw_rad / 2.0)]
            place = (shape.x, shape.y, shape.base_m + shape.size_m[2] / 2.0)
            axes = rotation_matrices(np.tile(turn, (len(boxes), 1)))
            blocks.append((np.tile(place, (len(boxes), 1)), axes, np.array(shape.size_m) / 2.0))
    return blocks


def _way(hidden: Floats, wanted_deg: Floats, *, is_free: bool) -> tuple[Floats, Floats]:
    """Return which azimuth and which elevation to take in each picture, by dynamic programming.

    `hidden` is as `_hidden` returns it, `wanted_deg` `(n,)` the best azimuth; who `is_free` may jump.
    """
    n, n_around, n_raised = hidden.shape
    aside = _steps(_AROUND_DEG[None] - wanted_deg[:, None])
    height = np.arange(n_raised)
    costs = _HIDDEN * hidden + _ASIDE * aside[..., None] ** 2 + _RAISED * height
    turning = _steps(_AROUND_DEG[:, None] - _AROUND_DEG) ** 2
    rising = (height[:, None] - height) ** 2
    moving = _TURNING * turning[:, None, :, None] + _RISING * rising[None, :, None, :]
    moving = (0.0 if is_free else 1.0) * moving.reshape(n_around * n_raised, -1)
    total, came_from = costs[0].ravel(), np.zeros((n, n_around * n_raised), dtype=int)
    for row in range(1, n):
        ways = total[:, None] + moving
        came_from[row] = ways.argmin(axis=0)
        total = ways.min(axis=0) + costs[row].ravel()
    states = [int(total.argmin())]
    for row in range(n - 1, 0, -1):
        states.append(int(came_from[row, states[-1]]))
    around, raised = np.divmod(np.array(states[::-1]), n_raised)
    return around, raised


def _steps(degrees: Floats) -> Floats:
    """Return differences of azimuths in steps of those that are tried, the short way round."""
    steps: Floats = ((degrees + 180.0) % 360.0 - 180.0) / _AROUND_STEP_DEG
    return steps
