"""Robots to be served on YARP: one stepped by the test, and one that a thread drives in real time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from posewright.bodies import BodyState, Fault, JointCommands, MockBody, Reading
from posewright.control import Block
from posewright.network.commander import Commander
from posewright.network.host import Host
from posewright.network.transport import Trajectory, Transport
from posewright.robots import Robot, SensorSpec, robot

BIOLOID = robot("robotis_bioloid")
READINGS: Mapping[str, Reading] = {
    "laser_front": 1.25,
    "laser_left": 0.5,
    "laser_right": 5.0,
    "imu.orientation": np.array([0.1, -0.2, 0.3]),
    "imu.angular_velocity": np.array([1.0, 2.0, 3.0]),
    "imu.acceleration": np.array([0.0, 0.5, 9.81]),
    "right_foot_contact": True,
    "left_foot_contact": False,
}


class SteppedService:
    """A `RobotService` that the test steps frame by frame; its joints follow at once."""

    def __init__(self, card: Robot = BIOLOID) -> None:
        self.body = MockBody(card, lambda _time_s: READINGS)
        self.commander = Commander(card)
        self.commands = JointCommands(self.body.positions[np.newaxis])
        self.trajectories: list[tuple[str, Trajectory]] = []
        self.requests: list[bytes] = []
        self.step(1)

    @property
    def robot(self) -> Robot:
        return self.body.robot

    @property
    def commanded_by(self) -> str:
        return self.commander.sender

    @property
    def faults(self) -> tuple[Fault, ...]:
        return ()

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        return self.robot.sensors

    @property
    def frame_period_s(self) -> float:
        return self.robot.frame_period_s

    @property
    def state(self) -> BodyState:
        return self.body.read()

    def command(self, sender: str, trajectory: Trajectory) -> str:
        self.trajectories.append((sender, trajectory))
        return self.commander.accept(sender, trajectory)

    def stop(self, sender: str) -> str:
        return self.commander.stop(sender)

    def answer_request(self, request: bytes) -> bytes:
        self.requests.append(request)
        return request[::-1]

    def step(self, frames: int) -> None:
        for _ in range(frames):
            state, self.commands = self.state, self.commander.next(self.state, 1)
            states = self.body.play(self.commands)
            self.commander.watch(Block(self.robot.name, state, self.commands, self.commands, states))

    def run(self, seconds: float) -> None:
        self.step(round(seconds / self.frame_period_s))


def _bioloid() -> MockBody:
    return MockBody(BIOLOID, lambda _time_s: READINGS)


@contextmanager
def served_in_real_time(transport: Transport, *, made_anew: bool = False) -> Iterator[Host]:
    """Drive a mock Bioloid in real time, served over a transport.

    If `made_anew`, a client that controls the time gets a new body.
    """
    opened, ended = threading.Event(), threading.Event()

    class Watcher:
        def watch(self, _block: Block) -> bool:
            opened.set()
            return ended.is_set()

    host = Host(
        _bioloid(),
        (lambda _parts, _arena: _bioloid()) if made_anew else None,
        {"yarp": transport},
        now=time.monotonic,
        sleep=time.sleep,
        watchers=(Watcher(),),
    )
    thread = threading.Thread(target=host.run)
    thread.start()
    try:
        assert opened.wait(10.0)
        yield host
    finally:
        host._until_s = -1.0
        thread.join(10.0)
        assert not thread.is_alive()
