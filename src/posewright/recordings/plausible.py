"""What cannot have happened is refused before anybody is judged, measured or drawn by it.

A file keeps whatever numbers it is given. Not-a-number stands for what nobody knew, and is none here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.arrays import Array, Floats
from posewright.errors import InputError
from posewright.recordings.recording import ARRAYS, CONTACTS, Event, Recording, RobotRecord

LATE_S = 1.0
"""An event or a decision may be noted so much after the last row that was kept [s]."""

MOST = 1e6
"""No time [s], length [m], angle [rad], torque [N m], force [N] or speed [m/s] of a small robot is larger."""

_UNIT = 0.01
"""The length of a quaternion differs from 1 by no more."""


def refuse_impossible(recording: Recording) -> None:
    """Refuse a recording of what cannot have happened.

    Raises:
        InputError: time does not run forward, a number is beyond all measure, an orientation is none, or an
            event is at a time, or about a box, a robot or a joint, that was not.
    """
    times, boxes = recording.times, recording.boxes
    if not 1.0 / MOST < recording.header.rate_hz < MOST:
        raise InputError(f"{recording.header.rate_hz} rows a second", hint=f"above 0, below {MOST:g}")
    _refuse_backward("row", times, strictly=True)
    last_s = float(times[-1]) + LATE_S if len(times) else MOST
    for i in range(boxes.shape[1]):
        _refuse_odd(f"the pose of box {i + 1}", boxes[:, i])
        _refuse_no_rotation(f"the pose of box {i + 1}", boxes[:, i])
    for name, record in recording.robots.items():
        for what, values in _numbers(record):
            _refuse_odd(f"{what} of {name}", values)
        _refuse_no_rotation(f"the base of {name}", record.base)
        decided = record.decisions.times
        _refuse_backward(f"decision of {name}", decided, strictly=False)
        if len(decided) and decided[-1] > last_s:
            hint = f"0 to {last_s:g} s"
            raise InputError(f"the last decision of {name} is at {decided[-1]} s", hint=hint)
    for event in recording.events:
        _check_event(event, recording, last_s)


def _refuse_backward(what: str, times: Floats, *, strictly: bool) -> None:
    """Refuse times that do not run forward; equal ones too where they must do so `strictly`."""
    steps = np.diff(times, prepend=-1.0)
    wrong = np.flatnonzero(~((times >= 0.0) & (times <= MOST) & (steps > 0.0 if strictly else steps >= 0.0)))
    if len(wrong):
        raise InputError(
            f"the time of the recording does not run forward: {what} {wrong[0]} is at {times[wrong[0]]} s",
            hint=f"0 to {MOST:g} s, each after the one before",
        )


def _numbers(record: RobotRecord) -> Iterator[tuple[str, Array]]:
    yield from ((name, getattr(record, name)) for name in ARRAYS if getattr(record, name) is not None)
    if record.contacts is not None:
        yield from ((f"contacts' {name}", getattr(record.contacts, name)) for name in CONTACTS)


def _refuse_odd(what: str, values: Array) -> None:
    odd = np.abs(values) > MOST if values.dtype.kind == "f" else np.zeros(0)
    if odd.any():
        row = int(np.argwhere(odd)[0, 0])
        raise InputError(f"{what} holds {values[odd][0]:g} in row {row}", hint=f"at most {MOST:g}")


def _refuse_no_rotation(what: str, poses: Floats) -> None:
    lengths = np.linalg.norm(poses[:, 3:], axis=1)
    wrong = np.flatnonzero(np.abs(lengths - 1.0) > _UNIT)
    if len(wrong):
        message = f"{what} in row {wrong[0]} is turned by a quaternion of length {lengths[wrong[0]]:g}"
        raise InputError(message, hint="its length is 1")


def _check_event(event: Event, recording: Recording, last_s: float) -> None:
    """Refuse an event at a time that was not, or about what is not there."""
    since_s, box, n_boxes = event.data.get("since_s"), event.data.get("box"), len(recording.header.boxes)
    for what, time_s, most in (("its time", event.time_s, last_s), ("since_s", since_s, event.time_s)):
        if isinstance(time_s, int | float) and not 0.0 <= time_s <= most:  # nor is not-a-number
            raise _no_event(event, f"{what} is {time_s}", f"0 to {most:g} s")
    if isinstance(box, int | float) and box not in range(1, n_boxes + 1):
        raise _no_event(event, f"it is about box {box}", f"there are {n_boxes}, counted from 1")
    if event.kind in {"safety", "fault"}:
        robots = recording.header.robots
        joints = {joint for robot in robots.values() for joint in robot.joints}
        for what, known in (("robot", set(robots)), ("joint", joints)):
            named = event.data.get(what)
            if named is not None and (not isinstance(named, str) or named not in known):
                raise _no_event(event, f"it is about the {what} {named!r:.60}", "one of the recording's own")


def _no_event(event: Event, why: str, right: str) -> InputError:
    return InputError(
        f"a {event.kind:.40} in the recording, at {event.time_s} s, cannot be: {why}", hint=right
    )
