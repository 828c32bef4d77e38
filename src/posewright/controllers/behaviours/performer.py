"""The performer: does what a behaviour asks for, motions and gaits, and never lets a joint jump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.controllers import Player
from posewright.controllers.behaviours.outputs import STAND, Action
from posewright.controllers.passes import SHARE_OF_SPEED, apart, join_frames
from posewright.gaits import GaitGenerator, VelocityCommand
from posewright.motions import Motion
from posewright.robots import Robot


class Phase(Enum):
    """Who makes the frames just now."""

    MOTION = "motion"
    JOIN = "on the way to a gait's standing pose"
    GAIT = "gait"
    HALT = "a gait coming to stand"


class Performer:
    """A controller that does the action it was asked for last.

    * Between motions it goes as `control.Player` does.
    * A gait begins in its standing pose, to which the joints go without a jerk once the present motion's
      pass is over. A new velocity takes effect with the next step.
    * What follows a gait begins when it has come to stand on all feet.
    * Joints that an action moves on their own go there no faster than half their servos' speed, and come
      back in the same way.

    Args:
        robot: whose joints these are.
        motions: what may be played, by name.
        gaits: what may be walked, by name; no name is both.
        start_pose: where the joints are, `(n_joints,)` [rad].
    """

    def __init__(
        self,
        robot: Robot,
        motions: Mapping[str, Motion],
        gaits: Mapping[str, GaitGenerator],
        start_pose: Floats,
    ) -> None:
        self._robot = robot
        self._player = Player(robot, motions, start_pose)
        self._gaits = gaits
        self._phase = Phase.MOTION
        self._asked = STAND
        self._gait: str | None = None
        self._rows: Floats = np.empty((0, len(robot.joints)))
        self._own = _OwnJoints(robot)

    @property
    def playing(self) -> str | None:
        """The motion or gait that is being done; None while the robot stands still."""
        if self._phase is Phase.MOTION:
            return self._player.playing
        return None if self._has_halted() else self._gait

    def request(self, action: Action) -> None:
        """Ask for something.

        A gait that is asked for more than it can does as much of it as it can.
        """
        self._asked = action
        self._own.targets = action.joints
        walks = action.velocity is not None
        if self._phase is Phase.MOTION:
            self._player.request(None if walks else action.name)
        elif self._phase in (Phase.GAIT, Phase.HALT) and self._gait is not None:
            if action.velocity is not None and action.name == self._gait:
                self._ask(self._gait, action.velocity)
                self._phase = Phase.GAIT
            elif self._phase is Phase.GAIT:
                self._gaits[self._gait].halt()
                self._phase = Phase.HALT

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the next frames, at least one and at most `n`."""
        commands = self._next(state, n)
        return self._own.over(commands)

    def _next(self, state: BodyState, n: int) -> JointCommands:
        if self._phase is Phase.MOTION and self._asked.velocity is not None and self._player.playing is None:
            self._begin_walking()
        if self._phase is Phase.JOIN and not len(self._rows):
            self._join_is_over()
        if self._has_halted():
            self._leave_gait()
            return self._next(state, n)
        if self._phase is Phase.MOTION:
            return self._player.next(state, n)
        if self._phase is Phase.JOIN:
            rows, self._rows = self._rows[:n], self._rows[n:]
            return JointCommands(rows)
        return JointCommands(self._gaits[str(self._gait)].frames(n))

    def _has_halted(self) -> bool:
        return self._phase is Phase.HALT and self._gaits[str(self._gait)].is_standing

    def _begin_walking(self) -> None:
        """Go from where the player left the joints to the standing pose of the gait that is asked for."""
        self._gait = self._asked.name
        now, there = self._player.command, self._gaits[str(self._gait)].standing_pose
        self._rows = np.empty((0, len(now)))
        if apart(now, there):
            robot = self._robot
            self._rows = join_frames(now, there, robot.max_speeds, robot.frame_period_s)
        self._phase = Phase.JOIN

    def _join_is_over(self) -> None:
        gait = self._gaits[str(self._gait)]
        gait.reset()
        self._phase = Phase.GAIT
        if self._asked.velocity is None or self._asked.name != self._gait:
            self._leave_gait()
        else:
            self._ask(str(self._gait), self._asked.velocity)

    def _ask(self, gait: str, velocity: VelocityCommand) -> None:
        """Ask for a velocity, or for as much of it as the gait can do."""
        generator = self._gaits[gait]
        generator.request(generator.clip_command(velocity))

    def _leave_gait(self) -> None:
        """Let the player go on from the gait's standing pose."""
        self._player.take_over(self._gaits[str(self._gait)].standing_pose)
        self._phase, self._gait = Phase.MOTION, None
        self.request(self._asked)


class _OwnJoints:
    """Joints that go their own way, whatever else is commanded.

    Attributes:
        targets: where to, by column [rad].
    """

    def __init__(self, robot: Robot) -> None:
        self.targets: Mapping[int, float] = {}
        self._steps = SHARE_OF_SPEED * robot.max_speeds * robot.frame_period_s
        self._now: dict[int, float] = {}
        self._last: Floats | None = None

    def over(self, commands: JointCommands) -> JointCommands:
        """Return commands in which these joints are on their own way."""
        columns = self.targets.keys() | self._now.keys()
        if not columns:
            self._last = commands.angles[-1]
            return commands
        angles = commands.angles.copy()
        for column in columns:
            self._lead(column, angles[:, column])
        self._last = angles[-1]
        return replace(commands, angles=angles)

    def _lead(self, column: int, angles: Floats) -> None:
        """Change one joint's angles in place; one that is back on everybody's way is let go."""
        step = float(self._steps[column])
        before = angles[0] if self._last is None else self._last[column]
        now = self._now.get(column, float(before))
        target = self.targets.get(column)
        for row in range(len(angles)):
            to = float(angles[row]) if target is None else target
            now += min(max(to - now, -step), step)
            angles[row] = now
        self._now[column] = now
        if target is None and now == to:
            del self._now[column]
