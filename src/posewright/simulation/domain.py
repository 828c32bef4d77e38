"""Domain parameters applied to a MuJoCo model: mass, centre of mass, rotor inertia, friction and slope.

A sloped ground is simulated by tilting gravity: the field's frame stays that of the floor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Floats
from posewright.bodies import DomainParameters
from posewright.errors import InputError
from posewright.simulation.arena_model import find_ground_geoms

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

_CHANGED_ARRAYS = (
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
"""Arrays of MuJoCo's model that domain parameters change, besides gravity."""


class ModelDomain:
    """Applies the domain parameters of bodies to a world's model, always starting from the nominal values.

    Args:
        model: the model of the world.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._nominal: dict[str, NDArray[np.generic]] = {}  # values by array; empty before the first change
        self._gravity: Floats = np.empty(0)  # nominal
        self._domains: dict[str, tuple[ModelInstance, DomainParameters]] = {}  # by robot

    def set(self, instance: ModelInstance, domain: DomainParameters) -> None:
        """Apply the parameters of one robot's body, in place of its previous ones.

        Friction is set on the floor and its plates, and overrides that of whatever touches them. Inertias
        scale with their masses.

        Raises:
            InputError: another robot of this world has a different ground.
        """
        if not self._nominal:
            if domain.is_nominal:
                return
            self._nominal = {name: getattr(self._model, name).copy() for name in _CHANGED_ARRAYS}
            self._gravity = self._model.opt.gravity.copy()
        domains = {**self._domains, instance.name: (instance, domain)}
        friction, slope_rad = _shared_ground([parameters for _, parameters in domains.values()])
        self._domains = domains
        for name, values in self._nominal.items():
            getattr(self._model, name)[:] = values
        for other_instance, parameters in domains.values():
            self._apply(other_instance, parameters)
        self._model.opt.gravity[:] = tilt_gravity(self._gravity, *slope_rad)
        if friction is not None:
            set_friction(self._model, friction)
        # updates what MuJoCo derives from masses (weights of subtrees and constraints); with nominal
        # parameters the values are those of the compiler to the last bit
        mujoco.mj_setConst(self._model, mujoco.MjData(self._model))

    def _apply(self, instance: ModelInstance, domain: DomainParameters) -> None:
        """Change masses, inertias, rotor inertias and the base's centre of mass of one robot."""
        model = self._model
        addresses = instance.addresses
        own_bodies = model.body_rootid == addresses.base_body
        model.body_mass[own_bodies] *= domain.mass_scale
        model.body_inertia[own_bodies] *= domain.mass_scale
        model.dof_armature[addresses.joint_qvel] *= domain.armature_scale
        if any(domain.com_shift_m):
            self._shift_centre_of_mass(addresses.base_body, np.array(domain.com_shift_m))

    def _shift_centre_of_mass(self, body: int, shift_m: Floats) -> None:
        """Move a body's centre of mass.

        MuJoCo's "sameframe" flags say which frames coincide, so that it need not compute them. The flags that
        equate a frame with that of the centre of mass are cleared.
        """
        model = self._model
        same_frame = mujoco.mjtSameFrame
        model.body_ipos[body] += shift_m
        if model.body_sameframe[body] == int(same_frame.mjSAMEFRAME_BODY):
            model.body_sameframe[body] = int(same_frame.mjSAMEFRAME_BODYROT)
        for flags, bodies in (
            (model.geom_sameframe, model.geom_bodyid),
            (model.site_sameframe, model.site_bodyid),
        ):
            is_stale = (bodies == body) & (flags == int(same_frame.mjSAMEFRAME_INERTIA))
            flags[is_stale] = int(same_frame.mjSAMEFRAME_NONE)


def _shared_ground(domains: list[DomainParameters]) -> tuple[float | None, tuple[float, float]]:
    """Return friction and slope of the ground that several robots share.

    Raises:
        InputError: two robots have different friction or slope.
    """
    frictions = {domain.friction for domain in domains} - {None}
    slopes = {domain.slope_rad for domain in domains if any(domain.slope_rad)}
    if len(frictions) > 1 or len(slopes) > 1:
        raise InputError(
            "robots of one world have different grounds", hint="give them the same friction and slope"
        )
    return next(iter(frictions), None), next(iter(slopes), (0.0, 0.0))


def set_friction(model: mujoco.MjModel, friction: float) -> None:
    """Set the sliding friction of the floor and of plates; it overrides that of whatever touches them."""
    ground = find_ground_geoms(model)
    model.geom_friction[ground, 0] = friction
    model.geom_priority[ground] = int(model.geom_priority.max()) + 1


def tilt_gravity(gravity: Floats, roll_rad: float, pitch_rad: float) -> Floats:
    """Return gravity in the frame of a floor tilted by R = Ry(pitch) Rx(roll): R transposed times gravity.

    Args:
        gravity: straight down, in the frame of a level floor, `(3,)` [m/s^2].
        roll_rad: positive where the field slopes down to the right [rad].
        pitch_rad: positive where it slopes down along +x [rad].
    """
    if not roll_rad and not pitch_rad:
        return gravity
    magnitude = float(np.linalg.norm(gravity))
    cos_pitch = math.cos(pitch_rad)
    down = (math.sin(pitch_rad), -cos_pitch * math.sin(roll_rad), -cos_pitch * math.cos(roll_rad))
    return magnitude * np.array(down)


def rotate_to_vertical(rotation: Floats, gravity: Floats) -> Floats:
    """Return a rotation relative to the vertical, given the rotation relative to the floor.

    Args:
        rotation: relative to the floor, `(3, 3)`.
        gravity: the gravity in the floor's frame, `(3,)` [m/s^2].
    """
    x, y, z = gravity.tolist()
    if not x and not y:  # the floor is level
        return rotation
    pitch = math.atan2(x, math.hypot(y, z))
    roll = math.atan2(-y, -z)
    cp = math.cos(pitch)
    sp = math.sin(pitch)
    cr = math.cos(roll)
    sr = math.sin(roll)
    floor_rotation = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])
    return np.asarray(floor_rotation @ rotation)
