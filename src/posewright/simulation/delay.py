"""Commands on their way: what is said to a body takes effect some frames later."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Commands:
    """Commands for some frames, in whole ticks.

    Attributes:
        targets: `(n, n_joints)` [rad].
        stiffness: asked for in these frames, `(n_joints,)` [N m/rad]; None for the servos' own.
        free: joints whose torque is off in these frames, `(n_joints,)`; None for none.
    """

    targets: Floats
    stiffness: Floats | None = None
    free: Flags | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def split(self, n: int) -> tuple[Commands, Commands]:
        """Return the first n frames and the others."""
        return (
            Commands(self.targets[:n], self.stiffness, self.free),
            Commands(self.targets[n:], self.stiffness, self.free),
        )


class CommandDelay:
    """Holds commands back for a whole number of frames, with the stiffness and torque asked for in them.

    Args:
        n_frames: for so many; 0 passes everything on at once.
        pose: what takes effect until the first command does, `(n_joints,)` [rad].
    """

    def __init__(self, n_frames: int, pose: Floats) -> None:
        self._n_frames = n_frames
        self._waiting: deque[Commands] = deque()
        self.begin(pose)

    def begin(self, pose: Floats) -> None:
        """Forget what is on its way: the pose takes effect until the next command does."""
        self._waiting.clear()
        if self._n_frames:
            self._waiting.append(Commands(np.tile(pose, (self._n_frames, 1))))

    def pass_on(self, commands: Commands) -> list[Commands]:
        """Take commands for some frames, and return what takes effect in them: as many frames."""
        if not self._n_frames:
            return [commands]
        self._waiting.append(commands)
        effective, missing = [], len(commands)
        while missing:
            first = self._waiting.popleft()
            if len(first) > missing:
                first, rest = first.split(missing)
                self._waiting.appendleft(rest)
            missing -= len(first)
            effective.append(first)
        return effective
