"""The race in process, through Zenoh and through YARP in another process: the same race to the last bit."""

from __future__ import annotations

import json
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posewright as pw
from posewright.bodies import BodySpec, BodyState, JointCommands, TorquePolicy
from posewright.control import Block, RealClock, Script, drive
from posewright.network.host import ServiceStatus
from posewright.network.remote_plant import RemotePlant
from posewright.network.transport import RobotService, Trajectory
from posewright.network.zenoh.session import SessionConfig
from posewright.robots import Camera
from posewright.runs import Outcome, make_plant
from posewright.simulation import Film, World


class Early:
    """Ends a race before its end: the pages of the documentation run all of it."""

    def __init__(self, _plant: Any) -> None:
        pass

    def watch(self, block: Block) -> bool:
        return bool(block.states.times[-1] > 12.0)


RACE: dict[str, Any] = {"trial": "obstacle-race", "layout": "random", "seed": 3, "make_watcher": Early}
BIOLOID = pw.robot("robotis_bioloid")
SERVE = (sys.executable, "-m", "posewright", "serve", "robotis_bioloid")
PATIENCE_S = 600.0


def free_port() -> int:
    """Return a port that nobody has; the system does not hand it out again soon."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Give a function that serves a robot in another process, which says when it is ready."""
    servers: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        server = subprocess.Popen(  # noqa: S603 -- our own interpreter
            [*SERVE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        servers.append(server)
        first_line = server.stderr.readline() if server.stderr else ""
        assert "is served over" in first_line, first_line
        return server

    yield begin
    for server in servers:
        if server.poll() is None:
            server.kill()
        server.communicate()


@pytest.fixture(scope="module")
def local_outcome() -> Outcome:
    """Give the race as it is run in this process."""
    return pw.run_trial(**RACE)


@pytest.mark.parametrize("kind", ["zenoh", "yarp"])
def test_a_race_through_a_wire_is_the_race_to_the_last_bit(
    kind: str, local_outcome: Outcome, start: Start
) -> None:
    port = free_port()
    if kind == "zenoh":
        address = f"tcp/127.0.0.1:{port}"
        options = ["--zenoh"]
        body = f"zenoh:robotis_bioloid@{address}"
    else:
        address = f"127.0.0.1:{port}"
        options = ["--yarp", "--name-server", "--name", "race"]
        body = f"yarp:/race@{address}"
    server = start(*options, "--listen", address, "--json")
    remote_outcome = pw.run_trial(**RACE, body=body)
    assert remote_outcome.score.to_dict() == local_outcome.score.to_dict()
    assert np.array_equal(remote_outcome.recording.robot().commands, local_outcome.recording.robot().commands)
    assert remote_outcome.recording.digest() == local_outcome.recording.digest()
    link = remote_outcome.to_dict()["link"]
    assert link["lost"] == 0
    assert 0.0 < link["p50_ms"] <= link["p99_ms"] <= link["worst_ms"]
    server.send_signal(signal.SIGTERM)
    output, _ = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 128 + signal.SIGTERM
    assert json.loads(output)["counts"]["clients' asks"] >= link["asks"]


def test_what_a_camera_sees_is_shown_to_who_watches(start: Start) -> None:
    try:
        Film(World(BIOLOID), 64, 48).close()
    except pw.UnavailableError as error:
        pytest.skip(f"nothing can be drawn here: {error}")
    at = f"tcp/127.0.0.1:{free_port()}"
    start("--zenoh", "--cameras", "--listen", at)
    (camera,) = (sensor for sensor in BIOLOID.sensors if isinstance(sensor, Camera))
    frames: queue.Queue[int] = queue.Queue()
    session = SessionConfig(connect=(at,)).open(BIOLOID.name)
    key = f"{BIOLOID.name}/{camera.name}/image_raw"
    session.declare_subscriber(key, lambda sample: frames.put(len(sample.payload.to_bytes())))
    try:
        assert frames.get(timeout=PATIENCE_S) > camera.width * camera.height * 3
    finally:
        session.close()


def standing() -> Any:
    """Return a controller that stands."""
    return Script([JointCommands(BIOLOID.pose("stand")[np.newaxis])])


class OpenTransport:
    """A transport for whoever has it, and a clock whose time passes once a frame is published."""

    def __init__(self) -> None:
        self.frames = 0
        self.time_s = 0.0
        self.published = threading.Semaphore(0)
        self.service: RobotService

    def now(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        assert self.published.acquire(timeout=PATIENCE_S)
        self.time_s += seconds

    def open(self, service: RobotService) -> None:
        self.service = service

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        self.frames += 1
        self.published.release()

    def facts(self) -> dict[str, float]:
        return {"frames": float(self.frames)}

    def close(self) -> None:
        pass


def test_what_is_served_is_recorded_and_told(tmp_path: Path) -> None:
    statuses = list[ServiceStatus]()

    def nod_once(status: ServiceStatus) -> None:
        if not statuses:
            goal = BIOLOID.pose("stand")[:1] + 0.2
            assert not transport.service.command("me", Trajectory((0,), np.array([0.1]), goal[np.newaxis]))
        statuses.append(status)

    record = tmp_path / "served.mcap"
    transport = OpenTransport()
    report = pw.serve(
        BIOLOID,
        {"mine": transport},
        now=transport.now,
        sleep=transport.sleep,
        body="mock",
        seconds=1.0,
        record=record,
        on_end=TorquePolicy.HOLD,
        on_progress=nod_once,
    )
    recording = pw.read_recording(record)
    moved = recording.robot().commands[:, 0] - BIOLOID.pose("stand")[0]
    assert moved[-1] == pytest.approx(0.2)
    assert report.signal == 0
    assert report.status.counts["taken"] == 1
    assert report.status.counts["frames"] == transport.frames == 129
    assert report.status.counts["mine: missed"] == 0
    assert len(recording.times) == 129 // 4
    assert [round(status.time_s, 1) for status in statuses] == [0.0, 0.5, 1.0]


def test_in_real_time_each_frame_is_asked_at_its_time_and_latencies_are_told(start: Start) -> None:
    port = free_port()
    start("--zenoh", "--listen", f"tcp/127.0.0.1:{port}", "--body", "mock")
    body = f"zenoh:robotis_bioloid@tcp/127.0.0.1:{port}"
    plant = make_plant(body, [BodySpec(BIOLOID.name, BIOLOID, BIOLOID.pose("stand"), (0.0, 0.0, 0.0))], None)
    assert isinstance(plant, RemotePlant)
    began_s = time.monotonic()
    drive(plant, {BIOLOID.name: standing()}, until_s=0.5, clock=RealClock(time.monotonic, time.sleep))
    assert time.monotonic() - began_s >= 63 / 128  # frames of 1/128 s, the first at once
    latencies = plant.latencies
    assert (latencies.frames, latencies.asks, latencies.lost) == (64, 64, 0)
    assert 0.0 < latencies.p50_ms <= latencies.p99_ms <= latencies.worst_ms
