"""Interactive inverse kinematics: joint angles that bring a point of a robot to a target.

Differential inverse kinematics with mink solves a quadratic programme for each step, with the joints' limits
as bounds. Among all solutions it prefers the one nearest to the start, so a hand that is moved back brings
the old pose back.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import mink
import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.simulation.kinematic_model import KinematicModel, LinkPoses

MAX_STEPS = 16
"""Most steps of one solution, 2 ms; four steps come within 0.1 mm of a point that is 3 cm away."""

CONVERGED_RAD = 1e-4
"""A smaller step is the last."""

MAX_STEP_RAD = 0.3
MAX_STEP_M = 0.03
"""Greatest motion of a joint and of the point in one step, within which motion is nearly linear."""

POINT_DAMPING = 3.0
"""Levenberg damping of steps towards a distant target: one out of reach moves no foot by over 2 mm."""

SOLE_COST = 0.01
POSTURE_COST = 0.0005
BASE_COST = 0.03
"""Costs of rotating a dragged flat sole, of moving the joints, and of moving a carried base [1/rad, 1/m]; the
point's own cost is 1/m. A hundredth of that moves the point by some 0.1 mm."""

PLANTED_POSITION_COST = 30.0
PLANTED_ROTATION_COST = 3.0
"""Costs of moving [1/m] and rotating [1/rad] a planted foot, which stays even if the point falls short."""

REACHED_M = 0.001
"""The target counts as reached at this distance [m]."""

_REGULARIZATION = 1e-6
"""Damping of the quadratic programme, and least divisor of lengths."""

_TIME_STEP_S = 1.0
"""With a time step of 1 s the velocity of a solution is the step itself."""


class _PointTask(mink.Task):
    """A task of mink that moves a point of a body to a target.

    Args:
        body: number of the body.
        local_point: the local point in the body's frame, `(3,)` [m].
        target: the target in the field frame, `(3,)` [m].
    """

    def __init__(self, body: int, local_point: Floats, target: Floats) -> None:
        super().__init__(cost=np.ones(3), lm_damping=POINT_DAMPING)
        self._dragged_body = body
        self._local_point = local_point
        self._target = target

    def position(self, configuration: mink.Configuration) -> Floats:
        """Return the position of the point, `(3,)` [m]."""
        data = configuration.data
        rotation = data.xmat[self._dragged_body].reshape(3, 3)
        position: Floats = data.xpos[self._dragged_body] + rotation @ self._local_point
        return position

    def compute_error(self, configuration: mink.Configuration) -> Floats:
        """Return the offset from the target, shortened to one step, `(3,)` [m]."""
        offset = self.position(configuration) - self._target
        distance_m = max(self.distance(configuration), _REGULARIZATION)
        return np.asarray(offset * min(1.0, MAX_STEP_M / distance_m))

    def distance(self, configuration: mink.Configuration) -> float:
        """Return the distance from the target [m]."""
        return float(np.linalg.norm(self.position(configuration) - self._target))

    def compute_jacobian(self, configuration: mink.Configuration) -> Floats:
        """Return the derivative of the point's position, `(3, nv)` [m/rad]."""
        jacobian = np.empty((3, configuration.nv))
        position = self.position(configuration)
        mujoco.mj_jac(configuration.model, configuration.data, jacobian, None, position, self._dragged_body)
        return jacobian


@dataclass(frozen=True, eq=False)
class IkSolution:
    """A pose in which the point is at its target, or as near as it can be.

    Attributes:
        base: pose of the base, `(7,)` as in `LinkPoses`.
        angles: joint angles, `(n_joints,)` [rad].
        error_m: distance of the point from the target [m].
    """

    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)
    error_m: float


