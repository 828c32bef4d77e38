"""MoveLegs: three commands that let the dog stand, sit and lie; MoveHead's sister.

The document (seeds.md D2) only says that it exists and shares MoveHead's private functions. Commands and
automaton, `charts/move_legs.chart.yaml`, are ours; the postures are those of the robot's card. In simulation
the dog stays up on the way from each of the card's poses to each posture, wherever its head is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from posewright.runtimes.openr.blocks import BlockMotion
from posewright.runtimes.openr.moving import MovingObject
from posewright.runtimes.openr.regions import MICRO

LEGS = tuple(
    f"PRM:/r{leg}/{'/'.join(('c1', 'c2', 'c3')[:joint])}-Joint2:{leg}{joint}"
    for leg in (2, 3, 4, 5)  # left front, left rear, right front, right rear
    for joint in (1, 2, 3)
)
"""The twelve joints: rotator, elevator and knee of each leg."""

POSTURES: Mapping[str, str] = MappingProxyType({"stand": "stand", "sit": "sit", "lie": "sleep"})
"""The pose on the card for each motion of the chart."""

N_BLOCKS = 16
"""Of each motion, as of MoveHead's poses: 2.048 s. The longest way of a leg's joint, 245 degrees, then takes
120 deg/s; the ERS-7's leg servos have 278 and more."""


class MoveLegs(MovingObject):
    """Moves the legs by three commands: MOVE_ST stands up, MOVE_SI sits down, MOVE_LY lies down.

    Nothing stops a motion before its end: a dog half risen might fall. One that sits lies down before it
    stands up, as its card says (`up_through`).
    """

    def __init__(self) -> None:
        super().__init__("move_legs", LEGS)

    def motion(self, name: str) -> BlockMotion:
        """Return the way to a posture by its name in the chart."""
        return BlockMotion(self._pose(POSTURES[name]), N_BLOCKS)

    def inputs(self) -> Mapping[str, object]:
        """Return whether the posture that the legs are nearest to leads to standing by way of another."""
        robot = self.openr.robot
        return {"sits": min(robot.poses, key=self._distance) in robot.up_through}

    def _pose(self, name: str) -> dict[str, int]:
        pose = self.openr.robot.pose(name)
        return {locator: round(pose[self.openr.open_primitive(locator)] * MICRO) for locator in LEGS}

    def _distance(self, pose: str) -> int:
        """Return how far all leg joints together are from a pose [micro-radians]."""
        return sum(abs(self.angle(locator) - end) for locator, end in self._pose(pose).items())
