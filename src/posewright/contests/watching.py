"""What referees and judges of all contests see alike: joints, starts, tries, and what they must know."""

from __future__ import annotations

import math

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import GroundTruth
from posewright.contests.contest import NEW_TRY
from posewright.control import Block
from posewright.errors import BodyError, InputError
from posewright.recordings import ROWS_EVERY, Recording, RobotRecord, kept_frames


class RowsKept:
    """Which frames of one robot's blocks, handed in one after the other, its recording has as rows."""

    def __init__(self, every: int = ROWS_EVERY) -> None:
        self.every, self.frames = every, 0

    def of(self, block: Block) -> slice:
        """Return them for the next block."""
        kept = kept_frames(self.frames, self.every)
        self.frames += len(block.states)
        return kept


def truth_of(block: Block) -> GroundTruth:
    """Return where a body is, or raise a BodyError where it does not know."""
    if block.states.truth is None:
        raise BodyError("a referee cannot see this body in the field", hint="a body that knows its world")
    return block.states.truth


def refuse_unseen(record: RobotRecord, robot: str = "the robot") -> None:
    """Raise an InputError where a recording does not say where a robot was."""
    feet = record.footprints
    if not record.knows_place or not feet.shape[1] or not np.isfinite(feet).all():
        raise InputError(
            f"the recording does not say where {robot}'s base and feet were in the field",
            hint="a judge needs a recording of a simulation, or of a field watched by a camera",
        )


def done_or_told(positions: Floats, commands: Floats) -> Floats:
    """Return angles as measured, and as commanded where nobody measured."""
    done = np.isfinite(positions)
    return positions if done.all() else np.where(done, positions, commands)


def tries_of(recording: Recording) -> list[tuple[float, float]]:
    """Return when each try began, and when the next one did; the last ends at infinity [s]."""
    begins = [0.0, *(event.time_s for event in recording.events_of(NEW_TRY) if event.time_s > 0.0)]
    return list(zip(begins, [*begins[1:], math.inf], strict=True))


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


def false_start(early_s: float | None, wait_s: float, robot: str = "the robot") -> tuple[str, ...]:
    """Return the warning for a robot that moved before its wait was over; none where it did not."""
    if early_s is None:
        return ()
    return (f"false start: {robot} moved at {early_s:.2f} s, before its {wait_s:g} s were over",)
