"""Dropouts: short gaps in the recorded positions of robots, as when a camera or a tracker loses one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.contests.contest import NEW_TRY
from posewright.recordings import Recording, RobotRecord
from posewright.recordings.falls import true_intervals

MAX_DROPOUT_S = 0.25
"""Longest dropout that is filled; what a robot did in a longer one is unknown, as a fall takes little more
[s]."""

_QUATERNION = slice(3, 7)
"""The columns of a pose of the base with its orientation; those before have its position."""


def fill_short_dropouts(recording: Recording) -> Recording:
    """Return a recording in which robots move uniformly through short dropouts.

    A robot that was moved by hand during a dropout keeps its place until then, and has its new place from
    then on. At the recording's beginning and end a robot has the nearest known place. Longer dropouts remain.
    """
    moves_s = np.sort([event.time_s for event in recording.events_of("touch", NEW_TRY)])
    robots = {
        name: _fill_robot(record, recording.times, moves_s) for name, record in recording.robots.items()
    }
    if all(robots[name] is record for name, record in recording.robots.items()):
        return recording
    return replace(recording, robots=robots)


def _fill_robot(record: RobotRecord, times: Floats, moves_s: Floats) -> RobotRecord:
    """Return a robot's record with short dropouts filled; the same object if it has none.

    In a dropout, the pose of the base is interpolated, or copied from a row before or after it.

    Args:
        record: the robot's record.
        times: the times of its rows, `(n,)` [s].
        moves_s: when the robot was moved by hand, in order [s].
    """
    is_missing: Flags = np.asarray(np.isnan(record.base).any(axis=1))
    is_short = _find_short_dropouts(is_missing, times)
    if not is_short.any():
        return record
    source_rows = _find_source_rows(is_short, times.searchsorted(moves_s, side="right"))
    base = _fill(record.base, is_short, source_rows, times)
    quaternions = base[is_short, _QUATERNION]  # interpolated, so not of length 1
    base[is_short, _QUATERNION] = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    footprints = _fill(record.footprints, is_short, source_rows, times)
    return replace(record, base=base, footprints=footprints)


def _find_short_dropouts(is_missing: Flags, times: Floats) -> Flags:
    """Return the rows of short dropouts, `(n,)`; a dropout of the whole recording is not short.

    A dropout lasts from the last known row before it to the first one after it.
    """
    n_rows = len(is_missing)
    is_in_short_dropout = np.zeros(n_rows, dtype=np.bool_)
    for begin, end in true_intervals(is_missing):
        last_known_row = max(begin - 1, 0)
        next_known_row = min(end, n_rows - 1)
        duration_s = times[next_known_row] - times[last_known_row]
        is_whole_recording = end - begin == n_rows
        is_in_short_dropout[begin:end] = duration_s <= MAX_DROPOUT_S and not is_whole_recording
    return is_in_short_dropout


def _find_source_rows(is_dropout: Flags, first_rows_after_moves: Indices) -> Indices:
    """Return the row that each row is copied from, `(n,)`; -1 for rows to interpolate.

    A row of a dropout is interpolated between the last known row before it and the first one after it. It is
    copied if only one of them exists, or if the robot was moved by hand between the two: then from the one on
    the same side of the move. Rows with a known position are not to be copied.

    Args:
        is_dropout: whether the position is unknown, `(n,)`.
        first_rows_after_moves: the first row after each move by hand, in order.
    """
    n_rows = len(is_dropout)
    rows = np.arange(n_rows)
    last_known_row = np.maximum.accumulate(np.where(is_dropout, -1, rows))  # -1 without one
    next_known_row = np.minimum.accumulate(np.where(is_dropout, n_rows, rows)[::-1])[
        ::-1
    ]  # n_rows without one
    has_none_before = last_known_row < 0
    has_none_after = next_known_row == n_rows
    n_moves = np.searchsorted(first_rows_after_moves, rows, side="right")  # up to each row
    n_moves_before = n_moves[last_known_row]
    n_moves_after = n_moves[np.minimum(next_known_row, n_rows - 1)]
    has_move_between = n_moves_before != n_moves_after
    is_after_move = n_moves != n_moves_before
    is_copied_from_next = has_none_before | (has_move_between & is_after_move & ~has_none_after)
    source_row = np.where(is_copied_from_next, next_known_row, last_known_row)
    is_copied = has_none_before | has_none_after | has_move_between
    return np.where(is_copied, source_row, -1)


def _fill(values: Floats, is_dropout: Flags, source_rows: Indices, times: Floats) -> Floats:
    """Return values with dropouts interpolated over time, or copied where there is a source row.

    Args:
        values: `(n, ...)`.
        is_dropout: which rows to fill, `(n,)`.
        source_rows: the source rows as returned by `_find_source_rows`.
        times: `(n,)` [s].
    """
    columns = np.array(values.reshape(len(values), -1))
    for column in columns.T:
        column[is_dropout] = np.interp(times[is_dropout], times[~is_dropout], column[~is_dropout])
    is_copied = is_dropout & (source_rows >= 0)
    columns[is_copied] = columns[source_rows[is_copied]]
    return columns.reshape(values.shape)
