"""MotionAgents: the object that moves joints for MoNet, and the agents in it.

Source: MoNetAgentManager.cc and MTNAgent7.cc of Sony's OPEN-R SDK. A motion is sent block by block, each when
the previous one has been played. Sony's agent reports the end when the last block has been sent, ours when it
has been played; no frame lies between two motions either way. `monetagentMTNWALK` differs from
`monetagentMTN` in its gains only, and gains are not set here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from posewright.errors import InputError
from posewright.runtimes.openr.monet.agent import MoNetAgent
from posewright.runtimes.openr.monet.frames import Frames, motion_frames, neutral_frames, plays_nothing
from posewright.runtimes.openr.monet.messages import MoNetAgentCommand, MoNetStatus
from posewright.runtimes.openr.regions import MAX_FRAMES, MICRO_PER_UNIT
from posewright.runtimes.openr.stick import MonetSetup
from posewright.runtimes.openr.stick.limits import MOTION_AGENT, NEUTRAL_AGENT, WALK_AGENT
from posewright.runtimes.openr.stick.posture_transitions import FARTHEST_DEG, LEGS
from posewright.runtimes.openr.vectors import CommandVectorSubject


class MotionAgents(MoNetAgent):
    """Moves joints for MoNet.

    Args:
        setup: the setup with the motions.
        exact: reach each keyframe to the micro-radian, instead of playing as Sony's player does.
    """

    def __init__(self, setup: MonetSetup, *, exact: bool = False) -> None:
        super().__init__(setup, MoNetStatus.INVALID_ARG)
        self._exact = exact
        self._effector = CommandVectorSubject(self, "Effector", self._send_next)
        self._blocks: Iterator[Mapping[int, list[int]]] = iter(())  # still to be sent; angles by joint index

    def play_request(self, command: MoNetAgentCommand) -> None:
        """Start to play the motion of a request; the first pose is sent at once, however far away it is."""
        frames = self._build_frames(command)
        if not frames:
            self.send_result(command)
            return
        self.mark_active(command)
        self._log_jump(command, frames)
        self._blocks = _split_into_blocks(frames)
        if self._effector.is_ready:
            self._send_next()

    def _build_frames(self, command: MoNetAgentCommand) -> Frames:
        """Return the frames of a request; none if the robot stays as it is."""
        if command.agent == NEUTRAL_AGENT:
            return neutral_frames(command.index, self.setup, self.openr)
        if command.agent not in {MOTION_AGENT, WALK_AGENT}:
            raise InputError(f"there is no {command.agent} here")
        if plays_nothing(command.name, command.index):
            return {}
        return motion_frames(command.index, self.setup, self.openr, exact=self._exact)

    def _send_next(self) -> None:
        """Send the next block; after the last, report the end."""
        block = next(self._blocks, None)
        if block is not None:
            self._effector.send_frames(block)
        elif self.active_command is not None:
            self.report_end()

    def _log_jump(self, command: MoNetAgentCommand, frames: Frames) -> None:
        """Log the leg joint that is farthest from the first pose of a motion, if it is too far.

        Args:
            command: the command that plays the motion.
            frames: the joint angles of the motion's frames, by index of the joint, in microradians.
        """
        robot = self.openr.robot
        legs = robot.groups.get(LEGS, ())
        distances_rad: dict[str, float] = {}  # of each leg joint from the first frame
        for joint_index, angles in frames.items():
            joint = robot.joint_names[joint_index]
            if joint in legs:
                difference = abs(angles[0] - self.openr.get_joint_value(joint_index))
                distances_rad[joint] = difference / MICRO_PER_UNIT
        if not distances_rad:
            return
        farthest = max(distances_rad, key=lambda joint: (distances_rad[joint], joint))
        distance_deg = math.degrees(distances_rad[farthest])
        if distance_deg > FARTHEST_DEG:
            self.syslog(
                f"the robot jumps: {farthest} is {distance_deg:.0f} deg from where {command.name} begins"
            )


def _split_into_blocks(frames: Frames) -> Iterator[Mapping[int, list[int]]]:
    """Yield the frames in blocks of 16, by joint index."""
    n_frames = len(next(iter(frames.values())))
    for begin in range(0, n_frames, MAX_FRAMES):
        end = begin + MAX_FRAMES
        yield {joint_index: angles[begin:end].tolist() for joint_index, angles in frames.items()}
