"""The scene for viewers: field, boxes and the links of the robots, each attached to its coordinate frame."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.documents.plain import PlainMapping
from posewright.errors import InputError
from posewright.recordings.header import Header, RobotHeader
from posewright.recordings.messages import FIELD
from posewright.recordings.recording import Recording
from posewright.rotation import quaternion_product

_FLOOR_THICKNESS_M = 0.01

_MIN_HEIGHT_M = 0.001
"""Paint on the floor has no height of its own; without this it would be hidden in the floor."""

_OPACITY_BY_ROLE = {"wall": 0.35}
"""A robot behind a wall stays visible."""

_PLATE_COLOUR = (0.50, 0.48, 0.44)
_GREY = (0.7, 0.7, 0.7)
_IDENTITY = (1.0, 0.0, 0.0, 0.0)
_PRIMITIVES = {"cylinder": "cylinders", "sphere": "spheres", "ellipsoid": "spheres"}
"""Lists of a SceneEntity by the kind of shape; other shapes are drawn as their bounding boxes."""

Shape: TypeAlias = PlainMapping
"""As in `RobotHeader.links`."""


def build_scene(recording: Recording) -> PlainMapping:
    """Return the scene of a recording as a `foxglove.SceneUpdate`.

    Raises:
        InputError: the arena in the recording's header is malformed.
    """
    try:
        return {"deletions": [], "entities": list(_entities(recording))}
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the field cannot be drawn: {error!r}", hint="an arena as returned by Arena.to_dict"
        ) from error


def _entities(recording: Recording) -> Iterator[PlainMapping]:
    """Yield the entities of the scene: the field, each box, and each link of each robot."""
    header = recording.header
    yield _entity("field", FIELD, _field_shapes(header.arena))
    plates = list(_plate_shapes(header))
    if plates:
        yield _entity("plates", FIELD, plates)
    for i in range(len(header.boxes)):
        # at the start a box stands on the floor, so this is the height of its frame's origin above its bottom
        origin_height_m = float(recording.boxes[0, i, 2]) if recording.n_rows else 0.0
        yield _entity(f"box_{i + 1}", f"box_{i + 1}", _box_shapes(header.arena, i, origin_height_m))
    for name, robot in header.robots.items():
        for link in robot.links:
            yield _entity(f"{name}/{link['name']}", link_frame(name, robot, link["name"]), link["shapes"])


def _field_shapes(arena: PlainMapping) -> Iterator[Shape]:
    """Yield the floor and the fixed shapes of an arena, in the field frame."""
    size = arena.get("size_m")
    if size:
        centre = (size[0] / 2, 0.0, -_FLOOR_THICKNESS_M / 2)
        yield _box(centre, (*size, _FLOOR_THICKNESS_M), _colour(arena, "floor"))
    for shape in arena.get("shapes", ()):
        role = shape["role"]
        length, width, height = shape["size_m"]
        half_yaw = shape.get("yaw_rad", 0.0) / 2
        yield {
            "kind": "cylinder" if shape.get("is_round") else "box",
            "position": (shape["x"], shape["y"], shape.get("base_m", 0.0) + height / 2),
            "rotation": (math.cos(half_yaw), 0.0, 0.0, math.sin(half_yaw)),
            "size": (length, width, max(height, _MIN_HEIGHT_M)),
            "colour": (*_colour(arena, str(shape.get("name")), role), _OPACITY_BY_ROLE.get(role, 1.0)),
        }


def _plate_shapes(header: Header) -> Iterator[Shape]:
    """Yield the plates on the floor, which all robots of a recording share, in the field frame."""
    robot = next(iter(header.robots.values()), None)
    domain = {} if robot is None else robot.facts.get("domain", {})
    for plate in domain.get("plates", ()):
        half_yaw = plate["yaw_rad"] / 2
        yield {
            "kind": "box",
            "position": (plate["x_m"], plate["y_m"], plate["thickness_m"] / 2),
            "rotation": (math.cos(half_yaw), 0.0, 0.0, math.sin(half_yaw)),
            "size": (plate["edge_m"], plate["edge_m"], plate["thickness_m"]),
            "colour": _PLATE_COLOUR,
        }


def _box_shapes(arena: PlainMapping, i: int, origin_height_m: float) -> Iterator[Shape]:
    """Yield the shape of the i-th box in its own frame, unless its size is unknown.

    Args:
        arena: the arena with the sizes of its kinds of boxes.
        i: index of the box.
        origin_height_m: height of the origin of the box's frame above the bottom of the box [m].
    """
    boxes = arena.get("boxes", ())
    kinds = arena.get("box_kinds", {})
    kind = boxes[i].get("kind", "box") if i < len(boxes) else "box"
    size = kinds[kind]["size_m"] if kind in kinds else arena.get("box_size_m")
    if size:
        yield _box((0.0, 0.0, size[2] / 2 - origin_height_m), size, _colour(arena, "box"))


def _colour(arena: PlainMapping, *names: str) -> Sequence[float]:
    """Return the colour of the first name that has one: a shape's own, or that of its role."""
    colours: dict[str, Sequence[float]] = arena.get("colours", {})
    named_colours = map(colours.get, names)
    return next((colour for colour in named_colours if colour is not None), _GREY)


