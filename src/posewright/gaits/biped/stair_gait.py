"""Parameters of a stair gait: the legs, the distribution of mass, and the steps; and their documents."""

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
class LegDimensions:
    """Dimensions of the right leg, as in `SixJointLeg`; the left one is its mirror image.

    Attributes:
        toe_m: distance from the middle of the sole to its front [m].
    """

    hip_m: tuple[Length, Length, Length]
    hip_ahead_m: Length
    thigh_m: tuple[Length, Length]
    shank_m: tuple[Length, Length]
    sole_m: tuple[Length, Length, Length]
    toe_m: Positive


@dataclass(frozen=True)
class PointMasses:
    """A robot's mass as three points: one for the upper body, and one at each ankle.

    Attributes:
        upper_kg: mass of the upper body [kg].
        upper_m: its position in the trunk's frame [m].
        ankle_kg: mass at each ankle [kg].
    """

    upper_kg: Mass
    upper_m: tuple[Length, Length, Length]
    ankle_kg: Mass

    @property
    def total_kg(self) -> float:
        """Mass of the robot [kg]."""
        return self.upper_kg + 2.0 * self.ankle_kg


@dataclass(frozen=True)
class StairGait:
    """Parameters of statically stable steps: the centre of mass stays over the feet.

    Attributes:
        robot: the robot it is for.
        leg: dimensions of the right leg.
        masses: the robot's mass as points.
        stance_m: distance of each sole's middle from the robot's middle plane [m].
        hip_height_m: the height of the hips over the ankles while it stands [m].
        lean_rad: forward lean of the trunk [rad].
        sway_rad: sideways lean over a single supporting foot, which spares the hip's roll [rad].
        over_m: position of the centre of mass over a single supporting foot: forward, inwards [m].
        up_m: length of a step to a higher tread [m].
        down_m: length of a step to a lower tread [m].
        climb_lift_m: height of a lifted foot over the higher of the two treads [m].
        walk_lift_m: height of a lifted foot on the flat [m].
        hip_boost_rad: added to the hip's roll of a leg that carries all weight, against sagging [rad].
        ankle_boost_rad: added to its ankle's pitch [rad].
        stretch_m: greatest distance from ankle to hip [m]; beyond it the heel rises or the trunk sinks.
        servo_stiffness: the stiffness of the legs' servos, which sag the less the stiffer they are [N m/rad].
        walk_pace: speed on the flat as a multiple of that on stairs.
        shift_s: time to shift the weight from foot to foot [s].
        lift_s: time to lift a foot [s].
        swing_s: time to swing it forward [s].
        lower_s: time to set it down [s].
        settle_s: time to take the boosts back [s].
        sources: where values come from, by name.
    """

    robot: str
    leg: LegDimensions = field(repr=False)
    masses: PointMasses = field(repr=False)
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
        return {side: self._build_leg(-OUTWARDS[side]) for side in SIDES}

    def _build_leg(self, mirror: float) -> SixJointLeg:
        """Return the right leg, or with a mirror of -1 the left one."""
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
        UnknownNameError: there is no such gait.
        InputError: there is no such file.
        DocumentError: the document is invalid; the message names the line.
    """
    return read_record(read_document(_catalogue().find(name)), StairGait, extra_keys=("stair",))


def _catalogue() -> Catalogue:
    folders = [robot_folder(name) / "gaits" for name in robot_names()]
    return Catalogue("stair gait", SUFFIX, lambda: [folder for folder in folders if folder.is_dir()])
