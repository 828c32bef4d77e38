"""Outlines of robots from three sides, drawn from the links in a recording's header."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.recordings import RobotHeader
from posewright.recordings.scene import link_rotations, movable_links
from posewright.rotation import rotation_matrices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Frames = tuple[Floats, Floats]
"""Positions `(n, 3)` [m] and rotations `(n, 3, 3)` of a frame at n times."""

VIEWS: Mapping[str, Floats] = MappingProxyType(
    {
        "side": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
        "front": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
        "above": np.eye(3),
    }
)
"""The directions right, up and towards the viewer as rows, `(3, 3)`, of each view."""

_TURNS = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
_RING = np.stack([np.cos(_TURNS), np.sin(_TURNS)])  # points on a circle of radius 1
_HEIGHTS = np.linspace(-1.0, 1.0, 9)
# points on shapes of half size 1, `(m, 3)`
_BALL = np.array([(*(np.sqrt(1.0 - z * z) * point), z) for z in _HEIGHTS for point in _RING.T])
_CYLINDER = np.array([(*point, z) for point in _RING.T for z in (-1.0, 1.0)])
_BOX = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
_POINTS_ON_SHAPE = {"box": _BOX, "cylinder": _CYLINDER}

_PALER = 0.3


def compose_frames(frames: Frames, pose: Floats) -> Frames:
    """Return the frames at poses x y z qw qx qy qz `(n, 7)` relative to `frames`."""
    positions, rotations = frames
    moved = positions + np.einsum("nij,nj->ni", rotations, pose[:, :3])
    return moved, rotations @ rotation_matrices(pose[:, 3:])


def link_frames(header: RobotHeader, base: Floats, positions: Floats) -> dict[str, Frames]:
    """Return the frames of a robot's links at n times, by name; the base is "".

    Args:
        header: the header with the links and joints.
        base: x y z qw qx qy qz, `(n, 7)`.
        positions: joint angles, `(n, n_joints)` [rad].
    """
    names = [link["name"] for link in movable_links(header)]
    rotations = link_rotations(header, positions)
    frames: dict[str, Frames] = {"": (base[:, :3], rotation_matrices(base[:, 3:]))}
    for link in header.links:
        poses_in_parent = np.tile([*link["position"], *link["rotation"]], (len(base), 1))
        if link["name"] in names:
            poses_in_parent[:, 3:] = rotations[:, names.index(link["name"])]
        frames[link["name"]] = compose_frames(frames[link["parent"] or ""], poses_in_parent)
    return frames


class _OutlinePart(NamedTuple):
    """The outline of a shape.

    Attributes:
        nearness: mean position of its points towards the viewer [m].
        outline: corners, `(n, 2)` to the right and up [m].
        colour: red, green and blue, `(3,)`, 0..1.
    """

    nearness: float
    outline: Floats
    colour: Floats


def draw_outline(axes: Axes, header: RobotHeader, base: Floats, positions: Floats, view: str) -> None:
    """Draw the outline of a robot, near parts over far ones.

    Args:
        axes: the axes to draw into.
        header: the header with the links.
        base: pose of the base, `(7,)`.
        positions: joint angles, `(n_joints,)` [rad].
        view: one of `VIEWS`.
    """
    from matplotlib.collections import PolyCollection

    frames = link_frames(header, base[np.newaxis], positions[np.newaxis])
    view_axes = VIEWS[view]
    parts: list[_OutlinePart] = []
    for link in header.links:
        for shape in link["shapes"]:
            shape_pose = np.array([[*shape["position"], *shape["rotation"]]])
            (position,), (rotation,) = compose_frames(frames[link["name"]], shape_pose)
            points = (position + _surface_points(shape) @ rotation.T) @ view_axes.T
            # the farthest point in each direction of the ring, which is enough for convex shapes
            outline = points[np.argmax(points[:, :2] @ _RING, axis=0), :2]
            colour = _PALER + (1.0 - _PALER) * np.array(shape["colour"][:3])
            parts.append(_OutlinePart(float(points[:, 2].mean()), outline, colour))
    parts.sort(key=lambda part: part.nearness)  # far ones are drawn first
    outlines = [part.outline for part in parts]
    colours = [part.colour for part in parts]
    axes.add_collection(PolyCollection(outlines, facecolors=colours, edgecolors="#3a444c", linewidths=0.3))
    axes.update_datalim(np.concatenate(outlines))


def _surface_points(shape: Mapping[str, Any]) -> Floats:
    """Return points on the surface of a shape, enough to draw its outline, `(m, 3)` in its own frame [m].

    Args:
        shape: as in `RobotHeader.links`. One of a kind without points of its own is drawn as an ellipsoid.
    """
    half_size = 0.5 * np.array(shape["size"])
    if shape["kind"] == "capsule":
        radius = half_size[0]
        ball_centre = np.array([0.0, 0.0, half_size[2] - radius])
        return np.concatenate([_BALL * radius + ball_centre, _BALL * radius - ball_centre])
    return np.asarray(_POINTS_ON_SHAPE.get(shape["kind"], _BALL) * half_size)
