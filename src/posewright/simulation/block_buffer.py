"""MuJoCo's raw state at the end of each frame of a block, turned into a track all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.bodies import Floats, Track, WorldTrack
from posewright.simulation.placing import footprints

if TYPE_CHECKING:
    from posewright.simulation.world import World


class BlockBuffer:
    """Room for the raw state of some frames; `keep` is called once a frame and must stay cheap."""

    def __init__(self, world: World, capacity: int = 16) -> None:
        self._world = world
        data = world.data
        # Live views, taken once: asking MuJoCo for an attribute costs more than copying the array.
        self._views = (data.qpos, data.actuator_force, data.sensordata, data.geom_xpos, data.geom_xmat)
        self._allocate(capacity)

    def _allocate(self, capacity: int) -> None:
        self._capacity = capacity
        self._rows = tuple(np.empty((capacity, *view.shape)) for view in self._views)

    def reserve(self, n_frames: int) -> None:
        """Make room for so many frames."""
        if n_frames > self._capacity:
            self._allocate(n_frames)

    def keep(self, row: int) -> None:
        """Copy the state as it is now."""
        qpos, force, sensors, places, turns = self._views
        to_qpos, to_force, to_sensors, to_places, to_turns = self._rows
        to_qpos[row] = qpos
        to_force[row] = force
        to_sensors[row] = sensors
        to_places[row] = places
        to_turns[row] = turns

    def track(self, times: Floats) -> Track:
        """Return what was kept, one row for each of `times` `(n,)`."""
        n = len(times)
        at = self._world.addresses
        qpos, force, sensors, places, turns = (rows[:n] for rows in self._rows)
        soles = at.sole_geoms
        return Track(
            times=times,
            positions=qpos[:, at.joint_qpos],
            loads=force[:, at.actuators],
            world=WorldTrack(
                trunk=qpos[:, at.trunk_qpos],
                footprints=footprints(places[:, soles], turns[:, soles], at.sole_corners),
                foot_contacts=sensors[:, at.foot_contacts] > 0.0,
                boxes=qpos[:, at.box_qpos],
                box_contacts=sensors[:, at.box_contacts] > 0.0,
            ),
        )
