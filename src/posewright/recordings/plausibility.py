"""Checks that what a recording contains can have happened.

They precede every judgement, measurement and picture, because a file may contain any numbers. NaN stands for
an unknown value and passes, except in times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posewright.arrays import Array, Floats
from posewright.errors import InputError
from posewright.recordings.header import RobotHeader
from posewright.recordings.recording import (
    CONTACT_ARRAY_NAMES,
    ROBOT_ARRAY_NAMES,
    Event,
    Recording,
    RobotRecord,
)

MAX_DELAY_S = 1.0
"""An event or a decision may be at most this long after the last row [s]."""

MAX_VALUE = 1e6
"""Limit of times [s], lengths [m], angles [rad], torques [N m], forces [N] and speeds [m/s]."""

_NORM_TOLERANCE = 0.01
"""The norm of a quaternion may differ from 1 by this."""


def require_plausible(recording: Recording) -> None:
    """Raise unless a recording can have happened.

    Raises:
        InputError: times do not increase, a number is too large, an orientation is not a unit quaternion, a
            link has no place or axis, or an event has a time outside the recording or concerns a box, a robot
            or a joint that does not exist.
    """
    times = recording.times
    boxes = recording.boxes
    if not 1.0 / MAX_VALUE < recording.header.rate_hz < MAX_VALUE:
        raise InputError(f"{recording.header.rate_hz} rows a second", hint=f"above 0, below {MAX_VALUE:g}")
    _require_increasing("row", times, strictly=True)
    latest_s = float(times[-1]) + MAX_DELAY_S if len(times) else MAX_VALUE
    for i in range(boxes.shape[1]):
        subject = f"the pose of box {i + 1}"
        _require_plausible_values(subject, boxes[:, i])
        _require_unit_quaternions(subject, boxes[:, i])
    for name, record in recording.robots.items():
        for array_name, values in _named_arrays(record):
            _require_plausible_values(f"{array_name} of {name}", values)
        _require_unit_quaternions(f"the base of {name}", record.base)
        _require_plausible_links(name, record.header)
        decision_times = record.decisions.times
        _require_increasing(f"decision of {name}", decision_times, strictly=False)
        if len(decision_times) and decision_times[-1] > latest_s:
            raise InputError(
                f"the last decision of {name} is at {decision_times[-1]} s", hint=f"0 to {latest_s:g} s"
            )
    for event in recording.events:
        _require_plausible_event(event, recording, latest_s)


def _require_increasing(subject: str, times: Floats, *, strictly: bool) -> None:
    """Raise unless times `(n,)` [s] increase from 0 on; equal times pass unless `strictly`."""
    steps = np.diff(times, prepend=-1.0)
    is_increasing = steps > 0.0 if strictly else steps >= 0.0
    is_plausible = (times >= 0.0) & (times <= MAX_VALUE) & is_increasing
    if not is_plausible.all():
        i = int(np.argmin(is_plausible))
        raise InputError(
            f"the times of the recording do not increase: {subject} {i} is at {times[i]} s",
            hint=f"0 to {MAX_VALUE:g} s, each after the one before",
        )


def _named_arrays(record: RobotRecord) -> Iterator[tuple[str, Array]]:
    """Yield name and values of each array of a record."""
    for name in ROBOT_ARRAY_NAMES:
        values = getattr(record, name)
        if values is not None:
            yield name, values
    if record.contacts is not None:
        for name in CONTACT_ARRAY_NAMES:
            yield f"contacts' {name}", getattr(record.contacts, name)


def _require_plausible_values(subject: str, values: Array) -> None:
    """Raise if the absolute value of a float is above `MAX_VALUE`; NaN passes."""
    if values.dtype.kind != "f":
        return
    is_too_large = np.abs(values) > MAX_VALUE
    if is_too_large.any():
        row = int(np.argwhere(is_too_large)[0, 0])
        raise InputError(
            f"{subject} has the value {values[is_too_large][0]:g} in row {row}",
            hint=f"at most {MAX_VALUE:g}",
        )


def _require_unit_quaternions(subject: str, poses: Floats) -> None:
    """Raise unless the quaternions of poses `(n, 7)` have norm 1; NaN passes."""
    norms = np.linalg.norm(poses[:, 3:], axis=1)
    (wrong_rows,) = np.nonzero(np.abs(norms - 1.0) > _NORM_TOLERANCE)
    if len(wrong_rows):
        row = wrong_rows[0]
        raise InputError(f"{subject} in row {row} has a quaternion of norm {norms[row]:g}", hint="norm 1")


def _require_plausible_links(robot: str, header: RobotHeader) -> None:
    """Raise unless each link of a robot has a place near the robot, a rotation, and an axis if it turns.

    With other numbers every comparison of the soles with the joints would be with NaN, and pass.
    """
    for link in header.links:
        subject = f"the link {link['name']!r:.60} of {robot}"
        norm = math.hypot(*link["rotation"])
        if not abs(norm - 1.0) <= _NORM_TOLERANCE:
            raise InputError(f"{subject} has a rotation of norm {norm:g}", hint="norm 1")
        distance_m = math.hypot(*link["position"])
        if not distance_m <= MAX_VALUE:
            raise InputError(f"{subject} is {distance_m:g} m away", hint=f"at most {MAX_VALUE:g} m")
        axis_norm = math.hypot(*link.get("axis") or (1.0,))
        if not 1.0 / MAX_VALUE < axis_norm < MAX_VALUE:
            raise InputError(f"{subject} has an axis of length {axis_norm:g}", hint="length 1")


def _require_plausible_event(event: Event, recording: Recording, latest_s: float) -> None:
    """Raise an InputError if an event has an impossible time, box, robot or joint.

    Args:
        event: the event.
        recording: the recording with its boxes and robots.
        latest_s: the latest time that an event may have [s].
    """
    # a time that is NaN fails too
    if not 0.0 <= event.time_s <= latest_s:
        raise _event_error(event, f"its time is {event.time_s}", f"0 to {latest_s:g} s")
    since_s = event.data.get("since_s")
    if isinstance(since_s, int | float) and not 0.0 <= since_s <= event.time_s:
        raise _event_error(event, f"since_s is {since_s}", f"0 to {event.time_s:g} s")
    box = event.data.get("box")
    n_boxes = len(recording.header.boxes)
    if isinstance(box, int | float) and box not in range(1, n_boxes + 1):
        raise _event_error(event, f"it concerns box {box}", f"there are {n_boxes}, counted from 1")
    if event.kind not in {"safety", "fault"}:
        return
    robots = recording.header.robots
    joint_names = {joint for robot in robots.values() for joint in robot.joints}
    known_names = {"robot": set(robots), "joint": joint_names}
    for key, names in known_names.items():
        name = event.data.get(key)
        is_unknown = name is not None and (not isinstance(name, str) or name not in names)
        if is_unknown:
            raise _event_error(event, f"it concerns the {key} {name!r:.60}", f"a {key} of the recording")


def _event_error(event: Event, problem: str, hint: str) -> InputError:
    return InputError(
        f"the event {event.kind:.40} of the recording, at {event.time_s} s, is impossible: {problem}",
        hint=hint,
    )
