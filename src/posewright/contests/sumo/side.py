"""What a judge sees of one robot in the ring, row by row: live from its blocks, or from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import Contacts
from posewright.contests.parts import arm_parts
from posewright.contests.watching import done_or_told, refuse_unseen
from posewright.errors import InputError
from posewright.recordings import Recording, RobotHeader, RobotRecord
from posewright.rotation import uprightness

FLOOR = "floor"


Seen = Flags
"""Of each frame or row, `(n, 3)`: an arm on the floor, an arm at the opponent, any part at the opponent."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What of a robot is an arm or a knee.

    Attributes:
        arms: names of the parts of its arms.
        arm_joints: places of the arms' joints among its joints.
        knees: places of its knees among its joints.
    """

    arms: frozenset[str]
    arm_joints: tuple[int, ...]
    knees: tuple[int, ...]

    @classmethod
    def of(cls, header: RobotHeader) -> Frame:
        """Return it as a recording's header tells."""
        arms = arm_parts(header)
        moved = {link.get("joint") for link in header.links if link["name"] in arms}
        joints = list(enumerate(header.joints))
        return cls(
            arms,
            tuple(number for number, name in joints if name in moved),
            tuple(number for number, name in joints if "knee" in name),
        )

    def seen(self, contacts: Contacts, opponent: str, n: int) -> Seen:
        """Return what of it touches floor and opponent, in each of `n` frames."""
        others = [name for name in contacts.names if name != opponent]
        pairs = ((self.arms, FLOOR), (self.arms, opponent), (others, opponent))
        return np.stack([contacts.touching(parts, {thing}, n) for parts, thing in pairs], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Some rows of one robot.

    Attributes:
        times: `(n,)` [s].
        corners: of the soles in the field frame, `(n, n_feet, 4, 2)` [m].
        stands: foot on the floor, `(n, n_feet)`.
        height: of the base, `(n,)` [m].
        upright: cosine of the tilt of the base, `(n,)`.
        joints: angles, as measured or else as told, `(n, n_joints)` [rad].
        knees: how far the knee that is bent most is bent, `(n,)` [rad].
        arms: angles of the joints of its arms, `(n, n_arm_joints)` [rad].
        hand: an arm on the floor, `(n,)`.
        strikes: an arm of its own touches the opponent, `(n,)`.
        touch: some part touches the opponent, `(n,)`.
    """

    times: Floats
    corners: Floats
    stands: Flags
    height: Floats
    upright: Floats
    joints: Floats
    knees: Floats
    arms: Floats
    hand: Flags
    strikes: Flags
    touch: Flags

    def __len__(self) -> int:
        return len(self.times)

    @property
    def feet(self) -> Floats:
        """The middle between the soles, `(n, 2)` [m]: a robot that leans or falls goes nowhere by that."""
        middle: Floats = self.corners.mean(axis=(1, 2))
        return middle

    def rows(self, which: slice | Flags) -> Side:
        """Return some of the rows."""
        return Side(**{entry.name: getattr(self, entry.name)[which] for entry in fields(Side)})

    @classmethod
    def joined(cls, one: Side, other: Side) -> Side:
        """Return the rows of one and then of the other."""
        names = [entry.name for entry in fields(cls)]
        return cls(**{name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in names})


def side_of(
    times: Floats,
    base: Floats,
    footprints: Floats,
    stands: Flags,
    joints: Floats,
    *,
    frame: Frame,
    seen: Seen,
) -> Side:
    """Return rows from what a body or a recording tells.

    Of each row: base `(n, 7)`, footprints `(n, n_feet, 4, 3)`, stands `(n, n_feet)`, joints `(n, n_joints)`.
    """
    knees = list(frame.knees)
    bent = np.abs(joints[:, knees]).max(axis=1) if knees else np.zeros(len(times))
    upright, arms = uprightness(base[:, 3:]), joints[:, list(frame.arm_joints)]
    return Side(times, footprints[..., :2], stands, base[:, 2], upright, joints, bent, arms, *seen.T)


def sides_of(recording: Recording) -> dict[str, Side]:
    """Return all rows of both robots of a recording, by their names.

    Raises:
        InputError: they are not two, or it is not known where they were or what they touched.
    """
    names = list(recording.robots)
    if len(names) != 2:
        raise InputError(f"{len(names)} robots", hint="two wrestle")
    pairs = zip(names, reversed(names), strict=True)
    found = {name: _recorded(name, recording.robot(name), other, recording.times) for name, other in pairs}
    return touching(found)


def _recorded(name: str, record: RobotRecord, opponent: str, times: Floats) -> Side:
    refuse_unseen(record, name)
    if record.contacts is None:
        raise InputError(f"the recording does not say what {name} touched", hint="a recording of the contest")
    frame = Frame.of(record.header)
    return side_of(
        times,
        record.base,
        record.footprints,
        record.foot_contacts,
        done_or_told(record.positions, record.commands),
        frame=frame,
        seen=frame.seen(record.contacts, opponent, len(times)),
    )


def touching(sides: Mapping[str, Side]) -> dict[str, Side]:
    """Return both sides, touched where either was: each sees the contacts of its own parts only."""
    touch = np.logical_or.reduce([side.touch for side in sides.values()])
    values = {entry.name for entry in fields(Side)} - {"touch"}
    return {
        name: Side(**{value: getattr(side, value) for value in values}, touch=touch)
        for name, side in sides.items()
    }
