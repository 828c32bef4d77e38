"""Checks of robots in space: jumps, soles, supports, walls, and sensors that feel the base's orientation."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posewright.arenas import Arena, Role, Shape
from posewright.arrays import Flags, Floats, Indices
from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.recorded_robot import RecordedRobot
from posewright.recordings.falls import true_intervals
from posewright.rotation import (
    quaternions_of_roll_pitch_yaw,
    rotation_matrices,
    uprightness,
)
from posewright.units import CM_PER_M

_MIN_BASE_SPEED_M_S = 2.0
_FALL_SHARE = 1.5
_GRAVITY_M_S2 = 9.81
"""A base may move at this share of the speed of a fall from its own height, at least at the speed above."""

_MAX_SPIN_RAD_S = 25.0
_SOLE_TOLERANCE_M = {True: 1e-3, False: 0.1}
"""How far a sole may be from where base and joints put it, in a simulation and by a camera."""

_FLOAT_M = 0.15
_SIMULATED_FLOAT_S = 0.6
_REAL_FLOAT_S = 5.0
"""A robot all of whose parts are so far above everything for so long floats; a real one may be carried."""

_NEAR_M = 0.6
"""Shapes, boxes and robots at most this far from a base may support it [m]."""

_STILL_RAD = 0.002
_STILL_S = 1.0
_STILL_M = 0.02
"""A robot whose joints turn less than this from row to row, for so long, stays within this distance."""

_CONTACT_HEIGHT_M = 0.03
_STANDING_M = 0.005
_STANDING_S = 1.5
_UPRIGHT = 0.9
_ORIENTATION_RAD = 0.2
_CONTACT_SHARE = 0.1
"""Greatest share of readings of a foot's contact sensor that may differ from the rows."""

_MIN_WALL_M = 0.2
"""Walls below this height can be climbed or fallen over [m]."""


def check_bodies(robot: RecordedRobot, arena: Arena | None) -> Iterator[Inconsistency]:
    """Yield each way in which a robot's place in the field contradicts physics, its joints or its sensors."""
    if not robot.record.knows_place or len(robot.times) < 2:
        return
    yield from _check_jumps(robot)
    yield from _check_soles(robot)
    yield from _check_standing(robot)
    yield from _check_supports(robot, arena)
    yield from _check_sensors(robot)
    if arena is not None:
        yield from _check_walls(robot, arena)


