"""What a stair gait is made of: the legs, where a robot weighs how much, and how it steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from posewright.documents import Bounds, Catalogue, read_document, read_record
from posewright.kinematics import SixJointLeg
from posewright.robots import robot_folder, robot_names

SIDES = ("right", "left")
OUTWARDS = {"right": -1.0, "left": 1.0}
SUFFIX = ".stair.yaml"

Length = Annotated[float, Bounds(-1.0, 1.0)]
Positive = Annotated[float, Bounds(0.001, 1.0)]
Mass = Annotated[float, Bounds(0.001, 100.0)]
Angle = Annotated[float, Bounds(-0.8, 0.8)]
Pace = Annotated[float, Bounds(0.1, 10.0)]
Stiffness = Annotated[float, Bounds(0.1, 1000.0)]
Seconds = Annotated[float, Bounds(0.05, 10.0)]


@dataclass(frozen=True)
class LegMeasures:
    """The right leg, as `SixJointLeg` has it; the left one is its mirror image.

    Attributes:
        toe_m: how far the front of the sole is from its middle [m].
    """

    hip_m: tuple[Length, Length, Length]
    hip_ahead_m: Length
    thigh_m: tuple[Length, Length]
    shank_m: tuple[Length, Length]
    sole_m: tuple[Length, Length, Length]
    toe_m: Positive


@dataclass(frozen=True)
class Lumps:
    """Where a robot weighs how much: a lump above, and one at each ankle.

    Attributes:
        upper_m: the middle of the upper lump, in the trunk's frame [m].
    """

    upper_kg: Mass
    upper_m: tuple[Length, Length, Length]
    ankle_kg: Mass

    @property
    def total_kg(self) -> float:
        """What all of it weighs [kg]."""
        return self.upper_kg + 2.0 * self.ankle_kg


@dataclass(frozen=True)
class StairGait:
    """How a robot steps, so slowly that its centre of mass stays over its feet.

    Attributes:
        robot: the robot it is for.
        stance_m: how far each sole's middle is from the robot's middle plane [m].
        hip_height_m: of the hips over the ankles while it stands [m].
        lean_rad: how far the trunk leans forward [rad].
        sway_rad: how far it leans aside over the only foot that carries, which spares the hip's roll [rad].
        over_m: where the centre of mass goes over the only foot that carries: ahead, inwards [m].
        up_m: how far a step goes that leads to a higher tread [m].
        down_m: how far one that leads to a lower tread [m].
        climb_lift_m: how high a foot is lifted on it, over the higher of the two treads [m].
        walk_lift_m: how high on the flat [m].
        hip_boost_rad: by how much the hip of a leg that carries all is held up [rad].
        ankle_boost_rad: by how much its ankle is [rad].
        stretch_m: the farthest that an ankle may be from its hip; then the heel rises or the trunk sinks [m].
        servo_stiffness: of the legs' servos, which sag the less the stiffer they are [N m/rad].
        walk_pace: how many times as fast it walks on the flat.
        shift_s: time for the weight to go from foot to foot [s].
        lift_s: for lifting a foot [s].
        swing_s: for taking it ahead [s].
        lower_s: for setting it down [s].
        settle_s: for taking the boosts back [s].
    """

    robot: str
    leg: LegMeasures = field(repr=False)
    masses: Lumps = field(repr=False)
    stance_m: Positive
    hip_height_m: Positive
    lean_rad: Angle
    sway_rad: Angle
    over_m: tuple[Length, Length]
    up_m: Positive
    down_m: Positive
    climb_lift_m: Positive
    walk_lift_m: Positive
    hip_boost_rad: Angle
    ankle_boost_rad: Angle
    stretch_m: Positive
    servo_stiffness: Stiffness
    walk_pace: Pace
    shift_s: Seconds
    lift_s: Seconds
    swing_s: Seconds
    lower_s: Seconds
    settle_s: Seconds
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", MappingProxyType(dict(self.sources)))

    @property
    def legs(self) -> Mapping[str, SixJointLeg]:
        """The legs by side."""
        return {side: self._leg(-OUTWARDS[side]) for side in SIDES}

    def _leg(self, mirror: float) -> SixJointLeg:
        right = self.leg
        return SixJointLeg(
            hip_m=(right.hip_m[0], mirror * right.hip_m[1], right.hip_m[2]),
            hip_ahead_m=right.hip_ahead_m,
            thigh_m=right.thigh_m,
            shank_m=right.shank_m,
            sole_m=(right.sole_m[0], mirror * right.sole_m[1], right.sole_m[2]),
        )


def stair_gait(name: str | Path) -> StairGait:
    """Read a stair gait, by its name among those that ship or by its path.

    Raises:
        UnknownNameError: none is called so.
        InputError: there is no such file.
        DocumentError: the document is wrong; says where.
    """
    return read_record(read_document(_catalogue().find(name)), StairGait, extra_keys=("stair",))


def _catalogue() -> Catalogue:
    folders = [robot_folder(name) / "gaits" for name in robot_names()]
    return Catalogue("stair gait", SUFFIX, lambda: [folder for folder in folders if folder.is_dir()])
