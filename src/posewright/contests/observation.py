"""Observations that referees and judges share: positions, joint angles, starts and tries."""

from __future__ import annotations

import math

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import GroundTruth
from posewright.contests.contest import NEW_TRY
from posewright.control import Block
from posewright.errors import BodyError, InputError
from posewright.recordings import ROWS_EVERY, Recording, RobotRecord, recorded_frames


class RecordedRows:
    """Counts one robot's frames block by block, and selects those that its recording has as rows.

    Args:
        every: a row is recorded for each `every` frames.
    """

    def __init__(self, every: int = ROWS_EVERY) -> None:
        self.every = every
        self.n_frames = 0

    def select(self, block: Block) -> slice:
        """Return the recorded frames of the next block."""
        rows = recorded_frames(self.n_frames, self.every)
        self.n_frames += len(block.states)
        return rows


def require_ground_truth(block: Block) -> GroundTruth:
    """Return a block's ground truth.

    Raises:
        BodyError: the body has none.
    """
    if block.states.truth is None:
        raise BodyError(
            "the body does not report where it is in the field, which a referee needs",
            hint="use a body with ground truth, such as a simulated one",
        )
    return block.states.truth


def require_positions(record: RobotRecord, robot: str = "the robot") -> None:
    """Raise InputError unless the record has the positions of the robot's base and feet in every row."""
    footprints = record.footprints
    if not record.knows_place or not footprints.shape[1] or not np.isfinite(footprints).all():
        raise InputError(
            f"the recording does not say where {robot}'s base and feet were in the field",
            hint="a judge needs a recording of a simulation, or of a field watched by a camera",
        )


def measured_or_commanded(positions: Floats, commands: Floats) -> Floats:
    """Return the measured joint angles, replaced by the commanded ones where there is no measurement."""
    is_measured = np.isfinite(positions)
    return positions if is_measured.all() else np.where(is_measured, positions, commands)


def list_tries(recording: Recording) -> list[tuple[float, float]]:
    """Return begin and end of each try; the last ends at infinity [s]."""
    begins = [0.0, *(event.time_s for event in recording.events_of(NEW_TRY) if event.time_s > 0.0)]
    return list(zip(begins, [*begins[1:], math.inf], strict=True))


class StartDetector:
    """Detects a robot's first move, and a move before the end of its wait.

    A move is a change of any joint angle by more than a threshold: from its angle at the start during the
    wait, and from its angle at the end of the wait later.

    Args:
        wait_s: end of the wait [s].
        threshold_rad: change of a joint angle that counts as a move [rad].

    Attributes:
        early_s: time of the first move during the wait; None if there was none [s].
        moved_s: time of the first move after the wait; None if there was none yet [s].
    """

    def __init__(self, wait_s: float, threshold_rad: float) -> None:
        """Wait for the first row; no move is detected yet."""
        self._wait_s = wait_s
        self._threshold_rad = threshold_rad
        self._start_angles: Floats | None = None  # of the first row [rad]; None before it
        self._wait_end_angles: Floats | None = None  # at the end of the wait [rad]; None before it
        self.early_s: float | None = None
        self.moved_s: float | None = None

    def advance(self, times: Floats, joints: Floats) -> None:
        """Process further rows, and look for a move during the wait and for the first move after it.

        A move is a joint that leaves the angle it had in the first row, or, after the wait, at the end of
        the wait.

        Args:
            times: the times of the rows, `(n,)` [s].
            joints: joint angles, `(n, n_joints)` [rad].
        """
        if not len(times):
            return
        if self._start_angles is None:
            self._start_angles = joints[0].copy()
            self._wait_end_angles = self._start_angles
        n_rows_of_wait = int(np.searchsorted(times, self._wait_s))
        if n_rows_of_wait > 0:
            self._wait_end_angles = joints[n_rows_of_wait - 1].copy()
            if self.early_s is None:
                self.early_s = self._find_move(
                    times[:n_rows_of_wait], joints[:n_rows_of_wait], self._start_angles
                )
        if self.moved_s is None and self._wait_end_angles is not None:
            self.moved_s = self._find_move(
                times[n_rows_of_wait:], joints[n_rows_of_wait:], self._wait_end_angles
            )

    def _find_move(self, times: Floats, joints: Floats, reference: Floats) -> float | None:
        """Return the time of the first row that differs from a reference by more than the threshold."""
        has_moved = (np.abs(joints - reference) > self._threshold_rad).any(axis=1)
        return float(times[has_moved.argmax()]) if has_moved.any() else None


def false_start_warnings(early_s: float | None, wait_s: float, robot: str = "the robot") -> tuple[str, ...]:
    """Return a warning if a robot moved during its wait; none otherwise."""
    if early_s is None:
        return ()
    return (f"false start: {robot} moved at {early_s:.2f} s, before its {wait_s:g} s were over",)
