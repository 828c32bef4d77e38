"""Joint commands, joint states and body states, frame by frame.

Nothing here is validated on construction, because a body makes them in every block. Code that receives them
from elsewhere calls `require_fit` or `require_shapes`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import BodyError, UnsafeCommandError
from posewright.robots import Rgb

Reading = float | bool | Floats
"""The value of one sensor channel: a number, a contact, or several numbers `(k,)`."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """The state of a body at one instant.

    Attributes:
        time_s: the body's own time [s].
        positions: joint angles, `(n_joints,)` [rad].
        efforts: joint torques, `(n_joints,)` [N m].
        velocities: joint speeds, `(n_joints,)` [rad/s]; None where the body does not measure them.
        sensors: readings by channel: a range sensor `laser_front` [m] (its greatest range where nothing
            is hit), a scan `(beams,)` [m], `compass` [rad], `imu.orientation` (roll, pitch, yaw) [rad],
            `imu.angular_velocity` `(3,)` [rad/s], `imu.acceleration` `(3,)` [m/s^2], contacts as bool.
    """

    time_s: float
    positions: Floats
    efforts: Floats
    velocities: Floats | None = None
    sensors: Mapping[str, Reading] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """Why a controller chose its commands, as recorded beside them.

    Attributes:
        state: the controller's state, such as the active state of a chart.
        inputs: the inputs of the decision.
        outputs: the outputs of the decision.
        playing: the requested motion or gait; None while the robot stands still.
        events: what happened during the decision, such as a broken promise: kind and details of each.
    """

    state: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    playing: str | None = None
    events: tuple[tuple[str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class JointCommands:
    """Commands for the next n frame periods, one row a frame.

    Attributes:
        angles: joint angles to be held during each frame, `(n, n_joints)` [rad].
        free: joints whose torque is off, `(n_joints,)`; None where every joint is driven.
        stiffness: the stiffness of each joint, `(n_joints,)` [N m/rad]; None for the servos' own.
        decision: the reason for these commands; None where they continue the previous decision.
        lights: colours of LEDs from the first of these frames on, by LED: red, green and blue, 0..1. Other
            LEDs keep theirs. A body without lights ignores them.
    """

    angles: Floats
    free: Flags | None = None
    stiffness: Floats | None = None
    decision: Decision | None = None
    lights: Mapping[str, Rgb] | None = None

    def __len__(self) -> int:
        return len(self.angles)

    def __getitem__(self, rows: slice) -> JointCommands:
        """Return some of the rows; the decision stays with the first row."""
        has_first_row = rows.start in {None, 0}
        return replace(self, angles=self.angles[rows], decision=self.decision if has_first_row else None)

    def require_fit(self, joints: Sequence[str]) -> None:
        """Raise unless the commands fit a robot with these joints and the angles of driven joints are finite.

        Raises:
            BodyError: a shape does not fit.
            UnsafeCommandError: the angle of a driven joint is not finite.
        """
        n_joints = len(joints)
        if self.angles.ndim != 2 or self.angles.shape[1] != n_joints:
            raise BodyError(f"angles has the shape {self.angles.shape}", hint=f"expected (n, {n_joints})")
        if self.free is not None:
            _require_shape("free", self.free, (n_joints,))
        if self.stiffness is not None:
            _require_shape("stiffness", self.stiffness, (n_joints,))
        is_finite = np.isfinite(self.angles)
        if is_finite.all():
            return
        is_unsafe = ~is_finite if self.free is None else ~is_finite & ~self.free
        if is_unsafe.any():
            frame, joint = np.argwhere(is_unsafe)[0]
            raise UnsafeCommandError(
                f"the command of {joints[joint]} in frame {frame} is {self.angles[frame, joint]}",
                hint="a finite angle in radians",
            )


class FaultKind(Enum):
    """What can be wrong with a body."""

    LATE = "late"
    SILENT = "no answer"
    GARBLED = "garbled answer"
    OVERHEATED = "overheated"
    OVERLOADED = "overloaded"
    VOLTAGE = "voltage out of range"
    RECOVERED = "answers again"
    """No problem any more: the end of one that was reported before."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem of a body that does not end the run, unlike a `BodyError`.

    Attributes:
        joint: the joint of the servo concerned; None for the body as a whole.
    """

    time_s: float
    kind: FaultKind
    message: str
    joint: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """The contacts at the end of each frame, one row for every pair of objects that touch.

    Attributes:
        names: objects: links of the robot as its model names them, the `floor`, fixed shapes of the arena,
            and other robots.
        frames: frame of each contact, counted from the first frame of the block, ascending, `(n,)`.
        pairs: indices of both objects in `names`, the smaller one first, which is a link of the robot, `(n,
            2)`.
        depths: greatest penetration of the two shapes, `(n,)` [m].
        forces: contact force between two links of the robot, `(n,)` [N]; NaN for other pairs.
        speeds: speed at which a link hit the floor in the frame of its first contact, `(n,)` [m/s]; NaN for
            lasting contacts and for other pairs.
    """

    names: tuple[str, ...]
    frames: Indices
    pairs: Indices
    depths: Floats
    forces: Floats
    speeds: Floats

    @classmethod
    def concatenate(cls, blocks: Mapping[int, Contacts]) -> Contacts:
        """Return the contacts of several blocks as one.

        Args:
            blocks: the blocks by the number of their first frame, which is added to their frames.
        """
        names = next((block.names for block in blocks.values()), ())
        no_frames = np.empty(0, np.intp)
        no_pairs = np.empty((0, 2), np.intp)
        return cls(
            names,
            frames=np.concatenate(
                [no_frames, *(block.frames + first_frame for first_frame, block in blocks.items())]
            ),
            pairs=np.concatenate([no_pairs, *(block.pairs for block in blocks.values())]),
            depths=np.concatenate([np.empty(0), *(block.depths for block in blocks.values())]),
            forces=np.concatenate([np.empty(0), *(block.forces for block in blocks.values())]),
            speeds=np.concatenate([np.empty(0), *(block.speeds for block in blocks.values())]),
        )

    def group_frames(self, frames_per_group: int) -> Contacts:
        """Return the contacts of groups of frames, whose numbers replace those of frames.

        A pair is in contact in a group if it is in any of its frames. Depth, force and speed are the greatest
        of these frames; NaN where all are.

        Args:
            frames_per_group: number of frames of a group, such as those of one row of a recording; group 0
                begins with frame 0.
        """
        rows = np.column_stack((self.frames // frames_per_group, self.pairs))
        # each group's number with its pair, and for each contact the index of these
        groups, group_of_row = np.unique(rows, axis=0, return_inverse=True)

        def greatest(values: Floats) -> Floats:
            maxima: Floats = np.full(len(groups), np.nan)
            np.fmax.at(maxima, group_of_row.ravel(), values)
            return maxima

        return Contacts(
            self.names,
            frames=groups[:, 0],
            pairs=groups[:, 1:],
            depths=greatest(self.depths),
            forces=greatest(self.forces),
            speeds=greatest(self.speeds),
        )

    def frames_with_contact(self, links: Collection[str], objects: Collection[str], n_frames: int) -> Flags:
        """Return in which of the first frames any of the links touches any of the objects, `(n_frames,)`."""
        is_link = np.array([name in links for name in self.names], dtype=np.bool_)
        is_object = np.array([name in objects for name in self.names], dtype=np.bool_)
        first, second = self.pairs.T
        is_match = (is_link[first] & is_object[second]) | (is_link[second] & is_object[first])
        in_contact = np.zeros(n_frames, dtype=np.bool_)
        in_contact[self.frames[is_match]] = True
        return in_contact


@dataclass(frozen=True, slots=True, eq=False)
class GroundTruth:
    """The true poses and contacts of a robot and of the boxes, in the field frame, one row a frame.

    Attributes:
        base: pose of the base x y z qw qx qy qz, `(n, 7)` [m, unit quaternion].
        footprints: corners of each sole, front-left, front-right, rear-right, rear-left,
            `(n, n_feet, 4, 3)` [m], feet in the order of `robot.feet`.
        foot_contacts: whether each foot touches the ground, `(n, n_feet)`.
        boxes: pose of each box x y z qw qx qy qz, `(n, n_boxes, 7)`.
        box_contacts: whether the robot touches each box, `(n, n_boxes)`.
        slips: how far each foot slid in the frame, `(n, n_feet)` [m]; None where not measured.
        contacts: all contacts of the robot; None where not recorded.
    """

    base: Floats
    footprints: Floats
    foot_contacts: Flags
    boxes: Floats
    box_contacts: Flags
    slips: Floats | None = None
    contacts: Contacts | None = None

    def __len__(self) -> int:
        return len(self.base)

    def require_shapes(self) -> None:
        """Raise a BodyError unless the shapes fit each other."""
        n = len(self.base)
        n_feet = self.foot_contacts.shape[-1]
        n_boxes = self.box_contacts.shape[-1]
        _require_shape("base", self.base, (n, 7))
        _require_shape("footprints", self.footprints, (n, n_feet, 4, 3))
        _require_shape("foot_contacts", self.foot_contacts, (n, n_feet))
        _require_shape("boxes", self.boxes, (n, n_boxes, 7))
        _require_shape("box_contacts", self.box_contacts, (n, n_boxes))
        if self.slips is not None:
            _require_shape("slips", self.slips, (n, n_feet))


@dataclass(frozen=True, slots=True, eq=False)
class JointStates:
    """The states of the joints at the end of each of some frames, one row a frame.

    Attributes:
        times: the body's time, `(n,)` [s].
        positions: joint angles, `(n, n_joints)` [rad]; NaN where not measured.
        efforts: joint torques, `(n, n_joints)` [N m]; NaN where not measured.
        truth: the robot in the field; None where the body has no ground truth.
        faults: problems during these frames.
    """

    times: Floats
    positions: Floats
    efforts: Floats
    truth: GroundTruth | None = None
    faults: tuple[Fault, ...] = ()

    def __len__(self) -> int:
        return len(self.times)

    def require_shapes(self, n_joints: int) -> None:
        """Raise a BodyError unless the shapes fit each other and a robot of `n_joints`."""
        n = len(self.times)
        _require_shape("times", self.times, (n,))
        _require_shape("positions", self.positions, (n, n_joints))
        _require_shape("efforts", self.efforts, (n, n_joints))
        if self.truth is not None:
            self.truth.require_shapes()
            _require_shape("base", self.truth.base, (n, 7))


def _require_shape(name: str, array: Floats | Flags, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise BodyError(f"{name} has the shape {array.shape}", hint=f"expected {shape}")
