"""From a Webots motion to a motion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from posewright.errors import FormatError, Where
from posewright.formats.kinds import WEBOTS
from posewright.formats.motion_file import Origin
from posewright.formats.webots.devices import joints_of
from posewright.formats.webots.document import PoseTable
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot


def table_motion(table: PoseTable, card: Robot, path: Path) -> Motion:
    """Return a table as a motion of `card`, a keyframe a row, which remembers the table.

    Raises:
        FormatError: no device is a joint of the robot, or two are the same one.
    """
    columns = columns_of(table, card, path)
    joints = tuple(columns)
    return Motion(
        path.stem,
        card.name,
        joints,
        tuple(_keyframes(table, joints, list(columns.values()))),
        source="Webots motion",
        origin=Origin(WEBOTS, table, remarks=table.remarks, path=path, robot=card),
    )


def columns_of(table: PoseTable, card: Robot, path: Path | None = None) -> dict[str, int]:
    """Return which column each joint is.

    Raises:
        FormatError: as `table_motion`.
    """
    known = joints_of(card)
    columns: dict[str, int] = {}
    for place, device in enumerate(table.devices):
        joint = known.get(device)
        if joint in columns:
            twice = f"{table.devices[columns[joint]]!r} and {device!r}"
            raise FormatError(f"{twice} are both {joint} of {card.name}", where=Where(path, 1))
        if joint is not None:
            columns[joint] = place
    if not columns:
        hint = f"its devices are {', '.join(list(card.naming('webots'))[:6])}, ..."
        raise FormatError(f"it moves no device of {card.name}", where=Where(path, 1), hint=hint)
    return columns


def strangers(table: PoseTable, card: Robot) -> list[str]:
    """Return the devices that are no joint of a robot."""
    known = joints_of(card)
    return [device for device in table.devices if device not in known]


def _keyframes(table: PoseTable, joints: tuple[str, ...], places: list[int]) -> Iterator[Keyframe]:
    before_ms = 0
    for row in table.rows:
        angles = np.array([row.values[place] for place in places], dtype=np.float64)  # None becomes NaN: held
        yield Keyframe(Pose(joints, angles), (row.time_ms - before_ms) / 1000.0)
        before_ms = row.time_ms
