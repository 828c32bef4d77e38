"""Parameters of a stair gait, and their documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from posewright.documents import Bounds, Catalogue, read_document, read_record
from posewright.robots import robot_folder, robot_names

SUFFIX = ".stair.yaml"

Length = Annotated[float, Bounds(-1.0, 1.0)]
Positive = Annotated[float, Bounds(0.001, 1.0)]
Angle = Annotated[float, Bounds(-0.8, 0.8)]
Pace = Annotated[float, Bounds(0.1, 10.0)]
Stiffness = Annotated[float, Bounds(0.1, 1000.0)]
Seconds = Annotated[float, Bounds(0.05, 10.0)]


@dataclass(frozen=True)
class StairGait:
    """Parameters of statically stable steps: the centre of mass stays over the feet.

    Attributes:
        robot: the robot it is for.
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
