"""`StillWatch`: ends a run in which nothing moves any more."""

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
"""A robot that holds its pose sways and creeps by less in half a minute [m]."""


class StillWatch:
    """Ends a run when no command changed and no robot left its place for `still_s` [s]."""

    def __init__(self, still_s: float, note: Note) -> None:
        self._still_s = still_s
        self._note = note
        self._rest_of_robot: dict[str, tuple[Floats, Floats]] = {}  # last command and place that changed
        self._since_s = 0.0

    def watch(self, block: Block) -> bool:
        """Return whether nothing has moved for too long."""
        truth = block.states.truth
        now_s = float(block.states.times[-1])
        angles = np.nan_to_num(block.commands.angles)  # a free joint has none
        place = np.zeros(3) if truth is None else truth.base[-1, :3]
        rest = self._rest_of_robot.get(block.robot)
        if rest is None or _differs(angles, rest[0], _COMMAND_RAD) or _differs(place, rest[1], _PLACE_M):
            self._since_s = block.state.time_s if rest is None else now_s
            self._rest_of_robot[block.robot] = (angles[-1].copy(), place.copy())
        if now_s - self._since_s < self._still_s:
            return False
        self._note(Event(now_s, "stop", {"reason": f"{NOTHING_MOVED} for {self._still_s:g} s"}))
        return True


def _differs(a: Floats, b: Floats, tolerance: float) -> bool:
    return bool((np.abs(a - b) > tolerance).any())
