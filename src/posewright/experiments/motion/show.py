"""What is shown of a motion: where the robot is at every frame, with physics or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.experiments.motion.commands import Commands, Numbers, commands_of
from posewright.experiments.motion.stage import Attitude
from posewright.experiments.motion.trial import LONGEST_S, MotionTrial, try_motion
from posewright.formats import card_of
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
        trial: where physics made it, what else it says.
    """

    motion: Motion
    robot: Robot
    times: Floats
    ends_s: float
    keyframes: Numbers
    positions: Floats
    base: Floats | None = None
    leans: Floats | None = None
    trial: MotionTrial | None = None

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
        return world.base


def show_of(trial: MotionTrial) -> Show:
    """Return what physics made of a motion, from the moment it begins."""
    course = trial.course
    first = max(0, course.begin - 1)
    return Show(
        motion=trial.motion,
        robot=trial.robot,
        times=course.times[first:] - course.times[first],
        ends_s=course.ends_s,
        keyframes=np.maximum(course.keyframes[first:], 1),
        positions=course.positions[first:],
        base=course.base[first:],
        trial=trial,
    )


def show_motion(
    motion: Motion,
    robot: Robot | None = None,
    *,
    physics: bool = True,
    pose: str | None = None,
    attitude: Attitude | None = None,
    friction: float | None = None,
) -> Show:
    """Return where the robot is at every frame of a motion.

    Args:
        motion: what is shown.
        robot: on what; default the motion's own.
        physics: whether it is played under gravity; else every joint is where it is commanded, and the base
            as the author says, or upright on whatever carries it.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        attitude: roll and pitch of the base [rad], as in `try_motion`.
        friction: of the floor.

    Raises:
        InputError: the motion is another robot's, or the robot has no model.
        UnknownNameError: the robot is not known, or has no such pose.
        BodyError: the simulation failed.
    """
    if physics:
        return show_of(try_motion(motion, robot, pose=pose, attitude=attitude, friction=friction))
    robot = card_of(motion) if robot is None else robot
    if robot.model_path is None:
        raise InputError(f"{robot.name} has no model: there is nothing to show", hint="--robot names another")
    commands = commands_of(motion, robot, pose=pose, longest_s=LONGEST_S)
    return _without_physics(motion, robot, commands, attitude)


def _without_physics(motion: Motion, robot: Robot, commands: Commands, attitude: Attitude | None) -> Show:
    positions = np.concatenate([commands.first[np.newaxis], *(block.angles for block in commands.blocks)])
    times: Floats = np.arange(float(len(positions))) * robot.frame_period_s
    leans = None if commands.wanted is None else np.pad(commands.wanted, ((1, 0), (0, 0)), "edge")
    return Show(
        motion=motion,
        robot=robot,
        times=times,
        ends_s=float(times[-1]),
        keyframes=np.concatenate([[1], commands.keyframes]),
        positions=positions,
        leans=leans if attitude is None else np.tile(attitude, (len(times), 1)),
    )
