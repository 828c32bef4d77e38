"""A leg on its robot: its kinematics in the trunk's frame, with its joints and its foot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.kinematics.arrays import POINT, require_triples
from posewright.kinematics.reach import OutOfReach
from posewright.kinematics.three_joint_leg import IkForm, Knee, Lift, ThreeJointLeg
from posewright.robots import LegGeometry, Robot
from posewright.robots import robot as robot_named


@dataclass(frozen=True, eq=False)
class MountedLeg:
    """A leg of a robot, its foot in the frame of the trunk: x forward, y left, z up.

    Angles are those of the robot's own joints, in the order rotator, elevator, knee. The position of the foot
    is the centre of its ball, `foot_radius_m` above the ground it stands on.

    Attributes:
        joints: rotator, elevator, knee.
        indices: their indices in `robot.joint_names`.
        leg: its kinematics in its own frame.
        shoulder_m: origin of its own frame, in the trunk's frame, `(3,)` [m], read-only.
        mirror: signs between the two frames, `(3,)`, read-only.
        shank_m: from the knee's axis to the foot at rest, in the leg's own frame, `(3,)` [m], read-only.
        foot: name of the foot's link.
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
    # shoulder_m and mirror in plain numbers, for the scalar functions
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
        """Return the centre of the foot in the trunk's frame, `(..., 3)` [m]."""
        return self.shoulder_m + self.mirror * self.leg.forward(angles)

    def knee_positions(self, angles: ArrayLike) -> Floats:
        """Return the position of the knee's axis in the trunk's frame, `(..., 3)` [m]."""
        leg_points = self.leg.forward(angles) - self.leg.shank_rotations(angles) @ self.shank_m
        return self.shoulder_m + self.mirror * leg_points

    def foot_centres(self, points: ArrayLike) -> Floats:
        """Return the foot's centre when it stands on points of level ground, `(..., 3)` [m]."""
        centres: Floats = np.add(require_triples(points, "points", POINT), (0.0, 0.0, self.foot_radius_m))
        return centres

    def distances_to_ground(self, points: ArrayLike) -> Floats:
        """Return the distance from ground points to the nearest possible foot, `(...)` [m]; ~0 in reach."""
        centres = self.foot_centres(points)
        nearest = self.forward(self.inverse(centres, nearest=True))
        distances: Floats = np.linalg.norm(nearest - centres, axis=-1)
        return distances

    def inverse(
        self,
        points: ArrayLike,
        *,
        form: IkForm = IkForm.GENERAL,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> Floats:
        """Return the angles that bring the foot's centre to points of the trunk's frame, `(..., 3)` [rad].

        Arguments and errors are those of `ThreeJointLeg.inverse`; messages give points in the leg's own
        frame.
        """
        array = require_triples(points, "points", POINT)
        leg_points = (array - self.shoulder_m) * self.mirror
        return self.leg.inverse(leg_points, form=form, knee=knee, lift=lift, nearest=nearest)

    def out_of_reach(self, x: float, y: float, z: float, *, knee: Knee = Knee.POSITIVE) -> OutOfReach | None:
        """Return why the foot's centre cannot reach a point of the trunk's frame [m], or None if it can."""
        x0, y0, z0 = self._shoulder
        sx, sy, sz = self._signs
        return self.leg.out_of_reach((x - x0) * sx, (y - y0) * sy, (z - z0) * sz, knee=knee)

    def jacobian(self, angles: ArrayLike) -> Floats:
        """Return the Jacobian of the foot's position in the trunk's frame, `(..., 3, 3)` [m/rad]."""
        return self.mirror[:, None] * self.leg.jacobian(angles)

    def shank_rotations(self, angles: ArrayLike) -> Floats:
        """Return the rotation of the shank in the trunk's frame, `(..., 3, 3)`."""
        return self.mirror[:, None] * self.leg.shank_rotations(angles) * self.mirror

    def forward_scalar(self, q1: float, q2: float, q3: float) -> tuple[float, float, float]:
        """Return the centre of the foot [m]: `forward` for a single leg in plain numbers, much faster."""
        x, y, z = self.leg.forward_scalar(q1, q2, q3)
        x0, y0, z0 = self._shoulder
        sx, sy, sz = self._signs
        return x0 + sx * x, y0 + sy * y, z0 + sz * z

    def inverse_scalar(
        self,
        x: float,
        y: float,
        z: float,
        *,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> tuple[float, float, float]:
        """Return the angles of one point [rad]: `inverse` for a single point in plain numbers, much faster.

        Raises:
            UnreachableError: the point is out of reach; the message gives it in the leg's own frame.
        """
        # from the trunk's frame to that of the leg, some of whose axes point the other way
        x0, y0, z0 = self._shoulder
        sx, sy, sz = self._signs
        return self.leg.inverse_scalar(
            (x - x0) * sx, (y - y0) * sy, (z - z0) * sz, knee=knee, lift=lift, nearest=nearest
        )


def legs_of(robot: Robot | str) -> tuple[MountedLeg, ...]:
    """Return the legs of a robot, given or by name, in the order of `robot.feet`.

    Raises:
        UnknownNameError: there is no robot of that name.
        InputError: the robot has no legs, or one without three joints.
    """
    robot = robot_named(robot)
    if not robot.legs:
        raise InputError(f"the card of {robot.name} has no legs", hint="describe them in its block `legs:`")
    return tuple(_mount_leg(robot, geometry) for geometry in robot.legs)


def legs_by_foot(robot: Robot) -> dict[str, MountedLeg]:
    """Return the legs of a robot by foot, `left_front`, ... as in gaits, in the order of `robot.feet`."""
    return {leg.name.removesuffix("_leg"): leg for leg in legs_of(robot)}


def _mount_leg(robot: Robot, geometry: LegGeometry) -> MountedLeg:
    """Return a leg of a robot as a closed-form leg with its place on the trunk."""
    if len(geometry.joints) != 3:
        raise InputError(
            f"{geometry.name} has {len(geometry.joints)} joints",
            hint="this closed form needs three: rotator, elevator, knee",
        )
    rotator, elevator, bend = geometry.joints
    knee_x, knee_y, knee_z = geometry.knee_m
    foot_x, foot_y, foot_z = geometry.foot_m
    leg = ThreeJointLeg(
        upper_m=math.hypot(knee_x, knee_z),
        lower_m=math.hypot(foot_x, foot_z),
        upper_angle_rad=math.atan2(knee_x, -knee_z),
        lower_angle_rad=math.atan2(foot_x, -foot_z),
        side_m=knee_y + foot_y,
    )
    return MountedLeg(
        name=geometry.name,
        joints=(rotator, elevator, bend),
        indices=(robot.index(rotator), robot.index(elevator), robot.index(bend)),
        leg=leg,
        shoulder_m=np.array(geometry.shoulder_m),
        mirror=np.array(geometry.mirror, dtype=np.float64),
        shank_m=np.array(geometry.foot_m),
        foot=geometry.foot,
        foot_radius_m=geometry.foot_radius_m,
    )
