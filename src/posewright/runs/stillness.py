"""`StillnessWatcher`: ends a run when nothing has moved for some time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.control import Block
from posewright.recordings import Event

if TYPE_CHECKING:
    from posewright.contests import Note

NOTHING_MOVED = "nothing moved"
_COMMAND_TOLERANCE_RAD = 1e-6
_POSITION_TOLERANCE_M = 5e-3
"""More than a robot sways and creeps in half a minute while it holds its pose [m]."""


class _Reference(NamedTuple):
    """What changes are measured from.

    Attributes:
        angles: a command, `(n_joints,)` [rad].
        position: the position of the base, `(3,)` [m].
    """

    angles: Floats
    position: Floats


class StillnessWatcher:
    """A watcher that ends a run when no command and no robot's position has changed for `still_s` [s]."""

    def __init__(self, still_s: float, note: Note) -> None:
        self._still_s = still_s
        self._note = note
        self._references: dict[str, _Reference] = {}
        """By robot: the command and the position at its last change."""
        self._last_change_s = 0.0

    def watch(self, block: Block) -> bool:
        """Return whether nothing has moved for too long; note the event `stop` in that case.

        A robot's first block has nothing to be compared with, so its beginning counts as the last change.
        """
        truth = block.states.truth
        now_s = float(block.states.times[-1])
        angles = np.nan_to_num(block.commands.angles)  # a free joint has none
        position = np.zeros(3) if truth is None else truth.base[-1, :3]
        reference = self._references.get(block.robot)
        if reference is None:
            self._last_change_s = block.state.time_s
            self._references[block.robot] = _Reference(angles[-1].copy(), position.copy())
        elif _differs(angles, reference.angles, _COMMAND_TOLERANCE_RAD) or _differs(
            position, reference.position, _POSITION_TOLERANCE_M
        ):
            self._last_change_s = now_s
            self._references[block.robot] = _Reference(angles[-1].copy(), position.copy())
        if now_s - self._last_change_s < self._still_s:
            return False
        self._note(Event(now_s, "stop", {"reason": f"{NOTHING_MOVED} for {self._still_s:g} s"}))
        return True


def _differs(a: Floats, b: Floats, tolerance: float) -> bool:
    return bool((np.abs(a - b) > tolerance).any())
