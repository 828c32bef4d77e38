"""What a ray may meet: the arena alone, in a model of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco

from posewright.arrays import Floats
from posewright.simulation.arena_model import add_arena, box_name

if TYPE_CHECKING:
    from posewright.simulation.world import World


class Surroundings:
    """A second model, of the arena without the robot, in which the boxes stand as they do in the world.

    No ray may end on the robot that sent it, and four in five of a world's geoms are the robot's: to let
    MuJoCo pass over them for every ray costs half as much again as the rays themselves. The distances
    are the same to the last bit: the boxes' places are copied, and everything else stands still.

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
        here = _box_places(self.model, self.data, world.n_boxes)
        there = _box_places(world.model, world.data, world.n_boxes)
        self._places = list(zip(here, there, strict=True))

    def update(self) -> None:
        """Put the boxes where they are now."""
        for here, there in self._places:
            here[:] = there


def _box_places(model: Any, data: Any, n_boxes: int) -> list[Floats]:
    """Return live views of all that MuJoCo knows of where the boxes are."""
    if not n_boxes:
        return []
    # The boxes were added to either model one after the other, and so do their numbers stand.
    geom, body = int(model.geom(box_name(0)).id), int(model.body(box_name(0)).id)
    geoms, bodies = slice(geom, geom + n_boxes), slice(body, body + n_boxes)
    return [
        *(places[geoms] for places in (data.geom_xpos, data.geom_xmat)),
        *(places[bodies] for places in (data.xpos, data.xmat, data.xipos, data.ximat)),
    ]
