"""What tests of Zenoh share: a fake robot service, free endpoints, and waiting."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from posewright.bodies import BodyState, Fault, FaultKind, JointCommands, quiet_readings
from posewright.network.transport import Trajectory
from posewright.robots import Robot, SensorSpec, robot


def endpoint(protocol: str = "tcp") -> str:
    """Return a free endpoint on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"{protocol}/127.0.0.1:{probe.getsockname()[1]}"


def wait_for(condition: Callable[[], Any], timeout_s: float = 600.0) -> Any:
    """Wait until a condition returns something true, and return that."""
    end = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.005)
    return found


@dataclass
class FakeService:
    """A `RobotService` that obeys the first sender, and answers a request with its bytes reversed."""

    robot: Robot = field(default_factory=lambda: robot("robotis_bioloid"))
    frame_period_s: float = 0.0078
    trajectories: list[Trajectory] = field(default_factory=list)
    stop_senders: list[str] = field(default_factory=list)
    commander: str = ""
    busy: Event = field(default_factory=Event)

    @property
    def commanded_by(self) -> str:
        return self.commander

    @property
    def faults(self) -> list[Fault]:
        return [Fault(0.25, FaultKind.SILENT, "it says nothing", "left_knee")]

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        return self.robot.sensors

    @property
    def state(self) -> BodyState:
        return self.state_at(0.0)

    def state_at(self, time_s: float) -> BodyState:
        n = len(self.robot.joint_names)
        readings = quiet_readings(self.sensors)
        return BodyState(time_s, np.linspace(-1.0, 1.0, n), np.linspace(0.0, 0.5, n), sensors=readings)

    @property
    def commands(self) -> JointCommands:
        return JointCommands(np.zeros((1, len(self.robot.joint_names))))

    def command(self, sender: str, trajectory: Trajectory) -> str:
        if self.commander not in ("", sender):
            return f"{self.commander} commands"
        self.commander = sender
        self.trajectories.append(trajectory)
        return ""

    def stop(self, sender: str) -> str:
        self.stop_senders.append(sender)
        return ""

    def answer_request(self, request: bytes) -> bytes:
        wait_for(lambda: not self.busy.is_set())
        return request[::-1]