def _box(centre: Sequence[float], size: Sequence[float], colour: Sequence[float]) -> Shape:
    return {"kind": "box", "position": centre, "rotation": _IDENTITY, "size": size, "colour": colour}


def _entity(name: str, frame: str, shapes: Iterator[Shape] | Sequence[Shape]) -> PlainMapping:
    """Return a SceneEntity of shapes that never expires and moves with its frame."""
    kinds = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models", "metadata")
    primitives: dict[str, list[PlainMapping]] = {kind: [] for kind in kinds}
    for shape in shapes:
        for part in _split_capsule(shape):
            kind, primitive = _primitive(part)
            primitives[kind].append(primitive)
    zero = {"sec": 0, "nsec": 0}
    return {
        "timestamp": zero,
        "frame_id": frame,
        "id": name,
        "lifetime": zero,  # without limit
        "frame_locked": True,
        **primitives,
    }


def _split_capsule(shape: Shape) -> Iterator[Shape]:
    """Yield a capsule as a cylinder and two spheres, which viewers support, and any other shape as it is."""
    if shape["kind"] != "capsule":
        yield shape
        return
    width, _, length = shape["size"]
    half_length = (length - width) / 2
    yield {**shape, "kind": "cylinder", "size": (width, width, length - width)}
    w, x, y, z = shape["rotation"]
    axis = (2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
    for offset in (-half_length, half_length):
        centre = [
            coordinate + offset * component
            for coordinate, component in zip(shape["position"], axis, strict=True)
        ]
        yield {**shape, "kind": "sphere", "size": (width, width, width), "position": centre}


def _primitive(shape: Shape) -> tuple[str, PlainMapping]:
    """Return the name of a SceneEntity's list for a shape, and the shape as an entry of that list."""
    red, green, blue, *opacity = shape["colour"]
    colour = {"r": red, "g": green, "b": blue, "a": opacity[0] if opacity else 1.0}
    w, x, y, z = shape["rotation"]
    pose = {"position": _xyz(shape["position"]), "orientation": {"x": x, "y": y, "z": z, "w": w}}
    primitive = {"pose": pose, "size": _xyz(shape["size"]), "color": colour}
    if shape["kind"] == "cylinder":
        primitive |= {"bottom_scale": 1.0, "top_scale": 1.0}
    return _PRIMITIVES.get(shape["kind"], "cubes"), primitive


def _xyz(values: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyz", values, strict=True))


BASE = "base"
"""Name of a robot's base frame, after the robot's name and a slash."""


def link_frame(robot: str, header: RobotHeader, link: str) -> str:
    """Return the name of a link's frame, which is the base frame for the first link."""
    return f"{robot}/{BASE if link == header.links[0]['name'] else link}"


def movable_links(header: RobotHeader) -> list[PlainMapping]:
    """Return the links that are turned by a joint of the recording."""
    return [link for link in header.links[1:] if link.get("joint") in header.joints]


def fixed_links(header: RobotHeader) -> list[PlainMapping]:
    """Return the links that do not move relative to their parents."""
    return [link for link in header.links[1:] if link.get("joint") not in header.joints]


def link_rotations(header: RobotHeader, positions: Floats) -> Floats:
    """Return the rotations of the `movable_links` in their parents' frames, `(n, n_links, 4)` (w x y z).

    Args:
        header: the header of the robot.
        positions: joint angles, `(n, n_joints)` [rad].
    """
    links = movable_links(header)
    joint_columns = [header.joints.index(link["joint"]) for link in links]
    rotations_at_zero = np.array([link["rotation"] for link in links], dtype=np.float64).reshape(-1, 4)
    joint_axes = np.array([link["axis"] for link in links], dtype=np.float64).reshape(-1, 3)
    joint_axes /= np.linalg.norm(joint_axes, axis=1, keepdims=True)
    half_angles = positions[:, joint_columns, None] / 2.0
    # the unit quaternion of a rotation by an angle about an axis
    joint_rotations = np.concatenate([np.cos(half_angles), np.sin(half_angles) * joint_axes], axis=-1)
    return quaternion_product(rotations_at_zero, joint_rotations)
