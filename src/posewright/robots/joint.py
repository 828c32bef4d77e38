"""Joints: limits, mirror pairs, names and groups."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from posewright.documents import Node

FULL_TURN_DEG = 360.0
"""Greatest absolute value of a limit [deg]."""

SIGN = "sign"
ZERO = "zero"
SIDE = "side"
UNCERTAINTIES = (SIGN, ZERO, SIDE)
"""What may be uncertain about a joint; see `Joint.uncertain`."""

SIGNS = {"same_sign": 1, "opposite_sign": -1}
"""Keys of `mirror_pairs:`, and the factor of an angle when it is mirrored."""


@dataclass(frozen=True)
class Joint:
    """A joint and its limits.

    Angles are canonical: pitch turns about +y, roll about +x, yaw about +z of the joint's own frame, which is
    at zero as the robot's model shows it. The cards of Sony's robots use OPEN-R's signs instead, as those
    robots' files do, and state it.

    Attributes:
        name: the name of the joint.
        lower_rad: limit [rad].
        upper_rad: limit [rad].
        hardware_rad: lower and upper stop of the mechanism, beyond the limits [rad]; None if unknown.
        two_state: whether it snaps between two positions, of which an angle selects one, as the ears of an
            AIBO do.
        uncertain: a property that is unknown, so that the same angle may differ on a robot with a joint of
            the same name: `sign`, the positive direction; `zero`, the position of 0; `side`, which of several
            similar joints it is. Empty if all are known.
    """

    name: str
    lower_rad: float
    upper_rad: float
    hardware_rad: tuple[float, float] | None = None
    two_state: bool = False
    uncertain: str = ""

    @property
    def hardware_lower_rad(self) -> float:
        """Lower stop of the mechanism, or the limit if the stop is unknown [rad]."""
        return self.lower_rad if self.hardware_rad is None else self.hardware_rad[0]

    @property
    def hardware_upper_rad(self) -> float:
        """Upper stop of the mechanism, or the limit if the stop is unknown [rad]."""
        return self.upper_rad if self.hardware_rad is None else self.hardware_rad[1]

    def allows(self, angle_rad: float, *, slack_rad: float = 1e-9) -> bool:
        """Return whether an angle is within the limits, widened by `slack_rad`."""
        return self.lower_rad - slack_rad <= angle_rad <= self.upper_rad + slack_rad

    def reaches(self, angle_rad: float, *, slack_rad: float = 1e-9) -> bool:
        """Return whether an angle is between the stops of the mechanism, widened by `slack_rad`."""
        return self.hardware_lower_rad - slack_rad <= angle_rad <= self.hardware_upper_rad + slack_rad


def parse_joint(name: str, node: Node) -> Joint:
    """Read `{limits_deg: [lower, upper], hardware_deg: ..., two_state: false, uncertain: sign, source: ...}`.

    Only the limits are required. Angles in the document are in degrees, those of the joint in radians.

    Args:
        name: the name of the joint.
        node: its entry in the robot's card: the angles that a command may have, those of the mechanism's
            stops around them, whether it snaps between two positions, and what is not known for certain.

    Raises:
        DocumentError: the limits are beyond the stops, or an entry is invalid.
    """
    fields = node.fields(
        required=("limits_deg",), optional=("hardware_deg", "two_state", "uncertain", "source")
    )
    lower, upper = parse_range(fields["limits_deg"])
    hardware_rad = None
    if "hardware_deg" in fields:
        first_stop, last_stop = parse_range(fields["hardware_deg"])
        hardware_rad = (math.radians(first_stop), math.radians(last_stop))
        if not first_stop <= lower < upper <= last_stop:
            fields["limits_deg"].fail(
                f"the limits {lower:g}..{upper:g} are beyond the stops of the mechanism",
                hint=f"its stops are {first_stop:g}..{last_stop:g}",
            )
    two_state = "two_state" in fields and fields["two_state"].boolean()
    uncertain = fields["uncertain"].choice("uncertainty", UNCERTAINTIES) if "uncertain" in fields else ""
    return Joint(
        name,
        lower_rad=math.radians(lower),
        upper_rad=math.radians(upper),
        hardware_rad=hardware_rad,
        two_state=two_state,
        uncertain=uncertain,
    )


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
    """Two joints that exchange their angles when a pose is mirrored.

    A joint in the middle plane is paired with itself.

    Attributes:
        left: joint on the left.
        right: joint on the right.
        sign: +1 if the mirrored joint has the same angle, -1 if it has the opposite angle.
    """

    left: str
    right: str
    sign: int


def parse_mirror_pairs(node: Node, joints: Collection[str]) -> tuple[MirrorPair, ...]:
    """Read `{same_sign: [[right, left], ...], opposite_sign: [[right, left], [middle], ...]}`."""
    pairs: list[MirrorPair] = []
    paired_joints: set[str] = set()
    for key, listing in node.fields(optional=(*SIGNS, "source")).items():
        if key == "source":
            continue
        for entry in listing.items():
            pair = _parse_pair(entry, joints, SIGNS[key])
            if paired_joints & {pair.left, pair.right}:
                entry.fail(f"{pair.right} or {pair.left} is in another pair already")
            paired_joints |= {pair.left, pair.right}
            pairs.append(pair)
    return tuple(pairs)


def _parse_pair(entry: Node, joints: Collection[str], sign: int) -> MirrorPair:
    """Read `[right, left]`, or `[middle]` for a joint that is paired with itself."""
    names = [name.choice("joint", joints) for name in entry.items()]
    if len(names) not in (1, 2):
        entry.fail(f"expected one or two joints, found {len(names)}", hint="[right, left] or [middle]")
    if len(names) != len(set(names)):
        entry.fail(f"{names[0]} is paired with itself", hint="[middle] for a joint in the middle plane")
    right = names[0]
    left = names[-1]  # the same joint if there is only one
    return MirrorPair(left, right, sign)


_Key = TypeVar("_Key", int, str)

SCHEMES_WITH_JOINT_NAMES = frozenset({"webots"})
"""Naming schemes with the names of the joints here, unless a card states others.

