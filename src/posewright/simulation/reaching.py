"""Reaching: joint angles that bring a point of a robot somewhere, for any robot that has a model.

Differential inverse kinematics by mink: a quadratic programme a step, with the limits of the joints as its
bounds. Of all ways to get there it takes the one nearest to where the robot was grabbed, so that a hand that
comes back brings the old pose back.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import mink
import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.simulation.mannequin import Mannequin, Stance

STEPS = 16
"""Steps of one solution at most, 2 ms: four come within 0.1 mm of a point that is 3 cm away."""

DONE_RAD = 1e-4
"""A step this small is the last one."""

LONGEST_RAD, LONGEST_M = 0.3, 0.03
"""No joint turns and no point goes farther in one step: steps are straight and the robot's ways are not."""

FAR_COST = 3.0
"""Levenberg's damping of steps to a point far away: what is out of reach moves no foot by more than 2 mm."""

SOLE_COST, POSTURE_COST, BASE_COST = 0.01, 0.0005, 0.03
"""Beside the point's 1 a metre: to keep a flat sole level, the joints, and a carried base as they were
[1/rad, and 1/m]. A hundredth of a metre's cost moves the point by some 0.1 mm."""

PLANTED_COST = (30.0, 3.0)
"""A planted foot's, for its place [1/m] and its turn [1/rad]: it stays where the point cannot be reached."""

NEAR_M = 0.001
"""A point this near to where it is wanted is there."""

_STEADY = 1e-6


class _Point(mink.Task):
    """A point of a body is to be at a place."""

    def __init__(self, body: int, local: Floats, target: Floats) -> None:
        super().__init__(cost=np.ones(3), lm_damping=FAR_COST)
        self._body, self._local, self._target = body, local, target

    def where(self, configuration: Any) -> Floats:
        """Return where the point is, `(3,)` [m]."""
        data = configuration.data
        place: Floats = data.xpos[self._body] + data.xmat[self._body].reshape(3, 3) @ self._local
        return place

    def compute_error(self, configuration: Any) -> Floats:
        """Return how far it is from there, `(3,)` [m], and no farther than one step goes."""
        away = self.where(configuration) - self._target
        return np.asarray(away * min(1.0, LONGEST_M / max(self.missed(configuration), _STEADY)))

    def missed(self, configuration: Any) -> float:
        """Return how far it is from there [m]."""
        return float(np.linalg.norm(self.where(configuration) - self._target))

    def compute_jacobian(self, configuration: Any) -> Floats:
        """Return how it moves with the robot, `(3, nv)` [m/rad]."""
        jacobian = np.empty((3, configuration.nv))
        place = self.where(configuration)
        mujoco.mj_jac(configuration.model, configuration.data, jacobian, None, place, self._body)
        return jacobian


@dataclass(frozen=True, eq=False)
class Reached:
    """Where a robot got to.

    Attributes:
        base: `(7,)` as in `Stance`.
        angles: `(n_joints,)` [rad].
        missed_m: how far the point still is from where it was to be [m].
    """

    base: Floats = field(repr=False)
    angles: Floats = field(repr=False)
    missed_m: float


