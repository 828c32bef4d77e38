"""Whatever decides: a behaviour, a gait, a motion, a robot's own old program, a person with a slider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Protocol, runtime_checkable

from posewright.arrays import Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.errors import InputError
from posewright.gaits import QuadrupedGait, VelocityCommand


@runtime_checkable
class Controller(Protocol):
    """Decides what a robot is commanded."""

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the commands for the next frames, at least one row and at most `n`.

        The controller is asked again when its rows are used up: one that returns a single row sees the
        robot's state every frame, one that returns many costs nothing meanwhile.
        """


class Script:
    """A controller that commands what was laid down before, then holds the last frame.

    Raises:
        InputError: there is not a single frame.
    """

    def __init__(self, blocks: Sequence[JointCommands]) -> None:
        self._blocks = [block for block in blocks if len(block)]
        if not self._blocks:
            raise InputError("a script without a frame", hint="at least one row of angles")
        self._begun = 0

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- a script looks at nothing
        """Return the next rows of the script."""
        block = self._blocks[0]
        if self._begun == len(block):
            if len(self._blocks) == 1:
                return replace(block, angles=block.angles[-1:], decision=None)
            self._blocks, self._begun = self._blocks[1:], 0
            block = self._blocks[0]
        rows = block[self._begun : self._begun + n]
        self._begun += len(rows)
        return rows


Correction = Callable[[BodyState], Floats]
"""What is to be added to the commands of one frame, `(n_joints,)` [rad]."""


class Feedback:
    """A controller around another one: each frame it adds a correction made from the robot's state.

    Balance is one: `correction` turns the tilt that the IMU reads into angles of hips and ankles.

    Args:
        inner: decides what is commanded without the correction; it is asked as often as it would be alone.
        correction: made anew every frame.
    """

    def __init__(self, inner: Controller, correction: Correction) -> None:
        self._inner, self._correction = inner, correction
        self._coming: JointCommands | None = None

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return one corrected row."""
        coming = self._inner.next(state, n) if self._coming is None else self._coming
        now = coming[:1]
        self._coming = coming[1:] if len(coming) > 1 else None
        return replace(now, angles=now.angles + self._correction(state))


FINEST = 1_000_000
"""Times in documents are decimals; a microsecond is finer than any of them means."""


def exactly(seconds: float) -> Fraction:
    """Return the decimal or simple fraction a time was meant to be: 0.1 is 1/10, not its nearest double."""
    return Fraction(seconds).limit_denominator(FINEST)


def in_frames(seconds: float, frame_period_s: float) -> Fraction:
    """Return how many frames a time lasts, both taken as what they were meant to be."""
    return exactly(seconds) / exactly(frame_period_s)


class Schedule:
    """Tick k is due at the first frame f with `f * frame_period >= k * tick_period`."""

    def __init__(self, tick_period_s: float, frame_period_s: float) -> None:
        ratio = in_frames(tick_period_s, frame_period_s)
        self._numerator, self._denominator = ratio.numerator, ratio.denominator

    def frame_of(self, tick: int) -> int:
        """Return the frame at whose beginning a tick is due; both are counted from 0."""
        return -(-tick * self._numerator // self._denominator)


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
