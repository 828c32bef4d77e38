"""Mounts of sensors: the site or body that each is fixed to, and its pose on the base or a link."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnknownNameError
from posewright.robots import (
    AnalogTouch,
    CodeReader,
    Encoder,
    FlashLidar,
    FloorSensor,
    FootContact,
    RangeScan,
    RangeSensor,
    TouchSwitch,
    VibrationSensor,
)

if TYPE_CHECKING:
    from posewright.robots import SensorSpec
    from posewright.simulation.instance import ModelInstance


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MountFrame:
    """A frame of the model that moves with the robot.

    Attributes:
        kind: MuJoCo's object type, a site or a body.
        index: number of the site or body.
        position: the position in the field frame, `(3,)` [m]; a view of MuJoCo's state that changes with it.
        rotation: axes as columns, `(3, 3)`; a view of MuJoCo's state that changes with it.
    """

    kind: int
    index: int
    position: Floats
    rotation: Floats

    def body(self, model: mujoco.MjModel) -> int:
        """Return the number of the body that the frame is fixed to."""
        is_site = self.kind == int(mujoco.mjtObj.mjOBJ_SITE)
        return int(model.site_bodyid[self.index]) if is_site else self.index


def find_mount(instance: ModelInstance, name: str, data: mujoco.MjData | None = None) -> MountFrame:
    """Return the frame of the site, or else the body, of that name in the robot's model.

    Args:
        instance: the robot.
        name: the name of the site or body, without the robot's prefix.
        data: the state that the frame's position and rotation are views of; None for the world's state.

    Raises:
        UnknownNameError: the model has neither a site nor a body of that name.
    """
    model = instance.model
    if data is None:
        data = instance.data
    full_name = instance.prefix + name
    site = int(mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_SITE), full_name))  # -1 for no such site
    if site >= 0:
        kind = int(mujoco.mjtObj.mjOBJ_SITE)
        return MountFrame(
            kind, site, position=data.site_xpos[site], rotation=data.site_xmat[site].reshape(3, 3)
        )
    body = int(mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_XBODY), full_name))
    if body >= 0:
        kind = int(mujoco.mjtObj.mjOBJ_XBODY)
        return MountFrame(kind, body, position=data.xpos[body], rotation=data.xmat[body].reshape(3, 3))
    raise UnknownNameError.among("site or body of the model", name, _own_names(instance))


def _own_names(instance: ModelInstance) -> list[str]:
    """Return the names of the robot's sites and bodies, without its prefix."""
    model = instance.model
    site_names = [model.site(index).name for index in range(model.nsite)]
    body_names = [model.body(index).name for index in range(model.nbody)]
    return [
        full_name.removeprefix(instance.prefix)
        for full_name in (*site_names, *body_names)
        if full_name.startswith(instance.prefix)
    ]


def sensor_poses(instance: ModelInstance) -> dict[str, tuple[float, ...]]:
    """Return the pose of each sensor fixed to the base, x y z qw qx qy qz in the base's frame [m].

    Sensors that a joint moves relative to the base and sensors without a position are left out.
    """
    mountings = sensor_mountings(instance)
    return {sensor: mounting.pose for sensor, mounting in mountings.items() if not mounting.link}


class SensorMounting(NamedTuple):
    """The link that carries a sensor, and the sensor's pose in the link's frame.

    Attributes:
        link: name of the link, which a joint moves relative to the base; empty for the base.
        pose: x y z qw qx qy qz. Its x axis is the middle of a range sensor's beam, or points ahead in the
            plane of a scan.
    """

    link: str
    pose: tuple[float, ...]


def sensor_mountings(instance: ModelInstance) -> dict[str, SensorMounting]:
    """Return where each sensor is mounted; sensors without a position are left out."""
    model = instance.model
    base = instance.addresses.base_body
    data = mujoco.MjData(model)  # a separate state, so that the world's does not change
    mujoco.mj_kinematics(model, data)
    mountings = {}
    for sensor in instance.sensors:
        if isinstance(sensor, Encoder | FootContact | TouchSwitch | AnalogTouch | VibrationSensor):
            continue
        mount = find_mount(instance, sensor.mount, data)
        # bodies that no joint moves relative to each other have the same number of `body_weldid`
        is_on_base = model.body_weldid[mount.body(model)] == model.body_weldid[base]
        body = base if is_on_base else mount.body(model)
        body_rotation = data.xmat[body].reshape(3, 3)
        offset = np.zeros(3)
        if isinstance(sensor, RangeSensor | RangeScan | FlashLidar | FloorSensor):
            offset = np.array(sensor.position_m)
        position = body_rotation.T @ (mount.position + mount.rotation @ offset - data.xpos[body])
        rotation = body_rotation.T @ mount.rotation @ rotation_on_mount(sensor)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, rotation.ravel())
        link = "" if is_on_base else model.body(body).name.removeprefix(instance.prefix)
        mountings[sensor.name] = SensorMounting(link, (*position.tolist(), *quaternion.tolist()))
    return mountings


def rotation_on_mount(sensor: SensorSpec) -> Floats:
    """Return a sensor's rotation relative to its mount, first by its yaw, then by its pitch, `(3, 3)`."""
    yaw_deg = sensor.yaw_deg if isinstance(sensor, RangeSensor | FlashLidar) else 0.0
    pitch_deg = 0.0
    if isinstance(sensor, RangeSensor | RangeScan | FlashLidar | CodeReader):
        pitch_deg = sensor.pitch_deg
    yaw = math.radians(yaw_deg)
    pitch = math.radians(pitch_deg)
    cy = math.cos(yaw)
    sy = math.sin(yaw)
    cp = math.cos(pitch)
    sp = math.sin(pitch)
    return np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])
