"""Markers on a field: plates with a QR code as their texture."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Shape
from posewright.errors import MissingExtraError

_QUIET_ZONE = 4
"""White modules around a code, as ISO/IEC 18004 requires."""

_MODULE_PX = 8
_EMISSION = 0.25
"""Emission of the texture, so that black and white differ in the shadow too."""


def add_marker(spec: mujoco.MjSpec, marker: Shape) -> mujoco.MjsGeom:
    """Add a marker's plate without its code, and return its geom, which still collides."""
    depth, width, height = (max(edge, 1e-3) / 2.0 for edge in marker.size_m)
    half_yaw = marker.yaw_rad / 2.0
    yaw_quaternion = np.array([math.cos(half_yaw), 0.0, 0.0, math.sin(half_yaw)])
    z_to_x = np.full(4, 0.5)  # a box's texture is on its z side, which must become the plate's front
    quaternion = np.empty(4)
    mujoco.mju_mulQuat(quaternion, yaw_quaternion, z_to_x)
    return spec.worldbody.add_geom(
        name=marker.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=(width, height, depth),
        pos=(marker.x, marker.y, marker.base_m + height),
        quat=quaternion,
    )


def paint_marker(spec: mujoco.MjSpec, marker: Shape, geom: mujoco.MjsGeom) -> None:
    """Give a marker's geom a material with its code.

    Raises:
        MissingExtraError: the library that draws codes is not installed.
    """
    texels = np.repeat(draw_qr_code(marker.text)[..., None], 3, axis=-1)
    texture = spec.add_texture(
        name=marker.name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        nchannel=3,
        width=texels.shape[1],
        height=texels.shape[0],
    )
    texture.data = texels.tobytes()
    material = spec.add_material(name=marker.name, emission=_EMISSION, specular=0.0, shininess=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = marker.name
    geom.material = marker.name


def draw_qr_code(text: str) -> NDArray[np.uint8]:
    """Return a text's QR code as a grey image, `(pixels, pixels)`, 0 black, 255 white.

    Raises:
        MissingExtraError: the library that draws codes is not installed.
    """
    try:
        import segno
    except ImportError as error:
        raise MissingExtraError.for_extra("a marker's code", "vision") from error
    modules = np.array(list(segno.make_qr(text, error="m").matrix), dtype=np.uint8)
    is_white = np.pad(1 - modules, _QUIET_ZONE, constant_values=1)
    return np.asarray(np.kron(255 * is_white, np.ones((_MODULE_PX, _MODULE_PX))), dtype=np.uint8)
