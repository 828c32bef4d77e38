"""The path of a camera that follows a robot through a field, planned so that no box hides the robot.

The whole recording is known, so the camera can look ahead: among all directions around the robot it takes
those that hide the robot least, turn least, and stay nearest to the default direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posewright.arenas import WALLS, Arena
from posewright.arrays import Floats, Indices
from posewright.rotation import heading, rotation_matrices
from posewright.simulation.cameras import (
    DEFAULT_DIRECTION_DEG,
    FOLLOWING,
    TARGET_HEIGHT_SHARE,
    CloseUp,
    FilmCamera,
    direction,
)

_PLANNING_STEP_S = 0.25
"""Time of film between two planned directions [s]."""

_AZIMUTH_STEP_DEG = 15.0
_AZIMUTHS_DEG = np.arange(-180.0, 180.0, _AZIMUTH_STEP_DEG)
_ELEVATION_CHANGES_DEG = np.array([0.0, -14.0, -28.0])
"""The directions considered: azimuths, and changes of the default elevation [deg]."""

_COST_HIDDEN = 30.0
_COST_OFF_AZIMUTH = 0.05
_COST_RAISED = 0.25
_COST_TURNING = 1.0
_COST_RISING = 1.0
"""Costs of an entirely hidden robot, of the distance from the default direction (azimuth squared, elevation
linear), and of the squared change from one step to the next; distances count in steps of the directions
considered. Chosen by watching films of races."""

_FORESIGHT_STEPS = 3
"""The camera has left a hidden direction this many steps before a box hides the robot from it."""

_POSITION_SMOOTHING_S = 0.3
_DIRECTION_SMOOTHING_S = 0.4
_COURSE_SMOOTHING_S = 1.5
"""Standard deviations of the windows that smooth the robot's position, the direction and the course [s]."""

_CLEARANCE_M = 0.04
"""Boxes are enlarged by this on every side, as a robot is wider than `_ROBOT_POINTS` [m]."""

_MIN_SEGMENT_M = 1e-9
"""Replaces smaller components of a line of sight, by which the slab test divides [m]."""

_ROBOT_POINTS = np.array(
    [(0, 0, 0.12), (0, 0, 0.5), (0, 0, 0.9), (0.2, 0, 0.4), (-0.2, 0, 0.4), (0, 0.2, 0.4), (0, -0.2, 0.4)]
)
"""Points of a robot that should be visible, relative to its base on the floor, over its size."""


@dataclass(frozen=True, slots=True)
class CameraPose:
    """The pose of a free camera in one picture.

    Attributes:
        target: the point it looks at, x y z [m].
        azimuth_deg: direction of the line of sight, from x to the left [deg].
        elevation_deg: elevation of the line of sight; negative when looking down [deg].
        distance_m: distance from the target [m].
    """

    target: tuple[float, float, float]
    azimuth_deg: float
    elevation_deg: float
    distance_m: float


def plan_camera_path(
    arena: Arena | None,
    camera: str,
    close_up: CloseUp,
    base: Floats,
    boxes: Floats,
    *,
    fps: float | None = None,
) -> list[CameraPose] | None:
    """Return the poses of a camera that follows a robot, one for each of n pictures.

    Args:
        arena: the field with its boxes; None for a bare floor, on which the camera does not turn.
        camera: the camera's name.
        close_up: height of the target, and distance.
        base: poses of the robot's base, `(n, 7)`.
        boxes: poses of the boxes, `(n, n_boxes, 7)`.
        fps: pictures per second of a film, in which the camera moves smoothly; None for separate pictures.

    Returns:
        The poses; None for a camera that does not follow a robot, or for a fixed close-up.
    """
    view = next((view for view in FOLLOWING if view.value == camera), None)
    if view is None or close_up.target is not None:
        return None
    azimuth, elevation = (np.full(len(base), angle) for angle in DEFAULT_DIRECTION_DEG[view])
    if arena is not None:
        azimuth, elevation = _plan_directions(arena, view, close_up, base, boxes, fps=fps)
    targets = _smooth(base[:, :2], _POSITION_SMOOTHING_S, fps)
    return [
        CameraPose(
            (float(x), float(y), close_up.height_m),
            azimuth_deg=float(azimuth_deg),
            elevation_deg=float(elevation_deg),
            distance_m=close_up.distance_m,
        )
        for (x, y), azimuth_deg, elevation_deg in zip(targets, azimuth, elevation, strict=True)
    ]


