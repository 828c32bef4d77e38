"""The arena as elements of a MuJoCo model: floor, walls, lines, boxes that can be pushed, and how it looks.

Everything solid here is in `ENVIRONMENT_GROUP`, so that a sensor's ray meets it and never the robot
itself; lines and other decoration are in `DECORATION_GROUP` and touch nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from posewright.arenas import Arena, Box, Role, Shape
from posewright.errors import InputError
from posewright.simulation.markers import add_marker, paint_marker

FLOOR = "floor"
DECORATION_GROUP = 1
ENVIRONMENT_GROUP = 2
LINE_THICKNESS_M = 0.001
BARE_FLOOR_M = 5.0
"""Half the edge of the floor where there is no arena."""

_FLOOR_FRICTION = 0.5
_ROLLING = (0.005, 0.0001)
"""Torsional and rolling friction: MuJoCo's own defaults; with condim 3 they have no effect."""

_SOLID = {
    # All written out: a robot's model may set other defaults for its own geoms.
    "contype": 1,
    "conaffinity": 1,
    "condim": 3,
    "group": ENVIRONMENT_GROUP,
    "solref": (0.01, 1.0),
    "solimp": (0.9, 0.95, 0.001, 0.5, 2.0),
    "margin": 0.0,
    "gap": 0.0,
}
FOV_DEG = 40.0
"""Opening of a spectator's view from the bottom to the top [deg]."""

PICTURE_WIDTH = 1920
PICTURE_HEIGHT = 1440
"""The largest picture that can be drawn without a window."""

SUN = "sun"
_SUN = {
    "name": SUN,
    "type": mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
    "dir": (0.04, 0.40, -1.0),
    "diffuse": (0.42, 0.41, 0.39),
    "specular": (0.12, 0.12, 0.12),
    "ambient": (0.0, 0.0, 0.0),
    "castshadow": True,
}
_SUN_M = 3.0
"""How high the sun is above what it lights [m]."""

_FIELD_SHARE = 0.75
"""Half the edge of what has shadows, over the diagonal of a field."""

_EXTENT_M = 2.0
"""What MuJoCo takes for the size of the model: it gives other lengths as shares of it [m]."""

_SHADOWED_M = 0.6
"""Half the edge of what has shadows on a bare floor: the smaller, the finer are their edges [m]."""

_FARTHEST = 200.0
"""How far one sees, over the model's extent.

MuJoCo lifts shadows off what throws them by a share of this: with less, a level floor has specks.
"""

_GROUND = (0.70, 0.72, 0.75, 1.0)
BARE_FLOOR = (0.63, 0.67, 0.66)

_TILE_PX = 512
"""Edge of the picture of a metre of floor, in pixels."""

_LINES = ((5, 1, 0.93), (1, 2, 0.90))
"""Lines on a floor: how many in a tile, half their width [pixels], and how bright over what is beside."""

_DECORATION = {"contype": 0, "conaffinity": 0, "group": DECORATION_GROUP}


def box_name(index: int) -> str:
    """Return the name of the body, joint and geom of a box."""
    return f"box_{index}"


def add_arena(spec: Any, arena: Arena | None, *, lines: bool = True) -> None:
    """Add the arena's solid things and, to be seen, its lines to a model; without an arena, a bare floor."""
    if arena is None:
        _add_floor(spec, (0.0, 0.0), (BARE_FLOOR_M, BARE_FLOOR_M), _FLOOR_FRICTION)
        return
    middle = (arena.size_x / 2.0, 0.0)
    _add_floor(spec, middle, (arena.size_x / 2.0, arena.size_y / 2.0), arena.friction)
    for shape in arena.shapes:
        if shape.is_solid:
            _add_solid(spec, shape, arena.friction)
        elif lines and shape.role is Role.MARKER:
            _decorate(add_marker(spec, shape))
        elif lines:
            _add_line(spec, shape)
    _add_boxes(spec, arena, arena.boxes)


