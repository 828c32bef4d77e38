"""A performer of a behaviour's actions: motions, gaits and single joints, without jumps between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.controllers import Player
from posewright.controllers.behaviours.outputs import STAND, Action
from posewright.controllers.passes import SHARE_OF_SPEED, join_frames, poses_differ
from posewright.controllers.walker import Walker
from posewright.gaits import VelocityCommand
from posewright.motions import Motion
from posewright.robots import Robot


class Phase(Enum):
    """What the robot does in the present frames.

    A join is a movement from the pose in which a motion ended to the pose in which a gait begins.
    """

    MOTION = "motion"
    JOIN = "join to a gait's standing pose"
    GAIT = "gait"
    HALT = "gait coming to a halt"


class Performer:
    """A controller that performs the last action requested.

    * Motions follow each other as in `Player`.
    * A gait begins in its standing pose, which the joints reach by a minimum-jerk trajectory after the
      present pass of a motion. A new velocity takes effect with the next step.
    * The action after a gait begins when the robot has come to stand on all feet.
    * An action that is to begin at once begins in the middle of a motion, a join or a step.
    * Joints that an action moves separately move at no more than half their servos' speed, there and back.

    Args:
        robot: the robot.
        motions: motions by name.
        walkers: walkers of the gaits by name of the gait; no name is that of a motion.
        start_pose: joint angles at the start, `(n_joints,)` [rad].
    """

    def __init__(
        self,
        robot: Robot,
        motions: Mapping[str, Motion],
        walkers: Mapping[str, Walker],
        start_pose: Floats,
    ) -> None:
        """Stand in the start pose."""
        self._robot = robot
        self._player = Player(robot, motions, start_pose)
        self._walkers = walkers
        self._phase = Phase.MOTION
        self._action = STAND
        self._gait_name: str | None = None  # that is joined to, walked or halted; None for motions
        self._join_rows: Floats = np.empty((0, len(robot.joints)))
        self._separate_joints = _SeparateJoints(robot)
        self._is_interrupted = False  # whether the action begins at the next frame, whatever is performed
        self._last_commands = JointCommands(np.array(start_pose, dtype=np.float64)[np.newaxis])

    @property
    def playing(self) -> str | None:
        """The motion or gait that is performed; None while the robot stands still."""
        if self._phase is Phase.MOTION:
            return self._player.playing
        return None if self._has_halted() else self._gait_name

    @property
    def _walker(self) -> Walker:
        """The walker of the gait that is joined to, walked or halted."""
        return self._walkers[str(self._gait_name)]

    def request(self, action: Action) -> None:
        """Request an action, either a motion or a gait with a velocity.

        While motions are played, a motion is requested of the player; for a gait, the player is to stand
        still. While a gait is walked or halts, a new velocity of the same gait is requested of it, scaled
        down to its range; any other action halts the gait. `next` begins the action when the robot stands.
        """
        if action.at_once and action.name != self._action.name:
            self._is_interrupted = True
        self._action = action
        self._separate_joints.targets = action.joints
        if self._phase is Phase.JOIN:
            return  # `next` compares the action with the gait when the join has ended
        is_gait = action.velocity is not None
        if self._phase is Phase.MOTION:
            self._player.request(None if is_gait else action.name)
            return
        if action.velocity is not None and action.name == self._gait_name:
            self._request_velocity(action.velocity)
            self._phase = Phase.GAIT
        elif self._phase is Phase.GAIT:
            self._walker.halt()
            self._phase = Phase.HALT

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the next frames, at least one and at most `n`."""
        if self._is_interrupted:
            self._interrupt(state)
        self._last_commands = self._separate_joints.override(self._commands(state, n))
        return self._last_commands

    def _interrupt(self, state: BodyState) -> None:
        """Leave the present motion or gait and go on from the last frame, free joints from where they are."""
        pose = self._last_commands.angles[-1]
        if self._last_commands.free is not None:
            pose = np.where(self._last_commands.free, state.positions, pose)
        self._is_interrupted = False
        self._begin_from(pose)

    def _commands(self, state: BodyState, n: int) -> JointCommands:
        """Begin the next phase if the present one has ended, and return the next frames.

        All joints move by the motion or the gait, even those that the action moves separately.
        """
        is_gait_requested = self._action.velocity is not None
        if self._phase is Phase.MOTION and is_gait_requested and self._player.playing is None:
            self._begin_join()
        has_join_ended = self._phase is Phase.JOIN and not len(self._join_rows)
        if has_join_ended:
            self._begin_gait()
        if self._has_halted():
            self._leave_gait()
            return self._commands(state, n)
        if self._phase is Phase.MOTION:
            return self._player.next(state, n)
        if self._phase is Phase.JOIN:
            rows = self._join_rows[:n]
            self._join_rows = self._join_rows[n:]
            return JointCommands(rows)
        return JointCommands(self._walker.frames(state, n))

    def _has_halted(self) -> bool:
        """Return whether the gait was halted and the robot now stands on all feet."""
        return self._phase is Phase.HALT and self._walker.is_standing

    def _begin_join(self) -> None:
        """Prepare a join from the player's last command to the standing pose of the requested gait."""
        self._gait_name = self._action.name
        pose = self._player.command
        standing_pose = self._walker.standing_pose
        self._join_rows = np.empty((0, len(pose)))
        if poses_differ(pose, standing_pose):
            robot = self._robot
            self._join_rows = join_frames(pose, standing_pose, robot.max_speeds, robot.frame_period_s)
        self._phase = Phase.JOIN

    def _begin_gait(self) -> None:
        """Start the gait after the join, unless another action was requested during the join."""
        self._walker.reset()
        self._phase = Phase.GAIT
        velocity = self._action.velocity
        if velocity is None or self._action.name != self._gait_name:
            self._leave_gait()
        else:
            self._request_velocity(velocity)

    def _request_velocity(self, velocity: VelocityCommand) -> None:
        """Request a velocity, scaled down to the gait's range."""
        self._walker.request(self._walker.clip_command(velocity))

    def _leave_gait(self) -> None:
        """Let the player stand in the gait's standing pose, and begin the requested action from there."""
        self._begin_from(self._walker.standing_pose)

    def _begin_from(self, pose: Floats) -> None:
        """Hand over to the player in a pose `(n_joints,)` [rad], and request the present action of it."""
        self._player.take_over(pose)
        self._phase = Phase.MOTION
        self._gait_name = None
        self.request(self._action)


