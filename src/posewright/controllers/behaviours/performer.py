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
    """The source of the present frames."""

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
        """Request an action; a velocity beyond the gait's range is scaled down.

        A motion is requested of the player. While a gait is walked or halts, a velocity of the same gait is
        requested of it, and any other action lets it halt; `next` begins that action after the halt.
        """
        if action.at_once and action.name != self._action.name:
            self._is_interrupted = True
        self._action = action
        self._separate_joints.targets = action.joints
        if self._phase is Phase.MOTION:
            self._player.request(action.name if action.velocity is None else None)
        elif self._phase in (Phase.GAIT, Phase.HALT):
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
        """Begin the next phase if it is due, and return the next frames, all joints by motion or gait."""
        is_walk_requested = self._action.velocity is not None
        if self._phase is Phase.MOTION and is_walk_requested and self._player.playing is None:
            self._begin_join()
        if self._phase is Phase.JOIN and not len(self._join_rows):
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
        """Start the gait after the join, unless another action has been requested meanwhile."""
        self._walker.reset()
        self._phase = Phase.GAIT
        if self._action.velocity is None or self._action.name != self._gait_name:
            self._leave_gait()
        else:
            self._request_velocity(self._action.velocity)

    def _request_velocity(self, velocity: VelocityCommand) -> None:
        """Request a velocity, scaled down to the gait's range."""
        self._walker.request(self._walker.clip_command(velocity))

    def _leave_gait(self) -> None:
        """Begin the present action in the gait's standing pose."""
        self._begin_from(self._walker.standing_pose)

    def _begin_from(self, pose: Floats) -> None:
        """Hand over to the player in a pose `(n_joints,)` [rad], and request the present action of it."""
        self._player.take_over(pose)
        self._phase = Phase.MOTION
        self._gait_name = None
        self.request(self._action)


class _SeparateJoints:
    """Joints that an action moves separately from the motion or gait.

    Attributes:
        targets: target angles by column [rad].
    """

    def __init__(self, robot: Robot) -> None:
        self.targets: Mapping[int, float] = {}
        self._max_steps = SHARE_OF_SPEED * robot.max_speeds * robot.frame_period_s
        self._angles: dict[int, float] = {}  # last ones of the joints that are moved, by column
        self._last_row: Floats | None = None  # the last row returned; None before the first

    def override(self, commands: JointCommands) -> JointCommands:
        """Return commands in which these joints move to their targets or back to the commands."""
        columns = self.targets.keys() | self._angles.keys()
        if not columns:
            self._last_row = commands.angles[-1]
            return commands
        angles = commands.angles.copy()
        for column in columns:
            self._move(column, angles[:, column])
        self._last_row = angles[-1]
        return replace(commands, angles=angles)

    def _move(self, column: int, angles: Floats) -> None:
        """Overwrite the angles of a joint by those on the way to its target; without one it returns to them.

        Args:
            column: the joint.
            angles: its angles by the motion or gait, `(n,)` [rad]; overwritten.
        """
        max_step = float(self._max_steps[column])
        previous = angles[0] if self._last_row is None else self._last_row[column]
        angle = self._angles.get(column, float(previous))
        target = self.targets.get(column)
        for row in range(len(angles)):
            goal = float(angles[row]) if target is None else target
            angle += min(max(goal - angle, -max_step), max_step)
            angles[row] = angle
        self._angles[column] = angle
        if target is None and angle == goal:
            del self._angles[column]
