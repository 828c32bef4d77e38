"""How near a camera may come to a robot and still show the whole of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from posewright.simulation.spectator import FOLLOWING, FOV_DEG, SOFTLY, CloseUp, line_of_sight
from posewright.simulation.supports import find_supports

if TYPE_CHECKING:
    from posewright.simulation.world import World

_MARGIN = 1.12
"""Size of the picture over that of the robot: about five per cent of it stay free on either side."""

_ROOM_TO_LEAD = 1.2
"""Further room for a robot that runs ahead of a camera that follows it softly."""

_AT_ONCE = 1.0
"""The camera looks right at the robot in every picture: the pictures of a strip are far apart."""


def framed(
    world: World,
    moments: Iterable[tuple[ArrayLike, ArrayLike]],
    camera: str,
    aspect: float,
    *,
    steady: bool,
) -> CloseUp | None:
    """Return how a camera that follows the robot sees all of it at every moment, from as near as can be.

    Where the camera is none that follows, there is nothing to choose: None.

    Args:
        world: with the robot on a bare floor; its state is changed.
        moments: poses of the base `(7,)` and of the joints `(n_joints,)` [rad].
        camera: its name.
        aspect: width of the picture over its height.
        steady: whether the camera follows a moving robot softly; else it looks right at it in each picture.
    """
    view = next((view for view in FOLLOWING if view.value == camera), None)
    if view is None:
        return None
    points, radii = [], []
    for base, joints in moments:
        world.show(base, joints)
        supports = find_supports(world)
        middle = np.asarray(base, dtype=np.float64)[:3] * (1.0, 1.0, 0.0)
        points.append(supports.centres - middle)
        radii.append(supports.radii)
    offsets, reach = np.concatenate(points), np.concatenate(radii)
    top, bottom = float((offsets[:, 2] + reach).max()), float((offsets[:, 2] - reach).min())
    height = 0.5 * (top + bottom)
    sight = line_of_sight(view)
    right = np.array([sight[1], -sight[0], 0.0]) / math.hypot(sight[0], sight[1])
    turned = (offsets - (0.0, 0.0, height)) @ np.stack([right, np.cross(right, sight), sight], axis=-1)
    aside, above, beyond = turned.T
    slope = math.tan(math.radians(FOV_DEG) / 2.0)
    room = _MARGIN * (_ROOM_TO_LEAD if steady else 1.0)
    needed = room * np.maximum((np.abs(aside) + reach) / aspect, np.abs(above) + reach) / slope - beyond
    return CloseUp(height, float(needed.max()), SOFTLY if steady else _AT_ONCE)
