"""The arena as elements of a MuJoCo model: floor, walls, lines, boxes that can be pushed, colours and lights.

Solid geoms are in `ENVIRONMENT_GROUP`, so that a sensor's ray hits them and never the robot itself. Lines and
other decoration are in `DECORATION_GROUP` and collide with nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Arena, Role, Shape
from posewright.arrays import Indices
from posewright.errors import InputError
from posewright.simulation.markers import add_marker, paint_marker

if TYPE_CHECKING:
    from posewright.bodies import Plate

FLOOR = "floor"
"""Name of the floor's geom, and of its colour in an arena."""

DECORATION_GROUP = 1
ENVIRONMENT_GROUP = 2
LINE_THICKNESS_M = 0.001
BARE_FLOOR_M = 5.0
"""Half the edge of the floor where there is no arena [m]."""

_FLOOR_FRICTION = 0.5
_ROLLING_FRICTION = (0.005, 0.0001)
"""Torsional and rolling friction: MuJoCo's defaults; with condim 3 they have no effect."""

FOV_DEG = 40.0
"""Vertical field of view of a spectator's camera [deg]."""

PICTURE_WIDTH = 1920
PICTURE_HEIGHT = 1440
"""Size of MuJoCo's off-screen buffer, so the largest picture that can be drawn [pixels]."""

SUN = "sun"
_SUN_DIRECTION = (0.04, 0.40, -1.0)
_SUN_HEIGHT_M = 3.0
"""Height of the sun above the floor [m]."""

_SHADOW_SHARE = 0.75
"""Half the edge of the area with shadows, over the diagonal of a field."""

_SHADOW_ON_BARE_FLOOR_M = 0.6
"""Half the edge of the area with shadows on a bare floor; a smaller area has sharper shadows [m]."""

_EXTENT_M = 2.0
"""The model's extent, which MuJoCo uses as unit for other lengths of its visuals [m]."""

_FAR_CLIP = 200.0
"""Distance of the far clipping plane, over the model's extent.

MuJoCo offsets shadows from what casts them by a share of this; with less, a level floor has specks.
"""

_SKY_TOP = (0.80, 0.86, 0.93)
_SKY_HORIZON = (0.97, 0.98, 0.99)
"""Colours of the sky."""

_GROUND_M = 20.0
"""Half the edge of the ground around a field [m]."""

_GROUND_DEPTH_M = 0.01
"""Depth of the ground below the floor, so that only one of them is visible [m]."""

_GROUND_COLOUR = (0.70, 0.72, 0.75, 1.0)
BARE_FLOOR = (0.63, 0.67, 0.66)
"""Colour of the floor where there is no arena: red, green, blue, 0..1."""

_TILE_PX = 512
"""Edge of the texture of one metre of floor [pixels]."""

_TILE_LINES = ((5, 1, 0.93), (1, 2, 0.90))
"""Lines in half a texture: their number, half their width [pixels], and their brightness over the tile's."""


PLATE_COLOUR = (0.50, 0.48, 0.44)
"""Colour of plates on the floor: red, green, blue, 0..1."""


_PLATE_PREFIX = "plate:"


def plate_name(index: int) -> str:
    """Return the name of the geom of a plate on the floor."""
    return f"{_PLATE_PREFIX}{index}"


def find_ground_geoms(model: mujoco.MjModel) -> Indices:
    """Return the numbers of the floor's geom and those of the plates on it."""
    names = [model.geom(geom).name for geom in range(model.ngeom)]
    is_ground = [name == FLOOR or name.startswith(_PLATE_PREFIX) for name in names]
    return np.flatnonzero(is_ground)


def box_name(index: int) -> str:
    """Return the name of the body, joint and geom of a box."""
    return f"box_{index}"


