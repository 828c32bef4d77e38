"""MuJoCo's raw state at the end of each frame of a block, turned into the robots' states all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import GroundTruth, JointStates
from posewright.simulation.contacts import ContactRecorder
from posewright.simulation.placing import footprints

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance


class FrameBuffer:
    """The raw state of the frames of one block; `keep` is called once a frame and must stay cheap.

    Every block gets arrays of its own, and states look into them rather than copying them once more.

    Args:
        data: MuJoCo's state of a world.
        instances: the robots in it.
    """

    def __init__(self, data: Any, instances: Sequence[ModelInstance]) -> None:
        self._instances = instances
        soles = np.concatenate([one.addresses.sole_geoms for one in instances])
        ends = np.cumsum([len(one.addresses.sole_geoms) for one in instances]).tolist()
        self._soles = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        # Live views, taken once: asking MuJoCo for an attribute costs more than copying the array.
        self._qpos, self._force, self._sensors = data.qpos, data.actuator_force, data.sensordata
        even = _even(soles)
        self._numbers = soles if even is None else None
        rows = slice(None) if even is None else even
        self._places, self._turns = data.geom_xpos[rows], data.geom_xmat[rows]
        self._n_soles = len(soles)
        self.begin(0)

    def begin(self, n_frames: int) -> None:
        """Make room for a block."""
        self._qpos_rows = np.empty((n_frames, len(self._qpos)))
        self._force_rows = np.empty((n_frames, len(self._force)))
        self._sensor_rows = np.empty((n_frames, len(self._sensors)))
        self._place_rows = np.empty((n_frames, self._n_soles, 3))
        self._turn_rows = np.empty((n_frames, self._n_soles, 9))

    def keep(self, row: int) -> None:
        """Copy the state as it is now."""
        self._qpos_rows[row] = self._qpos
        self._force_rows[row] = self._force
        self._sensor_rows[row] = self._sensors
        if self._numbers is None:
            self._place_rows[row] = self._places
            self._turn_rows[row] = self._turns
        else:  # "clip" takes straight into the row; the soles are geoms that there are
            self._places.take(self._numbers, axis=0, out=self._place_rows[row], mode="clip")
            self._turns.take(self._numbers, axis=0, out=self._turn_rows[row], mode="clip")

    def states(self, number: int, times: Floats, recorder: ContactRecorder | None) -> JointStates:
        """Return what was kept of a robot, one row for each of `times` `(n,)`.

        Args:
            number: which robot of the world.
            times: of the rows [s].
            recorder: noted its contacts in these frames; None where nobody did.
        """
        one, soles = self._instances[number], self._soles[number]
        at = one.addresses
        touching = self._sensor_rows > 0.0
        contacts, slips = (None, None) if recorder is None else recorder.take()
        return JointStates(
            times=times,
            positions=at.of_all(self._qpos_rows.take(at.joint_qpos, axis=1), at.welded),
            efforts=at.of_all(self._force_rows.take(at.actuators, axis=1), 0.0),
            truth=GroundTruth(
                base=self._qpos_rows[:, at.base_qpos],
                footprints=footprints(self._place_rows[:, soles], self._turn_rows[:, soles], at),
                foot_contacts=touching[:, at.foot_contacts],
                boxes=self._qpos_rows[:, at.box_qpos].reshape(len(times), one.n_boxes, 7),
                box_contacts=touching[:, at.box_contacts],
                slips=slips,
                contacts=contacts,
            ),
        )


def _even(numbers: Indices) -> slice | None:
    """Return the slice that takes these numbers, where they rise by even steps: that copies much faster."""
    steps = set(np.diff(numbers).tolist()) or {1}
    if not len(numbers) or len(steps) > 1 or min(steps) < 1:
        return slice(0, 0) if not len(numbers) else None
    return slice(int(numbers[0]), int(numbers[-1]) + 1, steps.pop())
