"""Robots' model files and an arena, assembled into one MuJoCo model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arenas import Role
from posewright.errors import InputError, UnknownNameError, Where
from posewright.robots import Camera, CodeReader
from posewright.simulation.arena_model import FLOOR, add_arena, add_scenery, box_name
from posewright.simulation.instance import box_sensor, foot_sensor
from posewright.simulation.robot_model import compiled, find_base, leave_out_visuals, read_model, weld_joints

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import Robot, SensorSpec

_LOOK_FORWARD = (0.5, 0.5, -0.5, -0.5)
"""How a camera, which looks along its own -z with y up, is turned to look along its mount's x with z up."""

_MASK_BITS = 31
"""Bits of `contype` and `conaffinity`."""

_MOST_STEPS = 1e6
"""No frame has more physics steps."""


@dataclass(frozen=True)
class Economy:
    """What a simulation does without, to be faster; the same as the arguments of a `World`."""

    visuals: bool
    welded: Mapping[str, float]
    timestep_s: float | None


@dataclass(frozen=True)
class Part:
    """A robot that is to be in a world: its card, all its sensors, and what stands before its names there."""

    robot: Robot
    sensors: Sequence[SensorSpec]
    prefix: str


def compile_world(parts: Sequence[Part], arena: Arena | None, economy: Economy) -> Any:
    """Return MuJoCo's model of the robots in the arena, with a camera for each camera sensor.

    Raises:
        InputError: a card has no model, a model does not compile or does not fit its card or the others, a
            joint cannot be welded as it should, or the time step does not divide the frame.
        UnknownNameError: a camera's mount is not in the model, or a welded joint is none.
    """
    prepared = [_prepared(part.robot, economy) for part in parts]
    spec = prepared[0][0] if len(parts) == 1 else _joined(parts, [one for one, _ in prepared], economy)
    bases = [spec.body(part.prefix + base) for part, (_, base) in zip(parts, prepared, strict=True)]
    if economy.timestep_s is not None:
        spec.option.timestep = economy.timestep_s
    try:
        add_arena(spec, arena, lines=economy.visuals)
        for part, base in zip(parts, bases, strict=True):
            _add_contact_sensors(spec, part, str(base.name), arena)
            _add_cameras(spec, part)
    except ValueError as error:  # a name that comes twice
        raise InputError(f"arena and robots do not go together: {error}") from error
    if economy.visuals:
        add_scenery(spec, arena, bases[0])
    flags = mujoco.mjtDisableBit
    # A state that blew up is reported by the world, not silently reset in the middle of a run.
    spec.option.disableflags |= int(flags.mjDSBL_AUTORESET)
    # A tree of bounding boxes pays for bodies of many shapes. Ours have a few: to try every two of them took
    # up to eight per cent less time in our own trials, and finds the same contacts in the same order.
    spec.option.disableflags |= int(flags.mjDSBL_MIDPHASE)
    return compiled(spec, parts[0].robot.model_path)


def _prepared(robot: Robot, economy: Economy) -> tuple[Any, str]:
    """Return a robot's own model as a world needs it, and the name of its base."""
    spec = read_model(robot)
    base = str(find_base(spec, robot).name)
    if economy.timestep_s is not None:
        substeps(robot, economy.timestep_s)
    weld_joints(spec, robot, economy.welded)
    # Sensors of the file would be evaluated at every step; ours are evaluated when they are read.
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    if not economy.visuals:
        leave_out_visuals(spec)
    return spec, base


def _joined(parts: Sequence[Part], specs: Sequence[Any], economy: Economy) -> Any:
    """Return one model with all robots, what is their own called by their prefixes."""
    world = mujoco.MjSpec()
    names = [name for name in dir(world.option) if not name.startswith("_")]
    if economy.timestep_s is not None:
        names.remove("timestep")
    for name in names:
        setattr(world.option, name, getattr(specs[0].option, name))
    for part, spec in zip(parts, specs, strict=True):
        for name in names:
            one, other = getattr(world.option, name), getattr(spec.option, name)
            if np.any(one != other):
                raise InputError(
                    f"the model of {part.robot.name} has {name} {other}, that of another robot {one}",
                    where=Where(part.robot.model_path),
                    hint="timestep_s=... gives both one step" if name == "timestep" else "a world has one",
                )
        for key in list(spec.keys):  # poses of a model that has one robot
            spec.delete(key)
    _let_touch(specs)
    for part, spec in zip(parts, specs, strict=True):
        world.attach(spec, prefix=part.prefix, frame=world.worldbody.add_frame())
    return world


