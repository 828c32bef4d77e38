"""The scene that viewers draw: field, boxes and the links of the robots, each in the frame it moves with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.documents.plain import PlainMapping
from posewright.errors import InputError
from posewright.recordings.header import RobotHeader
from posewright.recordings.messages import FIELD
from posewright.recordings.recording import Recording
from posewright.rotation import quaternion_product

_THICK_M, _THIN_M = 0.01, 0.001
_SEEN_THROUGH = {"wall": 0.35}
"""Opacity by role: the robot behind a wall stays visible."""

_GREY = (0.7, 0.7, 0.7)
_UNTURNED = (1.0, 0.0, 0.0, 0.0)
_PRIMITIVES = {"cylinder": "cylinders", "sphere": "spheres", "ellipsoid": "spheres"}
"""Lists of a SceneEntity by the kind of shape; everything else is drawn as the box around it."""

Shape: TypeAlias = PlainMapping
"""As in `RobotHeader.links`."""


def scene(recording: Recording) -> PlainMapping:
    """Return a `foxglove.SceneUpdate`; nothing of it is read back."""
    try:
        return {"deletions": [], "entities": list(_entities(recording))}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the field cannot be drawn: {error!r}", hint="an arena as Arena.to_dict tells it"
        ) from error


def _entities(recording: Recording) -> Iterator[PlainMapping]:
    header = recording.header
    yield _entity("field", FIELD, _field(header.arena))
    for i in range(len(header.boxes)):
        # Standing on the floor at the start, wherever in the box its body counts its pose from.
        low = float(recording.boxes[0, i, 2]) if recording.n_rows else 0.0
        yield _entity(f"box_{i + 1}", f"box_{i + 1}", _box(header.arena, i, low))
    for name, robot in header.robots.items():
        for link in robot.links:
            yield _entity(f"{name}/{link['name']}", link_frame(name, robot, link["name"]), link["shapes"])


def _field(arena: PlainMapping) -> Iterator[Shape]:
    size = arena.get("size_m")
    if size:
        middle = (size[0] / 2, 0.0, -_THICK_M / 2)
        yield _block(middle, (*size, _THICK_M), _colour(arena, "floor"))
    for shape in arena.get("shapes", ()):
        role, yaw = shape["role"], shape.get("yaw_rad", 0.0) / 2
        length, width, height = shape["size_m"]
        centre = (shape["x"], shape["y"], shape.get("base_m", 0.0) + height / 2)
        height = max(height, _THIN_M)  # paint, else hidden in the floor
        block = _block(centre, (length, width, height), (*_colour(arena, role), _SEEN_THROUGH.get(role, 1.0)))
        kind = "cylinder" if shape.get("is_round") else "box"
        yield {**block, "kind": kind, "rotation": (math.cos(yaw), 0.0, 0.0, math.sin(yaw))}


def _box(arena: PlainMapping, i: int, low: float) -> Iterator[Shape]:
    boxes, kinds = arena.get("boxes", ()), arena.get("box_kinds", {})
    kind = boxes[i].get("kind", "box") if i < len(boxes) else "box"
    size = kinds[kind]["size_m"] if kind in kinds else arena.get("box_size_m")
    if size:
        yield _block((0.0, 0.0, size[2] / 2 - low), size, _colour(arena, "box"))


def _colour(arena: PlainMapping, name: str) -> Sequence[float]:
    colour: Sequence[float] = arena.get("colours", {}).get(name, _GREY)
    return colour


def _block(centre: Sequence[float], size: Sequence[float], colour: Sequence[float]) -> Shape:
    return {"kind": "box", "position": centre, "rotation": _UNTURNED, "size": size, "colour": colour}


def _entity(name: str, frame: str, shapes: Iterator[Shape] | Sequence[Shape]) -> PlainMapping:
    """Return a SceneEntity that lives for ever and moves with its frame."""
    kinds = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models", "metadata")
    drawn: dict[str, list[PlainMapping]] = {kind: [] for kind in kinds}
    for shape in shapes:
        for part in _parts(shape):
            kind, primitive = _primitive(part)
            drawn[kind].append(primitive)
    now = {"sec": 0, "nsec": 0}
    return {"timestamp": now, "frame_id": frame, "id": name, "lifetime": now, "frame_locked": True, **drawn}


def _parts(shape: Shape) -> Iterator[Shape]:
    """Yield the shapes a viewer knows: a capsule is a cylinder with two balls."""
    if shape["kind"] != "capsule":
        yield shape
        return
    width, _, length = shape["size"]
    reach = (length - width) / 2
    yield {**shape, "kind": "cylinder", "size": (width, width, length - width)}
    w, x, y, z = shape["rotation"]
    axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    for side in (-reach, reach):
        centre = [at + side * part for at, part in zip(shape["position"], axis, strict=True)]
        yield {**shape, "kind": "sphere", "size": (width, width, width), "position": centre}


def _primitive(shape: Shape) -> tuple[str, PlainMapping]:
    """Return the list of a SceneEntity a shape belongs to, and what stands there."""
    red, green, blue, *opacity = shape["colour"]
    colour = {"r": red, "g": green, "b": blue, "a": opacity[0] if opacity else 1.0}
    w, x, y, z = shape["rotation"]
    pose = {"position": _xyz(shape["position"]), "orientation": {"x": x, "y": y, "z": z, "w": w}}
    cone = {"bottom_scale": 1.0, "top_scale": 1.0} if shape["kind"] == "cylinder" else {}
    placed = {"pose": pose, "size": _xyz(shape["size"]), "color": colour, **cone}
    return _PRIMITIVES.get(shape["kind"], "cubes"), placed


def _xyz(values: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyz", values, strict=True))


BASE = "base"


def link_frame(robot: str, header: RobotHeader, link: str) -> str:
    """Return the name of a link's frame; that of the first link is the base's."""
    return f"{robot}/{BASE if link == header.links[0]['name'] else link}"


def turning(header: RobotHeader) -> list[PlainMapping]:
    """Return the links that a joint of the recording turns."""
    return [link for link in header.links[1:] if link.get("joint") in header.joints]


def standing(header: RobotHeader) -> list[PlainMapping]:
    """Return the links that do not move against their parents."""
    return [link for link in header.links[1:] if link.get("joint") not in header.joints]


def link_rotations(header: RobotHeader, positions: Floats) -> Floats:
    """Return how joints at `(n, n_joints)` [rad] turn the links of `turning`, `(n, n_links, 4)` (w x y z)."""
    links = turning(header)
    columns = [header.joints.index(link["joint"]) for link in links]
    rest = np.array([link["rotation"] for link in links], dtype=np.float64).reshape(-1, 4)
    axes = np.array([link["axis"] for link in links], dtype=np.float64).reshape(-1, 3)
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    half = positions[:, columns] / 2.0
    return quaternion_product(
        rest, np.concatenate([np.cos(half)[..., None], np.sin(half)[..., None] * axes], axis=-1)
    )
