"""A controller that walks a gait."""

from __future__ import annotations

from collections.abc import Sequence

from posewright.bodies import BodyState, Decision, JointCommands
from posewright.errors import InputError
from posewright.gaits import QuadrupedGait, VelocityCommand

BLOCK_FRAMES = 64
"""So many frames are made at once, 0.512 s of an AIBO; fewer before a command changes."""


class GaitController:
    """Walks a gait. A command takes effect with the next step after its time.

    Args:
        gait: makes the poses.
        commands: each with the time it is given, counted from the first frame [s]; the first at 0.
        frame_period_s: the time between two frames [s].
    """

    def __init__(
        self, gait: QuadrupedGait, commands: Sequence[tuple[float, VelocityCommand]], frame_period_s: float
    ) -> None:
        self._gait = gait
        self._commands = {round(time_s / frame_period_s): command for time_s, command in commands}
        if 0 not in self._commands:
            raise InputError("a walk without a command at the beginning", hint="the first command at 0 s")
        self._frame = 0

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- open loop
        """Return the frames of the walk up to the next command."""
        decision = None
        if self._frame in self._commands:
            command = self._commands[self._frame]
            self._gait.request(command)
            decision = Decision(outputs=command.by_name, playing=self._gait.gait.name)
        later = [frame for frame in self._commands if frame > self._frame]
        edge = self._frame - self._frame % BLOCK_FRAMES + BLOCK_FRAMES
        rows = self._gait.frames(min(n, min([edge, *later]) - self._frame))
        self._frame += len(rows)
        return JointCommands(rows, decision=decision)
