"""Recording of contacts: which parts of a robot touch what, with which force, and how far its feet slide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats, Indices
from posewright.bodies import Contacts
from posewright.simulation.arena_model import FLOOR, plate_name
from posewright.simulation.robot_model import body_name

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

_UNRECORDED = -1
"""Number of objects that are not recorded here: the boxes, which have contact sensors."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _FrameContacts:
    """MuJoCo's contacts at the end of one frame.

    Attributes:
        geoms: the two geoms of each contact, `(n, 2)`.
        distances: negative where geoms penetrate, `(n,)` [m].
        points: positions in the field frame, `(n, 3)` [m].
        forces: normal forces between two parts of the robot, `(n,)` [N]; NaN for other contacts.
    """

    geoms: NDArray[np.int32]
    distances: Floats
    points: Floats
    forces: Floats


class ContactRecorder:
    """Records contacts at the end of each frame, and returns them block by block.

    `record_frame` is called once a frame and must be fast. Recording does not change the simulation. The last
    frame of a block stays stored: slips and touchdowns in the first frame of the next block need both.

    Args:
        instance: the robot.
        instances: all robots of the world; each of the others is one object, called by its name.
        only_touches: whether to record only which pairs touch, without positions, forces, speeds and slips,
            which cost more than all else.
    """

    def __init__(
        self, instance: ModelInstance, instances: Iterable[ModelInstance] = (), *, only_touches: bool = False
    ) -> None:
        """Number the objects, and find for each geom of the model the object that it belongs to."""
        model = instance.model
        self._records_only_touches = only_touches
        self._model: mujoco.MjModel = model
        self._data: mujoco.MjData = instance.data
        self._force_data: mujoco.MjData = mujoco.MjData(model)
        bodies = instance.bodies.tolist()
        part_names = [body_name(model, body).removeprefix(instance.prefix) for body in bodies]
        solid_names: tuple[str, ...] = ()
        if instance.arena is not None:
            solid_names = tuple(shape.name for shape in instance.arena.shapes if shape.is_solid)
        opponents = {opponent.name: opponent for opponent in instances if opponent.name != instance.name}
        # objects are numbered in this order: the robot's parts, the floor, fixed shapes, other robots
        self._object_names: tuple[str, ...] = (*part_names, FLOOR, *solid_names, *opponents)
        self._floor_number = len(bodies)  # the floor's number; smaller numbers are the robot's parts
        self._feet = [part_names.index(foot) for foot in instance.robot.feet]
        part_of_body = {body: part for part, body in enumerate(bodies)}
        self._object_of_geom = np.array(
            [part_of_body.get(int(body), _UNRECORDED) for body in model.geom_bodyid]
        )
        for number, name in enumerate((FLOOR, *solid_names), self._floor_number):
            self._object_of_geom[model.geom(name).id] = number
        for index in range(len(instance.plates)):  # a plate counts as floor
            self._object_of_geom[model.geom(plate_name(index)).id] = self._floor_number
        for number, opponent in enumerate(opponents.values(), self._floor_number + 1 + len(solid_names)):
            self._object_of_geom[opponent.own_geoms()] = number
        is_part = (self._object_of_geom >= 0) & (self._object_of_geom < self._floor_number)
        self._own_geoms = np.flatnonzero(is_part & _collides(model))
        # by geom of the model, its index among `_own_geoms`
        self._row_of_geom = np.full(model.ngeom, _UNRECORDED)
        self._row_of_geom[self._own_geoms] = np.arange(len(self._own_geoms))
        self._frame_period_s = instance.robot.frame_period_s
        self._frame_contacts: list[_FrameContacts] = []
        self._geom_poses_of_frames: list[tuple[Floats, Floats]] = []
        self._stacked_geom_poses: tuple[Floats, Floats] | None = None
        self._n_previous_frames = 0  # frames stored from the previous block: one, or none at first

    def drop_frames(self) -> None:
        """Drop all stored frames, as after moving the robot: the move is no slip."""
        self._frame_contacts.clear()
        self._geom_poses_of_frames.clear()
        self._stacked_geom_poses = None
        self._n_previous_frames = 0

    def take_contacts(self) -> tuple[Contacts, Floats | None]:
        """Return the contacts of the frames since the last call, and the feet's slips.

        Returns:
            The contacts, their frames counted from the first of these; and the slips `(n_frames, n_feet)`
            [m], None if only touches are recorded.
        """
        if self._records_only_touches:
            contacts = self._compute_touches()
            self._frame_contacts.clear()
            return contacts, None
        contacts = self._compute_contacts()
        slips = self._compute_slips()[self._n_previous_frames :]
        del self._frame_contacts[:-1]
        del self._geom_poses_of_frames[:-1]
        self._stacked_geom_poses = None
        self._n_previous_frames = len(self._frame_contacts)
        return contacts, slips

    def record_frame(self) -> None:
        """Append the current contacts, and the poses of the robot's geoms, as those of one more frame."""
        data = self._data
        contact = data.contact
        if self._records_only_touches:
            empty = np.empty(0)
            self._frame_contacts.append(
                _FrameContacts(contact.geom.copy(), distances=empty, points=empty, forces=empty)
            )
            return
        self._stacked_geom_poses = None  # without the new frame it is outdated
        self._frame_contacts.append(
            _FrameContacts(
                contact.geom.copy(),
                distances=contact.dist.copy(),
                points=contact.pos.copy(),
                forces=self._compute_own_forces(),
            )
        )
        self._geom_poses_of_frames.append((data.geom_xpos[self._own_geoms], data.geom_xmat[self._own_geoms]))

    def _compute_own_forces(self) -> Floats:
        """Return the current normal force of each contact within the robot, else NaN, `(n,)` [N].

        MuJoCo has the forces of a step only in its middle, so they are computed again in a separate state.
        That costs about as much as a physics step, so it is done only where the robot touches itself.
        """
        object_pairs = self._object_of_geom[self._data.contact.geom]
        # the numbers of the robot's own parts come before that of the floor
        is_own_part = (object_pairs >= 0) & (object_pairs < self._floor_number)
        own_contacts = np.flatnonzero(is_own_part.all(axis=1))
        normal_forces = np.full(len(object_pairs), np.nan)
        if len(own_contacts):
            mujoco.mj_copyData(self._force_data, self._model, self._data)
            skip_sensors = 1
            mujoco.mj_forwardSkip(
                self._model, self._force_data, int(mujoco.mjtStage.mjSTAGE_VEL), skip_sensors
            )
        force_torque = np.empty(6)  # in the contact's frame, whose first axis is the normal
        for contact in own_contacts.tolist():
            mujoco.mj_contactForce(self._model, self._force_data, contact, force_torque)
            normal_forces[contact] = force_torque[0]
        return normal_forces

    def _compute_touches(self) -> Contacts:
        """Return the touching pairs of the stored frames, with NaN for depths, forces and speeds."""
        frames, geoms = self._stack_geoms()
        first_object, second_object = self._object_of_geom[geoms].T
        low = np.minimum(first_object, second_object)
        high = np.maximum(first_object, second_object)
        is_recorded = (low >= 0) & (low < self._floor_number)
        # frame and pair as the digits of one number, as unique numbers are found faster than unique rows
        n_objects = len(self._object_names)
        numbers = np.unique(
            (frames[is_recorded] * n_objects + low[is_recorded]) * n_objects + high[is_recorded]
        )
        contact_frames = numbers // (n_objects * n_objects)
        pairs = np.column_stack((numbers // n_objects % n_objects, numbers % n_objects))
        unknown = np.full(len(numbers), np.nan)
        return Contacts(
            self._object_names, contact_frames, pairs, depths=unknown, forces=unknown, speeds=unknown
        )

    def _compute_contacts(self) -> Contacts:
        """Return the contacts of the stored frames, one for each frame and pair of objects that touch.

        MuJoCo has several contacts of such a pair. They become one row (frame, part, object), with the
        greatest depth and touchdown speed, and the sum of the forces. Rows of the frame from the previous
        block are computed too, as touchdowns depend on it, but not returned.
        """
        frames, geoms = self._stack_geoms()
        points = self._stack_points()
        pairs = np.sort(self._object_of_geom[geoms], axis=1)
        is_recorded = (pairs[:, 0] >= 0) & (pairs[:, 0] < self._floor_number)
        rows, row_of_contact = np.unique(
            np.column_stack((frames, pairs))[is_recorded], axis=0, return_inverse=True
        )
        row_of_contact = row_of_contact.ravel()
        depths = -np.concatenate([np.empty(0), *(frame.distances for frame in self._frame_contacts)])
        deepest = np.zeros(len(rows))
        np.maximum.at(deepest, row_of_contact, depths[is_recorded])
        touchdown_speeds = self._compute_downward_speeds(
            frames[is_recorded], geoms[is_recorded], points[is_recorded]
        )
        fastest = np.full(len(rows), -np.inf)
        np.maximum.at(fastest, row_of_contact, touchdown_speeds)
        forces = np.concatenate([np.empty(0), *(frame.forces for frame in self._frame_contacts)])
        total_forces = np.zeros(len(rows))
        np.add.at(total_forces, row_of_contact, forces[is_recorded])
        speeds = np.where(self._is_touchdown(rows), fastest, np.nan)
        is_new = rows[:, 0] >= self._n_previous_frames
        return Contacts(
            names=self._object_names,
            frames=rows[is_new, 0] - self._n_previous_frames,
            pairs=rows[is_new, 1:],
            depths=deepest[is_new],
            forces=total_forces[is_new],
            speeds=speeds[is_new],
        )

    def _is_touchdown(self, rows: Indices) -> Flags:
        """Return which rows (frame, part, object) are of parts that were not on the floor before, `(n,)`."""
        on_floor_before = np.zeros((len(self._frame_contacts) + 1, self._floor_number + 1), dtype=np.bool_)
        is_on_floor = rows[:, 2] == self._floor_number
        on_floor_before[rows[is_on_floor, 0] + 1, rows[is_on_floor, 1]] = True
        return np.asarray(is_on_floor & (rows[:, 0] > 0) & ~on_floor_before[rows[:, 0], rows[:, 1]])

    def _compute_downward_speeds(self, frames: Indices, geoms: Indices, points: Floats) -> Floats:
        """Return the mean downward speed of each contact point during its frame, `(n,)` [m/s]."""
        first_is_own = self._object_of_geom[geoms[:, 0]] < self._floor_number
        own_geoms = np.where(first_is_own, geoms[:, 0], geoms[:, 1])
        # back to the beginning of the frame, so that upward displacements are downward motions
        displacements = self._displace_points(
            points, self._row_of_geom[own_geoms], frames, target_frames=np.maximum(frames - 1, 0)
        )
        return np.asarray(displacements[:, 2] / self._frame_period_s)

    def _compute_slips(self) -> Floats:
        """Return how far each foot slid over the floor in each frame, `(n_frames, n_feet)` [m].

        A slip is the motion of the foot's material at its contact points, so a rolling ball does not slip. A
        foot that touches at one end of a frame only has not slipped in it.
        """
        slips = np.zeros((len(self._frame_contacts), len(self._feet)))
        frames, geoms = self._stack_geoms()
        points = self._stack_points()
        objects = self._object_of_geom[geoms]
        is_on_floor = (objects == self._floor_number).any(axis=1)
        for column, foot in enumerate(self._feet):
            contacts = np.flatnonzero(is_on_floor & (objects == foot).any(axis=1))
            # by frame; the element after the last frame stays false
            foot_touches = np.zeros(len(self._frame_contacts) + 1, dtype=np.bool_)
            foot_touches[frames[contacts]] = True
            # only contacts after which the foot still touches in the next frame
            contacts = contacts[foot_touches[frames[contacts] + 1]]
            foot_geoms = np.where(objects[contacts, 0] == foot, geoms[contacts, 0], geoms[contacts, 1])
            next_frames = frames[contacts] + 1
            displacements = self._displace_points(
                points[contacts],
                geom_rows=self._row_of_geom[foot_geoms],
                frames=frames[contacts],
                target_frames=next_frames,
            )
            distances = np.hypot(displacements[:, 0], displacements[:, 1])
            # the mean distance of the contact points of each frame
            n_points = np.bincount(next_frames, minlength=len(slips))
            slips[:, column] = np.bincount(next_frames, distances, len(slips))
            slips[:, column] /= np.maximum(n_points, 1)
        return slips

    def _stack_geoms(self) -> tuple[Indices, Indices]:
        """Return the frame `(n,)` and the two geoms `(n, 2)` of all stored contacts."""
        counts = [len(frame.geoms) for frame in self._frame_contacts]
        frames = np.repeat(np.arange(len(counts)), counts)
        geoms = np.concatenate([np.empty((0, 2), np.intp), *(frame.geoms for frame in self._frame_contacts)])
        return frames, geoms

    def _stack_points(self) -> Floats:
        """Return the positions of all stored contacts, `(n, 3)` [m]."""
        return np.concatenate([np.empty((0, 3)), *(frame.points for frame in self._frame_contacts)])

    def _stack_geom_poses(self) -> tuple[Floats, Floats]:
        """Return the robot's geoms: positions `(n_frames, n, 3)` [m] and rotations `(n_frames, n, 3, 3)`."""
        if self._stacked_geom_poses is None:
            positions = np.stack([position for position, _ in self._geom_poses_of_frames])
            matrices = np.stack([matrix for _, matrix in self._geom_poses_of_frames])
            self._stacked_geom_poses = positions, matrices.reshape(*positions.shape[:2], 3, 3)
        return self._stacked_geom_poses

    def _displace_points(
        self, points: Floats, geom_rows: Indices, frames: Indices, target_frames: Indices
    ) -> Floats:
        """Return how far points fixed to geoms move from one frame to another, `(n, 3)` [m].

        Args:
            points: positions in `frames`, `(n, 3)` [m].
            geom_rows: the geom of each point, as a row among the robot's own, `(n,)`.
            frames: the frames in which the points have these positions, `(n,)`.
            target_frames: the frames to whose end they move, `(n,)`.
        """
        if not len(frames):
            return np.empty((0, 3))
        positions, rotations = self._stack_geom_poses()
        offsets = points - positions[frames, geom_rows]
        local_offsets = np.einsum("nji,nj->ni", rotations[frames, geom_rows], offsets)
        target_offsets = np.einsum("nij,nj->ni", rotations[target_frames, geom_rows], local_offsets)
        return np.asarray(positions[target_frames, geom_rows] + target_offsets - points)


def _collides(model: mujoco.MjModel) -> Flags:
    """Return which geoms can touch something, `(n_geoms,)`."""
    collides = np.asarray((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    collides[np.concatenate([model.pair_geom1, model.pair_geom2])] = True
    return collides
