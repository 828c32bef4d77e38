"""What a viewer should draw besides the robot: the field, and the boxes where `/tf` has them.

Nothing of this is read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from posewright.recordings import layouts, schemas
from posewright.recordings.cdr import to_ns
from posewright.recordings.plain import to_json
from posewright.recordings.recording import Recording
from posewright.recordings.topic import Topic

_THICK_M = 0.01
_WALL_OPACITY = 0.35  # the robot behind it stays visible
_GREY = (0.7, 0.7, 0.7)

_Cube = dict[str, Any]


def scene_topics(trace: Recording) -> Iterator[Topic]:
    """Yield the topics that have one message, at time 0."""
    at_start = to_ns(np.zeros(1))
    yield Topic("/scene", schemas.SCENE, at_start, [to_json(_scene(trace)).encode()])
    cards = trace.header.sensors
    mounted = {name: card["base_pose"] for name, card in cards.items() if "base_pose" in card}
    if mounted:
        yield Topic("/tf_static", schemas.TF_MESSAGE, at_start, _sensor_frames(mounted))


def _scene(trace: Recording) -> dict[str, Any]:
    arena = trace.header.arena
    entities = [_entity("field", layouts.FIELD, _field(arena))]
    size: Sequence[float] = arena.get("box_size_m", ())
    for i in range(len(trace.header.boxes) if size else 0):
        frame = f"box_{i + 1}"
        # Standing on the floor at the start, wherever in the box its body counts its pose from.
        centre = (0.0, 0.0, size[2] / 2 - float(trace.boxes[0, i, 2]) if trace.n_rows else 0.0)
        entities.append(_entity(frame, frame, [_cube(centre, size, _colour(arena, "box"))]))
    return {"deletions": [], "entities": entities}


def _field(arena: Mapping[str, Any]) -> list[_Cube]:
    if "size_m" not in arena:
        return []
    (length, width), wall = arena["size_m"], _colour(arena, "wall")
    height, middle = arena.get("wall_height_m", 0.0), arena["size_m"][0] / 2
    floor = _cube((middle, 0.0, -_THICK_M / 2), (length, width, _THICK_M), _colour(arena, "floor"))
    walls = [
        _cube((x, 0.0, height / 2), (_THICK_M, width, height), wall, _WALL_OPACITY)
        for x in (-_THICK_M / 2, length + _THICK_M / 2)
    ]
    walls += [
        _cube(
            (middle, side * (width + _THICK_M) / 2, height / 2),
            (length, _THICK_M, height),
            wall,
            _WALL_OPACITY,
        )
        for side in (-1, 1)
    ]
    lines = [
        _cube((line["x"], 0.0, 0.0), (line["width_m"], width, 0.001), _colour(arena, "line"))
        for line in arena.get("lines", ())
    ]
    return [floor, *walls, *lines]


def _colour(arena: Mapping[str, Any], name: str) -> Sequence[float]:
    colour: Sequence[float] = arena.get("colours", {}).get(name, _GREY)
    return colour


def _cube(
    centre: Sequence[float], size: Sequence[float], colour: Sequence[float], opacity: float = 1.0
) -> _Cube:
    return {
        "pose": {"position": _xyz(centre), "orientation": {**_xyz((0.0, 0.0, 0.0)), "w": 1.0}},
        "size": _xyz(size),
        "color": {**dict(zip("rgb", colour, strict=True)), "a": opacity},
    }


def _xyz(values: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyz", values, strict=True))


def _entity(name: str, frame: str, cubes: list[_Cube]) -> dict[str, Any]:
    """Return a SceneEntity that lives for ever and moves with its frame."""
    others = ("metadata", "arrows", "spheres", "cylinders", "lines", "triangles", "texts", "models")
    instant = {"sec": 0, "nsec": 0}
    return {
        "timestamp": instant,
        "frame_id": frame,
        "id": name,
        "lifetime": instant,
        "frame_locked": True,
        "cubes": cubes,
        **{kind: [] for kind in others},
    }


def _sensor_frames(poses: Mapping[str, Sequence[float]]) -> list[bytes]:
    """Return where sensors sit on the base, from x y z qw qx qy qz; a trace knows no model."""
    values: dict[str, Any] = {}
    for i, pose in enumerate(poses.values()):
        x, y, z, qw, qx, qy, qz = pose
        position, rotation = np.array([[x, y, z]]), np.array([[qx, qy, qz, qw]])
        values |= {f"stamp_{i}": np.zeros((1, 2)), f"position_{i}": position, f"rotation_{i}": rotation}
    return layouts.transforms(tuple(poses), "base").pack(1, **values)