class Reach:
    """A point of a robot that somebody has hold of, until it is let go.

    Args:
        mannequin: the robot.
        stance: how it stands when it is grabbed.
        angles: of its joints then, `(n_joints,)` [rad].
        link: what is grabbed; the base itself is carried by the planted feet.
        point: where on the link, in its frame, `(3,)` [m].
        moving: the joints that may turn; of these, those between base and link do, and all where feet are
            planted.
        planted: feet that stay where they are, while the base goes along; none for a base that stays.

    Raises:
        UnknownNameError: the robot has no such link.
    """

    def __init__(
        self,
        mannequin: Mannequin,
        stance: Stance,
        angles: Floats,
        link: str,
        point: ArrayLike,
        *,
        moving: Collection[str],
        planted: Collection[str] = (),
    ) -> None:
        self._mannequin = mannequin
        self._point = np.asarray(point, dtype=np.float64)
        self._body = mannequin.body(link)
        model = copy.copy(mannequin.model)
        lower, upper = mannequin.robot.limits
        # a joint that is outside its limits already may stay there
        ranges = np.column_stack([np.minimum(lower, angles), np.maximum(upper, angles)])
        model.jnt_range[model.dof_jntid[mannequin.joint_dofs]] = ranges
        mannequin.take(stance.base, angles)
        self._grabbed = mannequin.qpos
        self._configuration = mink.Configuration(model, q=self._grabbed)
        self._limits = [mink.ConfigurationLimit(model)]
        self._others = [*self._keeping(link, planted), *self._planting(planted)]
        self._fixed = self._fixing(link, moving, planted)

    def to(self, target: ArrayLike) -> Reached:
        """Bring the point to a place, `(3,)` in the field frame [m], or as near as it can be."""
        configuration = self._configuration
        task = _Point(self._body, self._point, np.asarray(target, dtype=np.float64))
        self._solve(task)
        missed, qpos = task.missed(configuration), configuration.q
        if missed > NEAR_M:  # a joint may have gone to the wrong side: another way, from where it was grabbed
            configuration.update(self._grabbed)
            self._solve(task)
            if task.missed(configuration) > missed - NEAR_M:
                configuration.update(qpos)
        base, angles = self._mannequin.read(configuration.q)
        return Reached(base, angles, task.missed(configuration))

    def _solve(self, task: _Point) -> None:
        """Go towards a point step by step."""
        configuration = self._configuration
        for _ in range(STEPS):
            try:
                step = mink.solve_ik(
                    configuration, [task, *self._others], 1.0, "daqp",
                    damping=_STEADY, limits=self._limits, constraints=self._fixed,
                )  # fmt: skip
            except mink.NoSolutionFound:  # it stays where it got to
                break
            longest = float(np.abs(step).max())
            configuration.integrate_inplace(step * min(1.0, LONGEST_RAD / max(longest, _STEADY)), 1.0)
            if longest < DONE_RAD:
                break

    def _keeping(self, link: str, planted: Collection[str]) -> Sequence[Any]:
        """Return what keeps joints, base and a grabbed sole as they were, as far as the point allows."""
        configuration, mannequin = self._configuration, self._mannequin
        posture = mink.PostureTask(configuration.model, cost=POSTURE_COST)
        posture.set_target(configuration.q)
        kept = [posture]
        if planted:
            cost = 0.0 if link == mannequin.links[0] else BASE_COST
            kept.append(self._stay(mannequin.body(mannequin.links[0]), "body", cost, BASE_COST))
        if mannequin.is_flat_foot(link):
            kept.append(self._stay(self._body, "body", 0.0, SOLE_COST))
        return kept

    def _planting(self, planted: Collection[str]) -> Sequence[Any]:
        place, turn = PLANTED_COST
        feet = self._mannequin.robot.feet
        return [
            self._stay(self._mannequin.soles[feet.index(foot)], "geom", place,
                       turn if self._mannequin.is_flat_foot(foot) else 0.0)
            for foot in planted
        ]  # fmt: skip

    def _stay(self, number: int, kind: str, place: float, turn: float) -> Any:
        task = mink.FrameTask(number, kind, position_cost=place, orientation_cost=turn)
        task.set_target_from_configuration(self._configuration)
        return task

    def _fixing(self, link: str, moving: Collection[str], planted: Collection[str]) -> Sequence[Any]:
        """Return what holds the joints that may not turn, and the base unless feet carry it."""
        mannequin = self._mannequin
        free = set(moving) if planted else set(moving) & set(mannequin.chain(link))
        held = [
            int(dof)
            for name, dof in zip(mannequin.robot.joint_names, mannequin.joint_dofs, strict=True)
            if name not in free
        ]
        fixed = held if planted else [*mannequin.base_dofs, *held]
        return [mink.DofFreezingTask(self._configuration.model, fixed)] if fixed else []
