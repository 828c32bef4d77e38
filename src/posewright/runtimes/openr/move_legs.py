"""MoveLegs: three commands that let the dog stand, sit and lie; MoveHead's sister.

The document (seeds.md D2) only says that it exists and shares MoveHead's private functions. Commands and
automaton, `charts/move_legs.chart.yaml`, are ours; the postures are those of the robot's card. In simulation
the dog stays up on the way from each of the card's poses to each posture, wherever its head is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from posewright.robots import Robot
from posewright.runtimes.openr.blocks import BlockMotion
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.moving import MovingObject
from posewright.runtimes.openr.regions import micro

LEGS = "legs"
"""The group of joints on the card."""

POSTURES: Mapping[str, str] = MappingProxyType(
    {"MOVE_ST": "stand", "MOVE_SI": "sit", "MOVE_LY": "sleep", "LY_TO_ST": "sleep"}
)
"""The pose on the card that each state of the chart leads to."""

N_BLOCKS = 16
"""Of each motion, as of MoveHead's poses: 2.048 s. The longest way of a leg's joint, 245 degrees, then takes
120 deg/s; the ERS-7's leg servos have 278 and more."""


class MoveLegs(MovingObject):
    """Moves the legs by three commands: MOVE_ST stands up, MOVE_SI sits down, MOVE_LY lies down.

    Nothing stops a motion before its end: a dog half risen might fall. One that sits lies down before it
    stands up, as its card says (`up_through`).
    """

    def __init__(self) -> None:
        super().__init__("move_legs", _motions)

    def inputs(self) -> Mapping[str, object]:
        """Return whether the posture that the legs are nearest to leads to standing by way of another."""
        robot = self.openr.robot
        return {"sits": min(robot.poses, key=self._distance) in robot.up_through}

    def _distance(self, pose: str) -> int:
        """Return how far all leg joints together are from a pose [micro-radians]."""
        ends = _legs_in(pose, self.openr.robot)
        return sum(abs(self.openr.get_joint_value(one) - end) for one, end in ends.items())


def _motions(openr: OpenR) -> dict[str, BlockMotion]:
    return {state: BlockMotion(_legs_in(pose, openr.robot), N_BLOCKS) for state, pose in POSTURES.items()}


def _legs_in(pose: str, robot: Robot) -> dict[int, int]:
    """Return where each joint of the legs is in a pose [micro-radians]."""
    return {one: micro(robot.pose(pose)[one]) for one in map(robot.index, robot.group(LEGS))}
