"""Where the sensors of a robot sit on its base, for a trace to tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from posewright.robots import AnalogTouch, FootContact, TouchSwitch, VibrationSensor
from posewright.simulation.mount import find_mount

if TYPE_CHECKING:
    from posewright.arrays import Floats
    from posewright.robots import SensorSpec
    from posewright.simulation.world import World


def sensor_poses(world: World) -> dict[str, tuple[float, ...]]:
    """Return the pose of each sensor in the base's frame, x y z qw qx qy qz [m, unit quaternion].

    Sensors that a joint moves against the base have none, nor have those without a place of their own.
    The axes are the sensor's: x along the middle of a range sensor, or ahead in the plane of a scan.
    """
    model, base = world.model, world.addresses.base_body
    data = mujoco.MjData(model)  # one of our own: the world's state stays as it is
    mujoco.mj_kinematics(model, data)
    turn = data.xmat[base].reshape(3, 3)
    poses = {}
    for sensor in world.sensors:
        if isinstance(sensor, FootContact | TouchSwitch | AnalogTouch | VibrationSensor):
            continue
        mount = find_mount(model, data, sensor.mount)
        if model.body_weldid[mount.body(model)] != model.body_weldid[base]:
            continue
        offset = np.array(getattr(sensor, "position_m", (0.0, 0.0, 0.0)))
        place = turn.T @ (mount.position + mount.rotation @ offset - data.xpos[base])
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, (turn.T @ mount.rotation @ _own_turn(sensor)).ravel())
        poses[sensor.name] = (*place.tolist(), *quaternion.tolist())
    return poses


def _own_turn(sensor: SensorSpec) -> Floats:
    """Return how a sensor is turned on its mount, first by its yaw, then by its pitch, `(3, 3)`."""
    yaw = math.radians(getattr(sensor, "yaw_deg", 0.0))
    pitch = math.radians(getattr(sensor, "pitch_deg", 0.0))
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    return np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])
