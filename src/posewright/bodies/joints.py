"""What is commanded to a body frame by frame, what its joints then did, and what it says when asked.

Nothing here is checked on construction: a body makes one of each every block, and `check()` is there for
whoever takes them from a stranger.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import BodyError, UnsafeCommandError
from posewright.robots import Rgb

Reading = float | bool | Floats
"""One sensor channel: a number, a contact, or several numbers `(k,)`."""


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
    """Why a controller commands what it commands: what is recorded beside the commands.

    Attributes:
        state: where the controller is, e.g. the state of a chart.
        inputs: what it saw.
        outputs: what it answered.
        playing: the motion or gait that is asked for; None while the robot stands still.
        events: what happened while it thought, as kind and particulars: a broken promise, for one.
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
        stiffness: of each joint, `(n_joints,)` [N m/rad]; None for the servos' own.
        decision: what made the controller command this; None where it goes on with what it decided before.
        lights: the colours that lights take from the first of these frames on, by LED: red, green and blue,
            0..1. One that is not named stays as it is. A body without lights takes no notice.
    """

    angles: Floats
    free: Flags | None = None
    stiffness: Floats | None = None
    decision: Decision | None = None
    lights: Mapping[str, Rgb] | None = None

    def __len__(self) -> int:
        return len(self.angles)

    def __getitem__(self, rows: slice) -> JointCommands:
        """Return some of the rows; the decision stays with the first."""
        first = rows.start in {None, 0}
        return replace(self, angles=self.angles[rows], decision=self.decision if first else None)

    def check(self, joints: Sequence[str]) -> None:
        """Check that these fit a robot with such joints, and that a joint that is driven has a finite angle.

        Raises:
            BodyError: the shapes are those of another robot.
            UnsafeCommandError: an angle is not finite, and its joint is not free.
        """
        n_joints = len(joints)
        _expect("angles", self.angles, (len(self.angles), n_joints))
        if self.free is not None:
            _expect("free", self.free, (n_joints,))
        if self.stiffness is not None:
            _expect("stiffness", self.stiffness, (n_joints,))
        is_finite = np.isfinite(self.angles)
        if is_finite.all():
            return
        unsafe = ~is_finite if self.free is None else ~is_finite & ~self.free
        for frame, joint in np.argwhere(unsafe)[:1]:
            raise UnsafeCommandError(
                f"{joints[joint]} is asked to go to {self.angles[frame, joint]} in frame {frame}",
                hint="an angle is a finite number of radians",
            )


class FaultKind(Enum):
    """What can be wrong with a body."""

    LATE = "late"
    SILENT = "no answer"
    GARBLED = "garbled answer"
    OVERHEATED = "overheated"
    OVERLOADED = "overloaded"
    VOLTAGE = "voltage out of range"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a body that does not end the run; what does is a `BodyError`.

    Attributes:
        joint: whose servo it is about; None where it is about the whole body.
    """

    time_s: float
    kind: FaultKind
    message: str
    joint: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """What touches what at the end of each frame: a row for every two things.

    Attributes:
        names: of the things: parts of the robot as its model calls them, the `floor`, shapes of the arena
            that stand fast, and other robots.
        frames: in which, counted from the first frame of the block, rising, `(n,)`.
        pairs: places in `names`, the smaller first, which is a part of the robot, `(n, 2)`.
        depths: how far the shapes lie in each other at the deepest, `(n,)` [m].
        forces: how hard two parts of the robot press against each other, `(n,)` [N]; NaN against the rest.
        speeds: how fast a part came down on the floor in the frame in which it came to touch it, `(n,)`
            [m/s]; NaN where it touched it before already, or touches something else.
    """

    names: tuple[str, ...]
    frames: Indices
    pairs: Indices
    depths: Floats
    forces: Floats
    speeds: Floats

    @classmethod
    def joined(cls, parts: Mapping[int, Contacts]) -> Contacts:
        """Return the contacts of several blocks as of one, each by the frame it began at."""
        names = next((part.names for part in parts.values()), ())
        columns: dict[str, list[Any]] = {entry.name: [] for entry in fields(cls) if entry.name != "names"}
        for begin, part in parts.items():
            for name, column in columns.items():
                values = getattr(part, name)
                column.append(values + begin if name == "frames" else values)
        empty = {"frames": np.empty(0, np.intp), "pairs": np.empty((0, 2), np.intp)}
        return cls(
            names,
            **{
                name: np.concatenate([empty.get(name, np.empty(0)), *column])
                for name, column in columns.items()
            },
        )

    def folded(self, every: int) -> Contacts:
        """Return what touched in any frame of each group of so many frames, numbers at their most."""
        rows = np.column_stack((self.frames // every, self.pairs))
        groups, which = np.unique(rows, axis=0, return_inverse=True)
        found = {}
        for name in ("depths", "forces", "speeds"):
            found[name] = np.full(len(groups), np.nan)
            np.fmax.at(found[name], which.ravel(), getattr(self, name))
        return Contacts(self.names, groups[:, 0], groups[:, 1:], **found)

    def touching(self, parts: Collection[str], things: Collection[str], n: int) -> Flags:
        """Return in which of `n` frames any of the parts touches any of the things, `(n,)`."""
        is_part = np.array([name in parts for name in self.names], dtype=np.bool_)
        is_thing = np.array([name in things for name in self.names], dtype=np.bool_)
        one, other = self.pairs.T
        meets = (is_part[one] & is_thing[other]) | (is_part[other] & is_thing[one])
        touched = np.zeros(n, dtype=np.bool_)
        touched[self.frames[meets]] = True
        return touched


@dataclass(frozen=True, slots=True, eq=False)
class GroundTruth:
    """The truth about a robot and the boxes, in the field frame, where a body knows it: one row a frame.

    Attributes:
        base: pose of the base x y z qw qx qy qz, `(n, 7)` [m, unit quaternion].
        footprints: corners of each sole, front-left, front-right, rear-right, rear-left,
            `(n, n_feet, 4, 3)` [m], feet in the order of `robot.feet`.
        foot_contacts: whether each foot touches the ground, `(n, n_feet)`.
        boxes: pose of each box x y z qw qx qy qz, `(n, n_boxes, 7)`.
        box_contacts: whether the robot touches each box, `(n, n_boxes)`.
        slips: how far each foot slid in the frame, `(n, n_feet)` [m]; None where nobody looked.
        contacts: what touches what; None where nobody looked.
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

    def check(self) -> None:
        """Raise a BodyError unless the shapes fit each other."""
        n, n_feet, n_boxes = len(self.base), self.foot_contacts.shape[-1], self.box_contacts.shape[-1]
        _expect("base", self.base, (n, 7))
        _expect("footprints", self.footprints, (n, n_feet, 4, 3))
        _expect("foot_contacts", self.foot_contacts, (n, n_feet))
        _expect("boxes", self.boxes, (n, n_boxes, 7))
        _expect("box_contacts", self.box_contacts, (n, n_boxes))
        if self.slips is not None:
            _expect("slips", self.slips, (n, n_feet))


@dataclass(frozen=True, slots=True, eq=False)
class JointStates:
    """What the joints did during some frames, one row a frame, taken at the frame's end.

    Attributes:
        times: the body's time at the end of each frame, `(n,)` [s].
        positions: joint angles, `(n, n_joints)` [rad]; NaN where the body did not look.
        efforts: joint torques, `(n, n_joints)` [N m]; NaN where the body does not measure them.
        truth: about the robot in the field; None where the body does not know it.
    """

    times: Floats
    positions: Floats
    efforts: Floats
    truth: GroundTruth | None = None
    faults: tuple[Fault, ...] = ()

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
