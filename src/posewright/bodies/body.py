"""The interfaces of robots and of what they move in: `Body`, `Plant` and `Supervisor`."""

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
    """What a body's servos do after the run."""

    HOLD = "hold"
    """Torque stays on at the last command: a standing robot keeps standing."""
    RELEASE = "release"
    """Torque goes off: the robot can be moved by hand, and may fall."""


@runtime_checkable
class Body(Protocol):
    """One robot that can be read and stopped. Time passes in the plant it belongs to."""

    @property
    def robot(self) -> Robot:
        """The card of the robot."""

    @property
    def time_s(self) -> float:
        """The body's own time, 0 at its first frame [s]."""

    def open(self) -> None:
        """Connect to the robot and switch its torque on; opening an open body has no effect.

        Raises:
            BodyError: the robot does not answer.
        """

    def read(self) -> BodyState:
        """Return the present state with the sensors evaluated; no time passes.

        Raises:
            BodyError: the robot does not answer.
        """

    def observe(self) -> JointStates:
        """Return one row of joint states, with the ground truth where the body has it; no time passes."""

    def facts(self) -> Mapping[str, Any]:
        """Return what is known of this body besides its card, as plain data for a recording.

        A simulated body gives `mass_kg`, `gravity` [m/s^2], `stiffness` [N m/rad] and `damping` [N m s/rad]
        of its servos, `latency_frames`, `welded` joints, and its `sensors` and `links` as
        `recordings.RobotHeader` has them. `remarks` are sentences for the user about the run so far, such as
        that a bus was too slow. The mapping may be empty.
        """

    def stop(self, policy: TorquePolicy) -> None:
        """Stop moving at once. Must not raise; may be called at any time, and more than once."""

    def close(self) -> None:
        """Release the robot's ports and connections. Torque stays as `stop` left it."""


@runtime_checkable
class Supervisor(Protocol):
    """Places one robot in the field, as a referee does, and reads what is known of its body."""

    @property
    def robot(self) -> Robot:
        """The card of the robot."""

    def facts(self) -> Mapping[str, Any]:
        """Return what is known of the robot's body, as `Body.facts` does."""

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Put the robot upright on its feet at a pose in the field; no time passes.

        The joints stay at their commands, all velocities become zero.

        Args:
            x_m: position of the base in the field frame [m].
            y_m: position of the base in the field frame [m].
            yaw_rad: heading, 0 along the field's x axis, positive to the left [rad].
        """


@runtime_checkable
class Plant(Protocol):
    """What time passes in: a simulated world of one or several robots, a bus, a remote robot."""

    @property
    def bodies(self) -> Mapping[str, Body]:
        """The robots in the plant, by their names there."""

    @property
    def frame_period_s(self) -> float:
        """The time between two commands, the same for all robots [s]."""

    @property
    def is_real(self) -> bool:
        """Whether it moves hardware; a remote plant reports what its server does."""

    @property
    def clock(self) -> Clock | None:
        """The clock that paces its frames; None where the run may choose one."""

    def supervisor(self, name: str) -> Supervisor | None:
        """Return the supervisor of a robot; None where the robot cannot be placed by a program."""

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Let one frame pass for every row of commands and return the joint states, row by row.

        Raises:
            BodyError: a body does not answer, or the commands do not fit.
            UnsafeCommandError: the angle of a driven joint is not finite.
        """


def count_command_frames(commands: Mapping[str, JointCommands], bodies: Mapping[str, Body]) -> int:
    """Return the number of rows that the commands of all bodies have in common.

    Raises:
        BodyError: names of commands and bodies differ, row counts differ, or a shape is wrong.
        UnsafeCommandError: the angle of a driven joint is not finite.
    """
    if commands.keys() != bodies.keys():
        raise BodyError(
            f"commands for {', '.join(commands) or 'no robot'}", hint=f"expected {', '.join(bodies)}"
        )
    for name, rows in commands.items():
        rows.require_fit(bodies[name].robot.joint_names)
    counts = {name: len(rows) for name, rows in commands.items()}
    if len(set(counts.values())) > 1:
        count_list = ", ".join(f"{count} for {name}" for name, count in counts.items())
        raise BodyError(f"row counts differ: {count_list}", hint="one row a frame for each robot")
    return next(iter(counts.values()))