class _SeparateJoints:
    """Joints that an action moves separately from the motion or gait, at a limited speed.

    Attributes:
        targets: their target angles by joint index [rad]; a joint that is removed moves back to the angles of
            the motion or gait.
    """

    def __init__(self, robot: Robot) -> None:
        self.targets: Mapping[int, float] = {}
        self._max_steps = SHARE_OF_SPEED * robot.max_speeds * robot.frame_period_s  # in a frame [rad]
        self._angles: dict[int, float] = {}  # last angles of the joints that are overridden, by index [rad]
        self._last_row: Floats | None = None  # the last row returned; None before the first

    def override(self, commands: JointCommands) -> JointCommands:
        """Return commands in which these joints move to their targets, or back to the commands given."""
        overridden_joints = self.targets.keys() | self._angles.keys()
        if not overridden_joints:
            self._last_row = commands.angles[-1]
            return commands
        angles = commands.angles.copy()
        for joint in overridden_joints:
            self._override_joint(joint, angles[:, joint])
        self._last_row = angles[-1]
        return replace(commands, angles=angles)

    def _override_joint(self, joint: int, angles: Floats) -> None:
        """Overwrite the angles of a joint by those on the way to its target, or back if it has none any more.

        Args:
            joint: the index of the joint.
            angles: its angles by the motion or gait, `(n,)` [rad]; overwritten.
        """
        max_step = float(self._max_steps[joint])
        last_angle = angles[0] if self._last_row is None else self._last_row[joint]
        angle = self._angles.get(joint, float(last_angle))
        target = self.targets.get(joint)
        for row in range(len(angles)):
            goal = float(angles[row]) if target is None else target
            angle += min(max(goal - angle, -max_step), max_step)
            angles[row] = angle
        self._angles[joint] = angle
        has_returned = target is None and angle == goal
        if has_returned:
            del self._angles[joint]
