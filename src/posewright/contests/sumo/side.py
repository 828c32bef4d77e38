"""What a judge sees of one robot in the ring, row by row: live from its blocks, or from a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from posewright.arenas.arena import FLOOR
from posewright.arrays import Flags, Floats
from posewright.bodies import Contacts
from posewright.contests.parts import arm_parts
from posewright.contests.watching import done_or_told, refuse_unseen
from posewright.errors import InputError
from posewright.recordings import Recording, RobotHeader
from posewright.rotation import uprightness

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
        return np.stack([contacts.frames_with_contact(parts, {thing}, n) for parts, thing in pairs], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Some rows of one robot.

    Attributes:
        frame: what of it is an arm or a knee.
        times: `(n,)` [s].
        base: x y z qw qx qy qz, `(n, 7)`.
        footprints: corners of the soles in the field frame, `(n, n_feet, 4, 3)` [m].
        stands: foot on the floor, `(n, n_feet)`.
        joints: angles, as measured or else as told, `(n, n_joints)` [rad].
        seen: what touched what, `(n, 3)`.
    """

    frame: Frame
    times: Floats
    base: Floats
    footprints: Floats
    stands: Flags
    joints: Floats
    seen: Seen

    def __len__(self) -> int:
        return len(self.times)

    @property
    def feet(self) -> Floats:
        """The middle between the soles, `(n, 2)` [m]: a robot that leans or falls goes nowhere by that."""
        middle: Floats = self.footprints[..., :2].mean(axis=(1, 2))
        return middle

    @property
    def upright(self) -> Floats:
        """Cosine of the tilt of the base, `(n,)`."""
        return uprightness(self.base[:, 3:])

    @property
    def knees(self) -> Floats:
        """How far the knee that is bent most is bent, `(n,)` [rad]."""
        bent: Floats = np.abs(self.joints[:, list(self.frame.knees)]).max(axis=1, initial=0.0)
        return bent

    @property
    def arms(self) -> Floats:
        """Angles of the joints of its arms, `(n, n_arm_joints)` [rad]."""
        return self.joints[:, list(self.frame.arm_joints)]

    @property
    def hand(self) -> Flags:
        """An arm on the floor, `(n,)`."""
        return self.seen[:, 0]

    @property
    def strikes(self) -> Flags:
        """An arm of its own touches the opponent, `(n,)`."""
        return self.seen[:, 1]

    @property
    def touch(self) -> Flags:
        """Some part touches the opponent, `(n,)`."""
        return self.seen[:, 2]

    def rows(self, which: slice | Flags) -> Side:
        """Return some of the rows."""
        return Side(self.frame, *(getattr(self, name)[which] for name in _ROWS))

    def then(self, other: Side) -> Side:
        """Return these rows and those that come after them."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in _ROWS)
        return Side(self.frame, *map(np.concatenate, pairs))


_ROWS = tuple(entry.name for entry in fields(Side))[1:]


def sides_of(recording: Recording) -> dict[str, Side]:
    """Return all rows of both robots of a recording, by their names.

    Raises:
        InputError: they are not two, or it is not known where they were or what they touched.
    """
    names = list(recording.robots)
    if len(names) != 2:
        raise InputError(f"{len(names)} robots", hint="two wrestle")
    pairs = zip(names, reversed(names), strict=True)
    return touching({name: _recorded(recording, name, opponent) for name, opponent in pairs})


def _recorded(recording: Recording, name: str, opponent: str) -> Side:
    record = recording.robot(name)
    refuse_unseen(record, name)
    if record.contacts is None:
        raise InputError(f"the recording does not say what {name} touched", hint="a recording of the contest")
    frame, joints = Frame.of(record.header), done_or_told(record.positions, record.commands)
    seen = frame.seen(record.contacts, opponent, len(record))
    return Side(frame, recording.times, record.base, record.footprints, record.foot_contacts, joints, seen)


def touching(sides: Mapping[str, Side]) -> dict[str, Side]:
    """Return both sides, touched where either was: each sees the contacts of its own parts only."""
    touch = np.logical_or.reduce([side.touch for side in sides.values()])
    return {
        name: replace(side, seen=np.column_stack([side.seen[:, :2], touch])) for name, side in sides.items()
    }
