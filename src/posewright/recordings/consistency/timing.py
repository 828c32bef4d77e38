"""Checks of times: the rate of the rows, gaps between them, and the rhythm of decisions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.recorded_robot import RecordedRobot
from posewright.recordings.recorder import ROWS_EVERY
from posewright.recordings.recording import Recording

_RATE_TOLERANCE = 0.02
_MAX_STEP = 1.5
"""Longest time between two rows, as a multiple of the time by the header's rate."""

_FRAME_TOLERANCE = 0.01
"""Tolerance of times that are whole numbers of frames [frames]."""

_MAX_DECISION_GAP = 3.0
"""Longest time between two decisions of a behaviour, as a multiple of the usual one."""

_MIN_DECISIONS = 10


def check_rows(recording: Recording) -> Iterator[Inconsistency]:
    """Yield an inconsistency where the times of the rows contradict the header's rate."""
    times = recording.times
    rate_hz = recording.header.rate_hz
    if len(times) < 2:
        return
    steps = np.diff(times) * rate_hz
    if abs(float(np.median(steps)) - 1.0) > _RATE_TOLERANCE:
        measured_hz = 1.0 / float(np.median(np.diff(times)))
        message = f"the header has {rate_hz:g} rows a second, the rows have {measured_hz:.4g}"
        yield Inconsistency("row-rate", message)
        return
    gaps = np.flatnonzero(steps > _MAX_STEP)
    if len(gaps):
        missing_s = float((steps[gaps] - 1.0).sum()) / rate_hz
        message = f"rows are missing: {missing_s:.2f} s in {len(gaps)} gap{'s' * (len(gaps) > 1)}"
        yield Inconsistency("row-gap", message, float(times[gaps[0]]))
    if times[0] * rate_hz > _MAX_STEP:
        yield Inconsistency("row-gap", f"the first row is at {times[0]:.2f} s: the beginning is missing", 0.0)


def check_frames(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if rows or decisions of a simulated robot do not fit the frames of its card."""
    if robot.card is None or not robot.is_simulated or not len(robot.times):
        return
    frame_s = robot.card.frame_period_s
    header = robot.recording.header
    frames_per_row = 1.0 / (header.rate_hz * frame_s)
    # contests record every fourth frame; other recordings any whole number of frames a row
    expected_frames_per_row = ROWS_EVERY if header.contest else max(1, round(frames_per_row))
    if abs(frames_per_row - expected_frames_per_row) > _FRAME_TOLERANCE * expected_frames_per_row:
        message = (
            f"{header.rate_hz:g} rows a second do not fit {robot.name}, whose {1.0 / frame_s:g} frames "
            f"a second give {1.0 / (frame_s * expected_frames_per_row):g}"
        )
        yield Inconsistency("frame-clock", message)
        return
    for label, times in (("row", robot.times), ("decision", robot.record.decisions.times)):
        frames = times / frame_s
        wrong = np.flatnonzero(np.abs(frames - np.round(frames)) > _FRAME_TOLERANCE)
        if len(wrong):
            message = f"a {label} of {robot.name} is between two frames of {frame_s * 1000:g} ms"
            yield Inconsistency("frame-clock", message, float(times[wrong[0]]))


def check_decisions(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency where the decisions of a behaviour, which come at a fixed rate, are missing."""
    header = robot.record.header
    times = robot.record.decisions.times
    if not header.controller.startswith("behaviour ") or len(times) < _MIN_DECISIONS:
        return
    steps = np.diff(times)
    usual_s = float(np.median(steps))
    gaps = np.flatnonzero(steps > _MAX_DECISION_GAP * usual_s)
    if len(gaps):
        first = gaps[0]
        message = f"{robot.name} decides every {usual_s:.3g} s, then not for {steps[first]:.2f} s"
        yield Inconsistency("decision-gap", message, float(times[first]))
    end_s = float(robot.times[-1]) if len(robot.times) else 0.0
    if end_s - times[-1] > _MAX_DECISION_GAP * usual_s + 1.0:
        message = f"{robot.name} decides no more, though the rows go on to {end_s:.2f} s"
        yield Inconsistency("decision-gap", message, float(times[-1]))
