"""The frames of a robot's links, each in its parent's: what a viewer needs to draw the robot as it moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.recordings.header import RobotHeader

BASE = "base"


def link_frame(robot: str, header: RobotHeader, link: str) -> str:
    """Return the name of a link's frame; that of the first link is the base's."""
    return f"{robot}/{BASE if link == header.links[0]['name'] else link}"


def turning(header: RobotHeader) -> list[Mapping[str, Any]]:
    """Return the links that a joint of the recording turns."""
    return [link for link in header.links[1:] if link.get("joint") in header.joints]


def standing(header: RobotHeader) -> list[Mapping[str, Any]]:
    """Return the links that do not move against their parents."""
    return [link for link in header.links[1:] if link.get("joint") not in header.joints]


def link_rotations(header: RobotHeader, positions: Floats) -> Floats:
    """Return how the links of `turning` are turned in their parents' frames, `(n, n_links, 4)` (w x y z).

    Args:
        header: of the robot.
        positions: joint angles, `(n, n_joints)` [rad].
    """
    links = turning(header)
    columns = [header.joints.index(link["joint"]) for link in links]
    rest = np.array([link["rotation"] for link in links], dtype=np.float64).reshape(-1, 4)
    axes = np.array([link["axis"] for link in links], dtype=np.float64).reshape(-1, 3)
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    half = positions[:, columns] / 2.0
    return product(rest, np.concatenate([np.cos(half)[..., None], np.sin(half)[..., None] * axes], axis=-1))


def product(one: Floats, other: Floats) -> Floats:
    """Return the product of quaternions `(..., 4)` (w x y z): `other` first, then `one`."""
    a, b, c, d = np.moveaxis(one, -1, 0)
    w, x, y, z = np.moveaxis(other, -1, 0)
    parts = [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
    return np.stack(parts, axis=-1)


def from_roll_pitch_yaw(angles: Floats) -> Floats:
    """Return the quaternions (w x y z) of roll, pitch, yaw `(n, 3)` [rad], turned in that order."""
    half = angles / 2.0
    roll, pitch, yaw = (_about(axis, half[:, axis]) for axis in range(3))
    return product(yaw, product(pitch, roll))


def _about(axis: int, half: Sequence[float] | Floats) -> Floats:
    turns = np.zeros((len(half), 4))
    turns[:, 0], turns[:, 1 + axis] = np.cos(half), np.sin(half)
    return turns