Webots has no names of its own: the author of a world chooses the names of its motors.
"""


def nodes_by_joint(node: Node, joints: Sequence[str]) -> list[Node]:
    """Return the nodes of a list or mapping with one value for each joint, in the order of `joints`."""
    if isinstance(node.value, dict):
        entries = node.fields(required=joints, optional=())
        return [entries[joint] for joint in joints]
    values = node.items()
    if len(values) != len(joints):
        node.fail(
            f"{len(values)} values for {len(joints)} joints",
            hint="one for each joint, in the order of the joints",
        )
    return values


def parse_naming(node: Node, joints: Sequence[str], sensors: Iterable[str] = ()) -> dict[str, str]:
    """Read `{names: [one for each joint], source: ...}`, or `{names: {joint or sensor: name, ...}}`."""
    names = node.fields(required=("names",), optional=("source",))["names"]
    if isinstance(names.value, dict):
        entries = names.fields(optional=(*joints, *sensors))
    else:
        entries = dict(zip(joints, nodes_by_joint(names, joints), strict=True))
    return _invert_uniquely("name", ((joint, entry.text(), entry) for joint, entry in entries.items()))


def parse_numbering(node: Node, joints: Sequence[str]) -> dict[int, str]:
    """Read `{ids: [one for each joint], source: ...}`; return joints by ID."""
    ids = nodes_by_joint(node.fields(required=("ids",), optional=("source",))["ids"], joints)
    return _invert_uniquely(
        "ID", ((joint, entry.integer(low=0), entry) for joint, entry in zip(joints, ids, strict=True))
    )


def _invert_uniquely(kind: str, entries: Iterable[tuple[str, _Key, Node]]) -> dict[_Key, str]:
    """Return joints by ID or name.

    Args:
        kind: `ID` or `name`, for the error message.
        entries: joint, its ID or name, and the node for errors.

    Raises:
        DocumentError: two joints have the same ID or name.
    """
    joints: dict[_Key, str] = {}
    for joint, key, node in entries:
        if key in joints:
            node.fail(f"{joints[key]} and {joint} have the same {kind} {key!r}", hint=f"each {kind} once")
        joints[key] = joint
    return joints


def parse_groups(entries: Iterable[tuple[str, Node]], joints: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Read groups of joints and of groups defined before them; repeated joints count once."""
    groups: dict[str, tuple[str, ...]] = {}
    for name, node in entries:
        if name in joints:
            node.fail(f"{name!r} is a joint", hint="give the group another name")
        groups[name] = tuple(dict.fromkeys(_members(node, joints, groups)))
    return groups


def parse_designs(
    node: Node, joints: Collection[str], groups: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Read `{DRX-1000_Head: [joints or groups], ..., source: ...}`; return joints by design label."""
    designs = {}
    for label, entry in node.fields().items():
        if label == "source":
            continue
        members = tuple(_members(entry, joints, groups))
        designs[label] = members
        if len(members) != len(set(members)):
            entry.fail("a joint is listed twice", hint="each joint once")
    return designs


def _members(node: Node, joints: Collection[str], groups: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the joints in a list of joints and groups."""
    for member in node.items():
        name = member.choice("joint or group", {*joints, *groups})
        yield from groups.get(name, (name,))
