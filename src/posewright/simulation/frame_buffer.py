"""MuJoCo's raw state at the end of each frame of a block, from which all robots' states are built at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import mujoco
import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import GroundTruth, JointStates
from posewright.simulation.contacts import ContactRecorder
from posewright.simulation.instance import ModelInstance, slice_if_even
from posewright.simulation.placement import footprints


class FrameBuffer:
    """Stores the raw state of each frame of a block; `copy_state_into` runs once a frame and must be fast.

    Every block gets new arrays, so that the returned states can be views of them.

    Args:
        data: MuJoCo's state of a world.
        instances: the robots in it.
    """

    def __init__(self, data: mujoco.MjData, instances: Sequence[ModelInstance]) -> None:
        """Take views of MuJoCo's arrays, and find each robot's rows and columns in them."""
        self._instances = instances
        sole_geoms = np.concatenate([instance.addresses.sole_geoms for instance in instances])
        ends = np.cumsum([len(instance.addresses.sole_geoms) for instance in instances]).tolist()
        # by robot, its rows among the soles of all robots
        self._sole_rows_of_robot = [slice(begin, end) for begin, end in pairwise([0, *ends])]
        # views taken once, as getting an attribute from MuJoCo costs more than copying the array
        self._qpos_view = data.qpos
        self._force_view = data.actuator_force
        self._sensor_view = data.sensordata
        sole_rows = slice_if_even(sole_geoms)
        # evenly spaced soles are copied through a strided view, others are gathered by number
        self._gathered_sole_geoms = None if isinstance(sole_rows, slice) else sole_geoms
        viewed_rows = sole_rows if isinstance(sole_rows, slice) else slice(None)
        self._geom_position_view = data.geom_xpos[viewed_rows]
        self._geom_matrix_view = data.geom_xmat[viewed_rows]
        self._joint_columns = [slice_if_even(instance.addresses.joint_qpos) for instance in instances]
        self._actuator_columns = [slice_if_even(instance.addresses.actuators) for instance in instances]
        self._n_soles = len(sole_geoms)
        self.allocate_rows(0)

    def allocate_rows(self, n_frames: int) -> None:
        """Allocate the rows of a new block; those of the previous block belong to its states."""
        self._qpos_rows = np.empty((n_frames, len(self._qpos_view)))
        self._force_rows = np.empty((n_frames, len(self._force_view)))
        self._sensor_rows = np.empty((n_frames, len(self._sensor_view)))
        self._sole_position_rows = np.empty((n_frames, self._n_soles, 3))
        self._sole_matrix_rows = np.empty((n_frames, self._n_soles, 9))

    def copy_state_into(self, row: int) -> None:
        """Copy MuJoCo's current state into a row of the block's arrays."""
        self._qpos_rows[row] = self._qpos_view
        self._force_rows[row] = self._force_view
        self._sensor_rows[row] = self._sensor_view
        if self._gathered_sole_geoms is None:  # the soles are evenly spaced: the views are of soles only
            self._sole_position_rows[row] = self._geom_position_view
            self._sole_matrix_rows[row] = self._geom_matrix_view
            return
        # mode="clip" lets numpy write into `out` without a buffer; all indices are valid
        geoms = self._gathered_sole_geoms
        self._geom_position_view.take(geoms, axis=0, out=self._sole_position_rows[row], mode="clip")
        self._geom_matrix_view.take(geoms, axis=0, out=self._sole_matrix_rows[row], mode="clip")

    def build_states(self, robot_index: int, times: Floats, recorder: ContactRecorder | None) -> JointStates:
        """Return the stored states of one robot.

        Args:
            robot_index: index of the robot among the instances.
            times: the times of the rows, `(n,)` [s].
            recorder: the recorder of its contacts in these frames; None if they were not recorded.
        """
        instance = self._instances[robot_index]
        sole_rows = self._sole_rows_of_robot[robot_index]
        addresses = instance.addresses
        is_touching = self._sensor_rows > 0.0
        contacts, slips = (None, None) if recorder is None else recorder.take_contacts()
        # of the joints that are not welded
        moving_positions = _take_columns(self._qpos_rows, self._joint_columns[robot_index])
        moving_efforts = _take_columns(self._force_rows, self._actuator_columns[robot_index])
        return JointStates(
            times=times,
            positions=addresses.extend_to_all(moving_positions, addresses.welded_angles),
            efforts=addresses.extend_to_all(moving_efforts, 0.0),
            truth=GroundTruth(
                base=self._qpos_rows[:, addresses.base_qpos],
                footprints=footprints(
                    self._sole_position_rows[:, sole_rows], self._sole_matrix_rows[:, sole_rows], addresses
                ),
                foot_contacts=is_touching[:, addresses.foot_contacts],
                boxes=self._qpos_rows[:, addresses.box_qpos].reshape(len(times), instance.n_boxes, 7),
                box_contacts=is_touching[:, addresses.box_contacts],
                slips=slips,
                contacts=contacts,
            ),
        )


def _take_columns(rows: Floats, columns: slice | Indices) -> Floats:
    """Return columns of rows; a view if they are a slice."""
    selected: Floats = rows[:, columns] if isinstance(columns, slice) else rows.take(columns, axis=1)
    return selected
