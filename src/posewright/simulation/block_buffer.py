"""MuJoCo's raw state at the end of each frame of a block, turned into a track all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import GroundTruth, JointStates
from posewright.simulation.placing import footprints

if TYPE_CHECKING:
    from posewright.simulation.world import World


class BlockBuffer:
    """The raw state of the frames of one block; `keep` is called once a frame and must stay cheap.

    Every block gets arrays of its own, and a track looks into them rather than copying them once more.
    """

    def __init__(self, world: World) -> None:
        self._addresses = at = world.addresses
        self._n_boxes = world.n_boxes
        data = world.data
        # Live views, taken once: asking MuJoCo for an attribute costs more than copying the array.
        self._qpos, self._force, self._sensors = data.qpos, data.actuator_force, data.sensordata
        self._soles, self._places, self._turns = at.sole_geoms, data.geom_xpos, data.geom_xmat
        self.begin(0)

    def begin(self, n_frames: int) -> None:
        """Make room for a block."""
        self._qpos_rows = np.empty((n_frames, len(self._qpos)))
        self._force_rows = np.empty((n_frames, len(self._force)))
        self._sensor_rows = np.empty((n_frames, len(self._sensors)))
        self._place_rows = np.empty((n_frames, len(self._soles), 3))
        self._turn_rows = np.empty((n_frames, len(self._soles), 9))

    def keep(self, row: int) -> None:
        """Copy the state as it is now."""
        self._qpos_rows[row] = self._qpos
        self._force_rows[row] = self._force
        self._sensor_rows[row] = self._sensors
        # "clip" takes straight into the row; the soles are geoms that there are.
        self._places.take(self._soles, axis=0, out=self._place_rows[row], mode="clip")
        self._turns.take(self._soles, axis=0, out=self._turn_rows[row], mode="clip")

    def track(self, times: Floats) -> JointStates:
        """Return what was kept, one row for each of `times` `(n,)`."""
        at = self._addresses
        touching = self._sensor_rows > 0.0
        return JointStates(
            times=times,
            positions=at.of_all(self._qpos_rows.take(at.joint_qpos, axis=1), at.held),
            efforts=at.of_all(self._force_rows.take(at.actuators, axis=1), 0.0),
            truth=GroundTruth(
                base=self._qpos_rows[:, at.base_qpos],
                footprints=footprints(self._place_rows, self._turn_rows, at),
                foot_contacts=touching[:, at.foot_contacts],
                boxes=self._qpos_rows[:, at.box_qpos].reshape(len(times), self._n_boxes, 7),
                box_contacts=touching[:, at.box_contacts],
            ),
        )