def _check_jumps(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency where the base moves or turns faster than any robot does by itself."""
    base = robot.record.base
    times = robot.times
    is_continuous = robot.is_continuous
    if np.isfinite(robot.record.start_base).all():
        base = np.concatenate([robot.record.start_base[None], base])
        times = np.concatenate([[0.0], times])
        is_continuous = np.concatenate([np.ones(1, dtype=np.bool_), is_continuous])
    steps_s = np.diff(times)
    height_m = max(float(base[0, 2]), 0.0)
    max_speed = max(_MIN_BASE_SPEED_M_S, _FALL_SHARE * math.sqrt(2.0 * _GRAVITY_M_S2 * min(height_m, 1.0)))
    distances = np.linalg.norm(np.diff(base[:, :3], axis=0), axis=1)
    jumps = np.flatnonzero((distances > max_speed * steps_s) & is_continuous)
    if len(jumps):
        first = jumps[0]
        jump = f"{distances[first]:.2f} m within {steps_s[first]:.3f} s"
        message = f"{robot.name} jumps by {jump}, and nobody placed it"
        yield Inconsistency("base-jump", message, float(times[first + 1]))
    cosines = np.abs((base[1:, 3:] * base[:-1, 3:]).sum(axis=1))
    turns = 2.0 * np.arccos(np.clip(cosines, 0.0, 1.0))
    spins = np.flatnonzero((turns > _MAX_SPIN_RAD_S * steps_s) & is_continuous)
    if len(spins):
        first = spins[0]
        turn = f"{math.degrees(turns[first]):.0f} degrees within {steps_s[first]:.3f} s"
        message = f"{robot.name} turns by {turn}, and nobody placed it"
        yield Inconsistency("base-turn", message, float(times[first + 1]))


def _check_soles(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if a sole is not where the base and the joints put it.

    A sole is fixed to the link of its foot, so its corners have the same coordinates in the link's frame in
    all rows.
    """
    record = robot.record
    for index, foot in enumerate(record.header.feet):
        corners = record.footprints[:, index]
        if foot not in robot.link_positions or not np.isfinite(corners).all():
            continue
        centres = corners.mean(axis=1, keepdims=True)
        # the footprint of a ball is a square under it, which never turns
        is_ball = bool((np.ptp(corners - centres, axis=0) < 1e-6).all())
        if is_ball:
            radius_m = float(np.linalg.norm(corners[0, 0] - corners[0, 2])) / 2.0
            fixed_points = centres + np.array((0.0, 0.0, radius_m))  # the centre of the ball
        else:
            fixed_points = corners
        rotations = rotation_matrices(robot.link_rotations[foot])
        from_link = fixed_points - robot.link_positions[foot][:, None]
        points_in_link = np.einsum("nji,nkj->nki", rotations, from_link)
        deviations_m = np.abs(points_in_link - np.median(points_in_link, axis=0)).max(axis=(1, 2))
        deviations_m = np.nan_to_num(deviations_m)
        row = int(deviations_m.argmax())
        if deviations_m[row] > _SOLE_TOLERANCE_M[robot.is_simulated]:
            message = (
                f"the sole of {foot} of {robot.name} is {deviations_m[row] * CM_PER_M:.1f} cm from where "
                "base and joints put it"
            )
            yield Inconsistency("sole-pose", message, float(robot.times[row]))
            return


def _check_standing(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if a robot that nothing pushes stands, moves no joint, and travels."""
    record = robot.record
    if not robot.is_simulated or robot.is_pushed:
        return
    joint_changes = np.abs(np.diff(record.positions, axis=0)).max(axis=1, initial=0.0)
    is_still = (joint_changes < _STILL_RAD) & robot.is_continuous
    is_still &= uprightness(record.base[1:, 3:]) > _UPRIGHT
    for name, other_robot in robot.recording.robots.items():
        if name != robot.name:
            distances = np.linalg.norm(other_robot.base[1:, :3] - record.base[1:, :3], axis=1)
            is_still &= distances > _NEAR_M
    for begin, end in true_intervals(np.asarray(is_still)):
        if robot.times[end] - robot.times[begin] < _STILL_S:
            continue
        path = record.base[begin : end + 1, :2]
        distance_m = float(np.linalg.norm(path[-1] - path[0]))
        if distance_m > _STILL_M:
            message = f"{robot.name} travels {distance_m:.2f} m while it stands and moves no joint"
            yield Inconsistency("standing", message, float(robot.times[begin]))
            return


def _check_supports(robot: RecordedRobot, arena: Arena | None) -> Iterator[Inconsistency]:
    """Yield an inconsistency for each way in which a robot's height contradicts its contacts.

    It may float; a foot may touch the ground although it is above it; and in a simulation it may stand on its
    soles although no foot touches the ground.
    """
    record = robot.record
    if not record.header.feet or not np.isfinite(record.footprints).all():
        return
    support_m = _support_heights(robot, arena)
    lowest_m = np.nan_to_num(robot.points[..., 2], nan=np.inf).min(axis=1)
    is_floating = lowest_m > support_m + _FLOAT_M
    max_float_s = _SIMULATED_FLOAT_S if robot.is_simulated else _REAL_FLOAT_S
    for begin, end in true_intervals(np.asarray(is_floating)):
        if robot.times[end - 1] - robot.times[begin] > max_float_s:
            message = f"{robot.name} floats {lowest_m[begin]:.2f} m above the floor"
            yield Inconsistency("floating", message, float(robot.times[begin]))
            break
    sole_heights = record.footprints[..., 2].min(axis=2)
    is_wrong = record.foot_contacts & (sole_heights > support_m[:, None] + _CONTACT_HEIGHT_M)
    if is_wrong.any():
        row, foot = np.argwhere(is_wrong)[0]
        message = (
            f"{record.header.feet[foot]} of {robot.name} touches the ground, but is "
            f"{sole_heights[row, foot]:.2f} m above the floor"
        )
        yield Inconsistency("foot-contact", message, float(robot.times[row]))
    if not robot.is_simulated:
        return
    is_standing = (sole_heights.min(axis=1) < _STANDING_M) & (uprightness(record.base[:, 3:]) > _UPRIGHT)
    is_untouched = is_standing & ~record.foot_contacts.any(axis=1)
    for begin, end in true_intervals(np.asarray(is_untouched)):
        if robot.times[end - 1] - robot.times[begin] > _STANDING_S:
            message = f"{robot.name} stands on its soles, but no foot touches the ground"
            yield Inconsistency("foot-contact", message, float(robot.times[begin]))
            return


def _support_heights(robot: RecordedRobot, arena: Arena | None) -> Floats:
    """Return the height that a robot may stand or lie on in each row, `(n,)` [m].

    It is that of the highest step, box or other robot near its base, or else of the floor, 0.
    """
    base = robot.record.base
    heights = np.zeros(len(base))
    shapes = () if arena is None else arena.shapes
    for shape in shapes:
        carries_robots = shape.is_solid and shape.role is not Role.WALL
        if carries_robots:
            is_near = _distances_to_shape(base[:, :2], shape) < _NEAR_M
            heights = np.where(is_near, np.maximum(heights, shape.top_m), heights)
    boxes = robot.recording.boxes
    for index in range(boxes.shape[1]):
        box_radius_m = _box_radius(arena, index)
        distances = np.linalg.norm(boxes[:, index, :2] - base[:, :2], axis=1)
        highest_top_m = boxes[:, index, 2] + box_radius_m  # however the box is turned
        is_near = distances < _NEAR_M + box_radius_m
        heights = np.where(is_near, np.fmax(heights, highest_top_m), heights)
    for name, other_robot in robot.recording.robots.items():
        if name != robot.name:
            distances = np.linalg.norm(other_robot.base[:, :3] - base[:, :3], axis=1)
            is_near = distances < _NEAR_M
            heights = np.where(is_near, np.fmax(heights, other_robot.base[:, 2]), heights)
    return heights


def _box_radius(arena: Arena | None, index: int) -> float:
    """Return half the space diagonal of a box [m]."""
    if arena is None or index >= len(arena.boxes):
        return 0.5
    return float(np.linalg.norm(arena.kind_of(arena.boxes[index]).size_m)) / 2.0


def _in_shape_frame(points: Floats, shape: Shape) -> Floats:
    """Return points `(n, 2)` in the frame of a shape [m]."""
    cos, sin = math.cos(shape.yaw_rad), math.sin(shape.yaw_rad)
    offset = points - np.array((shape.x, shape.y))
    return np.stack(
        [cos * offset[:, 0] + sin * offset[:, 1], cos * offset[:, 1] - sin * offset[:, 0]], axis=1
    )


def _distances_to_shape(points: Floats, shape: Shape) -> Floats:
    """Return the distance of points `(n, 2)` from the rectangle that a shape covers; 0 inside, `(n,)` [m]."""
    outside = np.abs(_in_shape_frame(points, shape)) - np.array(shape.size_m[:2]) / 2.0
    return np.asarray(np.linalg.norm(np.maximum(outside, 0.0), axis=1))


def _check_walls(robot: RecordedRobot, arena: Arena) -> Iterator[Inconsistency]:
    """Yield an inconsistency for the first wall through which the base passes from row to row."""
    base = robot.record.base[:, :2]
    for wall in arena.walls:
        if wall.is_round or wall.hull_m or wall.size_m[2] < _MIN_WALL_M:
            continue
        positions_in_wall_frame = _in_shape_frame(base, wall)
        across = int(wall.size_m[1] < wall.size_m[0])  # the wall's shorter axis, 0 for x and 1 for y
        along = 1 - across
        sides = np.sign(positions_in_wall_frame[:, across])
        is_along = np.abs(positions_in_wall_frame[:, along]) < wall.size_m[along] / 2.0
        is_passed = (sides[1:] * sides[:-1] < 0.0) & is_along[1:] & is_along[:-1] & robot.is_continuous
        if is_passed.any():
            row = int(is_passed.argmax()) + 1
            yield Inconsistency("wall", f"{robot.name} passes through {wall.name}", float(robot.times[row]))
            return


def _check_sensors(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if the sensors of a simulated robot do not agree with its recorded poses.

    Readings of orientation and of contact are compared, at decisions that coincide with a row.
    """
    decisions = robot.record.decisions
    if not robot.is_simulated or not len(decisions):
        return
    # of each decision, the row at its time or before it
    rows = np.clip(np.searchsorted(robot.times, decisions.times + 1e-9) - 1, 0, None)
    is_comparable = np.abs(robot.times[rows] - decisions.times) < 1e-6
    is_comparable &= ~robot.is_near_placement(decisions.times)
    if not is_comparable.any():
        return
    rows = rows[is_comparable]
    times = decisions.times[is_comparable]
    for channel, readings in decisions.sensors.items():
        if channel.endswith(".orientation") and readings.shape[1] == 3:
            yield from _compare_orientations(robot, channel, readings[is_comparable], rows, times)
    yield from _compare_contacts(robot, is_comparable, rows, times)


def _compare_orientations(
    robot: RecordedRobot, channel: str, readings: Floats, rows: Indices, times: Floats
) -> Iterator[Inconsistency]:
    """Yield an inconsistency if an IMU's orientation differs too far from that of the base.

    Args:
        robot: the robot with the base's poses.
        channel: name of the IMU's channel, for the message.
        readings: roll, pitch and yaw, `(m, 3)` [rad].
        rows: the rows of the recording that the readings are compared with, `(m,)`.
        times: times of the readings, `(m,)` [s].
    """
    measured = quaternions_of_roll_pitch_yaw(readings)
    cosines = np.abs((measured * robot.record.base[rows, 3:]).sum(axis=1))
    angles = np.nan_to_num(2.0 * np.arccos(np.clip(cosines, 0.0, 1.0)))
    worst = int(angles.argmax())
    if angles[worst] > _ORIENTATION_RAD:
        degrees = math.degrees(angles[worst])
        message = f"{channel} of {robot.name} reads {degrees:.0f} degrees from the orientation of its base"
        yield Inconsistency("sensor-orientation", message, float(times[worst]))


def _compare_contacts(
    robot: RecordedRobot, is_comparable: Flags, rows: Indices, times: Floats
) -> Iterator[Inconsistency]:
    """Yield an inconsistency where contact sensors of the feet differ from the contacts in the rows."""
    header = robot.record.header
    for channel, readings in robot.record.decisions.sensors.items():
        sensor = header.sensors.get(channel, {})
        if sensor.get("kind") != "foot_contact" or sensor.get("foot") not in header.feet:
            continue
        if readings.shape[1] != 1:
            continue
        in_rows = robot.record.foot_contacts[rows, header.feet.index(str(sensor["foot"]))]
        readings_now = readings[is_comparable, 0]
        differs = np.isfinite(readings_now) & ((readings_now > 0.5) != in_rows)
        if differs.sum() > max(2.0, _CONTACT_SHARE * len(differs)):
            message = f"{channel} of {robot.name} differs from the foot's contacts in {differs.sum()} rows"
            yield Inconsistency("sensor-contact", message, float(times[int(differs.argmax())]))
            return
