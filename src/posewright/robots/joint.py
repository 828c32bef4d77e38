"""Joints: what moves, how far, and which are right and left of the same thing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from posewright.documents import Node

FULL_TURN_DEG = 360.0
"""No limit lies farther than a turn from zero."""

SIGN, ZERO, SIDE = "sign", "zero", "side"
DOUBTS = (SIGN, ZERO, SIDE)
"""What may be uncertain of a joint."""

SIGNS = {"same_sign": 1, "opposite_sign": -1}
"""Keys of `mirror_pairs:` and what they do to an angle."""


@dataclass(frozen=True)
class Joint:
    """One joint of a robot and how far it may turn.

    Angles are canonical: pitch turns about +y, roll about +x, yaw about +z of the joint's own frame,
    which at angle zero stands as the robot's model draws it. The cards of Sony's robots keep OPEN-R's own
    signs instead, which those robots' files have too; they say so.

    Attributes:
        hardware_rad: lower and upper stop of the mechanism, beyond the limits [rad]; None where only the
            limits are known.
        uncertain: what nobody says of this joint, so that an angle of it may mean another on a robot that has
            a joint of the same name: `sign`, which way is positive; `zero`, where it is 0; `side`, which
            of several alike it is. Empty where it is all known.
        two_state: whether it snaps between two positions, so that an angle only says which of them, as the
            ears of an AIBO do.
    """

    name: str
    lower_rad: float
    upper_rad: float
    hardware_rad: tuple[float, float] | None = None
    two_state: bool = False
    uncertain: str = ""

    @property
    def hardware_lower_rad(self) -> float:
        """Lower stop of the mechanism; the limit where no stop is known [rad]."""
        return self.lower_rad if self.hardware_rad is None else self.hardware_rad[0]

    @property
    def hardware_upper_rad(self) -> float:
        """Upper stop of the mechanism; the limit where no stop is known [rad]."""
        return self.upper_rad if self.hardware_rad is None else self.hardware_rad[1]

    def allows(self, angle_rad: float, *, slack_rad: float = 1e-9) -> bool:
        """Tell whether `angle_rad` lies within the limits."""
        return self.lower_rad - slack_rad <= angle_rad <= self.upper_rad + slack_rad

    def reaches(self, angle_rad: float, *, slack_rad: float = 1e-9) -> bool:
        """Tell whether `angle_rad` lies between the stops of the mechanism."""
        return self.hardware_lower_rad - slack_rad <= angle_rad <= self.hardware_upper_rad + slack_rad


def parse_joint(name: str, node: Node) -> Joint:
    """Read `{limits_deg: [lower, upper], hardware_deg: ..., two_state: false, uncertain: sign, source: ...}`.

    All but the limits may be left out.
    """
    fields = node.fields(
        required=("limits_deg",), optional=("hardware_deg", "two_state", "uncertain", "source")
    )
    lower, upper = parse_range(fields["limits_deg"])
    hardware = parse_range(fields["hardware_deg"]) if "hardware_deg" in fields else None
    if hardware and not hardware[0] <= lower < upper <= hardware[1]:
        fields["limits_deg"].fail(
            f"{lower:g}..{upper:g} is beyond what the mechanism does",
            hint=f"its stops are {hardware[0]:g}..{hardware[1]:g}",
        )
    stops = (math.radians(hardware[0]), math.radians(hardware[1])) if hardware else None
    two_state = "two_state" in fields and fields["two_state"].boolean()
    uncertain = fields["uncertain"].choice("doubt", DOUBTS) if "uncertain" in fields else ""
    return Joint(name, math.radians(lower), math.radians(upper), stops, two_state, uncertain)


def parse_range(node: Node) -> tuple[float, float]:
    """Read `[lower, upper]` in degrees, or raise DocumentError."""
    pair = node.items()
    if len(pair) != 2:
        node.fail(f"expected two limits, found {len(pair)}", hint="[lower, upper] in degrees")
    lower, upper = (limit.number(low=-FULL_TURN_DEG, high=FULL_TURN_DEG) for limit in pair)
    if lower >= upper:
        node.fail(f"the lower limit {lower:g} is not below the upper {upper:g}", hint="[lower, upper]")
    return lower, upper


@dataclass(frozen=True)
class MirrorPair:
    """Two joints that change places when a pose is mirrored left to right.

    A joint on the middle line is its own partner (`left == right`).

    Attributes:
        sign: +1 where the mirrored joint has the same angle, -1 where it has the opposite.
    """

    left: str
    right: str
    sign: int


def parse_mirror_pairs(node: Node, joints: Collection[str]) -> tuple[MirrorPair, ...]:
    """Read `{same_sign: [[right, left], ...], opposite_sign: [[right, left], [middle], ...]}`."""
    pairs: list[MirrorPair] = []
    taken: set[str] = set()
    for key, listing in node.fields(optional=(*SIGNS, "source")).items():
        if key == "source":
            continue
        for entry in listing.items():
            pair = _pair(entry, joints, SIGNS[key])
            if taken & {pair.left, pair.right}:
                entry.fail(f"{pair.right} or {pair.left} is in another pair already")
            taken |= {pair.left, pair.right}
            pairs.append(pair)
    return tuple(pairs)


def _pair(entry: Node, joints: Collection[str], sign: int) -> MirrorPair:
    names = [name.choice("joint", joints) for name in entry.items()]
    if len(names) not in (1, 2):
        entry.fail(f"expected one or two joints, found {len(names)}", hint="[right, left] or [middle]")
    if len(names) != len(set(names)):
        entry.fail(f"{names[0]} is paired with itself", hint="a joint on the middle line stands alone")
    return MirrorPair(left=names[-1], right=names[0], sign=sign)


_Key = TypeVar("_Key", int, str)

AS_ITS_JOINTS = frozenset({"webots"})
"""Schemes in which a robot is called as here where its card says nothing else.

