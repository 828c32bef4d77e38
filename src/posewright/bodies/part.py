"""What a plant is made of: one robot, where it stands at first, what it senses and how it differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from posewright.arrays import Floats
from posewright.bodies.domain import NOMINAL, DomainParameters
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.robots import Robot, SensorSpec

Place = tuple[float, float, float]
"""Where a robot stands in the field: x, y [m] and where it looks [rad], 0 along x, positive to the left."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One robot of a plant to be made.

    Attributes:
        name: what it is called in the plant.
        start_pose: its joints at first, `(n_joints,)` [rad].
        start: where it stands at first.
        sensors: further ones besides the card's.
        seed: of whatever its body draws by chance.
        domain: how a simulated body differs from the robot's model.
        touches: whether the truth is to say what touches what, where the body can know it.
    """

    name: str
    robot: Robot
    start_pose: Floats
    start: Place
    sensors: tuple[SensorSpec, ...] = ()
    seed: int = 0
    domain: DomainParameters = NOMINAL
    touches: bool = False

    def __repr__(self) -> str:
        return f"<Part {self.name}: {self.robot.name} at {self.start}>"


def only_part(parts: Sequence[Part], plant: str) -> Part:
    """Return the only one of some parts, for plants of one robot.

    Args:
        parts: of the plant to be made.
        plant: what it is called in the error.

    Raises:
        InputError: there are several.
    """
    if len(parts) != 1:
        raise InputError(f"{plant} for {len(parts)} robots", hint="it is of one")
    return parts[0]
