"""The interfaces of a served robot: the service, the transports that carry it, a client's channel."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, Fault, JointCommands
from posewright.robots import Robot, SensorSpec

MOST_POINTS = 4096
MOST_S = 600.0
"""A trajectory ends after so long at the latest [s]: until then nobody need be heard of."""

MOST_RAD = 4.0 * math.pi
"""An angle farther away than two turns is a mistake, or a number that fits no radians."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """Where somebody wants some joints to be, and when: what a ROS user calls a JointTrajectory.

    Between its points, and from where a joint is commanded when the trajectory is taken to the first of them,
    a joint moves evenly; after the last it stays there. Joints that are not named go on as before.

    Attributes:
        joints: columns of the joints that it moves, `(k,)`.
        times_s: of its points, counted from when it is taken, rising, 0 or more, `(n,)` [s].
        positions: of those joints, `(n, k)`, within `MOST_RAD`; what the joints cannot reach is clipped when
            it is sent [rad].
    """

    joints: tuple[int, ...]
    times_s: Floats
    positions: Floats

    def fault(self, n_joints: int) -> str:
        """Return why a robot of so many joints cannot take it; nothing where it can."""
        times = self.times_s
        positions = self.positions
        if fault := self._joint_fault(n_joints):
            return fault
        if not 1 <= len(times) <= MOST_POINTS or positions.shape != (len(times), len(self.joints)):
            return f"not 1 to {MOST_POINTS} points, each with its time and a position a joint"
        if not (np.isfinite(times).all() and np.isfinite(positions).all()):
            return "a number that is not finite"
        if (np.abs(positions) > MOST_RAD).any():
            return "an angle of more than two turns: positions are in radians"
        if times[0] < 0.0 or times[-1] > MOST_S or (times[1:] <= times[:-1]).any():
            return f"times that do not rise, or are not within 0 to {MOST_S:g} s"
        return ""

    def _joint_fault(self, n_joints: int) -> str:
        if not self.joints:
            return "no joint is named"
        if not all(0 <= joint < n_joints for joint in self.joints):
            return "a joint that the robot has not"
        return "a joint that is named twice" if len(set(self.joints)) < len(self.joints) else ""


class RobotService(Protocol):
    """A served robot, as its transports see it: callable from any thread; only `answer_request` waits."""

    @property
    def robot(self) -> Robot:
        """The robot's card."""

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """Its sensors: the card's, and what it was given besides."""

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""

    @property
    def state(self) -> BodyState:
        """The state after the latest frame."""

    @property
    def commands(self) -> JointCommands:
        """What was sent to the robot in the latest frame."""

    @property
    def commanded_by(self) -> str:
        """Who commands it, or drives its time; nothing where nobody does."""

    @property
    def faults(self) -> Sequence[Fault]:
        """The latest faults of the body."""

    def command(self, sender: str, trajectory: Trajectory) -> str:
        """Take a trajectory from the one who commands; return nothing, or why it is not taken.

        Whoever commands first is the commander until the watchdog has heard nothing from it for long enough.
        What is not finite, names no joint of the robot, or comes while a client drives the robot's time, is
        not taken, and is counted.
        """

    def stop(self, sender: str) -> str:
        """Hold every joint where it is commanded now; return nothing, or why not."""

    def answer_request(self, request: bytes) -> bytes:
        """Return the answer to a request in the form of `wire_messages`; an error is an answer, too.

        It is answered in the calling thread, and may take the seconds in which a simulation is made.
        """


class Transport(Protocol):
    """Carries a served robot to others: a Zenoh session, a set of YARP ports."""

    def open(self, service: RobotService) -> None:
        """Begin to listen.

        Raises:
            BodyError: it cannot listen there.
            InputError: it was asked to listen where strangers can reach it, without what would keep them out.
        """

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Send a frame to all observers; called after every frame, in a thread of the transport's own.

        A transport that takes longer than a frame misses some (`host.Publisher`): the robot does not wait.
        """

    def facts(self) -> Mapping[str, float]:
        """Return its counters: who is connected, what was refused or damaged; waits for nobody."""

    def close(self) -> None:
        """Let go of everybody; must not raise."""


class RequestChannel(Protocol):
    """A client's connection to a served robot, on which every request has one answer."""

    def request(self, message: bytes, timeout_s: float) -> bytes:
        """Return the answer to a request.

        Raises:
            BodyError: none came in time, or nobody is there.
        """

    def close(self) -> None:
        """Close the connection; must not raise."""