def arena_mjcf(arena: Arena) -> str:
    """Return an arena, its boxes free to be pushed, as a MuJoCo model in XML; markers are bare boards in it.

    Raises:
        InputError: MuJoCo takes no such arena.
    """
    spec = mujoco.MjSpec()
    spec.modelname = arena.name
    add_arena(spec, arena)
    _colour_arena(spec, replace(arena, shapes=tuple(_unpainted(arena))))
    _geom(spec, FLOOR).rgba = (*arena.colours["floor"], 1.0)
    try:
        spec.compile()
        return str(spec.to_xml())
    except ValueError as error:
        raise InputError(f"{arena.name} is no model: {error}") from error


def _unpainted(arena: Arena) -> list[Shape]:
    return [shape for shape in arena.shapes if shape.role is not Role.MARKER]


def _add_floor(spec: Any, middle: tuple[float, float], half: tuple[float, float], friction: float) -> None:
    floor = spec.worldbody.add_geom(
        name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, pos=(*middle, 0.0), size=(*half, 0.05)
    )
    _solidify(floor, friction)


def _solidify(geom: Any, friction: float) -> None:
    """Let a geom of the arena push and be pushed against."""
    geom.friction = (friction, *_ROLLING)
    for name, value in _SOLID.items():
        setattr(geom, name, value)


def _decorate(geom: Any) -> None:
    """Let a geom be seen, and touched by nothing."""
    for name, value in _DECORATION.items():
        setattr(geom, name, value)


def _add_solid(spec: Any, shape: Shape, friction: float) -> None:
    length, width, height = (edge / 2.0 for edge in shape.size_m)
    kind, size = mujoco.mjtGeom.mjGEOM_BOX, (length, width, height)
    if shape.is_round:
        kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, (length, height, 0.0)
    geom = spec.worldbody.add_geom(
        name=shape.name,
        type=kind,
        pos=(shape.x, shape.y, shape.base_m + height),
        quat=_turned(shape.yaw_rad),
        size=size,
    )
    if shape.hull_m:
        mesh = spec.add_mesh(name=shape.name, uservert=np.ravel(shape.hull_m))
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        geom.type = mujoco.mjtGeom.mjGEOM_MESH
        geom.pos = (shape.x, shape.y, shape.base_m)
        geom.meshname = shape.name
        geom.size = (0.0, 0.0, 0.0)
    _solidify(geom, friction)


def _add_line(spec: Any, line: Shape) -> None:
    length, width, _ = line.size_m
    kind, size = mujoco.mjtGeom.mjGEOM_BOX, (length / 2.0, width / 2.0, LINE_THICKNESS_M / 2.0)
    if line.is_round:
        kind, size = mujoco.mjtGeom.mjGEOM_CYLINDER, (length / 2.0, LINE_THICKNESS_M / 2.0, 0.0)
    geom = spec.worldbody.add_geom(
        name=line.name,
        type=kind,
        pos=(line.x, line.y, line.base_m),
        quat=_turned(line.yaw_rad),
        size=size,
    )
    _decorate(geom)


def _turned(yaw_rad: float) -> tuple[float, float, float, float]:
    return math.cos(yaw_rad / 2.0), 0.0, 0.0, math.sin(yaw_rad / 2.0)


def _add_boxes(spec: Any, arena: Arena, boxes: Sequence[Box]) -> None:
    for index, box in enumerate(boxes):
        name, kind = box_name(index), arena.kind_of(box)
        half = tuple(edge / 2.0 for edge in kind.size_m)
        body = spec.worldbody.add_body(name=name, pos=(box.x, box.y, half[2]), quat=_turned(box.yaw_rad))
        # A box that nothing touches sleeps: six of them awake would double the cost of a step.
        body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_INIT
        body.add_freejoint(name=name)
        geom = body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=half, mass=kind.mass_kg)
        _solidify(geom, kind.friction)
    if boxes:
        spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)


