"""What is shown of a motion: where the robot is at every frame, with physics or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.evaluation.motion.report import MotionResult
from posewright.motions import Motion
from posewright.robots import Robot

if TYPE_CHECKING:
    from posewright.simulation import World


@dataclass(frozen=True, eq=False)
class Show:
    """Where a robot is at every frame of a motion.

    Attributes:
        motion: what is shown.
        robot: on what.
        times: since the motion began, the first 0, `(n,)` [s].
        ends_s: when the motion is over; what follows is its last pose, held [s].
        keyframes: number of the keyframe that is gone to or stayed in, from 1, `(n,)`.
        positions: joint angles, `(n, n_joints)` [rad].
        base: pose of the base x y z qw qx qy qz, `(n, 7)` [m, unit quaternion]; None without physics.
        leans: without physics, roll and pitch of the base, `(n, 2)` [rad]; None for as it stands by itself.
        result: where physics made it, what else it says.
    """

    motion: Motion
    robot: Robot
    times: Floats
    ends_s: float
    keyframes: Indices
    positions: Floats
    base: Floats | None = None
    leans: Floats | None = None
    result: MotionResult | None = None

    def row(self, time_s: float) -> int:
        """Return the row of the frame nearest to a time."""
        return int(np.clip(np.rint(time_s / self.robot.frame_period_s), 0, len(self.times) - 1))

    def moments(self, world: World, rows: Sequence[int]) -> list[tuple[Floats, Floats]]:
        """Return the base's pose `(7,)` and the joint angles `(n_joints,)` of some rows.

        Args:
            world: with the robot on a bare floor; its state may be changed.
            rows: which.
        """
        return [(self._base(world, row), self.positions[row]) for row in rows]

    def _base(self, world: World, row: int) -> Floats:
        from posewright.simulation.placing import Lean, place

        if self.base is not None:
            known: Floats = self.base[row]
            return known
        lean = None if self.leans is None else Lean(*self.leans[row].tolist())
        place(world.instance(), 0.0, 0.0, 0.0, self.positions[row], lean=lean)
        return world.instance().base


def show_of(motion: Motion, result: MotionResult) -> Show:
    """Return what physics made of a motion, from the moment it begins."""
    played = result.played
    first = max(0, played.begin - 1)
    return Show(
        motion=motion,
        robot=result.robot,
        times=played.times[first:] - played.times[first],
        ends_s=played.ends_s,
        keyframes=np.maximum(played.keyframes[first:], 1),
        positions=played.positions[first:],
        base=played.base[first:],
        result=result,
    )
