"""MotionAgents: the object that moves joints for MoNet, and the agents in it.

Source: MoNetAgentManager.cc and MTNAgent7.cc of Sony's OPEN-R SDK. What is played is sent block by block, the
next when the one before has been played. Sony's says that it is done when the last block has been handed
over, ours when it has been played; no frame lies between two motions either way. `monetagentMTNWALK` only
has other gains than `monetagentMTN`, and gains are not set here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from posewright.errors import InputError
from posewright.runtimes.openr.monet.agent import Agent
from posewright.runtimes.openr.monet.frames import Frames, motion_frames, neutral_frames, plays_nothing
from posewright.runtimes.openr.monet.messages import MoNetAgentCommand, MoNetStatus
from posewright.runtimes.openr.regions import MAX_FRAMES, MICRO
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.jumps import FARTHEST_DEG, LEGS
from posewright.runtimes.openr.stick.limits import MOTION_AGENT, NEUTRAL_AGENT, WALK_AGENT
from posewright.runtimes.openr.vectors import CommandVectorSubject


class MotionAgents(Agent):
    """Moves joints for MoNet.

    Args:
        setup: whose motions.
        exact: reach each keyframe to the micro-radian, instead of playing as Sony's player does.
    """

    def __init__(self, setup: MonetSetup, *, exact: bool = False) -> None:
        super().__init__(setup, MoNetStatus.INVALID_ARG)
        self._exact = exact
        self._effector = CommandVectorSubject(self, "Effector", self._next)
        self._blocks: Iterator[Mapping[int, list[int]]] = iter(())  # still to be sent

    def play(self, command: MoNetAgentCommand) -> None:
        """Begin with the first pose, however far away it is."""
        frames = self._frames(command)
        if not frames:
            self.answer(command)
            return
        self.begin(command)
        self._tell_of_jump(command, frames)
        self._blocks = _blocks(frames)
        if self._effector.is_ready:
            self._next()

    def _frames(self, command: MoNetAgentCommand) -> Frames:
        """Return the frames of what an agent is to play; none where the robot is to stay as it is."""
        if command.agent == NEUTRAL_AGENT:
            return neutral_frames(command.index, self.setup, self.openr)
        if command.agent not in {MOTION_AGENT, WALK_AGENT}:
            raise InputError(f"there is no {command.agent} here")
        if plays_nothing(command.name, command.index):
            return {}
        return motion_frames(command.index, self.setup, self.openr, exact=self._exact)

    def _next(self) -> None:
        """Send the next block, or say that there is no more."""
        block = next(self._blocks, None)
        if block is not None:
            self._effector.send_frames(block)
        elif self.active is not None:
            self.end()

    def _tell_of_jump(self, command: MoNetAgentCommand, frames: Frames) -> None:
        """Say which leg is far from the first pose."""
        robot, here = self.openr.robot, self.openr.get_joint_value
        away = [
            (abs(angles[0] - here(one)) / MICRO, robot.joint_names[one])
            for one, angles in frames.items()
            if robot.joint_names[one] in robot.groups.get(LEGS, ())
        ]
        far, joint = max(away, default=(0.0, ""))
        if math.degrees(far) > FARTHEST_DEG:
            where = f"where {command.name} begins"
            self.say(f"the robot jumps: {joint} is {math.degrees(far):.0f} deg from {where}")


def _blocks(frames: Frames) -> Iterator[Mapping[int, list[int]]]:
    n = len(next(iter(frames.values())))
    for k in range(0, n, MAX_FRAMES):
        yield {one: angles[k : k + MAX_FRAMES].tolist() for one, angles in frames.items()}
