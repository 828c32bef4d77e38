"""Where sensors sit: the site or body each is fixed to, and its place on the base."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
class Mount:
    """A frame of the model that moves with the robot.

    Attributes:
        kind: MuJoCo's type of the thing: a site or a body.
        index: its number among those.
        position: where it is, `(3,)` [m]; a live view of MuJoCo's state.
        rotation: its axes as columns, `(3, 3)`; a live view of MuJoCo's state.
    """

    kind: int
    index: int
    position: Floats
    rotation: Floats

    def body(self, model: Any) -> int:
        """Return the number of the body it belongs to."""
        is_site = self.kind == int(mujoco.mjtObj.mjOBJ_SITE)
        return int(model.site_bodyid[self.index]) if is_site else self.index


def find_mount(one: ModelInstance, name: str, data: Any = None) -> Mount:
    """Return the site, or else the body, of that name.

    It is called as in the robot's own model, and looked up in the state of its world, unless `data` is given.

    Raises:
        UnknownNameError: the model has neither.
    """
    model, data = one.model, one.data if data is None else data
    kinds = mujoco.mjtObj
    sites, bodies = (
        (kinds.mjOBJ_SITE, data.site_xpos, data.site_xmat),
        (kinds.mjOBJ_XBODY, data.xpos, data.xmat),
    )
    for kind, places, turns in (sites, bodies):
        index = int(mujoco.mj_name2id(model, kind, one.prefix + name))
        if index >= 0:
            return Mount(int(kind), index, places[index], turns[index].reshape(3, 3))
    things = (*map(model.site, range(model.nsite)), *map(model.body, range(model.nbody)))
    own = [thing.name.removeprefix(one.prefix) for thing in things if thing.name.startswith(one.prefix)]
    raise UnknownNameError.among("site or body of the model", name, own)


def sensor_poses(one: ModelInstance) -> dict[str, tuple[float, ...]]:
    """Return the pose of each sensor in the base's frame, x y z qw qx qy qz [m, unit quaternion].

    Sensors that a joint moves against the base have none, nor have those without a place of their own.
    """
    return {sensor: pose for sensor, (link, pose) in sensor_places(one).items() if not link}


def sensor_places(one: ModelInstance) -> dict[str, tuple[str, tuple[float, ...]]]:
    """Return the pose of each sensor, and the link it counts from: empty for the base.

    It counts from the link where a joint moves it against the base.
    The axes are the sensor's: x along the middle of a range sensor, or ahead in the plane of a scan.
    """
    model, base = one.model, one.addresses.base_body
    data = mujoco.MjData(model)  # one of our own: the world's state stays as it is
    mujoco.mj_kinematics(model, data)
    places = {}
    for sensor in one.sensors:
        if isinstance(sensor, Encoder | FootContact | TouchSwitch | AnalogTouch | VibrationSensor):
            continue
        mount = find_mount(one, sensor.mount, data)
        moves = model.body_weldid[mount.body(model)] != model.body_weldid[base]
        body = mount.body(model) if moves else base
        turn = data.xmat[body].reshape(3, 3)
        offset = np.zeros(3)
        if isinstance(sensor, RangeSensor | RangeScan | FlashLidar | FloorSensor):
            offset = np.array(sensor.position_m)
        place = turn.T @ (mount.position + mount.rotation @ offset - data.xpos[body])
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, (turn.T @ mount.rotation @ own_turn(sensor)).ravel())
        link = model.body(body).name.removeprefix(one.prefix) if moves else ""
        places[sensor.name] = link, (*place.tolist(), *quaternion.tolist())
    return places


def own_turn(sensor: SensorSpec) -> Floats:
    """Return how a sensor is turned on its mount, first by its yaw, then by its pitch, `(3, 3)`."""
    yaw_deg = sensor.yaw_deg if isinstance(sensor, RangeSensor | FlashLidar) else 0.0
    pitch_deg = 0.0
    if isinstance(sensor, RangeSensor | RangeScan | FlashLidar | CodeReader):
        pitch_deg = sensor.pitch_deg
    yaw = math.radians(yaw_deg)
    pitch = math.radians(pitch_deg)
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    return np.array([[cy * cp, -sy, cy * sp], [sy * cp, cy, sy * sp], [-sp, 0.0, cp]])
