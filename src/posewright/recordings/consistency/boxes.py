"""Checks of boxes: those of the header, of the field and of the rows, and who moves or touches them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from posewright.arenas import Arena
from posewright.arrays import Floats
from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.recorded_robot import RecordedRobot
from posewright.recordings.recording import Recording
from posewright.rotation import heading, rotation_matrices, uprightness
from posewright.units import wrap_angle

_START_M = {True: 0.01, False: 0.1}
_START_RAD = {True: 0.02, False: 0.2}
"""How far a box may be from its place in the header in the first row [m, rad].

True for a box that a simulation placed, False for one that a camera sees.
"""

_MAX_BOX_SPEED_M_S = 3.0
"""A box that is faster between two rows has jumped."""

_MOVING_M_S = 0.15
"""A box that is faster must be pushed by something near it."""

_REACH_M = 0.15
"""A robot whose joints and soles are all further from a box than this cannot touch it [m]."""

_PUSHING_RADII = 2.5
_PUSHING_M_S = 0.01
"""A box that moves so fast may push one whose middle is nearer than so many of that one's radii."""

_MIN_UPRIGHTNESS = 0.99
"""Cosine of the tilt of a box above which it stands."""

_INSIDE_M = 0.03
"""Depth of a sole's middle inside a standing box that no contact allows [m]."""


def check_boxes(
    recording: Recording, robots: Sequence[RecordedRobot], arena: Arena | None
) -> Iterator[Inconsistency]:
    """Yield an inconsistency where the poses of boxes contradict each other or the robots.

    A box has one pose in the header, one in the field's document, and one in each row; between rows it moves
    only if something pushes it. Poses compared are x, y and yaw [m, m, rad].
    """
    header_poses = np.array(recording.header.boxes, dtype=np.float64).reshape(-1, 3)
    if arena is not None and len(arena.boxes) != len(header_poses):
        message = f"the header has {len(header_poses)} boxes, the field has {len(arena.boxes)}"
        yield Inconsistency("box-count", message)
        return
    is_simulated = all(robot.is_simulated for robot in robots)
    if arena is not None:
        field_poses = np.array([(box.x, box.y, box.yaw_rad) for box in arena.boxes]).reshape(-1, 3)
        yield from _compare_places("the field", field_poses, header_poses, is_simulated=True)
    if not recording.n_rows or not np.isfinite(recording.boxes).all():
        return
    first_row = recording.boxes[0]
    first_row_poses = np.concatenate([first_row[:, :2], heading(first_row[:, 3:])[:, None]], axis=1)
    yield from _compare_places("the first row", first_row_poses, header_poses, is_simulated=is_simulated)
    if recording.n_rows < 2 or arena is None or not len(header_poses):
        return
    if all(robot.record.knows_place for robot in robots):
        yield from _check_moves(recording, robots, arena)
        for robot in robots:
            yield from _check_contacts(robot, arena)


def _compare_places(
    label: str, poses: Floats, header_poses: Floats, *, is_simulated: bool
) -> Iterator[Inconsistency]:
    """Yield an inconsistency for the first box whose pose differs from that in the header.

    Args:
        label: where the other poses are from, for the message.
        poses: x, y and yaw of each box, `(n_boxes, 3)` [m, m, rad].
        header_poses: the same in the header.
        is_simulated: whether the boxes were placed exactly.
    """
    distances = np.linalg.norm(poses[:, :2] - header_poses[:, :2], axis=1)
    yaw_differences = (poses[:, 2] - header_poses[:, 2]).tolist()
    turns = np.abs([wrap_angle(difference) for difference in yaw_differences])
    is_different = (distances > _START_M[is_simulated]) | (turns > _START_RAD[is_simulated])
    if is_different.any():
        index = int(is_different.argmax())
        message = f"box {index + 1} is {distances[index]:.2f} m from its place in the header in {label}"
        yield Inconsistency("box-place", message)


