"""A model without what is only for the looks: two thirds of the shapes of an ERS-7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco

from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.simulation.world import World


def leave_out_looks(spec: Any) -> None:
    """Take out every geom that can touch nothing and weighs nothing, and every mesh that then is idle.

    MuJoCo moves each geom along at every step, and sorts it among the others before it looks at what it
    may touch. The states are the same without, to the last bit. Sites, cameras and bodies stay: a sensor
    finds its mount.
    """
    all_weigh = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    in_pairs = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    for geom in list(spec.geoms):
        touches = geom.contype or geom.conaffinity or geom.name in in_pairs
        if not touches and not _has_weight(geom, all_weigh):
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)


def _has_weight(geom: Any, all_weigh: bool) -> bool:
    """Tell whether a body's mass is worked out from this geom: it must then stay."""
    if geom.parent.name == "world" or geom.mass == 0.0 or geom.density == 0.0:
        return False
    return all_weigh or not geom.parent.explicitinertial


def refuse_bare(world: World) -> None:
    """Refuse to draw a world that was made without its looks: hardly anything would be seen.

    Raises:
        InputError: it was.
    """
    if not world.looks:
        raise InputError("this world cannot be drawn", hint="make it with looks=True")