def add_arena(spec: mujoco.MjSpec, arena: Arena | None, *, lines: bool = True) -> None:
    """Add an arena to a model: its floor, its solid shapes and its boxes; a bare floor without an arena.

    Args:
        spec: the model to add to.
        arena: the arena.
        lines: whether lines and markers, which can only be seen, are added too.
    """
    if arena is None:
        _add_floor(spec, centre=(0.0, 0.0), half_size=(BARE_FLOOR_M, BARE_FLOOR_M), friction=_FLOOR_FRICTION)
        return
    centre = (arena.size_x / 2.0, 0.0)
    _add_floor(spec, centre, half_size=(arena.size_x / 2.0, arena.size_y / 2.0), friction=arena.friction)
    for shape in arena.shapes:
        if shape.is_solid:
            _add_solid(spec, shape, arena.friction)
        elif lines and shape.role is Role.MARKER:
            _make_decoration(add_marker(spec, shape))
        elif lines:
            _add_line(spec, shape)
    _add_boxes(spec, arena)


def add_plates(spec: mujoco.MjSpec, plates: Sequence[Plate], arena: Arena | None) -> None:
    """Add plates to the floor of an arena, or to a bare floor; they have its friction."""
    friction = _FLOOR_FRICTION if arena is None else arena.friction
    for index, plate in enumerate(plates):
        geom = spec.worldbody.add_geom(
            name=plate_name(index),
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=(plate.x_m, plate.y_m, plate.thickness_m / 2.0),
            quat=_yaw_quaternion(plate.yaw_rad),
            size=(plate.edge_m / 2.0, plate.edge_m / 2.0, plate.thickness_m / 2.0),
            rgba=(*PLATE_COLOUR, 1.0),
        )
        _set_contact_parameters(geom, friction)


def arena_mjcf(arena: Arena) -> str:
    """Return an arena as a MuJoCo model in XML, with free boxes; markers are plates without a code.

    Raises:
        InputError: MuJoCo cannot compile the arena.
    """
    spec = mujoco.MjSpec()
    spec.modelname = arena.name
    add_arena(spec, arena)
    shapes_without_markers = tuple(shape for shape in arena.shapes if shape.role is not Role.MARKER)
    _colour_arena(spec, replace(arena, shapes=shapes_without_markers))
    _find_geom(spec, FLOOR).rgba = (*arena.colours["floor"], 1.0)
    try:
        spec.compile()
        return str(spec.to_xml())
    except ValueError as error:
        raise InputError(f"MuJoCo cannot compile the arena {arena.name}: {error}") from error


def _add_floor(
    spec: mujoco.MjSpec, centre: tuple[float, float], half_size: tuple[float, float], friction: float
) -> None:
    """Add the floor: a plane with friction."""
    floor = spec.worldbody.add_geom(
        name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, pos=(*centre, 0.0), size=(*half_size, 0.05)
    )
    _set_contact_parameters(floor, friction)


