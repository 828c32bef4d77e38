"""Time to publish a frame to observers over Zenoh, running and stopped; `bench_links` has round trips."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection

import numpy as np

from benchmarks.figure import Figure
from posewright.bodies import BodyState, JointCommands, quiet_readings
from posewright.network.transport import Trajectory
from posewright.network.zenoh.session import SessionConfig
from posewright.network.zenoh.transport import ZenohTransport
from posewright.robots import robot

NAME = "robi"
CARD = "robotis_bioloid"
RATE_HZ = 128.0
OBSERVERS = 3


class Echo:
    """A `RobotService` that answers a request with itself, and accepts no commands."""

    frame_period_s = 1.0 / RATE_HZ

    def __init__(self) -> None:
        self.robot = robot(CARD)
        self.sensors = self.robot.sensors
        self.faults = ()
        self.commanded_by = ""
        still = np.zeros(len(self.robot.joint_names))
        self.state = BodyState(0.0, still, still, sensors=quiet_readings(self.sensors))
        self.commands = JointCommands(still[None])

    def command(self, _sender: str, _trajectory: Trajectory) -> str:
        """Accept no command."""
        return "an echo"

    def stop(self, _sender: str) -> str:
        """Do nothing."""
        return ""

    def answer_request(self, request: bytes) -> bytes:
        """Return the request."""
        return request


def _observe(pipe: Connection, address: str) -> None:
    session = SessionConfig(connect=(address,)).open(NAME)
    session.declare_subscriber(f"{NAME}/**", lambda sample: sample.payload.to_bytes())
    pipe.send(os.getpid())
    pipe.recv()
    session.close()


@contextmanager
def observer(address: str) -> Iterator[int]:
    """Run an observer in another process, and yield its process ID."""
    context = multiprocessing.get_context("spawn")
    ours, its = context.Pipe()
    process = context.Process(target=_observe, args=(its, address), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join(5.0)


def endpoint() -> str:
    """Return a free loopback endpoint."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"tcp/127.0.0.1:{probe.getsockname()[1]}"


def published(transport: ZenohTransport, echo: Echo, n: int) -> list[float]:
    """Return the time to publish each of n frames, at their rate [s]."""
    times = []
    for _ in range(n):
        start_s = time.perf_counter()
        transport.publish(echo.state, echo.commands)
        times.append(time.perf_counter() - start_s)
        time.sleep(1.0 / RATE_HZ)
    return times


def percentiles(times: list[float]) -> str:
    """Return median and 99th percentile as text."""
    p50, p99 = np.percentile(times, (50.0, 99.0)) * 1e3
    return f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"


def figures(n: int = 1000) -> list[Figure]:
    """Return the ratio of the times to publish with stopped and with running observers."""
    address = endpoint()
    transport = ZenohTransport(SessionConfig(listen=(address,)), NAME)
    echo = Echo()
    transport.open(echo)
    with ExitStack() as stack:
        watching = [stack.enter_context(observer(address)) for _ in range(OBSERVERS)]
        alive = published(transport, echo, n // 2)
        for process in watching[1:]:
            os.kill(process, signal.SIGSTOP)
        stopped = published(transport, echo, n)
        for process in watching[1:]:
            os.kill(process, signal.SIGCONT)
    transport.close()
    ratio = statistics.median(stopped) / statistics.median(alive)
    note = f"{percentiles(stopped)}; all awake {percentiles(alive)}"
    return [Figure(f"zenoh, a frame told, 2 of {OBSERVERS} stopped", ratio, below=1.5, note=note)]


if __name__ == "__main__":
    from benchmarks.figure import table

    print(table(figures()))
