"""A robot's model file and an arena, assembled into one MuJoCo model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.errors import InputError, UnknownNameError, Where
from posewright.robots import Camera
from posewright.simulation.addresses import box_sensor, foot_sensor
from posewright.simulation.arena_model import FLOOR, add_arena, box_name
from posewright.simulation.holding import hold_joints
from posewright.simulation.leaving_out import leave_out_looks
from posewright.simulation.scenery import add_scenery

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import Robot, SensorSpec

_LOOK_FORWARD = (0.5, 0.5, -0.5, -0.5)
"""How a camera, which looks along its own -z with y up, is turned to look along its mount's x with z up."""

_MOST_STEPS = 1e6
"""No frame has more physics steps."""


@dataclass(frozen=True)
class Economy:
    """What a simulation does without, to be faster.

    Attributes:
        looks: whether things that touch nothing are there, to be seen.
        held: angles of joints that are welded, by name [rad].
        timestep_s: of the physics; None for the model's own [s].
    """

    looks: bool = True
    held: Mapping[str, float] = field(default_factory=dict)
    timestep_s: float | None = None


def compile_world(robot: Robot, arena: Arena | None, sensors: Sequence[SensorSpec], economy: Economy) -> Any:
    """Return MuJoCo's model of the robot in the arena, with a camera for each camera sensor.

    Raises:
        InputError: the card has no model, the model does not compile or does not fit the card, a joint
            cannot be held as it should, or the time step does not divide the frame.
        UnknownNameError: a camera's mount is not in the model, or a held joint is none.
    """
    spec = _load(robot)
    base = _base(spec, robot)
    if economy.timestep_s is not None:
        _refuse_timestep(robot, economy.timestep_s)
        spec.option.timestep = economy.timestep_s
    hold_joints(spec, robot, economy.held)
    # Sensors of the file would be evaluated at every step; ours are evaluated when they are read.
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    add_arena(spec, arena)
    _add_contact_sensors(spec, robot, str(base.name), 0 if arena is None else len(arena.boxes))
    _add_cameras(spec, sensors)
    if economy.looks:
        add_scenery(spec, arena, base)
    else:
        leave_out_looks(spec)
    flags = mujoco.mjtDisableBit
    # A state that blew up is reported by the body, not silently reset in the middle of a run.
    spec.option.disableflags |= int(flags.mjDSBL_AUTORESET)
    # A tree of bounding boxes pays for bodies of many shapes. Ours have a few: to try every two of them took
    # up to eight per cent less time in our own trials, and finds the same contacts in the same order.
    spec.option.disableflags |= int(flags.mjDSBL_MIDPHASE)
    try:
        return spec.compile()
    except ValueError as error:
        raise InputError(f"the model does not compile: {error}", where=Where(robot.model_path)) from error


WITH_A_MODEL = "name a robot that has one with --robot: the motion is then carried over"


def _load(robot: Robot) -> Any:
    if robot.model_path is None:
        raise InputError(f"{robot.name} has no model: it cannot be simulated", hint=WITH_A_MODEL)
    try:
        return mujoco.MjSpec.from_file(str(robot.model_path))
    except ValueError as error:
        raise InputError(f"not a MuJoCo model: {error}", where=Where(robot.model_path)) from error


def _base(spec: Any, robot: Robot) -> Any:
    """Return the body that carries the free joint."""
    body = spec.worldbody.first_body()
    while body is not None:
        if any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in body.joints):
            return body
        body = spec.worldbody.next_body(body)
    raise InputError(
        "the model has no free body", where=Where(robot.model_path), hint="give the base a freejoint"
    )


def _add_contact_sensors(spec: Any, robot: Robot, base: str, n_boxes: int) -> None:
    """Add sensors that tell which feet touch the floor and which boxes the robot touches."""
    kinds = mujoco.mjtObj
    found = {"type": mujoco.mjtSensor.mjSENS_CONTACT, "intprm": (1, 0, 1)}  # how many contacts; one slot
    bodies = {body.name for body in spec.bodies}
    for foot in robot.feet:
        if foot not in bodies:
            raise InputError(
                f"the model has no body {foot!r}",
                where=Where(robot.model_path),
                hint="every foot of the card is a body of its model",
            )
        spec.add_sensor(
            name=foot_sensor(foot),
            objtype=kinds.mjOBJ_BODY,
            objname=foot,
            reftype=kinds.mjOBJ_GEOM,
            refname=FLOOR,
            **found,
        )
    for index in range(n_boxes):
        spec.add_sensor(
            name=box_sensor(index),
            objtype=kinds.mjOBJ_BODY,
            objname=box_name(index),
            reftype=kinds.mjOBJ_XBODY,
            refname=base,
            **found,
        )


def _add_cameras(spec: Any, sensors: Sequence[SensorSpec]) -> None:
    """Add a camera at the mount of each camera sensor, looking along the mount's x."""
    for sensor in sensors:
        if isinstance(sensor, Camera):
            body, position, turn = _mount(spec, sensor)
            quaternion = np.empty(4)
            mujoco.mju_mulQuat(quaternion, np.array(turn), np.array(_LOOK_FORWARD))
            name, fovy = camera_name(sensor.name), sensor.vertical_fov_deg
            body.add_camera(name=name, pos=position, quat=quaternion, fovy=fovy)


def _mount(spec: Any, sensor: Camera) -> tuple[Any, Any, Any]:
    """Return the body a sensor sits on, its position [m] and its quaternion there."""
    for site in spec.sites:
        if site.name == sensor.mount:
            return site.parent, site.pos, site.quat
    for body in spec.bodies:
        if body.name == sensor.mount:
            return body, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    names = [thing.name for thing in (*spec.sites, *spec.bodies) if thing.name]
    raise UnknownNameError.among("site or body of the model", sensor.mount, names)


def camera_name(sensor: str) -> str:
    """Return the name of a camera sensor's camera in the model."""
    return f"camera:{sensor}"


def substeps(robot: Robot, timestep_s: float) -> int:
    """Return how many physics steps make a frame.

    Raises:
        InputError: not a whole number of them.
    """
    if not _divides(timestep_s, robot.frame_period_s):
        steps = robot.frame_period_s / timestep_s
        raise InputError(
            f"the model's timestep {timestep_s:g} s does not divide the frame of {robot.frame_period_s:g} s",
            where=Where(robot.model_path),
            hint=f"use {robot.frame_period_s / max(1, round(steps)):g} s",
        )
    return round(robot.frame_period_s / timestep_s)


def _refuse_timestep(robot: Robot, timestep_s: float) -> None:
    """Refuse a step one was asked for that does not divide the frame."""
    frame_s = robot.frame_period_s
    if not _divides(timestep_s, frame_s):
        steps = max(1, round(frame_s / timestep_s)) if 0.0 < timestep_s < math.inf else 1
        raise InputError(
            f"a timestep of {timestep_s:g} s does not divide the frame of {frame_s:g} s",
            hint=f"use {frame_s / steps:g} s",
        )


def _divides(timestep_s: float, frame_s: float) -> bool:
    if not 0.0 < timestep_s < math.inf or frame_s / timestep_s > _MOST_STEPS:
        return False
    steps = frame_s / timestep_s
    return round(steps) >= 1 and abs(steps - round(steps)) <= 1e-6
