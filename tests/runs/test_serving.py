"""The race in process, through Zenoh and through YARP in another process: the same race to the last bit."""

from __future__ import annotations

import json
import queue
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posewright as pw
from posewright.bodies import JointCommands, Part, TorquePolicy
from posewright.control import Block, RealClock, Script, drive
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
    begun: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(server := subprocess.Popen([*SERVE, *words], **pipes))  # noqa: S603 -- our own interpreter
        said = server.stderr.readline() if server.stderr else ""
        assert "is served over" in said, said
        return server

    yield begin
    for one in begun:
        if one.poll() is None:
            one.kill()
        one.communicate()


@pytest.fixture(scope="module")
def here() -> Outcome:
    """Give the race as it is run in this process."""
    return pw.run_trial(**RACE)


@pytest.mark.parametrize("kind", ["zenoh", "yarp"])
def test_a_race_through_a_wire_is_the_race_to_the_last_bit(kind: str, here: Outcome, start: Start) -> None:
    port = free_port()
    if kind == "zenoh":
        at, words = f"tcp/127.0.0.1:{port}", ["--zenoh"]
        body = f"zenoh:robotis_bioloid@{at}"
    else:
        at, words = f"127.0.0.1:{port}", ["--yarp", "--name-server", "--name", "race"]
        body = f"yarp:/race@{at}"
    server = start(*words, "--listen", at, "--json")
    there = pw.run_trial(**RACE, body=body)
    assert there.score.to_dict() == here.score.to_dict()
    assert np.array_equal(there.recording.robot().commands, here.recording.robot().commands)
    assert there.recording.digest() == here.recording.digest()
    link = there.to_dict()["link"]
    assert link["lost"] == 0
    assert 0.0 < link["p50_ms"] <= link["p99_ms"] <= link["worst_ms"]
    server.send_signal(signal.SIGTERM)
    said, _ = server.communicate(timeout=PATIENCE_S)
    assert server.returncode == 128 + signal.SIGTERM
    assert json.loads(said)["counts"]["clients' asks"] >= link["asks"]


def test_what_a_camera_sees_is_shown_to_who_watches(start: Start) -> None:
    try:
        Film(World(BIOLOID), 64, 48).close()
    except pw.UnavailableError as error:
        pytest.skip(f"nothing can be drawn here: {error}")
    at = f"tcp/127.0.0.1:{free_port()}"
    start("--zenoh", "--cameras", "--listen", at)
    (camera,) = (sensor for sensor in BIOLOID.sensors if isinstance(sensor, Camera))
    seen: queue.Queue[int] = queue.Queue()
    session = SessionConfig(connect=(at,)).open(BIOLOID.name)
    key = f"{BIOLOID.name}/{camera.name}/image_raw"
    session.declare_subscriber(key, lambda sample: seen.put(len(sample.payload.to_bytes())))
    try:
        assert seen.get(timeout=PATIENCE_S) > camera.width * camera.height * 3
    finally:
        session.close()


def standing() -> Any:
    """Return a controller that stands."""
    return Script([JointCommands(BIOLOID.pose("stand")[np.newaxis])])


class OpenTransport:
    """A transport for whoever has it; `on_frame` is called in the transport's own thread."""

    def __init__(self, on_frame: Callable[[OpenTransport], None] = lambda _: None) -> None:
        self.on_frame, self.frames = on_frame, 0
        self.served: RobotService

    def open(self, served: RobotService) -> None:
        self.served = served

    def publish(self, *_frame: Any) -> None:
        self.frames += 1
        self.on_frame(self)

    def facts(self) -> dict[str, float]:
        return {"frames": float(self.frames)}

    def close(self) -> None:
        pass


def test_what_is_served_is_recorded_and_told(tmp_path: Path) -> None:
    def nod(transport: OpenTransport) -> None:
        if transport.frames == 20:
            goal = BIOLOID.pose("stand")[:1] + 0.2
            transport.served.command("me", Trajectory((0,), np.array([0.1]), goal[np.newaxis]))

    told: list[Any] = []
    record = tmp_path / "served.mcap"
    clock: dict[str, Any] = {"now": time.monotonic, "sleep": time.sleep}
    transport = OpenTransport(nod)
    how: dict[str, Any] = {"seconds": 1.0, "record": record, "on_end": TorquePolicy.HOLD, **clock}
    service = pw.serve(BIOLOID, {"mine": transport}, body="mock", on_progress=told.append, **how)
    recording = pw.read_recording(record)
    moved = recording.robot().commands[:, 0] - BIOLOID.pose("stand")[0]
    assert moved[-1] == pytest.approx(0.2)
    assert service.signal == 0
    assert service.status.counts["taken"] == 1
    assert service.status.counts["mine: frames"] == transport.frames > 20
    assert len(recording.times) == service.status.counts["frames"] // 4
    assert told
    assert told[-1].time_s <= service.status.time_s


def test_in_real_time_each_frame_is_asked_at_its_time_and_latencies_are_told(start: Start) -> None:
    port = free_port()
    start("--zenoh", "--listen", f"tcp/127.0.0.1:{port}", "--body", "mock")
    body = f"zenoh:robotis_bioloid@tcp/127.0.0.1:{port}"
    plant = make_plant(body, [Part(BIOLOID.name, BIOLOID, BIOLOID.pose("stand"), (0.0, 0.0, 0.0))], None)
    assert isinstance(plant, RemotePlant)
    began_s = time.monotonic()
    drive(plant, {BIOLOID.name: standing()}, until_s=0.5, clock=RealClock(time.monotonic, time.sleep))
    assert time.monotonic() - began_s >= 63 / 128  # frames of 1/128 s, the first at once
    told = plant.latencies
    assert (told.frames, told.asks, told.lost) == (64, 64, 0)
    assert 0.0 < told.p50_ms <= told.p99_ms <= told.worst_ms
