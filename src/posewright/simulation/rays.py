"""Range sensors, scans and flash lidars, measured by casting rays."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Reading
from posewright.robots import FlashLidar, RangeScan, RangeSensor
from posewright.simulation.arena_model import ENVIRONMENT_GROUP, add_arena, add_plates, box_name
from posewright.simulation.mounts import MountFrame, find_mount, rotation_on_mount

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

DistanceSensor: TypeAlias = RangeSensor | RangeScan | FlashLidar

_HIT_GROUPS = np.array([group == ENVIRONMENT_GROUP for group in range(6)], dtype=np.uint8)
"""Which of MuJoCo's geom groups rays can hit; lines and other decoration are in other groups."""

_IGNORED_GROUP = 5
"""A group that is not in `_HIT_GROUPS`."""

_HIT_STATIC_GEOMS = 1
_NO_EXCLUDED_BODY = -1
"""Arguments of `mj_multiRay`: rays hit geoms that do not move, and those of every body."""


class _CopiedPose(NamedTuple):
    """Views of one quantity of the boxes, such as their positions, in a robot's scene and in the world."""

    in_scene: Floats
    in_world: Floats


class RayScene:
    """What a robot's rays can hit: the arena and other robots, but never the robot itself.

    For the only robot of a world this is a second model of the arena without the robot, with the boxes at
    their places in the world: four of five geoms of a world are the robot's, and skipping them for every ray
    costs half as much again as the rays themselves. The distances are the same to the last bit, as the boxes'
    poses are copied and nothing else moves. With several robots it is the world itself, with the robot's own
    geoms and the others' visual geoms in a group that rays ignore.

    Args:
        instance: the robot.

    Attributes:
        model: MuJoCo's model.
        data: its state; it is never stepped here.
    """

    def __init__(self, instance: ModelInstance) -> None:
        """Build the model of the arena alone; with several robots, copy that of the world."""
        self.model: mujoco.MjModel
        self.data: mujoco.MjData
        self._box_poses: list[_CopiedPose] = []  # empty if the scene is the world itself
        if instance.shares_world:
            self.model = _copy_model_without_robot(instance)
            self.data = instance.data
            return
        spec = mujoco.MjSpec()
        add_arena(spec, instance.arena, lines=False)
        add_plates(spec, instance.plates, instance.arena)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        scene_poses = _view_box_poses(self.model, self.data, instance.n_boxes)
        world_poses = _view_box_poses(instance.model, instance.data, instance.n_boxes)
        self._box_poses = [
            _CopiedPose(in_scene, in_world)
            for in_scene, in_world in zip(scene_poses, world_poses, strict=True)
        ]

    def update(self) -> None:
        """Copy the boxes' current poses from the world."""
        for in_scene, in_world in self._box_poses:
            in_scene[:] = in_world


def _copy_model_without_robot(instance: ModelInstance) -> mujoco.MjModel:
    """Return a copy of the world's model in which rays hit all colliding geoms except the robot's own."""
    model = copy.copy(instance.model)
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    model.geom_group[:] = np.where(collides & ~instance.own_geoms(), ENVIRONMENT_GROUP, _IGNORED_GROUP)
    return model


def _view_box_poses(model: mujoco.MjModel, data: mujoco.MjData, n_boxes: int) -> list[Floats]:
    """Return views of all positions and rotations of the boxes in a state."""
    if not n_boxes:
        return []
    # the boxes were added to both models one after the other, so their numbers are contiguous
    first_geom = int(model.geom(box_name(0)).id)
    first_body = int(model.body(box_name(0)).id)
    geoms = slice(first_geom, first_geom + n_boxes)
    bodies = slice(first_body, first_body + n_boxes)
    return [
        data.geom_xpos[geoms],
        data.geom_xmat[geoms],
        data.xpos[bodies],
        data.xmat[bodies],
        data.xipos[bodies],
        data.ximat[bodies],
    ]


