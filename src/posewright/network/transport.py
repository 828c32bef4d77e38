"""The interfaces of a served robot: the service, its transports, and a client's channel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Fault, JointCommands
from posewright.robots import Robot, SensorSpec

MAX_POINTS = 4096
MAX_DURATION_S = 600.0
"""Longest trajectory [s]; while it lasts, its commander may be silent."""

MAX_ANGLE_RAD = 4.0 * math.pi
"""Largest angle of a trajectory, two turns; a larger one is probably in degrees."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Positions of some joints over time, like a JointTrajectory of ROS.

    Joints move at constant speed from their commanded position to the first point, and from point to point;
    after the last point they stay there. Joints that are not in it continue as before.

    Attributes:
        joints: indices of its joints, `(k,)`.
        times_s: time of each point after the trajectory is accepted, `(n,)`; 0 or more, increasing [s].
        positions: positions of its joints, `(n, k)`, within `MAX_ANGLE_RAD`; they are clipped to the joints'
            limits when they are sent [rad].
    """

    joints: tuple[int, ...]
    times_s: Floats
    positions: Floats

    def describe_fault(self, n_joints: int) -> str:
        """Return why the trajectory is invalid for a robot with `n_joints` joints; empty if it is valid."""
        times = self.times_s
        positions = self.positions
        if fault := self._describe_joint_fault(n_joints):
            return fault
        if not 1 <= len(times) <= MAX_POINTS or positions.shape != (len(times), len(self.joints)):
            return f"expected 1 to {MAX_POINTS} points, each with a time and one position per joint"
        if not (np.isfinite(times).all() and np.isfinite(positions).all()):
            return "a time or position is not finite"
        if (np.abs(positions) > MAX_ANGLE_RAD).any():
            return "a position is more than two turns: positions are in radians"
        if times[0] < 0.0 or times[-1] > MAX_DURATION_S or (times[1:] <= times[:-1]).any():
            return f"times must increase, from 0 to {MAX_DURATION_S:g} s"
        return ""

    def _describe_joint_fault(self, n_joints: int) -> str:
        """Return what is wrong with the joints of the trajectory; empty if nothing is."""
        if not self.joints:
            return "the trajectory has no joints"
        if not all(0 <= joint < n_joints for joint in self.joints):
            return "the robot has no such joint"
        if len(set(self.joints)) < len(self.joints):
            return "the trajectory has a joint twice"
        return ""


class RobotService(Protocol):
    """A served robot, as its transports see it.

    All methods may be called from any thread; only `answer_request` may block.
    """

    @property
    def robot(self) -> Robot:
        """The robot's card."""

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """All its sensors, including those that are not on its card."""

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""

    @property
    def state(self) -> BodyState:
        """The state after the latest frame."""

    @property
    def commands(self) -> JointCommands:
        """The commands of the latest frame."""

    @property
    def commanded_by(self) -> str:
        """The name of the commander, or of the client that controls its time; empty without one."""

    @property
    def faults(self) -> Sequence[Fault]:
        """The latest faults of the body."""

    def command(self, sender: str, trajectory: Trajectory) -> str:
        """Follow a trajectory; return an empty string, or the reason why it is rejected.

        The first sender becomes the commander until the watchdog finds it silent. A trajectory is rejected,
        and counted, if it is invalid, if another sender commands, or while a client controls the time.
        """

    def stop(self, sender: str) -> str:
        """Hold the commanded pose; return an empty string, or the reason why this is rejected."""

    def answer_request(self, request: bytes) -> bytes:
        """Return the answer to a request, both in the format of `wire_messages`; errors are answers, too.

        The request is executed in the calling thread; creating a simulation may take seconds.
        """


class Transport(Protocol):
    """A network on which a robot is served: a Zenoh session, or a set of YARP ports."""

    def open(self, service: RobotService) -> None:
        """Start listening.

        Raises:
            BodyError: it cannot listen there.
            InputError: everybody on the network could connect, because no access control is configured.
        """

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Send a frame to all observers; called after every frame, in a thread of the transport's own.

        If it takes longer than a frame, frames are dropped (`host.Publisher`), as the robot does not wait.
        """

    def facts(self) -> Mapping[str, float]:
        """Return its counters, such as observers and rejected messages, without blocking."""

    def close(self) -> None:
        """Close all connections; must not raise."""


class RequestChannel(Protocol):
    """A client's connection to a served robot; every request has one answer."""

    def request(self, message: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request.

        Raises:
            BodyError: no answer came in time, or the robot is not there.
        """

    def close(self) -> None:
        """Close the connection; must not raise."""