class PointIk:
    """Inverse kinematics of one point of a robot, for as long as the point is dragged.

    Args:
        kinematic_model: the robot.
        link_poses: its links at the start.
        angles: its joint angles at the start, `(n_joints,)` [rad].
        link: the dragged link; the base itself is moved by the planted feet.
        point: the point in the link's frame, `(3,)` [m].
        movable_joints: joints that may move. Without planted feet only those between base and link are used.
        planted: feet that stay in place while the base moves; empty for a fixed base.

    Raises:
        UnknownNameError: the robot has no such link.
    """

    def __init__(
        self,
        kinematic_model: KinematicModel,
        link_poses: LinkPoses,
        angles: Floats,
        link: str,
        point: ArrayLike,
        *,
        movable_joints: Collection[str],
        planted: Collection[str] = (),
    ) -> None:
        """Set up the tasks that keep everything but the point near the start, and the joints' limits."""
        self._kinematic_model = kinematic_model
        self._point_on_link = np.asarray(point, dtype=np.float64)
        self._dragged_body = kinematic_model.body(link)
        model = copy.copy(kinematic_model.model)
        lower, upper = kinematic_model.robot.limits
        # a joint that starts outside its limits may stay there
        ranges = np.column_stack([np.minimum(lower, angles), np.maximum(upper, angles)])
        model.jnt_range[model.dof_jntid[kinematic_model.joint_dofs]] = ranges
        kinematic_model.set_pose(link_poses.base, angles)
        self._start_qpos = kinematic_model.qpos
        self._configuration = mink.Configuration(model, q=self._start_qpos)
        self._limits = [mink.ConfigurationLimit(model)]
        self._posture_tasks = [
            *self._create_posture_tasks(link, planted),
            *self._create_foot_tasks(planted),
        ]
        self._constraints = self._create_constraints(link, movable_joints, planted)

    def solve(self, target: ArrayLike) -> IkSolution:
        """Return a pose with the point at a target `(3,)` in the field frame [m], or as near as it can be."""
        configuration = self._configuration
        task = _PointTask(self._dragged_body, self._point_on_link, np.asarray(target, dtype=np.float64))
        self._move_towards_target(task)
        error_m = task.distance(configuration)
        qpos = configuration.q
        if error_m > REACHED_M:
            # a joint may have bent to the wrong side, so a second attempt begins at the start
            configuration.update(self._start_qpos)
            self._move_towards_target(task)
            if task.distance(configuration) > error_m - REACHED_M:
                configuration.update(qpos)
        base, angles = self._kinematic_model.split_qpos(configuration.q)
        return IkSolution(base, angles, task.distance(configuration))

    def _move_towards_target(self, task: _PointTask) -> None:
        """Take steps towards the target until they are short, there is no solution, or there were enough."""
        configuration = self._configuration
        for _ in range(MAX_STEPS):
            try:
                step = mink.solve_ik(
                    configuration,
                    [task, *self._posture_tasks],
                    dt=_TIME_STEP_S,
                    solver="daqp",
                    damping=_REGULARIZATION,
                    limits=self._limits,
                    constraints=self._constraints,
                )
            except mink.NoSolutionFound:
                break
            longest = float(np.abs(step).max())
            scale = min(1.0, MAX_STEP_RAD / max(longest, _REGULARIZATION))
            configuration.integrate_inplace(step * scale, _TIME_STEP_S)
            if longest < CONVERGED_RAD:
                break

    def _create_posture_tasks(self, link: str, planted: Collection[str]) -> Sequence[mink.Task]:
        """Return tasks that keep joints, a carried base and a dragged flat sole near the start."""
        configuration = self._configuration
        kinematic_model = self._kinematic_model
        posture = mink.PostureTask(configuration.model, cost=POSTURE_COST)
        posture.set_target(configuration.q)
        tasks: list[mink.Task] = [posture]
        if planted:
            base = kinematic_model.links[0]
            position_cost = 0.0 if link == base else BASE_COST
            tasks.append(
                self._create_frame_task(
                    kinematic_model.body(base), "body", position_cost, rotation_cost=BASE_COST
                )
            )
        if kinematic_model.is_flat_foot(link):
            tasks.append(
                self._create_frame_task(
                    self._dragged_body, kind="body", position_cost=0.0, rotation_cost=SOLE_COST
                )
            )
        return tasks

    def _create_foot_tasks(self, planted: Collection[str]) -> Sequence[mink.Task]:
        """Return tasks that keep planted feet in place; a round foot may rotate."""
        kinematic_model = self._kinematic_model
        tasks = []
        for foot in planted:
            sole = kinematic_model.soles[kinematic_model.robot.feet.index(foot)]
            rotation_cost = PLANTED_ROTATION_COST if kinematic_model.is_flat_foot(foot) else 0.0
            tasks.append(self._create_frame_task(sole, "geom", PLANTED_POSITION_COST, rotation_cost))
        return tasks

    def _create_frame_task(
        self, number: int, kind: str, position_cost: float, rotation_cost: float
    ) -> mink.FrameTask:
        """Return a task that keeps a body or geom at its start pose."""
        task = mink.FrameTask(number, kind, position_cost=position_cost, orientation_cost=rotation_cost)
        task.set_target_from_configuration(self._configuration)
        return task

    def _create_constraints(
        self, link: str, movable_joints: Collection[str], planted: Collection[str]
    ) -> Sequence[mink.DofFreezingTask]:
        """Return the constraint that fixes joints which may not move, and the base unless feet carry it.

        Empty if there is nothing to fix.

        Args:
            link: the dragged link.
            movable_joints: joints that may move; without planted feet only those between base and link do.
            planted: feet that stay in place.
        """
        kinematic_model = self._kinematic_model
        free_joints = set(movable_joints)
        if not planted:
            free_joints &= set(kinematic_model.joint_chain(link))
        fixed_dofs = [] if planted else [*kinematic_model.base_dofs]
        for name, dof in zip(kinematic_model.robot.joint_names, kinematic_model.joint_dofs, strict=True):
            if name not in free_joints:
                fixed_dofs.append(int(dof))
        return [mink.DofFreezingTask(self._configuration.model, fixed_dofs)] if fixed_dofs else []
