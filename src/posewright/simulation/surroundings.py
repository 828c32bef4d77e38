"""What a ray may meet: the arena alone, in a model of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco

from posewright.simulation.arena_model import add_arena, box_name

if TYPE_CHECKING:
    from posewright.simulation.world import World


class Surroundings:
    """A second model, of the arena without the robot, in which the boxes stand as they do in the world.

    No ray may end on the robot that sent it, and nine in ten of a world's geoms are the robot's: to let
    MuJoCo pass over them for every ray costs half as much again as the rays themselves. The distances
    are equal to the last bit, because the boxes' places are copied and everything else stands still.

    Attributes:
        model: MuJoCo's model of the arena.
        data: its state; it is never stepped.
    """

    def __init__(self, world: World) -> None:
        spec = mujoco.MjSpec()
        add_arena(spec, world.arena)
        self.model: Any = spec.compile()
        self.data: Any = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        self._copies = [
            (getattr(self.data, name)[mine], getattr(world.data, name)[its])
            for kind in ("geom", "body")
            for mine, its in [(_boxes(self.model, kind, world.n_boxes), _boxes(world.model, kind, world.n_boxes))]
            for name in _PLACES[kind]
        ]

    def update(self) -> None:
        """Put the boxes where they are now."""
        for mine, its in self._copies:
            mine[:] = its


_PLACES = {"geom": ("geom_xpos", "geom_xmat"), "body": ("xpos", "xmat", "xipos", "ximat")}
"""MuJoCo's arrays of where geoms and bodies are."""


def _boxes(model: Any, kind: str, n_boxes: int) -> slice:
    """Return where the boxes stand among a model's geoms or bodies: they were added one after the other."""
    first = int(getattr(model, kind)(box_name(0)).id) if n_boxes else 0
    return slice(first, first + n_boxes)
