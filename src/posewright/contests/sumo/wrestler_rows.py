"""Rows of one robot in the ring, from its blocks during a bout or from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from posewright.arenas.arena import FLOOR
from posewright.arrays import Flags, Floats
from posewright.bodies import Contacts
from posewright.contests.observation import measured_or_commanded, require_positions
from posewright.contests.robot_parts import arm_parts
from posewright.errors import InputError
from posewright.recordings import Recording, RobotHeader
from posewright.rotation import uprightness

TouchFlags = Flags
"""For each frame or row, `(n, 3)`: an arm on the floor, an arm at the opponent, any part at the opponent."""


@dataclass(frozen=True, slots=True)
class BodyParts:
    """The arms and knees of a robot.

    Attributes:
        arms: names of the arms' links.
        arm_joints: indices of the arms' joints.
        knees: indices of the knees' joints.
    """

    arms: frozenset[str]
    arm_joints: tuple[int, ...]
    knees: tuple[int, ...]

    @classmethod
    def from_header(cls, header: RobotHeader) -> BodyParts:
        """Return the arms and knees of the robot in a recording's header, found by the names of its parts."""
        arms = arm_parts(header)
        arm_joint_names = {link.get("joint") for link in header.links if link["name"] in arms}
        return cls(
            arms,
            arm_joints=tuple(index for index, name in enumerate(header.joints) if name in arm_joint_names),
            knees=tuple(index for index, name in enumerate(header.joints) if "knee" in name),
        )

    def find_touches(self, contacts: Contacts, opponent: str, n_frames: int) -> TouchFlags:
        """Return the touches of the floor and the opponent in each of `n_frames` frames."""
        all_parts = [name for name in contacts.names if name != opponent]
        arm_on_floor = contacts.frames_with_contact(self.arms, {FLOOR}, n_frames)
        arm_on_opponent = contacts.frames_with_contact(self.arms, {opponent}, n_frames)
        any_on_opponent = contacts.frames_with_contact(all_parts, {opponent}, n_frames)
        return np.stack([arm_on_floor, arm_on_opponent, any_on_opponent], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class WrestlerRows:
    """Rows of one robot.

    Attributes:
        body_parts: its arms and knees.
        times: `(n,)` [s].
        base: x y z qw qx qy qz, `(n, 7)`.
        footprints: corners of the soles in the field frame, `(n, n_feet, 4, 3)` [m].
        has_foot_down: whether each foot is on the floor, `(n, n_feet)`.
        joints: angles as measured, or as commanded without a measurement, `(n, n_joints)` [rad].
        touches: the touches of the floor and the opponent, `(n, 3)`, as in `TouchFlags`.
    """

    body_parts: BodyParts
    times: Floats
    base: Floats
    footprints: Floats
    has_foot_down: Flags
    joints: Floats
    touches: TouchFlags

    def __len__(self) -> int:
        return len(self.times)

    @property
    def middle_of_feet(self) -> Floats:
        """Middle between the soles, which does not move when the robot leans, `(n, 2)` [m]."""
        middle: Floats = self.footprints[..., :2].mean(axis=(1, 2))
        return middle

    @property
    def upright(self) -> Floats:
        """Cosine of the tilt of the base, `(n,)`."""
        return uprightness(self.base[:, 3:])

    @property
    def knee_bend(self) -> Floats:
        """Angle of the knee that is bent most, `(n,)` [rad]."""
        angles: Floats = np.abs(self.joints[:, list(self.body_parts.knees)]).max(axis=1, initial=0.0)
        return angles

    @property
    def arm_angles(self) -> Floats:
        """Angles of the arms' joints, `(n, n_arm_joints)` [rad]."""
        return self.joints[:, list(self.body_parts.arm_joints)]

    @property
    def arm_touches_floor(self) -> Flags:
        """Whether an arm touches the floor, `(n,)`."""
        return self.touches[:, 0]

    @property
    def arm_touches_opponent(self) -> Flags:
        """Whether one of its arms touches the opponent, `(n,)`."""
        return self.touches[:, 1]

    @property
    def touches_opponent(self) -> Flags:
        """Whether the robots touch each other, `(n,)`."""
        return self.touches[:, 2]

    def select(self, rows: slice | Flags) -> WrestlerRows:
        """Return some of the rows."""
        return WrestlerRows(
            self.body_parts,
            times=self.times[rows],
            base=self.base[rows],
            footprints=self.footprints[rows],
            has_foot_down=self.has_foot_down[rows],
            joints=self.joints[rows],
            touches=self.touches[rows],
        )

    def concatenate(self, later: WrestlerRows) -> WrestlerRows:
        """Return these rows followed by later ones."""
        return WrestlerRows(
            self.body_parts,
            times=np.concatenate([self.times, later.times]),
            base=np.concatenate([self.base, later.base]),
            footprints=np.concatenate([self.footprints, later.footprints]),
            has_foot_down=np.concatenate([self.has_foot_down, later.has_foot_down]),
            joints=np.concatenate([self.joints, later.joints]),
            touches=np.concatenate([self.touches, later.touches]),
        )


def rows_of_recording(recording: Recording) -> dict[str, WrestlerRows]:
    """Return all rows of both robots of a recording, by their names.

    Raises:
        InputError: there are not two robots, or the recording lacks their positions or contacts.
    """
    names = list(recording.robots)
    if len(names) != 2:
        raise InputError(f"the recording has {len(names)} robots", hint="a sumo bout has two")
    first, second = names
    return add_mutual_touches(
        {
            first: _read_rows(recording, first, opponent=second),
            second: _read_rows(recording, second, opponent=first),
        }
    )


def _read_rows(recording: Recording, name: str, opponent: str) -> WrestlerRows:
    """Return the rows of a robot, one for each row of the recording.

    Raises:
        InputError: the recording lacks its positions or contacts.
    """
    record = recording.robot(name)
    require_positions(record, name)
    if record.contacts is None:
        raise InputError(
            f"the recording does not say what {name} touched", hint="judge a recording made in the contest"
        )
    body_parts = BodyParts.from_header(record.header)
    return WrestlerRows(
        body_parts,
        recording.times,
        record.base,
        record.footprints,
        has_foot_down=record.foot_contacts,
        joints=measured_or_commanded(record.positions, record.commands),
        touches=body_parts.find_touches(record.contacts, opponent, len(record)),
    )


def add_mutual_touches(rows: Mapping[str, WrestlerRows]) -> dict[str, WrestlerRows]:
    """Return the rows of both robots, which touch each other in a row if the contacts of either show it."""
    touch_each_other = np.logical_or.reduce([robot_rows.touches_opponent for robot_rows in rows.values()])
    return {
        name: replace(
            robot_rows,
            touches=np.column_stack(
                [robot_rows.arm_touches_floor, robot_rows.arm_touches_opponent, touch_each_other]
            ),
        )
        for name, robot_rows in rows.items()
    }