def _check_moves(
    recording: Recording, robots: Sequence[RecordedRobot], arena: Arena
) -> Iterator[Inconsistency]:
    """Yield an inconsistency for the first box that jumps, or that moves though nothing near can push it.

    A robot can push it, or another box that moves itself.
    """
    boxes = recording.boxes
    steps_s = np.diff(recording.times)
    speeds = np.linalg.norm(np.diff(boxes[..., :3], axis=0), axis=2) / steps_s[:, None]  # by row and box
    jumps = np.argwhere(speeds > _MAX_BOX_SPEED_M_S)
    if len(jumps):
        row, index = jumps[0].tolist()
        message = f"box {index + 1} jumps by {speeds[row, index] * steps_s[row]:.2f} m"
        yield Inconsistency("box-jump", message, float(recording.times[row + 1]))
        return
    for index, box in enumerate(arena.boxes):
        radius_m = float(np.linalg.norm(arena.kind_of(box).size_m)) / 2.0
        is_moving = speeds[:, index] > _MOVING_M_S
        centre = boxes[:, index, :3]
        for robot in robots:
            distances = np.linalg.norm(robot.points - centre[:, None], axis=2).min(axis=1)
            is_moving &= distances[1:] > radius_m + 2.0 * _REACH_M
        others = np.delete(boxes[..., :3], index, axis=1)
        if others.shape[1]:
            gaps = np.linalg.norm(others - centre[:, None], axis=2)[1:]
            is_pushed = (gaps < _PUSHING_RADII * radius_m) & (np.delete(speeds, index, axis=1) > _PUSHING_M_S)
            is_moving &= ~is_pushed.any(axis=1)
        if is_moving.any():
            row = int(is_moving.argmax()) + 1
            message = f"box {index + 1} moves, though no robot is near it"
            yield Inconsistency("box-moved", message, float(recording.times[row]))
            return


def _check_contacts(robot: RecordedRobot, arena: Arena) -> Iterator[Inconsistency]:
    """Yield the first inconsistency of a robot with a box: a contact out of reach, a foot inside the box.

    A foot is inside if the middle of its sole is more than `_INSIDE_M` below the top of a box that stands
    upright, and as far inside its sides.

    Args:
        robot: the robot, with its points (joints and soles), footprints, contacts and times in each row.
        arena: the field with the sizes of the boxes [m].
    """
    boxes = robot.recording.boxes  # position [m] and quaternion, `(n_rows, n_boxes, 7)`
    contacts = robot.record.box_contacts  # whether the robot touches the box, `(n_rows, n_boxes)`
    sole_centres = robot.record.footprints.mean(axis=2)  # `(n_rows, n_feet, 3)` [m]
    for index, box in enumerate(arena.boxes):
        size = np.array(arena.kind_of(box).size_m)
        poses = boxes[:, index]
        distances = _distances_to_box(robot.points, poses, size)
        is_out_of_reach = contacts[:, index] & (distances > _REACH_M)
        if is_out_of_reach.any():
            row = int(is_out_of_reach.argmax())
            message = f"{robot.name} touches box {index + 1}, which is {distances[row]:.2f} m away"
            yield Inconsistency("box-contact", message, float(robot.times[row]))
            return
        is_standing = uprightness(poses[:, 3:]) > _MIN_UPRIGHTNESS
        # the middles of the soles in the frame of the box
        yaw = heading(poses[:, 3:])
        cos = np.cos(yaw)[:, None]
        sin = np.sin(yaw)[:, None]
        offset = sole_centres[..., :2] - poses[:, None, :2]
        along = cos * offset[..., 0] + sin * offset[..., 1]
        across = cos * offset[..., 1] - sin * offset[..., 0]
        depth_m = np.minimum(size[0] / 2.0 - np.abs(along), size[1] / 2.0 - np.abs(across))
        box_top_m = poses[:, None, 2] + size[2] / 2.0
        is_low = sole_centres[..., 2] < box_top_m - _INSIDE_M
        is_inside = (depth_m > _INSIDE_M) & is_low & is_standing[:, None]
        if is_inside.any():
            row, foot = np.argwhere(is_inside)[0].tolist()
            name = robot.record.header.feet[foot]
            message = f"{name} of {robot.name} is inside box {index + 1}"
            yield Inconsistency("inside-box", message, float(robot.times[row]))
            return


def _distances_to_box(points: Floats, poses: Floats, size: Floats) -> Floats:
    """Return the distance of the nearest point from the surface of a box; 0 inside, `(n,)` [m].

    Args:
        points: `(n, n_points, 3)` [m].
        poses: the poses of the middle of the box, `(n, 7)`.
        size: edges of the box, `(3,)` [m].
    """
    local = np.einsum("nji,nkj->nki", rotation_matrices(poses[:, 3:]), points - poses[:, None, :3])
    outside = np.maximum(np.abs(local) - size / 2.0, 0.0)
    return np.asarray(np.linalg.norm(outside, axis=2).min(axis=1))