def _smooth(rows: Floats, deviation_s: float, fps: float | None) -> Floats:
    """Return rows smoothed over time with a Gaussian window; the first and last row continue outside.

    Args:
        rows: one row or number for each picture, `(n, ...)`.
        deviation_s: standard deviation of the window, which is cut at three of them [s].
        fps: pictures per second; None for separate pictures, which are not smoothed.
    """
    half_width = 0 if fps is None else math.ceil(3.0 * deviation_s * fps)
    if half_width == 0 or len(rows) < 2:
        return rows
    # three deviations are made a whole number of pictures
    deviations = 3.0 * np.arange(-half_width, half_width + 1) / half_width
    weights = np.exp(-0.5 * deviations**2)
    first_rows = np.repeat(rows[:1], half_width, axis=0)
    last_rows = np.repeat(rows[-1:], half_width, axis=0)
    padded = np.concatenate([first_rows, rows, last_rows])
    columns = padded.reshape(len(padded), -1).T
    smoothed = [np.convolve(column, weights / weights.sum(), mode="valid") for column in columns]
    return np.stack(smoothed, axis=-1).reshape(rows.shape)


def _plan_directions(
    arena: Arena, view: FilmCamera, close_up: CloseUp, base: Floats, boxes: Floats, *, fps: float | None
) -> tuple[Floats, Floats]:
    """Return azimuth and elevation of the camera in each picture of a robot in a field, `(n,)` each [deg].

    Directions are planned every `_PLANNING_STEP_S` and interpolated; for separate pictures, for each of them.

    Args:
        arena: the field with its boxes.
        view: a camera that follows the robot.
        close_up: height of the target, and distance.
        base: poses of the robot's base, `(n, 7)`.
        boxes: poses of the boxes, `(n, n_boxes, 7)`.
        fps: pictures per second; None for separate pictures.
    """
    default_azimuth, default_elevation = DEFAULT_DIRECTION_DEG[view]
    course_deg = np.zeros(len(base))
    if view is FilmCamera.CHASE:
        # the chasing camera stays behind the robot
        yaw = heading(base[:, 3:])
        x, y = _smooth(np.stack([np.cos(yaw), np.sin(yaw)], axis=-1), _COURSE_SMOOTHING_S, fps).T
        course_deg = np.degrees(np.arctan2(y, x))
    stride = 1 if fps is None else max(1, round(_PLANNING_STEP_S * fps))
    rows = np.unique([*range(0, len(base), stride), len(base) - 1])
    hidden = _compute_hidden_shares(
        arena, close_up, base=base[rows], boxes=boxes[rows], elevation_deg=default_elevation
    )
    if fps is not None:
        hidden = _widen_hidden(hidden)
    azimuth_indices, elevation_indices = _find_cheapest_path(
        hidden, default_azimuth + course_deg[rows], turning_is_free=fps is None
    )
    all_rows = np.arange(len(base))
    azimuth = np.interp(all_rows, rows, np.unwrap(_AZIMUTHS_DEG[azimuth_indices], period=360.0))
    elevation = np.interp(all_rows, rows, default_elevation + _ELEVATION_CHANGES_DEG[elevation_indices])
    return (
        _smooth(azimuth, _DIRECTION_SMOOTHING_S, fps),
        _smooth(elevation, _DIRECTION_SMOOTHING_S, fps),
    )


def _compute_hidden_shares(
    arena: Arena, close_up: CloseUp, base: Floats, boxes: Floats, elevation_deg: float
) -> Floats:
    """Return which share of the robot is hidden from a camera in each direction, 0 to 1.

    The robot is represented by some points. A point is hidden if the segment from the camera to it passes
    through a box or another solid block. By the slab test, a segment passes through a block if along it there
    is a place that lies between each pair of the block's opposite faces.

    Args:
        arena: the field with its solid shapes.
        close_up: height of the target, and distance.
        base: poses of the robot's base, `(n, 7)`.
        boxes: poses of the boxes, `(n, n_boxes, 7)`.
        elevation_deg: the camera's usual elevation, which is tried with some changes [deg].

    Returns:
        The shares, `(n, n_azimuths, n_elevations)`.
    """
    robot_size_m = close_up.height_m / TARGET_HEIGHT_SHARE
    lines_of_sight = np.array(
        [
            [direction(azimuth, elevation_deg + change) for change in _ELEVATION_CHANGES_DEG]
            for azimuth in _AZIMUTHS_DEG
        ]
    )
    base_on_floor = base[:, :3] * (1.0, 1.0, 0.0)
    cameras = (
        base_on_floor[:, None, None] + (0.0, 0.0, close_up.height_m) - close_up.distance_m * lines_of_sight
    )
    points = base_on_floor[:, None] + robot_size_m * _ROBOT_POINTS
    is_hidden = np.zeros((*cameras.shape[:-1], len(_ROBOT_POINTS)), dtype=bool)
    for centres, axes, half_size in _list_blocks(arena, boxes):
        # camera and point in the block's frame; the segment is `camera + share * (point - camera)`
        local_cameras = np.einsum("nji,nabj->nabi", axes, cameras - centres[:, None, None])[..., None, :]
        local_points = np.einsum("nji,npj->npi", axes, points - centres[:, None])[:, None, None]
        segments = local_points - local_cameras
        segments = np.where(np.abs(segments) < _MIN_SEGMENT_M, _MIN_SEGMENT_M, segments)
        low_crossings = (-half_size - local_cameras) / segments
        high_crossings = (half_size - local_cameras) / segments
        enters = np.minimum(low_crossings, high_crossings).max(axis=-1)
        leaves = np.maximum(low_crossings, high_crossings).min(axis=-1)
        # between all three pairs of faces at once, somewhere from the camera (0) to the point (1)
        is_hidden |= (np.maximum(enters, 0.0) < np.minimum(leaves, 1.0)) & (enters < 1.0)
    share: Floats = is_hidden.mean(axis=-1)
    return share


