"""The ground under a robot: how slippery it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.world import World


def set_friction(world: World, friction: float) -> None:
    """Give the floor a coefficient of sliding friction that counts whatever touches it."""
    floor = int(world.model.geom(FLOOR).id)
    world.model.geom_friction[floor, 0] = friction
    world.model.geom_priority[floor] = int(world.model.geom_priority.max()) + 1
