"""Self-collisions: links of a robot that a motion would drive into each other.

The links are placed at the commanded angles, without forces, and MuJoCo finds those whose collision shapes
overlap. That is fast and exact to the bit, and needs no balance: servos would press the parts together
whether or not the robot falls. Links that the model lets overlap in the robot's named poses may do so in a
motion, as shapes are simpler than the parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, Where
from posewright.motions import Finding, Level, Motion
from posewright.robots import Robot

MAX_OVERLAP_MM = 15.0
"""Overlap of two links beyond that in the named poses that is an error [mm]. The deepest in 255 pages of
ROBOTIS' own motions for the Bioloid is 9.2 mm, of the feet in a handstand; Sony's for the ERS-7 have none."""

_MAX_ROWS = 4000
"""Rows at which a motion is sampled; a longer one is sampled less densely than by the robot's frames."""

_MM_PER_M = 1000.0

LinkPair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class _Geometry:
    """A robot's compiled model, and which of its geoms belong to the robot.

    Attributes:
        model: MuJoCo's model; read-only.
        is_own: whether a geom is part of the robot and not of the model's floor, `(n_geoms,)`.
    """

    model: mujoco.MjModel
    is_own: Flags


@lru_cache(maxsize=16)
def _compile_geometry(model_path: Path, modified_ns: int) -> _Geometry:  # noqa: ARG001 -- part of the key
    """Return the geometry in a file.

    Args:
        model_path: the file.
        modified_ns: when it was modified, so that a changed file is read again [ns].

    Raises:
        InputError: the file is not a MuJoCo model, or has no body with a free joint.
    """
    try:
        model = mujoco.MjSpec.from_file(str(model_path)).compile()
    except ValueError as error:
        raise InputError(f"not a MuJoCo model: {error}", where=Where(model_path)) from error
    free_joints = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    if not len(free_joints):
        raise InputError("no body of the model has a free joint", where=Where(model_path))
    base = model.jnt_bodyid[free_joints[0]]
    return _Geometry(model, model.body_rootid[model.geom_bodyid] == model.body_rootid[base])


def find_self_collisions(motion: Motion, robot: Robot) -> Iterator[Finding]:
    """Yield an error for each pair of links that overlap too far, the earliest first.

    A robot without a model has no shapes, and no findings; angles beyond the stops are cut off there, as the
    rule of limits reports them.

    Args:
        motion: the motion; its angles are finite.
        robot: the robot that plays it.

    Raises:
        InputError: the robot's model is not valid.
    """
    if robot.model_path is None:
        return
    overlaps = _LinkOverlaps(robot, robot.model_path)
    # links may overlap as far as they do in the named poses, since shapes are simpler than the parts
    allowed_mm: dict[LinkPair, float] = {}
    for name in robot.poses:
        for pair, depth_mm in overlaps.measure(robot.pose(name)).items():
            allowed_mm[pair] = max(allowed_mm.get(pair, 0.0), depth_mm)
    deepest: dict[LinkPair, tuple[float, float]] = {}  # greatest depth [mm] and its time [s]
    first_s: dict[LinkPair, float] = {}  # when the pair first overlaps too far [s]
    times, angles = _sample(motion, robot)
    for time_s, row in zip(times.tolist(), angles, strict=True):
        for pair, depth_mm in overlaps.measure(row).items():
            if depth_mm <= allowed_mm.get(pair, 0.0) + MAX_OVERLAP_MM:
                continue
            first_s.setdefault(pair, time_s)
            if depth_mm > deepest.get(pair, (0.0, 0.0))[0]:
                deepest[pair] = (depth_mm, time_s)
    for pair, begin_s in sorted(first_s.items(), key=lambda item: (item[1], item[0])):
        depth_mm, time_s = deepest[pair]
        limit_mm = allowed_mm.get(pair, 0.0) + MAX_OVERLAP_MM
        message = (
            f"{pair[0]} and {pair[1]} collide from {begin_s:.2f} s on: they would overlap by "
            f"{depth_mm:.0f} mm at {time_s:.2f} s, more than {limit_mm:.0f} mm"
        )
        yield Finding(
            Level.ERROR, "collision", message, value=depth_mm, limit=limit_mm, unit="mm", times_s=(time_s,)
        )


class _LinkOverlaps:
    """Measures how far links of a robot overlap in a pose.

    Args:
        robot: the robot.
        model_path: the file of its model.
    """

    def __init__(self, robot: Robot, model_path: Path) -> None:
        """Compile the model, and find where it stores the angles of the robot's joints."""
        self._geometry = _compile_geometry(model_path, model_path.stat().st_mtime_ns)
        model = self._geometry.model
        self._data = mujoco.MjData(model)
        names_in_model = {model.joint(index).name for index in range(model.njnt)}
        joints = [name for name in robot.joint_names if name in names_in_model]
        self._columns: Indices = np.array([robot.index(name) for name in joints], dtype=np.int64)
        # the index of each joint's angle in MuJoCo's `qpos`
        self._qpos_indices: Indices = np.array(
            [int(model.joint(name).qposadr[0]) for name in joints], dtype=np.int64
        )
        self._lower, self._upper = robot.hardware_limits

    def measure(self, angles: Floats) -> dict[LinkPair, float]:
        """Return the depth of overlapping links [mm] by their names, at joint angles `(n_joints,)` [rad]."""
        model = self._geometry.model
        data = self._data
        data.qpos[self._qpos_indices] = np.clip(angles, self._lower, self._upper)[self._columns]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)  # places the bounding volumes
        mujoco.mj_collision(model, data)
        depths: dict[LinkPair, float] = {}
        for geoms, distance_m in zip(data.contact.geom, data.contact.dist.tolist(), strict=True):
            if not self._geometry.is_own[geoms].all():
                continue
            first, second = sorted(model.body(model.geom_bodyid[geom]).name for geom in geoms)
            depths[first, second] = max(depths.get((first, second), 0.0), -distance_m * _MM_PER_M)
        return depths


def _sample(motion: Motion, robot: Robot) -> tuple[Floats, Floats]:
    """Return times `(n,)` [s] of one pass of a motion and the angles of all joints, `(n, n_joints)` [rad].

    Joints that are free, or that the motion does not move, stay where they were.
    """
    n_rows = min(_MAX_ROWS, 2 + int(motion.duration / robot.frame_period_s))
    times = np.linspace(0.0, motion.duration, n_rows)
    angles = np.tile(motion.first_pose(robot), (n_rows, 1))
    columns = [robot.index(joint) for joint in motion.joints]
    commanded = motion.sample_at(times).angles
    for row in range(n_rows):
        previous = angles[row - 1] if row else angles[0]
        angles[row] = previous
        angles[row, columns] = np.where(np.isfinite(commanded[row]), commanded[row], previous[columns])
    return times, angles
