"""A leg on its robot: the same leg in the trunk's frame, with its joints and its foot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.kinematics.arrays import POINT, triples
from posewright.kinematics.reach import OutOfReach
from posewright.kinematics.three_joint_leg import Form, Knee, Lift, ThreeJointLeg
from posewright.robots import LegGeometry, Robot
from posewright.robots import robot as robot_named


@dataclass(frozen=True, eq=False)
class MountedLeg:
    """A leg of a robot, its foot in the frame of the trunk: x forward, y left, z up.

    Angles are those of the robot's own joints, in the order rotator, elevator, knee. The foot is its middle:
    that of the ball, `foot_radius_m` above the ground it stands on.

    Attributes:
        joints: rotator, elevator, knee.
        indices: their places in `robot.joint_names`.
        shoulder_m: where its own frame begins, in the trunk's frame, `(3,)` [m], not to be written to.
        mirror: signs between the two frames, `(3,)`, not to be written to.
        shank_m: from the knee's axis to the foot at rest, in the leg's own frame, `(3,)` [m], not to be
            written to.
        foot_radius_m: radius of its ball [m].
    """

    name: str
    joints: tuple[str, str, str] = field(repr=False)
    indices: tuple[int, int, int] = field(repr=False)
    leg: ThreeJointLeg = field(repr=False)
    shoulder_m: Floats = field(repr=False)
    mirror: Floats = field(repr=False)
    shank_m: Floats = field(repr=False)
    foot: str
    foot_radius_m: float = field(repr=False)
    _shoulder: tuple[float, float, float] = field(init=False, repr=False)
    _signs: tuple[float, float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("shoulder_m", "mirror", "shank_m"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_shoulder", tuple(self.shoulder_m.tolist()))
        object.__setattr__(self, "_signs", tuple(self.mirror.tolist()))

    def forward(self, angles: ArrayLike) -> Floats:
        """Return where the middle of the foot is in the trunk's frame, `(..., 3)` [m]."""
        return self.shoulder_m + self.mirror * self.leg.forward(angles)

    def knee(self, angles: ArrayLike) -> Floats:
        """Return where the axis of the knee is in the trunk's frame, `(..., 3)` [m]."""
        own = self.leg.forward(angles) - self.leg.turns(angles) @ self.shank_m
        return self.shoulder_m + self.mirror * own

    def over(self, points: ArrayLike) -> Floats:
        """Return where the foot's middle is when it stands on points of level ground, `(..., 3)` [m]."""
        middles: Floats = np.add(triples(points, "points", POINT), (0.0, 0.0, self.foot_radius_m))
        return middles

    def misses(self, points: ArrayLike) -> Floats:
        """Return how far the foot stays off points it is to stand on, `(...)` [m]; next to 0 in reach."""
        wanted = self.over(points)
        away: Floats = np.linalg.norm(self.forward(self.inverse(wanted, nearest=True)) - wanted, axis=-1)
        return away

    def inverse(
        self,
        points: ArrayLike,
        *,
        form: Form = Form.GENERAL,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> Floats:
        """Return the angles that bring the foot's middle to points of the trunk's frame, `(..., 3)` [rad].

        All is as in `ThreeJointLeg.inverse`, the errors too, which tell points in the leg's own frame.
        """
        array = triples(points, "points", POINT)
        own = (array - self.shoulder_m) * self.mirror
        return self.leg.inverse(own, form=form, knee=knee, lift=lift, nearest=nearest)

    def out_of_reach(self, x: float, y: float, z: float, *, knee: Knee = Knee.POSITIVE) -> OutOfReach | None:
        """Return why the foot's middle cannot come to a point of the trunk [m], or None where it can."""
        x0, y0, z0 = self._shoulder
        sx, sy, sz = self._signs
        return self.leg.out_of_reach((x - x0) * sx, (y - y0) * sy, (z - z0) * sz, knee=knee)

    def jacobian(self, angles: ArrayLike) -> Floats:
        """Return how the foot moves in the trunk's frame with the angles, `(..., 3, 3)` [m/rad]."""
        return self.mirror[:, None] * self.leg.jacobian(angles)

    def turns(self, angles: ArrayLike) -> Floats:
        """Return how the shank is turned in the trunk's frame, `(..., 3, 3)`."""
        return self.mirror[:, None] * self.leg.turns(angles) * self.mirror

    def forward_one(self, q1: float, q2: float, q3: float) -> tuple[float, float, float]:
        """Return where the middle of the foot is [m]: `forward` of plain numbers, much faster for one."""
        x, y, z = self.leg.forward_one(q1, q2, q3)
        x0, y0, z0 = self._shoulder
        sx, sy, sz = self._signs
        return x0 + sx * x, y0 + sy * y, z0 + sz * z

    def inverse_one(
        self,
        x: float,
        y: float,
        z: float,
        *,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> tuple[float, float, float]:
        """Return the angles of one point [rad]: `inverse` of plain numbers, much faster for one.

        Raises:
            UnreachableError: the point is out of reach, told in the leg's own frame.
        """
        x0, y0, z0 = self._shoulder
        sx, sy, sz = self._signs
        return self.leg.inverse_one(
            (x - x0) * sx, (y - y0) * sy, (z - z0) * sz, knee=knee, lift=lift, nearest=nearest
        )


def legs_of(robot: Robot | str) -> tuple[MountedLeg, ...]:
    """Return the legs of a robot, or of that of a name, in the order of `robot.feet`, or raise InputError."""
    robot = robot_named(robot)
    if not robot.legs:
        raise InputError(f"the card of {robot.name} has no legs", hint="describe them in its block `legs:`")
    return tuple(_mounted(robot, geometry) for geometry in robot.legs)


def legs_by_foot(robot: Robot) -> dict[str, MountedLeg]:
    """Return the legs of a robot by foot, `left_front`, ... as in gaits, in the order of `robot.feet`."""
    return {leg.name.removesuffix("_leg"): leg for leg in legs_of(robot)}


def _three_joints(geometry: LegGeometry) -> tuple[str, str, str]:
    if len(geometry.joints) != 3:
        raise InputError(
            f"{geometry.name} has {len(geometry.joints)} joints",
            hint="this closed form is of three: rotator, elevator, knee",
        )
    rotator, elevator, knee = geometry.joints
    return rotator, elevator, knee


def _mounted(robot: Robot, geometry: LegGeometry) -> MountedLeg:
    joints, knee, foot = _three_joints(geometry), geometry.knee_m, geometry.foot_m
    leg = ThreeJointLeg(
        math.hypot(knee[0], knee[2]),
        math.hypot(foot[0], foot[2]),
        upper_angle_rad=math.atan2(knee[0], -knee[2]),
        lower_angle_rad=math.atan2(foot[0], -foot[2]),
        side_m=knee[1] + foot[1],
    )
    rotator, elevator, bend = (robot.index(joint) for joint in joints)
    return MountedLeg(
        name=geometry.name,
        joints=joints,
        indices=(rotator, elevator, bend),
        leg=leg,
        shoulder_m=np.array(geometry.shoulder_m),
        mirror=np.array(geometry.mirror, dtype=np.float64),
        shank_m=np.array(foot),
        foot=geometry.foot,
        foot_radius_m=geometry.foot_radius_m,
    )
