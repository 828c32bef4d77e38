"""Geometry of a biped: its two legs, which mirror each other, its soles, and its mass as three points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated

from posewright.documents import Bounds, Node, read_record
from posewright.robots.geometry import LEFT, LEG_HINT, RIGHT

SIDES = (RIGHT, LEFT)
"""The order of a biped's legs in every array over legs."""

OUTWARDS: Mapping[str, float] = MappingProxyType({RIGHT: -1.0, LEFT: 1.0})
"""The sign of y, to the left, of what lies outwards of each leg."""

LEG_PARTS = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
"""The joints of a leg from the trunk to the foot; the yaw may be missing."""

MIN_SOLE_M = 0.001
"""Least length and width of a sole [m]."""

MAX_LENGTH_M = 1.0
"""Greatest length of a leg's part [m]."""

Coordinate = Annotated[float, Bounds(-MAX_LENGTH_M, MAX_LENGTH_M)]
Length = Annotated[float, Bounds(MIN_SOLE_M, MAX_LENGTH_M)]
Mass = Annotated[float, Bounds(0.001, 100.0)]


@dataclass(frozen=True)
class PointMasses:
    """A biped's mass as three points: one for the upper body, and one at each ankle.

    Attributes:
        upper_kg: mass of the upper body [kg].
        upper_m: its position in the trunk's frame [m].
        ankle_kg: mass at each ankle [kg].
    """

    upper_kg: Mass
    upper_m: tuple[Coordinate, Coordinate, Coordinate]
    ankle_kg: Mass

    @property
    def total_kg(self) -> float:
        """Mass of the robot [kg]."""
        return self.upper_kg + 2.0 * self.ankle_kg


@dataclass(frozen=True)
class BipedGeometry:
    """Geometry of a biped's legs with all joints at 0; lengths are those of the right leg.

    Attributes:
        joints: the joints of each leg from the trunk to the foot, by side: six, or five without a yaw at the
            hip.
        feet: name of each leg's foot, by side.
        hip_m: a point of the yaw's axis at the height of the roll axis, in the trunk's frame [m].
        hip_ahead_m: how far in front of the yaw's axis the pitch axis is [m].
        thigh_m: from the hip's pitch axis to the knee's axis, forward and up [m].
        shank_m: from there to the ankle's pitch axis, forward and up [m].
        sole_m: from the ankle's roll axis to the middle of the sole, in the foot's frame [m].
        sole_size_m: length and width of a sole [m].
        masses: the robot's mass as points; None if nothing needs them.
        hip_drop_m: how far under the hip's roll axis its pitch axis is [m].
        ankle_drop_m: how far under the ankle's pitch axis its roll axis is [m].
        directions: for each joint of each leg 1 if it turns as `BipedLeg` has it, yaw about z, roll about x
            and pitch about y; -1 if the other way round.
    """

    joints: Mapping[str, tuple[str, ...]] = field(repr=False)
    feet: Mapping[str, str] = field(repr=False)
    hip_m: tuple[Coordinate, Coordinate, Coordinate]
    hip_ahead_m: Coordinate
    thigh_m: tuple[Coordinate, Coordinate] = field(repr=False)
    shank_m: tuple[Coordinate, Coordinate] = field(repr=False)
    sole_m: tuple[Coordinate, Coordinate, Coordinate] = field(repr=False)
    sole_size_m: tuple[Length, Length]
    masses: PointMasses | None = field(default=None, repr=False)
    hip_drop_m: Coordinate = 0.0
    ankle_drop_m: Coordinate = 0.0
    directions: Mapping[str, tuple[int, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not self.directions:
            usual = {side: (1,) * len(joints) for side, joints in self.joints.items()}
            object.__setattr__(self, "directions", usual)
        for name in _MAPPINGS:
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getstate__(self) -> dict[str, object]:
        """Return the state for pickling, which a read-only mapping does not support."""
        return {**self.__dict__, **{name: dict(getattr(self, name)) for name in _MAPPINGS}}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


_MAPPINGS = ("joints", "feet", "directions")
"""Fields of `BipedGeometry` that are mappings; they are read-only because robots are cached and shared."""


def parse_biped(node: Node, joints: Sequence[str], feet: Sequence[str]) -> BipedGeometry:
    """Read `{right: {joints: [...], foot: ...}, left: ..., hip_m: ..., ..., masses: ..., source: ...}`.

    A leg may have `directions: [1, -1, ...]`, one for each joint; all are 1 by default.

    Args:
        node: the block `biped:` of a card.
        joints: the robot's joints.
        feet: the robot's feet.

    Raises:
        DocumentError: a leg does not have five or six joints of the robot, or a value is out of its range.
    """
    fields = node.fields(required=SIDES)
    legs = {
        side: fields[side].fields(required=("joints", "foot"), optional=("directions",)) for side in SIDES
    }
    joints_by_side = {side: _parse_leg_joints(leg["joints"], joints) for side, leg in legs.items()}
    foot_by_side = {side: leg["foot"].choice("foot", feet) for side, leg in legs.items()}
    if len(joints_by_side[RIGHT]) != len(joints_by_side[LEFT]):
        node.fail("the legs differ in their number of joints", hint="the legs of a biped mirror each other")
    shared = {*joints_by_side[RIGHT], foot_by_side[RIGHT]} & {*joints_by_side[LEFT], foot_by_side[LEFT]}
    if shared:
        node.fail(f"{', '.join(sorted(shared))} is in both legs", hint="each joint and foot in one leg only")
    for name in ("thigh_m", "shank_m"):
        if name in fields and not any(entry.number() for entry in fields[name].items()):
            fields[name].fail("its length is 0", hint="[ahead, up] in metres, with the joints at 0")
    return read_record(
        node,
        BipedGeometry,
        extra_keys=(*SIDES, "source"),
        joints=joints_by_side,
        feet=foot_by_side,
        directions={
            side: _parse_directions(leg.get("directions"), len(joints_by_side[side]))
            for side, leg in legs.items()
        },
    )


def _parse_leg_joints(node: Node, joints: Sequence[str]) -> tuple[str, ...]:
    """Return the joints of a leg, from the trunk to the foot."""
    names = tuple(entry.choice("joint", joints) for entry in node.items())
    if len(names) not in {len(LEG_PARTS) - 1, len(LEG_PARTS)} or len(set(names)) != len(names):
        node.fail(f"a biped's leg has {len(set(names))} joints", hint=f"five or six: {LEG_HINT}")
    return names


def _parse_directions(node: Node | None, n_joints: int) -> tuple[int, ...]:
    """Return the directions of a leg's joints, all 1 without an entry."""
    if node is None:
        return (1,) * n_joints
    directions = tuple(int(entry.number()) for entry in node.items() if entry.number() in {1, -1})
    if len(directions) != n_joints or len(node.items()) != n_joints:
        node.fail("it has not 1 or -1 for each joint", hint=f"{n_joints} numbers, in the order of `joints`")
    return directions
