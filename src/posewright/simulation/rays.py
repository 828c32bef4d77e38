"""Distances measured by rays: narrow fans and scans, all beams of one origin at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.bodies import Reading
from posewright.robots import RangeScan, RangeSensor
from posewright.simulation.arena_model import ENVIRONMENT_GROUP
from posewright.simulation.mount import Mount, find_mount
from posewright.simulation.surroundings import Surroundings

if TYPE_CHECKING:
    from posewright.simulation.world import World

_SEEN = np.array([group == ENVIRONMENT_GROUP for group in range(6)], dtype=np.uint8)
"""Lines and other decoration are in other groups: no ray ends on them."""

_NO_BODY = -1


class RayBundle:
    """All beams that start at one point of one mount.

    Args:
        world: the mount's.
        surroundings: what the beams may meet.
        sensors: range sensors and scans with the same mount and position.
    """

    def __init__(
        self, world: World, surroundings: Surroundings, sensors: list[RangeSensor | RangeScan]
    ) -> None:
        first = sensors[0]
        self._model, self._data = surroundings.model, surroundings.data
        self._mount: Mount = find_mount(world.model, world.data, first.mount)
        self._position = np.array(first.position_m)
        self._directions = np.concatenate([beam_directions(sensor) for sensor in sensors])
        n_rays = len(self._directions)
        self._cutoff_m = max(sensor.max_range_m for sensor in sensors)
        beams = [sensor.beams for sensor in sensors]
        self._reach = np.repeat([sensor.max_range_m for sensor in sensors], beams)
        self._nearest = np.repeat([_min_range_m(sensor) for sensor in sensors], beams)
        self._distances = np.empty(n_rays)
        self._geoms = np.empty(n_rays, dtype=np.int32)
        ends = list(accumulate(sensor.beams for sensor in sensors))
        self._starts = [0, *ends[:-1]]
        self._parts = [
            (sensor, slice(start, end))
            for sensor, start, end in zip(sensors, self._starts, ends, strict=True)
        ]

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Measure, and put down the nearest hit of each fan and every beam of each scan."""
        distances = self._measure()
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
        distances: Floats = np.where(found < 0.0, self._reach, np.minimum(found, self._reach))
        np.maximum(distances, self._nearest, out=distances)
        return distances


def _min_range_m(sensor: RangeSensor | RangeScan) -> float:
    return sensor.min_range_m if isinstance(sensor, RangeSensor) else 0.0


class Rays:
    """All range sensors and scans of a world's robot, in the fewest bundles.

    Args:
        world: whose arena the beams meet.
        sensors: with at least one beam each.
    """

    def __init__(self, world: World, sensors: Iterable[RangeSensor | RangeScan]) -> None:
        by_origin: dict[object, list[RangeSensor | RangeScan]] = {}
        for sensor in sensors:
            by_origin.setdefault((sensor.mount, sensor.position_m), []).append(sensor)
        self._surroundings = Surroundings(world)
        self._bundles = [RayBundle(world, self._surroundings, group) for group in by_origin.values()]

    def read_into(self, readings: dict[str, Reading]) -> None:
        """Measure, and put down every sensor's reading."""
        self._surroundings.update()
        for bundle in self._bundles:
            bundle.read_into(readings)


def beam_directions(sensor: RangeSensor | RangeScan) -> Floats:
    """Return unit vectors along the beams in the mount's frame, `(beams, 3)`.

    The beams lie in a plane. A scan's plane is tilted by its pitch about the mount's y; a range sensor
    is first turned by its yaw, then its plane is tilted about its own y.
    """
    yaw = math.radians(sensor.yaw_deg) if isinstance(sensor, RangeSensor) else 0.0
    pitch = math.radians(sensor.pitch_deg)
    bearings = sensor.bearings_rad - yaw
    ahead, left = np.cos(bearings), np.sin(bearings)
    tilted = np.stack([ahead * math.cos(pitch), left, -ahead * math.sin(pitch)], axis=-1)
    turn = np.array(
        [[math.cos(yaw), -math.sin(yaw), 0.0], [math.sin(yaw), math.cos(yaw), 0.0], [0.0, 0.0, 1.0]]
    )
    directions: Floats = tilted @ turn.T
    return directions