def _let_touch(specs: Sequence[Any]) -> None:
    """Let robots touch each other, and themselves no more than before: their models know nothing of others.

    Each robot gets a bit of MuJoCo's contact masks that no model uses; all others are stopped by it.
    """
    geoms = [[geom for geom in spec.geoms if geom.contype or geom.conaffinity] for spec in specs]
    used = 1
    for geom in chain.from_iterable(geoms):
        used |= geom.contype | geom.conaffinity
    free = [1 << place for place in range(_MASK_BITS) if not used >> place & 1]
    if len(specs) > len(free):
        at_most = f"at most {len(free)} can touch each other"
        raise InputError(f"{len(specs)} robots in one world", hint=at_most)
    bits = free[: len(specs)]
    for own, bit in zip(geoms, bits, strict=True):
        for geom in own:
            geom.contype |= bit
            geom.conaffinity |= sum(bits) - bit


def _add_contact_sensors(spec: Any, part: Part, base: str, arena: Arena | None) -> None:
    """Add sensors that tell which feet touch the ground and which boxes the robot touches."""
    kinds = mujoco.mjtObj
    counting_in_one_slot = (1, 0, 1)
    ground_kind = kinds.mjOBJ_GEOM
    ground = FLOOR
    if any(shape.role is Role.STEP for shape in (arena.shapes if arena else ())):
        ground_kind = kinds.mjOBJ_BODY  # whatever stands fast is ground
        ground = "world"
    for foot in part.robot.feet:
        if spec.body(part.prefix + foot) is None:
            where, hint = Where(part.robot.model_path), "every foot of the card is a body of its model"
            raise InputError(f"the model has no body {foot!r}", where=where, hint=hint)
        spec.add_sensor(
            name=part.prefix + foot_sensor(foot),
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            intprm=counting_in_one_slot,
            objtype=kinds.mjOBJ_BODY,
            objname=part.prefix + foot,
            reftype=ground_kind,
            refname=ground,
        )
    for index in range(len(arena.boxes) if arena else 0):
        spec.add_sensor(
            name=part.prefix + box_sensor(index),
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            intprm=counting_in_one_slot,
            objtype=kinds.mjOBJ_BODY,
            objname=box_name(index),
            reftype=kinds.mjOBJ_XBODY,
            refname=base,
        )


def _add_cameras(spec: Any, part: Part) -> None:
    """Add a camera at the mount of each camera sensor, looking along the mount's x, or tilted from it."""
    for sensor in part.sensors:
        if isinstance(sensor, Camera | CodeReader):
            body, position, turn = _mount(spec, part.prefix, sensor)
            pitch_deg = sensor.pitch_deg if isinstance(sensor, CodeReader) else 0.0
            half = math.radians(pitch_deg) / 2.0
            tilted, quaternion = np.empty(4), np.empty(4)
            mujoco.mju_mulQuat(tilted, np.array(turn), np.array([math.cos(half), 0.0, math.sin(half), 0.0]))
            mujoco.mju_mulQuat(quaternion, tilted, np.array(_LOOK_FORWARD))
            name, fovy = part.prefix + camera_name(sensor.name), sensor.vertical_fov_deg
            body.add_camera(name=name, pos=position, quat=quaternion, fovy=fovy)


def _mount(spec: Any, prefix: str, sensor: Camera | CodeReader) -> tuple[Any, Any, Any]:
    """Return the body a sensor sits on, its position [m] and its quaternion there."""
    site = spec.site(prefix + sensor.mount)
    if site is not None:
        return site.parent, site.pos, site.quat
    body = spec.body(prefix + sensor.mount)
    if body is not None:
        return body, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    names = [thing.name.removeprefix(prefix) for thing in (*spec.sites, *spec.bodies) if thing.name]
    raise UnknownNameError.among("site or body of the model", sensor.mount, names)


def camera_name(sensor: str) -> str:
    """Return the name of a camera sensor's camera in the model."""
    return f"camera:{sensor}"


def substeps(robot: Robot, timestep_s: float) -> int:
    """Return how many physics steps make a frame; an `InputError` where that is no whole number."""
    frame_s = robot.frame_period_s
    if not _divides(timestep_s, frame_s):
        steps = max(1, round(frame_s / timestep_s)) if 0.0 < timestep_s < math.inf else 1
        odd = f"a timestep of {timestep_s:g} s does not divide the frame of {frame_s:g} s"
        raise InputError(odd, where=Where(robot.model_path), hint=f"use {frame_s / steps:g} s")
    return round(frame_s / timestep_s)


def _divides(timestep_s: float, frame_s: float) -> bool:
    if not 0.0 < timestep_s < math.inf:
        return False
    steps = frame_s / timestep_s
    return 1 <= round(steps) <= _MOST_STEPS and abs(steps - round(steps)) <= 1e-6
