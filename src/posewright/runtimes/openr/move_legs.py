"""MoveLegs: three commands that let the dog stand, sit and lie; the counterpart of MoveHead.

The document (seeds.md D2) only mentions that it exists and shares MoveHead's private functions. Commands and
automaton, `charts/move_legs.chart.yaml`, are ours; the postures are those of the robot's card. In simulation
the dog does not fall on the way from any pose of the card to any posture, wherever its head is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from posewright.robots import Robot
from posewright.runtimes.openr.kernel import OpenR
from posewright.runtimes.openr.moving_object import BlockMotion, MovingObject
from posewright.runtimes.openr.regions import to_micro_radians

LEGS = "legs"
"""Group of the joints on the card."""

POSTURES: Mapping[str, str] = MappingProxyType(
    {"MOVE_ST": "stand", "MOVE_SI": "sit", "MOVE_LY": "sleep", "LY_TO_ST": "sleep"}
)
"""Pose of the card at the end of the motion of each state of the chart."""

N_BLOCKS = 16
"""Duration of each motion in blocks, as of MoveHead's poses: 2.048 s. The longest movement of a leg's joint,
245 degrees, then takes 120 deg/s; the ERS-7's leg servos reach 278 and more."""


class MoveLegs(MovingObject):
    """Moves the legs by three commands: MOVE_ST stands up, MOVE_SI sits down, MOVE_LY lies down.

    A motion cannot be stopped before its end: a dog that has half risen might fall. A sitting dog lies down
    before it stands up, as its card demands (`up_through`).
    """

    def __init__(self) -> None:
        super().__init__("move_legs", _motions)

    def inputs(self) -> Mapping[str, object]:
        """Return whether the nearest posture leads to standing through another one, as the input `sits`."""
        robot = self.openr.robot
        nearest_pose = min(robot.poses, key=self._distance)
        return {"sits": nearest_pose in robot.up_through}

    def _distance(self, pose: str) -> int:
        """Return the sum of the leg joints' differences from a pose [micro-radians]."""
        angles = _leg_angles(pose, self.openr.robot)
        return sum(abs(self.openr.get_joint_value(joint) - angle) for joint, angle in angles.items())


def _motions(openr: OpenR) -> dict[str, BlockMotion]:
    return {state: BlockMotion(_leg_angles(pose, openr.robot), N_BLOCKS) for state, pose in POSTURES.items()}


def _leg_angles(pose: str, robot: Robot) -> dict[int, int]:
    """Return the angles of the leg joints in a pose of the card, by primitive [micro-radians]."""
    angles = robot.pose(pose)
    return {joint: to_micro_radians(angles[joint]) for joint in map(robot.index, robot.group(LEGS))}
