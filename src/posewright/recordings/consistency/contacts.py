"""Checks of recorded contacts between parts against the contacts of the feet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.recordings.consistency.inconsistency import Inconsistency
from posewright.recordings.consistency.recorded_robot import RecordedRobot


def check_contacts(robot: RecordedRobot) -> Iterator[Inconsistency]:
    """Yield an inconsistency for a foot on the ground of which no contact is recorded."""
    record = robot.record
    contacts = record.contacts
    if contacts is None or not robot.is_simulated:
        return
    for index, foot in enumerate(record.header.feet):
        if foot not in contacts.names:
            continue
        part = contacts.names.index(foot)
        is_touching = np.zeros(len(robot.times), dtype=np.bool_)
        is_touching[contacts.frames[(contacts.pairs == part).any(axis=1)]] = True
        is_missing = record.foot_contacts[:, index] & ~is_touching
        if is_missing.any():
            row = int(is_missing.argmax())
            message = f"{foot} of {robot.name} is on the ground, but none of its contacts is recorded"
            yield Inconsistency("contact-list", message, float(robot.times[row]))
            return
