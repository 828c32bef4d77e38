"""MotionAgents: the object that moves joints for MoNet, and the agents in it.

Source: MoNetAgentManager.cc, NeutralAgent7.cc and MTNAgent7.cc of Sony's OPEN-R SDK. One agent moves at a
time, block by block: the next block is sent when the one before has been played. Sony's says that it is done
when the last block has been handed over, ours when it has been played; no frame lies between two motions
either way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from posewright.errors import InputError
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.monet.frames import NONE, Frames, motion_frames
from posewright.runtimes.openr.monet.messages import IDLE, MoNetAgentCommand, MoNetAgentResult, MoNetStatus
from posewright.runtimes.openr.regions import MAX_FRAMES, MICRO
from posewright.runtimes.openr.services import ONotifyEvent, OObject
from posewright.runtimes.openr.vectors import CommandVectorSubject
from posewright.sticks import MonetSetup
from posewright.sticks.jumps import FARTHEST_DEG, LEGS
from posewright.sticks.limits import MOTION_AGENT, NEUTRAL_AGENT, WALK_AGENT, is_null

NEUTRAL_POSES = ("broad_base", "sleep")
"""Poses of the card that the neutral agent goes through: legs spread, so that none is caught, then lying."""

NEUTRAL_FRAMES = 384
"""To each of them, 3.072 s."""

NEUTRAL_SPEED = 0.25
"""Of what a servo can do, and no joint is moved faster than that: then it takes longer."""


class Agent(Protocol):
    """Knows the frames of what it is asked to play."""

    def frames(self, command: MoNetAgentCommand, openr: OpenR) -> Frames | None:
        """Return them; None where nothing is to be played. Raises InputError where it cannot be."""


class MotionAgent:
    """Plays motions of the archive: `monetagentMTN`, and `monetagentMTNWALK`, which only has other gains."""

    def __init__(self, setup: MonetSetup, *, exact: bool) -> None:
        self._setup, self._exact = setup, exact

    def frames(self, command: MoNetAgentCommand, openr: OpenR) -> Frames | None:
        """Return the frames of a motion; the first pose comes at once, however far away it is."""
        if command.index == NONE and is_null(command.name):
            return None
        return motion_frames(command.index, self._setup, openr, exact=self._exact)


class NeutralAgent:
    """Brings the robot slowly from wherever its joints are to the posture `sleep`: `monetagentNEUTRAL`.

    It leaves what has two positions only, the ears, alone, as Sony's does.
    """

    def frames(self, command: MoNetAgentCommand, openr: OpenR) -> Frames | None:
        """Return the frames: a block where the joints are, then to each pose in turn."""
        robot = openr.robot
        poses = [name for name in NEUTRAL_POSES if name in robot.poses]
        if command.index not in {0, 1} or NEUTRAL_POSES[-1] not in poses:
            what = f"{NEUTRAL_AGENT} knows no {command.name} {command.index} of {robot.name}"
            raise InputError(what, hint="right is a_nt#sleep_standard 0, and a card with a pose `sleep`")
        primitives = tuple(place for place, joint in enumerate(robot.joints) if not joint.two_state)
        here = np.array([openr.get_joint_value(one) for one in primitives], np.int64)
        rows = [np.repeat(here[np.newaxis], MAX_FRAMES, axis=0)]
        most = NEUTRAL_SPEED * robot.max_speeds[list(primitives)] * robot.frame_period_s * MICRO
        for name in poses:
            goal = np.rint(robot.pose(name)[list(primitives)] * MICRO).astype(np.int64)
            n = max(NEUTRAL_FRAMES, int(np.ceil((np.abs(goal - here) / most).max())))
            rows.append(here + np.arange(1, n + 1)[:, np.newaxis] * (goal - here) // n)
            here = goal
        return Frames(primitives, np.concatenate(rows))


class MotionAgents(OObject):
    """Moves joints for MoNet.

    Args:
        setup: whose motions.
        exact: reach each keyframe to the micro-radian, instead of playing as Sony's player does.
    """

    def __init__(self, setup: MonetSetup, *, exact: bool = False) -> None:
        super().__init__()
        self._effector = CommandVectorSubject(self, "Effector", self._next)
        self._result = self.subject("Result", "MoNetAgentResult")
        self._command = self.observer("Command", "MoNetAgentCommand", self._take)
        player = MotionAgent(setup, exact=exact)
        self._agents: Mapping[str, Agent] = {
            NEUTRAL_AGENT: NeutralAgent(),
            MOTION_AGENT: player,
            WALK_AGENT: player,
        }
        self._active: MoNetAgentCommand | None = None
        self._frames = Frames((), np.zeros((0, 0), np.int64))
        self._sent = 0  # of the frames of what is active

    def _take(self, event: ONotifyEvent) -> None:
        for command in event.data:
            self._begin(command)
        self._command.assert_ready(event.sender)

    def _begin(self, command: MoNetAgentCommand) -> None:
        """Begin to play, or say at once why not; a motion that plays nothing is done at once."""
        if self._active is not None:
            return self._reply(command, MoNetStatus.BUSY, f"{self._active.name} is being played")
        if command.agent not in self._agents:
            return self._reply(command, MoNetStatus.INVALID_ARG, f"there is no {command.agent} here")
        try:
            frames = self._agents[command.agent].frames(command, self.openr)
        except InputError as error:
            return self._reply(command, MoNetStatus.INVALID_ARG, str(error))
        if frames is None:
            return self._reply(command)
        self._active, self._frames, self._sent = command, frames, 0
        self.enter(command.name)
        self._tell_of_jump()
        if self._effector.is_ready:
            self._next()
        return None

    def _next(self) -> None:
        """Send the next block, or say that there is no more."""
        done = self._active
        if done is None:
            return
        block = self._frames.rows[self._sent : self._sent + MAX_FRAMES]
        self._sent += len(block)
        if len(block):
            self._effector.send_frames(dict(zip(self._frames.primitives, block.T.tolist(), strict=True)))
        else:
            self._active = None
            self.enter(IDLE)
            self._reply(done)

    def _tell_of_jump(self) -> None:
        """Say which leg is far from the first pose."""
        legs = self.openr.robot.groups.get(LEGS, ())
        first = zip(self._frames.primitives, self._frames.rows[0].tolist(), strict=True)
        away = [
            (abs(angle - self.openr.get_joint_value(one)) / MICRO, self.openr.robot.joint_names[one])
            for one, angle in first
        ]
        far, joint = max((one for one in away if one[1] in legs), default=(0.0, ""))
        if self._active is not None and math.degrees(far) > FARTHEST_DEG:
            where = f"where {self._active.name} begins"
            self.say(f"the robot jumps: {joint} is {math.degrees(far):.0f} deg from {where}")

    def _reply(
        self, command: MoNetAgentCommand, status: MoNetStatus = MoNetStatus.COMPLETION, why: str = ""
    ) -> None:
        if why:
            self.refuse(str(command), why)
        self._result.send(MoNetAgentResult(command.agent, command.index, status, why))
