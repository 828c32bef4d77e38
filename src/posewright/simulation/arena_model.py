"""The arena as elements of a MuJoCo model: floor, walls, lines, and boxes that can be pushed.

Everything solid here is in `ENVIRONMENT_GROUP`, so that a sensor's ray meets it and never the robot
itself; lines and other decoration are in `DECORATION_GROUP` and touch nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mujoco

from posewright.arenas import Arena, Box, Role, Shape

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
_DECORATION = {"contype": 0, "conaffinity": 0, "group": DECORATION_GROUP}


def box_name(index: int) -> str:
    """Return the name of the body, joint and geom of a box."""
    return f"box_{index}"


def add_arena(spec: Any, arena: Arena | None) -> None:
    """Add the arena's solid things and lines to a model; without an arena, a bare floor."""
    if arena is None:
        _add_floor(spec, (0.0, 0.0), (BARE_FLOOR_M, BARE_FLOOR_M), _FLOOR_FRICTION)
        return
    middle = (arena.size_x / 2.0, 0.0)
    _add_floor(spec, middle, (arena.size_x / 2.0, arena.size_y / 2.0), arena.friction)
    for shape in arena.shapes:
        _add_line(spec, shape) if shape.role is Role.LINE else _add_solid(spec, shape, arena.friction)
    _add_boxes(spec, arena, arena.boxes)


def _add_floor(spec: Any, middle: tuple[float, float], half: tuple[float, float], friction: float) -> None:
    spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        pos=(*middle, 0.0),
        size=(*half, 0.05),
        friction=(friction, *_ROLLING),
        **_SOLID,
    )


def _add_solid(spec: Any, shape: Shape, friction: float) -> None:
    length, width, height = (edge / 2.0 for edge in shape.size_m)
    spec.worldbody.add_geom(
        name=shape.name,
        type=mujoco.mjtGeom.mjGEOM_CYLINDER if shape.is_round else mujoco.mjtGeom.mjGEOM_BOX,
        pos=(shape.x, shape.y, shape.base_m + height),
        quat=_turned(shape.yaw_rad),
        size=(length, height, 0.0) if shape.is_round else (length, width, height),
        friction=(friction, *_ROLLING),
        **_SOLID,
    )


def _add_line(spec: Any, line: Shape) -> None:
    length, width, _ = line.size_m
    spec.worldbody.add_geom(
        name=line.name,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        pos=(line.x, line.y, line.base_m),
        quat=_turned(line.yaw_rad),
        size=(length / 2.0, width / 2.0, LINE_THICKNESS_M / 2.0),
        **_DECORATION,
    )


def _turned(yaw_rad: float) -> tuple[float, float, float, float]:
    return math.cos(yaw_rad / 2.0), 0.0, 0.0, math.sin(yaw_rad / 2.0)


def _add_boxes(spec: Any, arena: Arena, boxes: Sequence[Box]) -> None:
    for index, box in enumerate(boxes):
        name, kind = box_name(index), arena.kind_of(box)
        half = tuple(edge / 2.0 for edge in kind.size_m)
        body = spec.worldbody.add_body(
            name=name,
            pos=(box.x, box.y, half[2]),
            quat=_turned(box.yaw_rad),
        )
        # A box that nothing touches sleeps: six of them awake would double the cost of a step.
        body.sleep = mujoco.mjtSleepPolicy.mjSLEEP_INIT
        body.add_freejoint(name=name)
        body.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=half,
            mass=kind.mass_kg,
            friction=(kind.friction, *_ROLLING),
            **_SOLID,
        )
    if boxes:
        spec.option.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
