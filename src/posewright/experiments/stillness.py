"""A run in which nothing moves any more is ended: it would go on so until its time is over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.contests import Note
from posewright.control import Block
from posewright.recordings import Event

_COMMAND_RAD = 1e-6
_PLACE_M = 5e-3
"""A robot that holds its pose sways and creeps by less in half a minute."""


@dataclass(slots=True, eq=False)
class _Hold:
    """What a robot has been commanded, and where it has been, since a time [s]."""

    angles: Floats
    place: Floats
    since_s: float


class StillWatch:
    """Ends a run when no robot was given another command, and none left its place, for `still_s` [s]."""

    def __init__(self, still_s: float, note: Note) -> None:
        self._still_s, self._note = still_s, note
        self._holds: dict[str, _Hold] = {}

    @staticmethod
    def reason(still_s: float) -> str:
        """Return what is recorded of such an end."""
        return f"nothing moved for {still_s:g} s"

    def watch(self, block: Block) -> bool:
        """Look at a block; return whether nothing has moved for too long."""
        truth, angles = block.states.truth, block.commands.angles
        place = np.zeros(3) if truth is None else truth.base[-1, :3]
        now_s, hold = float(block.states.times[-1]), self._holds.get(block.robot)
        if hold is None or _moved(hold, angles, place):
            begin_s = block.state.time_s if hold is None else now_s
            self._holds[block.robot] = _Hold(angles[-1].copy(), place.copy(), begin_s)
            return False
        if now_s - max(one.since_s for one in self._holds.values()) < self._still_s:
            return False
        self._note(Event(now_s, "stop", {"reason": self.reason(self._still_s)}))
        return True


def _moved(hold: _Hold, angles: Floats, place: Floats) -> bool:
    """Return whether one of the commands `(n, n_joints)` [rad] is another, or the base is elsewhere [m]."""
    told = bool((np.abs(angles - hold.angles) > _COMMAND_RAD).any())  # NaN, a free joint, is never another
    return told or float(np.abs(place - hold.place).max()) > _PLACE_M
