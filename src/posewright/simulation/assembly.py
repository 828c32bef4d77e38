"""Assembly of robots' model files and an arena into one MuJoCo model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arenas import Role
from posewright.errors import InputError, UnknownNameError, Where
from posewright.robots import Camera, CodeReader
from posewright.simulation.arena_model import FLOOR, add_arena, add_plates, add_scenery, box_name
from posewright.simulation.instance import box_sensor, foot_sensor
from posewright.simulation.robot_model import (
    compile_spec,
    find_base,
    read_model,
    remove_visual_geoms,
    weld_joints,
)

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.bodies import Plate
    from posewright.robots import Robot, SensorSpec

_CAMERA_TO_MOUNT = (0.5, 0.5, -0.5, -0.5)
"""Rotation w x y z of a camera, which looks along its -z with y up, to look along its mount's x with z up."""

_N_MASK_BITS = 31
"""Bits of `contype` and `conaffinity`."""

_MAX_SUBSTEPS = 1e6
"""Most physics steps in a frame."""


@dataclass(frozen=True)
class ModelReduction:
    """What a simulation leaves out to be faster; the fields are arguments of `World`."""

    visuals: bool
    welded: Mapping[str, float]
    timestep_s: float | None


@dataclass(frozen=True)
class PrefixedRobot:
    """A robot of a world.

    Attributes:
        robot: its card.
        sensors: all its sensors.
        prefix: what precedes its names in the world's model; empty for the only robot.
    """

    robot: Robot
    sensors: Sequence[SensorSpec]
    prefix: str


def compile_world(
    robots: Sequence[PrefixedRobot], arena: Arena | None, reduction: ModelReduction, plates: Sequence[Plate]
) -> mujoco.MjModel:
    """Return the compiled model of the robots in the arena, with a camera for each camera sensor.

    Args:
        robots: the robots.
        arena: the arena; None for a bare floor.
        reduction: what the model leaves out.
        plates: plates on the floor.

    Raises:
        InputError: a card has no model; a model does not compile, or does not fit its card or the other
            models; a joint cannot be welded as requested; or the time step does not divide the frame.
        UnknownNameError: the model lacks a camera's mount or a welded joint.
    """
    specs = []
    base_names = []
    for prefixed_robot in robots:
        spec, base_name = _read_reduced_model(prefixed_robot.robot, reduction)
        specs.append(spec)
        base_names.append(prefixed_robot.prefix + base_name)
    world_spec = specs[0] if len(robots) == 1 else _merge_models(robots, specs, reduction)
    bases = [world_spec.body(name) for name in base_names]
    if reduction.timestep_s is not None:
        world_spec.option.timestep = reduction.timestep_s
    try:
        add_arena(world_spec, arena, lines=reduction.visuals)
        add_plates(world_spec, plates, arena)
        for prefixed_robot, base in zip(robots, bases, strict=True):
            _add_contact_sensors(
                world_spec, prefixed_robot, base=str(base.name), arena=arena, has_plates=bool(plates)
            )
            _add_cameras(world_spec, prefixed_robot)
    except ValueError as error:  # a name that occurs twice
        raise InputError(f"the arena and the robots cannot share a model: {error}") from error
    if reduction.visuals:
        add_scenery(world_spec, arena, bases[0])
    # a state that blew up is reported by the world, not silently reset in the middle of a run
    world_spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    # A tree of bounding boxes pays for bodies with many geoms. Ours have few: testing every pair took up to 8
    # per cent less time in our trials, and finds the same contacts in the same order. With 400 plates on the
    # floor the tree halves the time.
    if not plates:
        world_spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    return compile_spec(world_spec, robots[0].robot.model_path)


def _read_reduced_model(robot: Robot, reduction: ModelReduction) -> tuple[mujoco.MjSpec, str]:
    """Return a robot's model, reduced and without sensors of its own, and the name of its base."""
    spec = read_model(robot)
    base_name = str(find_base(spec, robot).name)
    if reduction.timestep_s is not None:
        count_substeps(robot, reduction.timestep_s)  # raises if the step does not divide the robot's frame
    weld_joints(spec, robot, reduction.welded)
    # sensors of the file would be evaluated at every step; ours are evaluated when they are read
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    if not reduction.visuals:
        remove_visual_geoms(spec)
    return spec, base_name


