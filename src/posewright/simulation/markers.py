"""Markers on a field: a plate with a QR code on it, drawn as a texture."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Shape
from posewright.errors import MissingExtraError

_QUIET = 4
"""Modules of white around a code, as ISO/IEC 18004 asks."""

_MODULE_PX = 8
_GLOW = 0.25
"""Light of its own, over what is painted: black and white are told apart in a shadow too."""


def add_marker(spec: Any, marker: Shape) -> Any:
    """Add a marker's plate, and return it; whoever adds it lets it be touched by nothing."""
    depth, width, height = (max(edge, 1e-3) / 2.0 for edge in marker.size_m)
    half = marker.yaw_rad / 2.0
    turn, ahead = np.array([math.cos(half), 0.0, 0.0, math.sin(half)]), np.full(4, 0.5)
    quaternion = np.empty(4)
    mujoco.mju_mulQuat(quaternion, turn, ahead)  # a texture lies on a plate's own z: here that is its front
    return spec.worldbody.add_geom(
        name=marker.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=(width, height, depth),
        pos=(marker.x, marker.y, marker.base_m + height),
        quat=quaternion,
    )


def paint_marker(spec: Any, marker: Shape, geom: Any) -> None:
    """Paint its code on a marker.

    Raises:
        MissingExtraError: what draws codes is not installed.
    """
    texels = np.repeat(code(marker.text)[..., None], 3, axis=-1)
    texture = spec.add_texture(
        name=marker.name,
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        nchannel=3,
        width=texels.shape[1],
        height=texels.shape[0],
    )
    texture.data = texels.tobytes()
    paint = spec.add_material(name=marker.name, emission=_GLOW, specular=0.0, shininess=0.0)
    paint.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = marker.name
    geom.material = marker.name


def code(text: str) -> NDArray[np.uint8]:
    """Return the picture of a text's QR code, `(pixels, pixels)`, 0 black, 255 white.

    Raises:
        MissingExtraError: what draws codes is not installed.
    """
    try:
        import segno
    except ImportError as error:
        raise MissingExtraError.for_extra("a marker's code", "vision") from error
    modules = np.array(list(segno.make_qr(text, error="m").matrix), dtype=np.uint8)
    light = np.pad(1 - modules, _QUIET, constant_values=1)
    return np.asarray(np.kron(255 * light, np.ones((_MODULE_PX, _MODULE_PX))), dtype=np.uint8)