def _widen_hidden(hidden: Floats) -> Floats:
    """Spread hidden shares to neighbouring steps and azimuths, as a camera turns slowly.

    A share spreads fully over `_FORESIGHT_STEPS` steps in time, and by half to both neighbouring azimuths.

    Args:
        hidden: share of the robot hidden from a camera, 0..1, by step, azimuth and elevation,
            `(n, n_azimuths, n_elevations)`.
    """
    for _ in range(_FORESIGHT_STEPS):
        next_step = np.concatenate([hidden[1:], hidden[-1:]])
        previous_step = np.concatenate([hidden[:1], hidden[:-1]])
        hidden = np.maximum(hidden, np.maximum(next_step, previous_step))
    neighbours = np.maximum(np.roll(hidden, 1, axis=1), np.roll(hidden, -1, axis=1))
    return np.maximum(hidden, 0.5 * neighbours)


class _Block(NamedTuple):
    """A block that may hide a robot, in n pictures.

    Attributes:
        centres: `(n, 3)` [m].
        axes: its axes as columns, `(n, 3, 3)`.
        half_size: along its axes, `(3,)` [m].
    """

    centres: Floats
    axes: Floats
    half_size: Floats


def _list_blocks(arena: Arena, boxes: Floats) -> list[_Block]:
    """Return what may hide a robot: the boxes at poses `(n, n_boxes, 7)`, and solid shapes except walls."""
    blocks = [
        _Block(boxes[:, index, :3], rotation_matrices(boxes[:, index, 3:]), size / 2.0 + _CLEARANCE_M)
        for index, size in enumerate(arena.box_sizes)
    ]
    for shape in arena.shapes:
        # walls in front of the spectator are rendered transparent
        if shape.is_solid and shape.name not in WALLS:
            quaternion = [math.cos(shape.yaw_rad / 2.0), 0.0, 0.0, math.sin(shape.yaw_rad / 2.0)]
            centre = (shape.x, shape.y, shape.base_m + shape.size_m[2] / 2.0)
            axes = rotation_matrices(np.tile(quaternion, (len(boxes), 1)))
            centres = np.tile(centre, (len(boxes), 1))
            blocks.append(_Block(centres, axes, np.array(shape.size_m) / 2.0))
    return blocks


def _find_cheapest_path(
    hidden: Floats, default_azimuths_deg: Floats, *, turning_is_free: bool
) -> tuple[Indices, Indices]:
    """Return the azimuth's and the elevation's index at each step, by dynamic programming.

    A state is a pair of azimuth and elevation, with one number for both. `total` has for each state the cost
    of the cheapest path that ends in it, and `predecessors` the state before it on that path.

    Args:
        hidden: hidden shares, `(n, n_azimuths, n_elevations)`.
        default_azimuths_deg: `(n,)` [deg].
        turning_is_free: whether a change from one step to the next costs nothing, as for separate pictures.
    """
    n, n_azimuths, n_elevations = hidden.shape
    off_default = _azimuth_steps(_AZIMUTHS_DEG[None] - default_azimuths_deg[:, None])
    elevation_indices = np.arange(n_elevations)
    costs = (
        _COST_HIDDEN * hidden
        + _COST_OFF_AZIMUTH * off_default[..., None] ** 2
        + _COST_RAISED * elevation_indices
    )
    turning = _azimuth_steps(_AZIMUTHS_DEG[:, None] - _AZIMUTHS_DEG) ** 2
    rising = (elevation_indices[:, None] - elevation_indices) ** 2
    transitions = _COST_TURNING * turning[:, None, :, None] + _COST_RISING * rising[None, :, None, :]
    transitions = (0.0 if turning_is_free else 1.0) * transitions.reshape(n_azimuths * n_elevations, -1)
    total = costs[0].ravel()
    predecessors = np.zeros((n, n_azimuths * n_elevations), dtype=int)
    for row in range(1, n):
        candidates = total[:, None] + transitions
        predecessors[row] = candidates.argmin(axis=0)
        total = candidates.min(axis=0) + costs[row].ravel()
    states = [int(total.argmin())]
    for row in range(n - 1, 0, -1):
        states.append(int(predecessors[row, states[-1]]))
    azimuth_indices, best_elevation_indices = np.divmod(np.array(states[::-1]), n_elevations)
    return azimuth_indices, best_elevation_indices


def _azimuth_steps(degrees: Floats) -> Floats:
    """Return differences of azimuths, the short way round, in steps of the azimuths considered."""
    steps: Floats = ((degrees + 180.0) % 360.0 - 180.0) / _AZIMUTH_STEP_DEG
    return steps