def _set_contact_parameters(geom: mujoco.MjsGeom, friction: float) -> None:
    """Make a geom of the arena collide; sets every parameter, as a robot's model may have other defaults."""
    geom.friction = (friction, *_ROLLING_FRICTION)
    geom.contype = 1  # bit 1 is MuJoCo's default for geoms that collide
    geom.conaffinity = 1
    geom.condim = 3  # with sliding friction
    geom.group = ENVIRONMENT_GROUP
    geom.solref = (0.01, 1.0)  # time constant [s] and damping ratio of a contact
    geom.solimp = (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's defaults
    geom.margin = 0.0
    geom.gap = 0.0


def _make_decoration(geom: mujoco.MjsGeom) -> None:
    """Make a geom visible but not collide."""
    geom.contype = 0
    geom.conaffinity = 0
    geom.group = DECORATION_GROUP


def _add_solid(spec: mujoco.MjSpec, shape: Shape, friction: float) -> None:
    """Add a solid shape as a box, a cylinder, or the convex mesh of its hull."""
    half_length, half_width, half_height = (edge / 2.0 for edge in shape.size_m)
    geom = spec.worldbody.add_geom(
        name=shape.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(shape.x, shape.y, shape.base_m + half_height),
        quat=_yaw_quaternion(shape.yaw_rad),
        size=(half_length, half_width, half_height),
    )
    if shape.is_round:
        radius = half_length
        geom.type = mujoco.mjtGeom.mjGEOM_CYLINDER
        geom.size = (radius, half_height, 0.0)
    if shape.hull_m:  # points relative to the middle of its underside
        mesh = spec.add_mesh(name=shape.name, uservert=np.ravel(shape.hull_m))
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        geom.type = mujoco.mjtGeom.mjGEOM_MESH
        geom.pos = (shape.x, shape.y, shape.base_m)
        geom.meshname = shape.name
        geom.size = (0.0, 0.0, 0.0)
    _set_contact_parameters(geom, friction)


def _add_line(spec: mujoco.MjSpec, line: Shape) -> None:
    """Add a line or disc on the floor that is visible only."""
    length, width, _ = line.size_m
    geom = spec.worldbody.add_geom(
        name=line.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(line.x, line.y, line.base_m),
        quat=_yaw_quaternion(line.yaw_rad),
        size=(length / 2.0, width / 2.0, LINE_THICKNESS_M / 2.0),
    )
    if line.is_round:
        geom.type = mujoco.mjtGeom.mjGEOM_CYLINDER
        geom.size = (length / 2.0, LINE_THICKNESS_M / 2.0, 0.0)
    _make_decoration(geom)


def _yaw_quaternion(yaw_rad: float) -> tuple[float, float, float, float]:
    """Return the quaternion w x y z of a rotation about the vertical."""
    return math.cos(yaw_rad / 2.0), 0.0, 0.0, math.sin(yaw_rad / 2.0)


def _add_boxes(spec: mujoco.MjSpec, arena: Arena) -> None:
    """Add the boxes, each a free body; boxes that nothing touches sleep."""
    for index, box in enumerate(arena.boxes):
        name = box_name(index)
        kind = arena.kind_of(box)
        half_size = tuple(edge / 2.0 for edge in kind.size_m)
        body = spec.worldbody.add_body(
            name=name, pos=(box.x, box.y, half_size[2]), quat=_yaw_quaternion(box.yaw_rad)
        )
        # six boxes awake would double the cost of a step
        body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_INIT
        body.add_freejoint(name=name)
        geom = body.add_geom(name=name, type=mujoco.mjtGeom.mjGEOM_BOX, size=half_size, mass=kind.mass_kg)
        _set_contact_parameters(geom, kind.friction)
    if arena.boxes:
        spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)


def add_scenery(spec: mujoco.MjSpec, arena: Arena | None, base: mujoco.MjsBody) -> None:
    """Add colours, lights, sky and surrounding ground to a model with its arena; none of them collides.

    On a bare floor the light follows the robot's base, so the area with shadows can be small.
    """
    _set_visuals(spec, arena)
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=_SKY_TOP,
        rgb2=_SKY_HORIZON,
        width=256,
        height=1536,
    )
    if arena is None:
        sun = _add_sun(base, 0.0)
        sun.mode = mujoco.mjtCamLight.mjCAMLIGHT_TRACK
        _add_tiles(spec, BARE_FLOOR)
        return
    # in the middle of the field's length, from where boxes cast their shadows sideways
    _add_sun(spec.worldbody, arena.size_x / 2.0)
    _add_tiles(spec, arena.colours["floor"])
    ground = spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(arena.size_x / 2.0, 0.0, -_GROUND_DEPTH_M),
        size=(_GROUND_M, _GROUND_M, 1.0),
        rgba=_GROUND_COLOUR,
    )
    _make_decoration(ground)
    _colour_arena(spec, arena)


def _add_sun(body: mujoco.MjsBody, target_x: float) -> mujoco.MjsLight:
    """Add the light that casts shadows.

    Args:
        body: the body that carries it.
        target_x: x of the point of the floor's centre line, y = 0, at which the light points [m].
    """
    dx, dy, dz = _SUN_DIRECTION  # downwards, so dz < 0
    return body.add_light(
        name=SUN,
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=(target_x + _SUN_HEIGHT_M * dx / dz, _SUN_HEIGHT_M * dy / dz, _SUN_HEIGHT_M),
        dir=_SUN_DIRECTION,
        diffuse=(0.42, 0.41, 0.39),
        specular=(0.12, 0.12, 0.12),
        ambient=(0.0, 0.0, 0.0),
        castshadow=True,
    )


