"""The description of one body of a plant to be built: robot, start pose, sensors, domain parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from posewright.arrays import Floats
from posewright.bodies.domain import NOMINAL, DomainParameters
from posewright.bodies.posture import StartPosture
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.robots import Robot, SensorSpec

PlanarPose = tuple[float, float, float]
"""Position and heading of a robot in the field: x, y [m], yaw [rad], 0 along x, positive to the left."""


@dataclass(frozen=True, slots=True, eq=False)
class BodySpec:
    """One body of a plant to be built.

    Attributes:
        name: the name of the robot in the plant.
        robot: its card.
        start_pose: joint angles at the start, `(n_joints,)` [rad].
        start: pose in the field at the start.
        sensors: sensors in addition to the card's.
        seed: the seed of all randomness of the body.
        domain: how a simulated body differs from the robot's model.
        record_contacts: whether the ground truth contains all contacts, where the body has a ground truth.
        posture: how it is put down at the start; other bodies than simulated ones stand.
    """

    name: str
    robot: Robot
    start_pose: Floats
    start: PlanarPose
    sensors: tuple[SensorSpec, ...] = ()
    seed: int = 0
    domain: DomainParameters = NOMINAL
    record_contacts: bool = False
    posture: StartPosture = StartPosture.STANDING

    def __repr__(self) -> str:
        return f"<BodySpec {self.name}: {self.robot.name} at {self.start}>"


def require_single_body(specs: Sequence[BodySpec], plant: str) -> BodySpec:
    """Return the only body of a plant that has room for one.

    Args:
        specs: the bodies of the plant to be built.
        plant: the plant with an article, for the error message.

    Raises:
        InputError: there is not exactly one body.
    """
    if len(specs) != 1:
        raise InputError(f"{plant} takes one robot, not {len(specs)}")
    return specs[0]
