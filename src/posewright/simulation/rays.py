"""Distances measured by rays: narrow fans, scans and flash lidars, all beams of one origin at once."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Reading
from posewright.robots import FlashLidar, RangeScan, RangeSensor
from posewright.simulation.arena_model import ENVIRONMENT_GROUP, add_arena, box_name
from posewright.simulation.mounts import Mount, find_mount, own_turn

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

Sensor: TypeAlias = RangeSensor | RangeScan | FlashLidar

_SEEN = np.array([group == ENVIRONMENT_GROUP for group in range(6)], dtype=np.uint8)
"""Lines and other decoration are in other groups: no ray ends on them."""

_UNSEEN_GROUP = 5
_NO_BODY = -1


class Surroundings:
    """What a robot's rays may meet: the arena and other robots, never the robot that sent them.

    Where it is alone, this is a second model, of the arena without the robot, in which the boxes stand as
    they do in the world: four in five of a world's geoms are the robot's, and to let MuJoCo pass over them
    for every ray costs half as much again as the rays themselves. The distances are the same to the last bit:
    the boxes' places are copied, and everything else stands still. Among others, it is the world itself, with
    what rays pass by in another group: the robot's own shapes, and what is only to be seen of the others.

    Attributes:
        model: MuJoCo's model.
        data: its state; it is never stepped here.
    """

    def __init__(self, one: ModelInstance) -> None:
        self.model: Any
        self.data: Any
        self._places: list[tuple[Floats, Floats]] = []
        if one.prefix:
            self.model, self.data = _others_seen(one), one.data
            return
        spec = mujoco.MjSpec()
        add_arena(spec, one.arena, lines=False)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        here = _box_places(self.model, self.data, one.n_boxes)
        there = _box_places(one.model, one.data, one.n_boxes)
        self._places = list(zip(here, there, strict=True))

    def update(self) -> None:
        """Put the boxes where they are now."""
        for here, there in self._places:
            here[:] = there


def _others_seen(one: ModelInstance) -> Any:
    """Return the world's model with all that one robot may see, and nothing else, in one group."""
    model = copy.copy(one.model)
    solid = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    model.geom_group[:] = np.where(solid & ~one.own_geoms(), ENVIRONMENT_GROUP, _UNSEEN_GROUP)
    return model


def _box_places(model: Any, data: Any, n_boxes: int) -> list[Floats]:
    """Return live views of all that MuJoCo knows of where the boxes are."""
    if not n_boxes:
        return []
    # The boxes were added to either model one after the other, and so do their numbers stand.
    geom, body = int(model.geom(box_name(0)).id), int(model.body(box_name(0)).id)
    geoms, bodies = slice(geom, geom + n_boxes), slice(body, body + n_boxes)
    return [
        *(places[geoms] for places in (data.geom_xpos, data.geom_xmat)),
        *(places[bodies] for places in (data.xpos, data.xmat, data.xipos, data.ximat)),
    ]


class RayBundle:
    """All beams that start at one point of one mount.

    Args:
        one: the robot whose mount it is.
        surroundings: what the beams may meet.
        sensors: with the same mount and position.
    """

    def __init__(self, one: ModelInstance, surroundings: Surroundings, sensors: list[Sensor]) -> None:
        first = sensors[0]
        self._model, self._data = surroundings.model, surroundings.data
        self._mount: Mount = find_mount(one, first.mount)
        self._position = np.array(first.position_m)
        self._directions = np.concatenate([beam_directions(sensor) for sensor in sensors])
        n_rays = len(self._directions)
        self._cutoff_m = max(sensor.max_range_m for sensor in sensors)
        beams = [sensor.beams for sensor in sensors]
        self._reach = np.repeat([sensor.max_range_m for sensor in sensors], beams)
        self._nearest = np.repeat([_min_range_m(sensor) for sensor in sensors], beams)
        self._distances = np.empty(n_rays)
        self._geoms = np.empty(n_rays, dtype=np.int32)
        self._has_fans = any(isinstance(sensor, RangeSensor) for sensor in sensors)
        ends = list(accumulate(sensor.beams for sensor in sensors))
        self._starts = [0, *ends[:-1]]
        self._parts = [
            (sensor, slice(start, end))
            for sensor, start, end in zip(sensors, self._starts, ends, strict=True)
        ]

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Measure, and put down the nearest hit of each fan and every beam of each scan."""
        distances = self._measure()
        if not self._has_fans:
            for sensor, part in self._parts:
                readings[sensor.name] = distances[part]
            return
        nearest = np.minimum.reduceat(distances, self._starts).tolist()
        for (sensor, part), near in zip(self._parts, nearest, strict=True):
            readings[sensor.name] = near if isinstance(sensor, RangeSensor) else distances[part]

    def _measure(self) -> Floats:
        """Return the distance along each beam, `(n_rays,)` [m]; its greatest range where nothing is hit.

        What is nearer than a sensor's nearest range reads as that.
        """
        rotation = self._mount.rotation
        mujoco.mj_multiRay(
            self._model,
            self._data,
            self._mount.position + rotation @ self._position,
            (self._directions @ rotation.T).ravel(),
            _SEEN,
            1,
            _NO_BODY,
            self._geoms,
            self._distances,
            None,
            len(self._distances),
            self._cutoff_m,
        )
        found = self._distances
        np.copyto(found, self._reach, where=found < 0.0)
        distances: Floats = np.minimum(found, self._reach)
        return np.maximum(distances, self._nearest, out=distances) if self._has_fans else distances


def _min_range_m(sensor: Sensor) -> float:
    return sensor.min_range_m if isinstance(sensor, RangeSensor) else 0.0


class Rays:
    """All range sensors, scans and flash lidars of a robot, in the fewest bundles.

    Args:
        one: the robot.
        sensors: with at least one beam each.
    """

    def __init__(self, one: ModelInstance, sensors: Iterable[Sensor]) -> None:
        by_origin: dict[object, list[Sensor]] = {}
        for sensor in sensors:
            by_origin.setdefault((sensor.mount, sensor.position_m), []).append(sensor)
        self._surroundings = Surroundings(one)
        self._bundles = [RayBundle(one, self._surroundings, group) for group in by_origin.values()]

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Measure, and put down every sensor's reading."""
        self._surroundings.update()
        for bundle in self._bundles:
            bundle.read_into(readings)


def beam_directions(sensor: Sensor) -> Floats:
    """Return unit vectors along the beams in the mount's frame, `(beams, 3)`.

    The beams lie in a plane. A scan's plane is tilted by its pitch about the mount's y; a range sensor
    is first turned by its yaw, then its plane is tilted about its own y. A flash lidar's are a grid, which is
    turned like a range sensor.
    """
    if isinstance(sensor, FlashLidar):
        left, up = sensor.slopes
        ends = np.stack(np.broadcast_arrays(1.0, left[None, :], up[:, None]), axis=-1).reshape(-1, 3)
        ways = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    else:
        yaw = math.radians(sensor.yaw_deg) if isinstance(sensor, RangeSensor) else 0.0
        bearings = sensor.bearings_rad - yaw
        ways = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(sensor.beams)], axis=-1)
    directions: Floats = ways @ own_turn(sensor).T
    return directions
