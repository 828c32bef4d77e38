"""What is asked of a body frame by frame, and what its joints then did.

Nothing here is checked on construction: a body makes one of each every block, and `check()` is there
for whoever takes them from a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.errors import BodyError

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class JointCommands:
    """Commands for the next n frame periods, one row a frame.

    Attributes:
        angles: joint angles to be held during each frame, `(n, n_joints)` [rad].
        free: joints whose torque is off, `(n_joints,)`; None where every joint is driven.
        stiffness: of each joint, `(n_joints,)` [N m/rad]; None for the servos' own.
    """

    angles: Floats
    free: Flags | None = None
    stiffness: Floats | None = None

    def __len__(self) -> int:
        return len(self.angles)

    def check(self, n_joints: int) -> None:
        """Raise a BodyError unless the shapes fit a robot of `n_joints`."""
        _expect("angles", self.angles, (len(self.angles), n_joints))
        if self.free is not None:
            _expect("free", self.free, (n_joints,))
        if self.stiffness is not None:
            _expect("stiffness", self.stiffness, (n_joints,))


@dataclass(frozen=True, slots=True, eq=False)
class GroundTruth:
    """The truth about robot and boxes, in the field frame, where a body knows it: one row a frame.

    Attributes:
        base: pose of the base x y z qw qx qy qz, `(n, 7)` [m, unit quaternion].
        footprints: corners of each sole, front-left, front-right, rear-right, rear-left,
            `(n, n_feet, 4, 3)` [m], feet in the order of `robot.feet`.
        foot_contacts: whether each foot touches the ground, `(n, n_feet)`.
        boxes: pose of each box x y z qw qx qy qz, `(n, n_boxes, 7)`.
        box_contacts: whether the robot touches each box, `(n, n_boxes)`.
    """

    base: Floats
    footprints: Floats
    foot_contacts: Flags
    boxes: Floats
    box_contacts: Flags

    def __len__(self) -> int:
        return len(self.base)

    def check(self) -> None:
        """Raise a BodyError unless the shapes fit each other."""
        n, n_feet, n_boxes = len(self.base), self.foot_contacts.shape[-1], self.box_contacts.shape[-1]
        _expect("base", self.base, (n, 7))
        _expect("footprints", self.footprints, (n, n_feet, 4, 3))
        _expect("foot_contacts", self.foot_contacts, (n, n_feet))
        _expect("boxes", self.boxes, (n, n_boxes, 7))
        _expect("box_contacts", self.box_contacts, (n, n_boxes))


@dataclass(frozen=True, slots=True, eq=False)
class JointStates:
    """What the joints did during some frames, one row a frame, taken at the frame's end.

    Attributes:
        times: the body's time at the end of each frame, `(n,)` [s].
        positions: joint angles, `(n, n_joints)` [rad].
        efforts: joint torques, `(n, n_joints)` [N m].
        truth: the truth about the robot in the field; None where the body does not know it.
    """

    times: Floats
    positions: Floats
    efforts: Floats
    truth: GroundTruth | None = None

    def __len__(self) -> int:
        return len(self.times)

    def check(self, n_joints: int) -> None:
        """Raise a BodyError unless the shapes fit each other and a robot of `n_joints`."""
        n = len(self.times)
        _expect("times", self.times, (n,))
        _expect("positions", self.positions, (n, n_joints))
        _expect("efforts", self.efforts, (n, n_joints))
        if self.truth is not None:
            self.truth.check()
            _expect("base", self.truth.base, (n, 7))


def _expect(name: str, array: Floats | Flags, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise BodyError(f"{name} has the shape {array.shape}", hint=f"{shape} would fit")
