"""A model's numbers as bodies have them: heavier, with other rotors, on a smoother or leaning ground.

A ground leans by leaning gravity: the field's frame stays that of the floor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.bodies import DomainParameters
from posewright.errors import InputError
from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

_CHANGED = (
    *("body_mass", "body_inertia", "body_ipos", "body_sameframe", "geom_sameframe", "geom_friction"),
    *("geom_priority", "site_sameframe", "dof_armature"),
)
"""Arrays of MuJoCo's model that a body's domain parameters change; gravity besides."""


class ModelDomain:
    """Gives a world's model the numbers of its bodies, each time from what they were at first.

    Args:
        model: MuJoCo's, of a world.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._nominal: dict[str, Any] = {}
        self._gravity: Floats = np.empty(0)
        self._domains: dict[str, tuple[ModelInstance, DomainParameters]] = {}

    def set(self, one: ModelInstance, domain: DomainParameters) -> None:
        """Give the model the numbers of a body, whatever that body was before.

        Friction goes to the floor, whatever touches it. Masses take their inertias with them.

        Raises:
            InputError: another robot of this world stands on another ground.
        """
        if not self._nominal:
            if domain.is_nominal:
                return
            self._nominal = {name: getattr(self._model, name).copy() for name in _CHANGED}
            self._gravity = self._model.opt.gravity.copy()
        wanted = {**self._domains, one.name: (one, domain)}
        friction, slope_rad = _ground([domain for _, domain in wanted.values()])
        self._domains = wanted
        for name, values in self._nominal.items():
            getattr(self._model, name)[:] = values
        for instance, parameters in wanted.values():
            self._change(instance, parameters)
        self._model.opt.gravity[:] = leaning(self._gravity, *slope_rad)
        if friction is not None:
            set_friction(self._model, friction)
        # What MuJoCo derives from masses (weights of subtrees and constraints) follows; without a change the
        # numbers are those of the compiler, to the last bit.
        mujoco.mj_setConst(self._model, mujoco.MjData(self._model))

    def _change(self, one: ModelInstance, domain: DomainParameters) -> None:
        model, at = self._model, one.addresses
        own = model.body_rootid == at.base_body
        model.body_mass[own] *= domain.mass_scale
        model.body_inertia[own] *= domain.mass_scale
        model.dof_armature[at.joint_qvel] *= domain.armature_scale
        if any(domain.com_shift_m):
            self._shift(at.base_body, np.array(domain.com_shift_m))

    def _shift(self, body: int, shift_m: Floats) -> None:
        """Move a body's centre of mass; what MuJoCo took for the same frame is so no longer."""
        model, same = self._model, mujoco.mjtSameFrame
        model.body_ipos[body] += shift_m
        if model.body_sameframe[body] == int(same.mjSAMEFRAME_BODY):
            model.body_sameframe[body] = int(same.mjSAMEFRAME_BODYROT)
        geoms, sites = (model.geom_sameframe, model.geom_bodyid), (model.site_sameframe, model.site_bodyid)
        for frames, bodies in (geoms, sites):
            frames[(bodies == body) & (frames == int(same.mjSAMEFRAME_INERTIA))] = int(same.mjSAMEFRAME_NONE)


def _ground(domains: list[DomainParameters]) -> tuple[float | None, tuple[float, float]]:
    """Return friction and slope of the ground that several robots share."""
    frictions = {domain.friction for domain in domains} - {None}
    slopes = {domain.slope_rad for domain in domains if any(domain.slope_rad)}
    if len(frictions) > 1 or len(slopes) > 1:
        same = "give them the same friction and slope"
        raise InputError("robots of one world stand on one ground", hint=same)
    return next(iter(frictions), None), next(iter(slopes), (0.0, 0.0))


def set_friction(model: Any, friction: float) -> None:
    """Give the floor of a world's model a coefficient of sliding friction that counts whatever touches it."""
    floor = int(model.geom(FLOOR).id)
    model.geom_friction[floor, 0] = friction
    model.geom_priority[floor] = int(model.geom_priority.max()) + 1


def leaning(gravity: Floats, roll_rad: float, pitch_rad: float) -> Floats:
    """Return gravity as a floor feels it that leans by Ry(pitch) Rx(roll): the transpose of that times it.

    Args:
        gravity: as a level floor feels it, straight down, `(3,)` [m/s^2].
        roll_rad: positive where the field falls away to the right [rad].
        pitch_rad: positive where it falls away along +x [rad].
    """
    if not roll_rad and not pitch_rad:
        return gravity
    pull, across = float(np.linalg.norm(gravity)), math.cos(pitch_rad)
    downhill = (math.sin(pitch_rad), -across * math.sin(roll_rad), -across * math.cos(roll_rad))
    return pull * np.array(downhill)


def levelled(rotation: Floats, gravity: Floats) -> Floats:
    """Return how something is turned against the vertical that is turned so against the floor, `(3, 3)`.

    Gravity is as the floor feels it, `(3,)` [m/s^2].
    """
    ahead, left, up = gravity.tolist()
    if not ahead and not left:
        return rotation
    pitch, roll = math.atan2(ahead, math.hypot(left, up)), math.atan2(-left, -up)
    cp, sp, cr, sr = math.cos(pitch), math.sin(pitch), math.cos(roll), math.sin(roll)
    floor = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])
    return np.asarray(floor @ rotation)
