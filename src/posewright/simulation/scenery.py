"""How a world looks: colours, light, sky and the ground around the arena. Nothing here touches anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco

from posewright.simulation.arena_model import DECORATION_GROUP, FLOOR, box_name
from posewright.simulation.spectator import FOV_DEG

if TYPE_CHECKING:
    from posewright.arenas import Arena

PICTURE_WIDTH = 1920
PICTURE_HEIGHT = 1440
"""The largest picture that can be drawn without a window."""

_SUN = {
    "name": "sun",
    "type": mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
    "dir": (0.2, 0.25, -1.0),
    "diffuse": (0.50, 0.49, 0.46),
    "specular": (0.12, 0.12, 0.12),
    "ambient": (0.0, 0.0, 0.0),
    "castshadow": True,
}
_NEAR_SHADOWS = (0.3, 200.0)
"""Half the edge of what has shadows, and how far one sees, both over the model's extent of 2 m.

MuJoCo lifts shadows off what throws them by a share of the latter: with less, a level floor has specks.
"""

_GROUND = (0.62, 0.64, 0.67, 1.0)
_TILES_PER_M = 2.0
_BARE_FLOOR = (0.48, 0.55, 0.50)


def add_scenery(spec: Any, arena: Arena | None, base: Any) -> None:
    """Give a model with its arena colours, lights and surroundings.

    Args:
        spec: the model.
        arena: what is in it; None for a bare floor.
        base: the robot's, which the light follows where there is nothing else to light.
    """
    _set_visuals(spec, arena)
    _add_sky(spec)
    if arena is None:
        _add_following_light(spec, base)
    else:
        _add_light(spec, arena)
    floor = _BARE_FLOOR if arena is None else arena.colours["floor"]
    _add_tiles(spec, floor)
    if arena is not None:
        _add_ground(spec, arena)
        _colour_arena(spec, arena)


def _set_visuals(spec: Any, arena: Arena | None) -> None:
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight = PICTURE_WIDTH, PICTURE_HEIGHT
    visual.global_.fovy = FOV_DEG
    visual.quality.shadowsize = 4096
    visual.quality.offsamples = 4
    visual.headlight.ambient = (0.44, 0.44, 0.46)
    visual.headlight.diffuse = (0.20, 0.20, 0.20)
    visual.headlight.specular = (0.0, 0.0, 0.0)
    visual.map.znear = 0.005
    visual.map.zfar = 40.0
    visual.map.shadowclip = 1.6
    spec.stat.extent = 2.0
    spec.stat.center = (0.0 if arena is None else arena.size_x / 2.0, 0.0, 0.2)
    visual.rgba.haze = (0.86, 0.89, 0.93, 1.0)


def _add_sky(spec: Any) -> None:
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.80, 0.86, 0.93),
        rgb2=(0.97, 0.98, 0.99),
        width=256,
        height=1536,
    )


def _add_light(spec: Any, arena: Arena) -> None:
    """Add one light with shadows, high over the start side, so that boxes throw them sideways."""
    spec.worldbody.add_light(pos=(arena.size_x / 2.0 - 0.6, -0.75, 3.0), **_SUN)


def _add_following_light(spec: Any, base: Any) -> None:
    """Add the same light over the robot; it need reach no farther, so that the shadow has fine edges."""
    base.add_light(pos=(-0.6, -0.75, 3.0), mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACK, **_SUN)
    spec.visual.map.shadowclip, spec.visual.map.zfar = _NEAR_SHADOWS


def _add_tiles(spec: Any, colour: tuple[float, float, float]) -> None:
    """Lay the floor out in tiles of 50 cm in two shades, so that a distance can be read."""
    spec.add_texture(
        name="tiles",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=tuple(0.90 * part for part in colour),
        rgb2=tuple(0.86 * part for part in colour),
        width=128,
        height=128,
    )
    tiles = spec.add_material(name="tiles", reflectance=0.0, specular=0.0, shininess=0.0)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    tiles.texuniform = True
    tiles.texrepeat = (_TILES_PER_M, _TILES_PER_M)
    _geom(spec, FLOOR).material = "tiles"


def _add_ground(spec: Any, arena: Arena) -> None:
    spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(arena.size_x / 2.0, 0.0, -0.01),
        size=(20.0, 20.0, 1.0),
        rgba=_GROUND,
        contype=0,
        conaffinity=0,
        group=DECORATION_GROUP,
    )


def _colour_arena(spec: Any, arena: Arena) -> None:
    names: dict[str, list[str]] = {}
    for shape in arena.shapes:
        names.setdefault(shape.role.value, []).append(shape.name)
    if arena.boxes:
        names["box"] = [box_name(index) for index in range(len(arena.boxes))]
    for kind, geoms in names.items():
        # A little light of its own: white stays white on the side that lies in shadow.
        spec.add_material(name=kind, rgba=(*arena.colours[kind], 1.0), emission=0.2, specular=0.1)
        for name in geoms:
            geom = _geom(spec, name)
            geom.material, geom.rgba = kind, (*arena.colours[kind], 1.0)


def _geom(spec: Any, name: str) -> Any:
    return next(geom for geom in spec.geoms if geom.name == name)
