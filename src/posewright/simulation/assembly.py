"""A robot's model file and an arena, assembled into one MuJoCo model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.errors import InputError, UnknownNameError, Where
from posewright.robots import Camera
from posewright.simulation.addresses import box_sensor, foot_sensor
from posewright.simulation.arena_model import FLOOR, add_arena, box_name
from posewright.simulation.scenery import add_scenery

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import Robot, SensorSpec

_LOOK_FORWARD = (0.5, 0.5, -0.5, -0.5)
"""How a camera, which looks along its own -z with y up, is turned to look along its mount's x with z up."""


def compile_world(robot: Robot, arena: Arena | None, sensors: Sequence[SensorSpec]) -> Any:
    """Return MuJoCo's model of the robot in the arena, with a camera for each camera sensor.

    Raises:
        InputError: the card has no model, or the model does not compile or does not fit the card.
        UnknownNameError: a camera's mount is not in the model.
    """
    spec = _load(robot)
    trunk = _trunk(spec, robot)
    # Sensors of the file would be evaluated at every step; ours are evaluated when they are read.
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    add_arena(spec, arena)
    _add_contact_sensors(spec, robot, str(trunk.name), 0 if arena is None else len(arena.boxes))
    _add_cameras(spec, sensors)
    add_scenery(spec, arena, trunk)
    # A state that blew up is reported by the body, not silently reset in the middle of a run.
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
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


def _trunk(spec: Any, robot: Robot) -> Any:
    """Return the body that carries the free joint."""
    body = spec.worldbody.first_body()
    while body is not None:
        if any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in body.joints):
            return body
        body = spec.worldbody.next_body(body)
    raise InputError(
        "the model has no free body", where=Where(robot.model_path), hint="give the trunk a freejoint"
    )


def _add_contact_sensors(spec: Any, robot: Robot, trunk: str, n_boxes: int) -> None:
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
            refname=trunk,
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
    steps = robot.frame_period_s / timestep_s
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
        raise InputError(
            f"the model's timestep {timestep_s:g} s does not divide the frame of {robot.frame_period_s:g} s",
            where=Where(robot.model_path),
            hint=f"use {robot.frame_period_s / max(1, round(steps)):g} s",
        )
    return round(steps)
