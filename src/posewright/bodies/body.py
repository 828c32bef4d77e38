"""What every robot is to those who drive it, simulated, on a bus, far away or a mock: `Body` and `Plant`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from posewright.errors import BodyError

if TYPE_CHECKING:
    from posewright.bodies.clock import Clock
    from posewright.bodies.joints import BodyState, JointCommands, JointStates
    from posewright.robots import Robot


class TorquePolicy(Enum):
    """What a body's servos do once nobody drives it any more."""

    HOLD = "hold"
    """Stay where they were commanded last, torque on: a robot that stands keeps standing."""
    RELEASE = "release"
    """Torque off: the robot may be moved by hand, and may fall."""


@runtime_checkable
class Body(Protocol):
    """One robot that can be read and stopped; the plant it belongs to lets time pass."""

    @property
    def robot(self) -> Robot:
        """The robot this is a body of."""

    @property
    def time_s(self) -> float:
        """The body's own time, 0 when it began [s]."""

    def open(self) -> None:
        """Take hold of the robot, torque on, or raise BodyError; opening an open body does nothing."""

    def read(self) -> BodyState:
        """Return the state now, its sensors evaluated, or raise BodyError; no time passes."""

    def observe(self) -> JointStates:
        """Return one row: what the joints do now, and the truth where the body knows it; no time passes."""

    def facts(self) -> Mapping[str, Any]:
        """Return what this body knows of itself besides its card, as plain data for a recording.

        A simulated one: `mass_kg`, `gravity` [m/s^2], `stiffness` [N m/rad] and `damping` [N m s/rad] of
        its servos, `latency_frames`, `welded` joints; and, as `recordings.RobotHeader` has them, its
        `sensors` and the `links` it is built of. A body that knows nothing returns nothing.
        """

    def stop(self, policy: TorquePolicy) -> None:
        """Stop moving at once; must not raise, and may be called at any time, also twice."""

    def close(self) -> None:
        """Let go of the robot: ports and connections are free again. Torque stays as `stop` left it."""


@runtime_checkable
class Supervisor(Protocol):
    """What a person beside the field may do to a robot, and what he knows of it."""

    @property
    def robot(self) -> Robot:
        """The robot's card."""

    def facts(self) -> Mapping[str, Any]:
        """Return what the robot's body knows of itself, as `Body.facts` does."""

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet there; no time passes.

        The joints stay at what is commanded, all velocities become zero. The place is that of the base in the
        field frame [m]; at a yaw of 0 it looks along the field's x, positive is to the left [rad].
        """


@runtime_checkable
class Plant(Protocol):
    """What time passes in: a world with one or several robots, a bus, a robot far away."""

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The robots in it, by the name each has here."""

    @property
    def frame_period_s(self) -> float:
        """The time between two commands, the same for all robots in it [s]."""

    @property
    def is_real(self) -> bool:
        """Whether a robot that can break moves in it; a plant far away says what the other side says."""

    @property
    def clock(self) -> Clock | None:
        """What paces its frames; None where frames take no time of their own, so that a run may choose."""

    def supervisor(self, name: str) -> Supervisor | None:
        """Return who can put the robot of that name somewhere; None where nobody can."""

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Let as many frames pass as there are rows for every body, and return what the joints did.

        Raises:
            BodyError: a body does not answer, or the commands do not fit.
            UnsafeCommandError: the angle of a joint that is driven is not finite.
        """


def frames_in(commands: Mapping[str, JointCommands], bodies: Mapping[str, Body]) -> int:
    """Return for how many frames there are commands, the same number for every body.

    Raises:
        BodyError: the commands are not those of the bodies, or not the same number of rows, or of the wrong
            shape.
        UnsafeCommandError: the angle of a joint that is driven is not finite.
    """
    if commands.keys() != bodies.keys():
        raise BodyError(f"commands for {', '.join(commands) or 'nobody'}", hint=f"for {', '.join(bodies)}")
    for name, rows in commands.items():
        rows.check(bodies[name].robot.joint_names)
    counts = {name: len(rows) for name, rows in commands.items()}
    if len(set(counts.values())) > 1:
        each = ", ".join(f"{count} for {name}" for name, count in counts.items())
        raise BodyError(f"not the same number of rows: {each}", hint="one row a frame for each robot")
    return next(iter(counts.values()))