def add_scenery(spec: Any, arena: Arena | None, base: Any) -> None:
    """Give a model with its arena colours, lights and surroundings; nothing of it touches anything.

    Without an arena, on a bare floor, the light follows the robot's base: there is nothing else to light.
    """
    _set_visuals(spec, arena)
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=(0.80, 0.86, 0.93),
        rgb2=(0.97, 0.98, 0.99),
        width=256,
        height=1536,
    )
    if arena is None:  # the light need reach no farther, so that the shadow has fine edges
        base.add_light(pos=_above(0.0), mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACK, **_SUN)
        _add_tiles(spec, BARE_FLOOR)
        return
    # One light with shadows, high over the start side, so that boxes throw them sideways.
    spec.worldbody.add_light(pos=_above(arena.size_x / 2.0), **_SUN)
    _add_tiles(spec, arena.colours["floor"])
    ground = spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(arena.size_x / 2.0, 0.0, -0.01),
        size=(20.0, 20.0, 1.0),
        rgba=_GROUND,
    )
    _decorate(ground)
    _colour_arena(spec, arena)


def _above(x: float) -> tuple[float, float, float]:
    """Return where the sun is that shines on x in the middle of the floor."""
    across, along, down = _SUN["dir"]
    return (x + _SUN_M * across / down, _SUN_M * along / down, _SUN_M)


def _set_visuals(spec: Any, arena: Arena | None) -> None:
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight = PICTURE_WIDTH, PICTURE_HEIGHT
    visual.global_.fovy = FOV_DEG
    visual.quality.shadowsize = 4096
    visual.quality.offsamples = 4
    visual.headlight.ambient = (0.46, 0.47, 0.49)
    visual.headlight.diffuse = (0.27, 0.27, 0.27)
    visual.headlight.specular = (0.0, 0.0, 0.0)
    visual.map.znear = 0.005
    visual.map.zfar = _FARTHEST
    shadowed_m = _SHADOWED_M if arena is None else _FIELD_SHARE * math.hypot(*arena.size_m)
    visual.map.shadowclip = shadowed_m / _EXTENT_M
    spec.stat.extent = _EXTENT_M
    spec.stat.center = (0.0 if arena is None else arena.size_x / 2.0, 0.0, 0.2)
    visual.rgba.haze = (0.86, 0.89, 0.93, 1.0)


def _add_tiles(spec: Any, colour: tuple[float, float, float]) -> None:
    """Lay the floor out in tiles of 50 cm in two shades, with a line every 10 cm, to read a way by."""
    half, middle = _TILE_PX // 2, np.arange(_TILE_PX)
    is_dark = (middle < half)[:, None] ^ (middle < half)
    shades = np.where(is_dark, 0.92, 0.98)
    for spaces, width, shade in _LINES:
        gap = half / spaces
        on_line = np.abs((middle + 0.5 + gap / 2.0) % gap - gap / 2.0) < width
        shades[on_line[:, None] | on_line] *= shade
    texels = np.round(255.0 * shades[..., None] * np.array(colour)).astype(np.uint8)
    texture = spec.add_texture(
        name="tiles", width=_TILE_PX, height=_TILE_PX, type=mujoco.mjtTexture.mjTEXTURE_2D, nchannel=3
    )
    texture.data = texels.tobytes()
    tiles = spec.add_material(name="tiles", reflectance=0.0, specular=0.0, shininess=0.0)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    tiles.texuniform = True
    tiles.texrepeat = (1.0, 1.0)
    _geom(spec, FLOOR).material = "tiles"


def _colour_arena(spec: Any, arena: Arena) -> None:
    names: dict[str, list[str]] = {}
    for shape in arena.shapes:
        if shape.role is Role.MARKER:
            paint_marker(spec, shape, _geom(spec, shape.name))
            continue
        kind = shape.name if shape.name in arena.colours else shape.role.value
        names.setdefault(kind, []).append(shape.name)
    if arena.boxes:
        names["box"] = [box_name(index) for index in range(len(arena.boxes))]
    for kind, geoms in names.items():
        # A little light of its own: white stays white on the side that lies in shadow.
        spec.add_material(name=kind, rgba=(*arena.colours[kind], 1.0), emission=0.1, specular=0.1)
        for name in geoms:
            geom = _geom(spec, name)
            geom.material, geom.rgba = kind, (*arena.colours[kind], 1.0)


def _geom(spec: Any, name: str) -> Any:
    return next(geom for geom in spec.geoms if geom.name == name)
