"""The door every body fulfils, be it simulated, on a bus, across a network, or a mock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from posewright.bodies.joints import JointCommands, JointStates
from posewright.bodies.state import BodyState

if TYPE_CHECKING:
    from posewright.robots import Robot


@runtime_checkable
class Body(Protocol):
    """Anything that can be driven.

    A body lets n frame periods pass in one call, so that a simulated one needs no Python per frame
    and one on a bus may keep its own time.
    """

    @property
    def robot(self) -> Robot:
        """The robot this is a body of."""
        ...

    @property
    def time_s(self) -> float:
        """The body's own time, 0 when it began [s]."""
        ...

    def read(self) -> BodyState:
        """Return the state now, its sensors evaluated; no time passes.

        Raises:
            BodyError: the body does not answer.
        """
        ...

    def play(self, frames: JointCommands) -> JointStates:
        """Command one row of `frames` a frame period and return what the joints did: as many rows.

        Raises:
            BodyError: the body does not answer, or the frames are another robot's.
        """
        ...


@runtime_checkable
class Supervisor(Protocol):
    """What a person beside the field may do to a robot."""

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet there; no time passes.

        The joints stay at what is commanded, all velocities become zero.

        Args:
            x_m: of the base, in the field frame [m].
            y_m: of the base, in the field frame [m].
            yaw_rad: where it looks: 0 along the field's x, positive to the left [rad].
        """
        ...