def _merge_models(
    robots: Sequence[PrefixedRobot], specs: Sequence[mujoco.MjSpec], reduction: ModelReduction
) -> mujoco.MjSpec:
    """Return one model with all robots, each robot's names preceded by its prefix.

    Raises:
        InputError: the models' physics options differ, or there are too many robots.
    """
    world_spec = mujoco.MjSpec()
    option_names = [name for name in dir(world_spec.option) if not name.startswith("_")]
    if reduction.timestep_s is not None:
        option_names.remove("timestep")
    for name in option_names:
        setattr(world_spec.option, name, getattr(specs[0].option, name))
    for prefixed_robot, spec in zip(robots, specs, strict=True):
        for name in option_names:
            world_value = getattr(world_spec.option, name)
            robot_value = getattr(spec.option, name)
            if np.any(world_value != robot_value):
                raise InputError(
                    f"the model of {prefixed_robot.robot.name} has {name} {robot_value}, "
                    f"another robot's model has {world_value}",
                    where=Where(prefixed_robot.robot.model_path),
                    hint="timestep_s=... sets the step of all robots"
                    if name == "timestep"
                    else "all models of a world need the same physics options",
                )
        # keyframes have the positions of one robot only, and do not fit the merged model
        for keyframe in list(spec.keys):
            spec.delete(keyframe)
    _enable_robot_contacts(specs)
    for prefixed_robot, spec in zip(robots, specs, strict=True):
        world_spec.attach(spec, prefix=prefixed_robot.prefix, frame=world_spec.worldbody.add_frame())
    return world_spec


def _enable_robot_contacts(specs: Sequence[mujoco.MjSpec]) -> None:
    """Let robots collide with each other, and leave their collisions with themselves as they are.

    Each robot gets a bit of MuJoCo's contact masks that no model uses; all other robots collide with it.

    Raises:
        InputError: there are more robots than free bits.
    """
    colliding_geoms = []
    for spec in specs:
        colliding_geoms.append([geom for geom in spec.geoms if geom.contype or geom.conaffinity])
    used_bits = 1  # MuJoCo's default, which the arena has
    for geoms in colliding_geoms:
        for geom in geoms:
            used_bits |= geom.contype | geom.conaffinity
    free_bits = [1 << bit for bit in range(_N_MASK_BITS) if not used_bits >> bit & 1]
    if len(specs) > len(free_bits):
        raise InputError(f"{len(specs)} robots in one world", hint=f"at most {len(free_bits)} can collide")
    robot_bits = free_bits[: len(specs)]
    for geoms, bit in zip(colliding_geoms, robot_bits, strict=True):
        for geom in geoms:
            geom.contype |= bit
            geom.conaffinity |= sum(robot_bits) - bit


def _add_contact_sensors(
    spec: mujoco.MjSpec, prefixed_robot: PrefixedRobot, base: str, arena: Arena | None, *, has_plates: bool
) -> None:
    """Add sensors of contacts between each foot and the ground, and between the robot and each box.

    Raises:
        InputError: a foot of the card is no body of the model.
    """
    kinds = mujoco.mjtObj
    count_in_one_slot = (1, 0, 1)  # reads the number of contacts, without reduction, as one number
    ground_kind = kinds.mjOBJ_GEOM
    ground = FLOOR
    has_steps = arena is not None and any(shape.role is Role.STEP for shape in arena.shapes)
    if has_steps or has_plates:  # then every fixed shape is ground
        ground_kind = kinds.mjOBJ_BODY
        ground = "world"
    for foot in prefixed_robot.robot.feet:
        if spec.body(prefixed_robot.prefix + foot) is None:
            raise InputError(
                f"the model has no body {foot!r}",
                where=Where(prefixed_robot.robot.model_path),
                hint="every foot of the card must be a body of its model",
            )
        spec.add_sensor(
            name=prefixed_robot.prefix + foot_sensor(foot),
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            intprm=count_in_one_slot,
            objtype=kinds.mjOBJ_BODY,
            objname=prefixed_robot.prefix + foot,
            reftype=ground_kind,
            refname=ground,
        )
    for index in range(len(arena.boxes) if arena else 0):
        spec.add_sensor(
            name=prefixed_robot.prefix + box_sensor(index),
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            intprm=count_in_one_slot,
            objtype=kinds.mjOBJ_BODY,
            objname=box_name(index),
            reftype=kinds.mjOBJ_XBODY,
            refname=base,
        )


