"""Checks of events: their order and robots, and that the rows show what they say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from posewright.arrays import Floats
from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.recorded_robot import RecordedRobot
from posewright.recordings.falls import tilt
from posewright.recordings.recording import Event, Recording

MAX_BLOCK_S = 1.0
"""Events are noted after a block of frames, so a time may be this much earlier than the one before [s]."""

_MIN_FALL_TILT_RAD = math.radians(30.0)
_LOW_SHARE = 0.75
"""A base that was never more tilted, nor lower than this share of its height at the start, did not fall."""

_MOVED_BOX_M = 0.005
_TURNED_BOX_RAD = 0.02
"""A box that was never farther than these from its pose at the start has not been displaced."""

_SAME_TIME_S = 1e-6
"""Times of an event and a row that differ by less are equal [s]."""

_MAX_PLACE_ERROR_M = 0.15
"""How far a robot may be from the place that an event names, one row later [m]."""

_AWARD = "yuhkoh"
"""Kind of an event whose `to` is a robot; that of other events may be anything, as an object of an AIBO."""


def check_events(recording: Recording, robots: Mapping[str, RecordedRobot]) -> Iterator[Inconsistency]:
    """Yield events out of order, of unknown robots, and those that the rows do not show."""
    latest_s = 0.0
    for event in recording.events:
        if event.time_s < latest_s - MAX_BLOCK_S:
            message = f"the event {event.kind!r:.40} comes after one at {latest_s:.2f} s"
            yield Inconsistency("event-order", message, event.time_s)
            break
        latest_s = max(latest_s, event.time_s)
    has_unknown_robot = False
    for event in recording.events:
        keys = ("robot", "to") if event.kind == _AWARD else ("robot",)
        unknown_names = [str(event.data[key]) for key in keys if event.data.get(key, "") not in {"", *robots}]
        if unknown_names and not has_unknown_robot:
            has_unknown_robot = True
            message = (
                f"the event {event.kind!r:.40} names {unknown_names[0]!r:.60}, who is not in the recording"
            )
            yield Inconsistency("event-robot", message, event.time_s)
        if unknown_names:
            continue
        robot = robots.get(str(event.data.get("robot")))
        candidates = list(robots.values()) if robot is None else [robot]
        if not all(robot.record.knows_place for robot in candidates):
            continue
        if event.kind == "fall":
            yield from _check_fall(event, candidates)
        elif event.kind in {"touch", "try"} and len(candidates) == 1:
            yield from _check_place(event, candidates[0])
        if event.kind == "box_moved":
            yield from _check_box_moved(event, recording)


def _check_fall(event: Event, robots: list[RecordedRobot]) -> Iterator[Inconsistency]:
    """Yield an inconsistency if no robot was tilted or low during a recorded fall.

    A fall is noted when it has lasted for some time; `since_s` of the event is when it began.
    """
    since_s = event.data.get("since_s", event.time_s)
    begin_s = float(since_s) if isinstance(since_s, int | float) else event.time_s
    for robot in robots:
        row_s = 1.0 / robot.recording.header.rate_hz
        is_during_fall = (robot.times >= begin_s - row_s) & (robot.times <= event.time_s + row_s)
        base = robot.record.base[is_during_fall]
        if not len(base):
            return
        is_tilted = tilt(base) > _MIN_FALL_TILT_RAD
        is_low = base[:, 2] < _LOW_SHARE * robot.record.base[0, 2]
        if is_tilted.any() or is_low.any():
            return
    yield Inconsistency("fall-event", "the event 'fall' says that a robot fell, but none did", event.time_s)


def _check_place(event: Event, robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency if the robot is elsewhere than the event says that it was placed.

    The place of the base is compared in the first row after the event; times within `_SAME_TIME_S` are equal.
    """
    place = _read_place(event)
    row = int(np.searchsorted(robot.times, event.time_s + _SAME_TIME_S))
    if place is None or row >= len(robot.times):
        return
    distance_m = float(np.linalg.norm(robot.record.base[row, :2] - place))
    if distance_m > _MAX_PLACE_ERROR_M:
        message = f"{robot.name} is {distance_m:.2f} m from where the event {event.kind!r} puts it"
        yield Inconsistency("event-place", message, event.time_s)


def _read_place(event: Event) -> Floats | None:
    """Return the x and y of a placement, `(2,)` [m]; None if the event does not state them."""
    values = (event.data.get("x_m"), event.data.get("y_m"))
    if not all(isinstance(value, int | float) for value in values):
        return None
    return np.array(values, dtype=np.float64)


def _check_box_moved(event: Event, recording: Recording) -> Iterator[Inconsistency]:
    """Yield an inconsistency if a box that an event calls displaced stands where it stood at the start."""
    box = event.data.get("box")
    if not isinstance(box, int) or not recording.n_rows or not 1 <= box <= recording.boxes.shape[1]:
        return
    row_of_event = min(int(np.searchsorted(recording.times, event.time_s)), recording.n_rows - 1)
    poses = recording.boxes[: row_of_event + 1, box - 1]
    distances_m = np.linalg.norm(poses[:, :3] - poses[0, :3], axis=1)
    # the angle between two unit quaternions
    turns_rad = 2.0 * np.arccos(np.clip(np.abs(poses[:, 3:] @ poses[0, 3:]), 0.0, 1.0))
    has_moved = (distances_m > _MOVED_BOX_M) | (turns_rad > _TURNED_BOX_RAD)
    if not has_moved.any():
        message = f"the event 'box_moved' concerns box {box}, which stands where it stood at the start"
        yield Inconsistency("box-event", message, event.time_s)