Webots has no names of its own: a world calls its motors as whoever made it likes.
"""


def per_joint(node: Node, joints: Sequence[str]) -> list[Node]:
    """Return one node a joint, in the order of `joints`."""
    if isinstance(node.value, dict):
        entries = node.fields(required=joints, optional=())
        return [entries[joint] for joint in joints]
    values = node.items()
    if len(values) != len(joints):
        node.fail(f"{len(values)} values for {len(joints)} joints", hint="one a joint, in the joints' order")
    return values


def parse_naming(node: Node, joints: Sequence[str], sensors: Iterable[str] = ()) -> dict[str, str]:
    """Read `{names: [one a joint], source: ...}`, or `{names: {joint or sensor: name, ...}}` for some."""
    names = node.fields(required=("names",), optional=("source",))["names"]
    if isinstance(names.value, dict):
        entries = names.fields(optional=(*joints, *sensors))
    else:
        entries = dict(zip(joints, per_joint(names, joints), strict=True))
    return _each_once("name", ((joint, entry.text(), entry) for joint, entry in entries.items()))


def parse_numbering(node: Node, joints: Sequence[str]) -> dict[int, str]:
    """Read `{ids: [one a joint], source: ...}` into joints by ID, or raise DocumentError."""
    ids = per_joint(node.fields(required=("ids",), optional=("source",))["ids"], joints)
    return _each_once(
        "ID", ((joint, entry.integer(low=0), entry) for joint, entry in zip(joints, ids, strict=True))
    )


def _each_once(what: str, said: Iterable[tuple[str, _Key, Node]]) -> dict[_Key, str]:
    found: dict[_Key, str] = {}
    for joint, key, entry in said:
        if key in found:
            entry.fail(f"{key!r} stands for both {found[key]} and {joint}", hint=f"each {what} once")
        found[key] = joint
    return found


def parse_groups(entries: Iterable[tuple[str, Node]], joints: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Read groups, each of joints or of groups that stand before it; a joint counts once."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, node in entries:
        if name in joints:
            node.fail(f"{name!r} is a joint", hint="give the group another name")
        groups[name] = tuple(dict.fromkeys(_members(node, joints, groups)))
    return groups


def parse_designs(
    node: Node, joints: Collection[str], groups: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Read `{DRX-1000_Head: [joints or groups], ..., source: ...}`: motion files' names for joints."""
    designs = {}
    for label, entry in node.fields().items():
        if label == "source":
            continue
        members = designs[label] = tuple(_members(entry, joints, groups))
        if len(members) != len(set(members)):
            entry.fail("a joint stands here twice")
    return designs


def _members(node: Node, joints: Collection[str], groups: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for member in node.items():
        name = member.choice("joint or group", {*joints, *groups})
        yield from groups.get(name, (name,))
