"""A model's numbers as one body has them: heavier, on a smoother or leaning ground, with other rotors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.simulation.ground import leaning, set_friction

if TYPE_CHECKING:
    from posewright.arrays import Floats
    from posewright.bodies import DomainParameters
    from posewright.simulation.world import World

_CHANGED = (
    "body_mass",
    "body_inertia",
    "body_ipos",
    "body_sameframe",
    "geom_sameframe",
    "geom_friction",
    "geom_priority",
    "site_sameframe",
    "dof_armature",
)
"""Arrays of MuJoCo's model that a variation changes; gravity besides."""


class ModelVariation:
    """Makes a world's model that of one body after the other, each time from the numbers as they were here.

    Args:
        world: whose model is changed; its state is left alone.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._model: Any = world.model
        self._nominal = {name: getattr(self._model, name).copy() for name in _CHANGED}
        self._gravity = self._model.opt.gravity.copy()

    def apply(self, variation: DomainParameters) -> None:
        """Give the model the numbers of a variation.

        Friction goes to the floor, whatever touches it. Masses take their inertias with them. The ground
        leans by leaning gravity: the field's frame stays that of the floor.
        """
        model, at = self._model, self._world.addresses
        for name, values in self._nominal.items():
            getattr(model, name)[:] = values
        own = model.body_rootid == at.base_body
        model.body_mass[own] *= variation.mass_scale
        model.body_inertia[own] *= variation.mass_scale
        model.dof_armature[at.joint_qvel] *= variation.armature_scale
        if any(variation.com_shift_m):
            self._shift(at.base_body, np.array(variation.com_shift_m))
        model.opt.gravity[:] = leaning(self._gravity, *variation.slope_rad)
        if variation.friction is not None:
            set_friction(self._world, variation.friction)
        # What MuJoCo derives from masses (weights of subtrees and constraints) follows; without a change the
        # numbers are those of the compiler, to the last bit.
        mujoco.mj_setConst(model, mujoco.MjData(model))

    def _shift(self, body: int, shift_m: Floats) -> None:
        """Move a body's centre of mass; what MuJoCo took for the same frame is so no longer."""
        model, same = self._model, mujoco.mjtSameFrame
        model.body_ipos[body] += shift_m
        if model.body_sameframe[body] == int(same.mjSAMEFRAME_BODY):
            model.body_sameframe[body] = int(same.mjSAMEFRAME_BODYROT)
        for frames, bodies in (
            (model.geom_sameframe, model.geom_bodyid),
            (model.site_sameframe, model.site_bodyid),
        ):
            frames[(bodies == body) & (frames == int(same.mjSAMEFRAME_INERTIA))] = int(same.mjSAMEFRAME_NONE)
