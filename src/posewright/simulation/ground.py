"""The ground under a robot: how slippery it is, and how it leans.

A ground leans by leaning gravity: the field's frame stays that of the floor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.world import World


def set_friction(world: World, friction: float) -> None:
    """Give the floor a coefficient of sliding friction that counts whatever touches it."""
    floor = int(world.model.geom(FLOOR).id)
    world.model.geom_friction[floor, 0] = friction
    world.model.geom_priority[floor] = int(world.model.geom_priority.max()) + 1


def leaning(gravity: Floats, roll_rad: float, pitch_rad: float) -> Floats:
    """Return gravity as a floor feels it that leans by Ry(pitch) Rx(roll): the transpose of that times it.

    Args:
        gravity: as a level floor feels it, straight down [m/s^2].
        roll_rad: positive where the field falls away to the right [rad].
        pitch_rad: positive where it falls away along +x [rad].

    Returns:
        `(3,)` [m/s^2].
    """
    if not roll_rad and not pitch_rad:
        return gravity
    pull, across = float(np.linalg.norm(gravity)), math.cos(pitch_rad)
    downhill = (math.sin(pitch_rad), -across * math.sin(roll_rad), -across * math.cos(roll_rad))
    return pull * np.array(downhill)


def levelled(rotation: Floats, gravity: Floats) -> Floats:
    """Return how something is turned against the vertical that is turned so against the floor, `(3, 3)`.

    Args:
        rotation: its axes as columns, in the field frame.
        gravity: as the floor feels it, `(3,)` [m/s^2].
    """
    ahead, left, up = gravity.tolist()
    if not ahead and not left:
        return rotation
    pitch, roll = math.atan2(ahead, math.hypot(left, up)), math.atan2(-left, -up)
    cp, sp, cr, sr = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll)
    floor = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])
    turned: Floats = floor @ rotation
    return turned