def _set_visuals(spec: mujoco.MjSpec, arena: Arena | None) -> None:
    """Set picture size, field of view, ambient light, clipping planes and shadows of a model."""
    visual = spec.visual
    visual.global_.offwidth = PICTURE_WIDTH
    visual.global_.offheight = PICTURE_HEIGHT
    visual.global_.fovy = FOV_DEG
    visual.quality.shadowsize = 4096
    visual.quality.offsamples = 4
    visual.headlight.ambient = (0.46, 0.47, 0.49)
    visual.headlight.diffuse = (0.27, 0.27, 0.27)
    visual.headlight.specular = (0.0, 0.0, 0.0)
    visual.map.znear = 0.005
    visual.map.zfar = _FAR_CLIP
    shadow_m = _SHADOW_ON_BARE_FLOOR_M if arena is None else _SHADOW_SHARE * math.hypot(*arena.size_m)
    visual.map.shadowclip = shadow_m / _EXTENT_M
    spec.stat.extent = _EXTENT_M
    spec.stat.center = (0.0 if arena is None else arena.size_x / 2.0, 0.0, 0.2)
    visual.rgba.haze = (0.86, 0.89, 0.93, 1.0)


def _add_tiles(spec: mujoco.MjSpec, colour: tuple[float, float, float]) -> None:
    """Cover the floor with tiles of 50 cm in two shades and a line every 10 cm, so that motion is visible."""
    texture = spec.add_texture(
        name="tiles", width=_TILE_PX, height=_TILE_PX, type=mujoco.mjtTexture.mjTEXTURE_2D, nchannel=3
    )
    texture.data = _draw_tiles(colour)
    material = spec.add_material(name="tiles", reflectance=0.0, specular=0.0, shininess=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    material.texuniform = True
    material.texrepeat = (1.0, 1.0)
    _find_geom(spec, FLOOR).material = "tiles"


@lru_cache(maxsize=16)
def _draw_tiles(colour: tuple[float, float, float]) -> bytes:
    """Return the texture of four tiles, row by row, three bytes a texel; cached for the runs of a batch."""
    half_px = _TILE_PX // 2
    pixels = np.arange(_TILE_PX)
    is_dark = (pixels < half_px)[:, None] ^ (pixels < half_px)
    shades = np.where(is_dark, 0.92, 0.98)
    for n_lines, half_width, brightness in _TILE_LINES:
        spacing = half_px / n_lines
        on_line = np.abs((pixels + 0.5 + spacing / 2.0) % spacing - spacing / 2.0) < half_width
        shades[on_line[:, None] | on_line] *= brightness
    texels: NDArray[np.uint8] = np.round(255.0 * shades[..., None] * np.array(colour)).astype(np.uint8)
    return texels.tobytes()


def _colour_arena(spec: mujoco.MjSpec, arena: Arena) -> None:
    """Paint the markers with their codes, and give shapes and boxes the arena's colours by name or role."""
    geoms_by_colour: dict[str, list[str]] = {}
    for shape in arena.shapes:
        if shape.role is Role.MARKER:
            paint_marker(spec, shape, _find_geom(spec, shape.name))
            continue
        colour_name = shape.name if shape.name in arena.colours else shape.role.value
        geoms_by_colour.setdefault(colour_name, []).append(shape.name)
    if arena.boxes:
        geoms_by_colour["box"] = [box_name(index) for index in range(len(arena.boxes))]
    for colour_name, geom_names in geoms_by_colour.items():
        rgba = (*arena.colours[colour_name], 1.0)
        # some emission, so that white stays white in the shadow
        spec.add_material(name=colour_name, rgba=rgba, emission=0.1, specular=0.1)
        for geom_name in geom_names:
            geom = _find_geom(spec, geom_name)
            geom.material = colour_name
            geom.rgba = rgba


def _find_geom(spec: mujoco.MjSpec, name: str) -> mujoco.MjsGeom:
    return next(geom for geom in spec.geoms if geom.name == name)
