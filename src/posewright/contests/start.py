"""The start: contests begin with a wait, and clocks with the first move after it."""

from __future__ import annotations

import numpy as np

from posewright.arrays import Floats


class StartWatch:
    """Sees when the robot moves too early, and when it first moves after its wait.

    A move is a turn of any joint by more than the rules' threshold: before the wait is over from where
    it was at the start, after that from where it was at the wait's end.
    """

    def __init__(self, wait_s: float, moved_rad: float) -> None:
        self._wait_s, self._moved_rad = wait_s, moved_rad
        self._at_start: Floats | None = None
        self._at_wait_end: Floats | None = None
        self.early_s: float | None = None
        self.moved_s: float | None = None

    def advance(self, times: Floats, joints: Floats) -> None:
        """Look at some more rows of joints, `(n, n_joints)` [rad]."""
        if not len(times):
            return
        if self._at_start is None:
            self._at_start = self._at_wait_end = joints[0].copy()
        waiting = int(np.searchsorted(times, self._wait_s))
        if waiting:
            self._at_wait_end = joints[waiting - 1].copy()
            if self.early_s is None:
                self.early_s = self._first_move(times[:waiting], joints[:waiting], self._at_start)
        if self.moved_s is None and self._at_wait_end is not None:
            self.moved_s = self._first_move(times[waiting:], joints[waiting:], self._at_wait_end)

    def _first_move(self, times: Floats, joints: Floats, reference: Floats) -> float | None:
        moved = (np.abs(joints - reference) > self._moved_rad).any(axis=1)
        return float(times[moved.argmax()]) if moved.any() else None