class RayBundle:
    """All beams that start at one point of one mount.

    Args:
        instance: the robot.
        scene: what the beams can hit.
        sensors: all have the same mount and position.
    """

    def __init__(self, instance: ModelInstance, scene: RayScene, sensors: list[DistanceSensor]) -> None:
        """Compute the directions of all beams in the mount's frame."""
        first_sensor = sensors[0]  # mount and position are the same for all
        self._model = scene.model
        self._data = scene.data
        self._mount: MountFrame = find_mount(instance, first_sensor.mount)
        self._origin_on_mount = np.array(first_sensor.position_m)
        self._directions = np.concatenate([beam_directions(sensor) for sensor in sensors])
        n_beams = len(self._directions)  # of all sensors together
        self._max_distance_m = max(sensor.max_range_m for sensor in sensors)  # no hit is searched beyond it
        beam_counts = [sensor.beams for sensor in sensors]
        self._max_ranges = np.repeat([sensor.max_range_m for sensor in sensors], beam_counts)
        self._min_ranges = np.repeat([_min_range_m(sensor) for sensor in sensors], beam_counts)
        self._distances = np.empty(n_beams)
        self._hit_geoms = np.empty(n_beams, dtype=np.int32)
        self._has_range_sensors = any(isinstance(sensor, RangeSensor) for sensor in sensors)
        ends = list(accumulate(beam_counts))
        self._first_beams = [0, *ends[:-1]]  # index of each sensor's first beam
        # of each sensor the slice of its beams among all beams of the bundle
        self._sensor_beam_slices = [
            (sensor, slice(first_beam, end))
            for sensor, first_beam, end in zip(sensors, self._first_beams, ends, strict=True)
        ]

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store the nearest distance of each range sensor, and all distances of each scan and lidar."""
        distances = self._measure()
        if not self._has_range_sensors:
            for sensor, beam_slice in self._sensor_beam_slices:
                readings[sensor.name] = distances[beam_slice]
            return
        # the smallest distance of each sensor's beams
        nearest = np.minimum.reduceat(distances, self._first_beams).tolist()
        for (sensor, beam_slice), nearest_m in zip(self._sensor_beam_slices, nearest, strict=True):
            readings[sensor.name] = nearest_m if isinstance(sensor, RangeSensor) else distances[beam_slice]

    def _measure(self) -> Floats:
        """Return the distance along each beam, limited to the sensor's range, `(n_beams,)` [m].

        A beam that hits nothing has the sensor's maximum range.
        """
        rotation = self._mount.rotation
        mujoco.mj_multiRay(
            self._model,
            self._data,
            self._mount.position + rotation @ self._origin_on_mount,
            (self._directions @ rotation.T).ravel(),
            _HIT_GROUPS,
            _HIT_STATIC_GEOMS,
            _NO_EXCLUDED_BODY,
            self._hit_geoms,
            self._distances,
            None,  # normals, which are not needed
            len(self._distances),
            self._max_distance_m,
        )
        # MuJoCo returns -1 for a ray that hits nothing
        np.copyto(self._distances, self._max_ranges, where=self._distances < 0.0)
        distances: Floats = np.minimum(self._distances, self._max_ranges)
        if self._has_range_sensors:
            np.maximum(distances, self._min_ranges, out=distances)
        return distances


def _min_range_m(sensor: DistanceSensor) -> float:
    return sensor.min_range_m if isinstance(sensor, RangeSensor) else 0.0


class RangeReader:
    """Reads all range sensors, scans and flash lidars of a robot, those with the same origin together.

    Args:
        instance: the robot.
        sensors: the sensors; each has at least one beam.
    """

    def __init__(self, instance: ModelInstance, sensors: Iterable[DistanceSensor]) -> None:
        sensors_by_origin: dict[object, list[DistanceSensor]] = {}
        for sensor in sensors:
            origin = (sensor.mount, sensor.position_m)
            sensors_by_origin.setdefault(origin, []).append(sensor)
        self._scene = RayScene(instance)
        self._bundles = [RayBundle(instance, self._scene, group) for group in sensors_by_origin.values()]

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Store every sensor's reading."""
        self._scene.update()
        for bundle in self._bundles:
            bundle.read_into(readings)


def beam_directions(sensor: DistanceSensor) -> Floats:
    """Return unit vectors along the beams in the mount's frame, `(beams, 3)`.

    The beams of a scan or a range sensor are in a plane. A scan's plane is tilted by its pitch about the
    mount's y; a range sensor is first rotated by its yaw, then tilted about its own y. A flash lidar's beams
    form a grid, which is rotated like a range sensor.
    """
    if isinstance(sensor, FlashLidar):
        # metres to the left for each column of beams, and up for each row, at 1 m ahead
        left, up = sensor.slopes
        ends = np.stack(np.broadcast_arrays(1.0, left[None, :], up[:, None]), axis=-1).reshape(-1, 3)
        sensor_directions = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    else:
        bearings = sensor.bearings_rad
        if isinstance(sensor, RangeSensor):
            # its bearings include its yaw, which the rotation below adds, too
            bearings = bearings - math.radians(sensor.yaw_deg)
        sensor_directions = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(sensor.beams)], axis=-1)
    directions: Floats = sensor_directions @ rotation_on_mount(sensor).T
    return directions