def _add_cameras(spec: mujoco.MjSpec, prefixed_robot: PrefixedRobot) -> None:
    """Add a camera for each camera sensor; it looks along its mount's x, pitched as the sensor is."""
    for sensor in prefixed_robot.sensors:
        if not isinstance(sensor, Camera | CodeReader):
            continue
        mount = _find_camera_mount(spec, prefixed_robot.prefix, sensor)
        pitch_deg = sensor.pitch_deg if isinstance(sensor, CodeReader) else 0.0
        half_pitch = math.radians(pitch_deg) / 2.0
        pitch_quaternion = np.array([math.cos(half_pitch), 0.0, math.sin(half_pitch), 0.0])
        pitched = np.empty(4)
        mujoco.mju_mulQuat(pitched, np.array(mount.quaternion), pitch_quaternion)
        quaternion = np.empty(4)
        mujoco.mju_mulQuat(quaternion, pitched, np.array(_CAMERA_TO_MOUNT))
        mount.body.add_camera(
            name=prefixed_robot.prefix + camera_name(sensor.name),
            pos=mount.position,
            quat=quaternion,
            fovy=sensor.vertical_fov_deg,
        )


class _CameraMount(NamedTuple):
    """The body that a camera is fixed to, and position [m] and quaternion w x y z of its mount in it."""

    body: mujoco.MjsBody
    position: ArrayLike
    quaternion: ArrayLike


def _find_camera_mount(spec: mujoco.MjSpec, prefix: str, sensor: Camera | CodeReader) -> _CameraMount:
    """Return the mount of a camera sensor: a site, or else a body, by its name without the prefix.

    Raises:
        UnknownNameError: the sensor's mount is neither a site nor a body.
    """
    site = spec.site(prefix + sensor.mount)
    if site is not None:
        return _CameraMount(site.parent, site.pos, site.quat)
    body = spec.body(prefix + sensor.mount)
    if body is not None:
        return _CameraMount(body, position=(0.0, 0.0, 0.0), quaternion=(1.0, 0.0, 0.0, 0.0))
    names = [element.name.removeprefix(prefix) for element in (*spec.sites, *spec.bodies) if element.name]
    raise UnknownNameError.among("site or body of the model", sensor.mount, names)


def camera_name(sensor: str) -> str:
    """Return the name of a camera sensor's camera in the model."""
    return f"camera:{sensor}"


def count_substeps(robot: Robot, timestep_s: float) -> int:
    """Return the number of physics steps in a frame, the robot's control period.

    Raises:
        InputError: the time step does not divide the frame into a whole number of steps.
    """
    frame_s = robot.frame_period_s
    if not _divides(timestep_s, frame_s):
        nearest = max(1, round(frame_s / timestep_s)) if 0.0 < timestep_s < math.inf else 1
        message = f"a timestep of {timestep_s:g} s does not divide the frame of {frame_s:g} s"
        raise InputError(message, where=Where(robot.model_path), hint=f"use {frame_s / nearest:g} s")
    return round(frame_s / timestep_s)


def _divides(timestep_s: float, frame_s: float) -> bool:
    """Return whether a frame is a whole number of time steps, at most `_MAX_SUBSTEPS`."""
    if not 0.0 < timestep_s < math.inf:
        return False
    n_steps = frame_s / timestep_s
    return 1 <= round(n_steps) <= _MAX_SUBSTEPS and abs(n_steps - round(n_steps)) <= 1e-6
