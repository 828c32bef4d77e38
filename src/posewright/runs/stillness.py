"""A run in which nothing moves any more is ended: it would go on so until its time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.control import Block
from posewright.recordings import Event

if TYPE_CHECKING:
    from posewright.contests import Note

NOTHING_MOVED = "nothing moved"
_COMMAND_RAD = 1e-6
_PLACE_M = 5e-3
"""A robot that holds its pose sways and creeps by less in half a minute."""


class StillWatch:
    """Ends a run when no robot was given another command, and none left its place, for `still_s` [s]."""

    def __init__(self, still_s: float, note: Note) -> None:
        self._still_s, self._note = still_s, note
        self._holds: dict[str, tuple[Floats, Floats]] = {}  # by robot: the command and the place it keeps
        self._since_s = 0.0

    def watch(self, block: Block) -> bool:
        """Look at a block; return whether nothing has moved for too long."""
        truth, now_s = block.states.truth, float(block.states.times[-1])
        angles = np.nan_to_num(block.commands.angles)  # a free joint has none
        place = np.zeros(3) if truth is None else truth.base[-1, :3]
        hold = self._holds.get(block.robot)
        if hold is None or _apart(angles, hold[0], _COMMAND_RAD) or _apart(place, hold[1], _PLACE_M):
            self._since_s = block.state.time_s if hold is None else now_s
            self._holds[block.robot] = angles[-1].copy(), place.copy()
        if now_s - self._since_s < self._still_s:
            return False
        self._note(Event(now_s, "stop", {"reason": f"{NOTHING_MOVED} for {self._still_s:g} s"}))
        return True


def _apart(one: Floats, other: Floats, more_than: float) -> bool:
    return bool((np.abs(one - other) > more_than).any())
