"""The race in process, through Zenoh and through YARP in another process: the same race to the last bit."""

from __future__ import annotations

import json
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
from posewright.control import RealClock, Script, drive
from posewright.experiments import Outcome, make_plant
from posewright.links.served.door import Served, Trajectory
from posewright.links.served.remote_plant import RemotePlant

RACE: dict[str, Any] = {"trial": "obstacle-race", "layout": "random", "seed": 3}
BIOLOID = pw.robot("robotis_bioloid")
SERVE = (sys.executable, "-m", "posewright", "serve", "robotis_bioloid")
PATIENCE_S = 60.0


def free_port() -> int:
    """Return a port that nobody has; the system does not hand it out again soon."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def is_there(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Give a function that serves a robot in another process until it listens at a port."""
    begun: list[subprocess.Popen[str]] = []

    def begin(port: int, *words: str) -> subprocess.Popen[str]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(subprocess.Popen([*SERVE, *words], **pipes))  # noqa: S603 -- our own interpreter
        ends_s = time.monotonic() + PATIENCE_S
        while not is_there(port):
            assert begun[-1].poll() is None, begun[-1].communicate()
            assert time.monotonic() < ends_s
            time.sleep(0.05)
        return begun[-1]

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
    server = start(port, *words, "--listen", at, "--json")
    _wait_until_served(body)
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


def _wait_until_served(body: str) -> None:
    """Wait until a client is let in: a port may listen a moment before all is ready."""
    ends_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            pw.perform(standing(), BIOLOID, name="stand", until_s=BIOLOID.frame_period_s, body=body)
        except pw.PosewrightError:
            assert time.monotonic() < ends_s
            time.sleep(0.1)
        else:
            return


def standing() -> Any:
    """Return a controller that stands."""
    return Script([JointCommands(BIOLOID.pose("stand")[np.newaxis])])


class OpenDoor:
    """A door for whoever has it; `on_frame` is called in the door's own thread."""

    def __init__(self, on_frame: Callable[[OpenDoor], None] = lambda _: None) -> None:
        self.on_frame, self.frames = on_frame, 0
        self.served: Served

    def open(self, served: Served) -> None:
        self.served = served

    def publish(self, *_frame: Any) -> None:
        self.frames += 1
        self.on_frame(self)

    def facts(self) -> dict[str, float]:
        return {"frames": float(self.frames)}

    def close(self) -> None:
        pass


def test_what_is_served_is_recorded_and_told(tmp_path: Path) -> None:
    def nod(door: OpenDoor) -> None:
        if door.frames == 20:
            goal = BIOLOID.pose("stand")[:1] + 0.2
            door.served.command("me", Trajectory((0,), np.array([0.1]), goal[np.newaxis]))

    told: list[Any] = []
    record = tmp_path / "served.mcap"
    clock: dict[str, Any] = {"now": time.monotonic, "sleep": time.sleep}
    door = OpenDoor(nod)
    how: dict[str, Any] = {"seconds": 1.0, "record": record, "on_end": TorquePolicy.HOLD, **clock}
    service = pw.serve(BIOLOID, {"mine": door}, body="mock", on_progress=told.append, **how)
    recording = pw.read_recording(record)
    moved = recording.robot().commands[:, 0] - BIOLOID.pose("stand")[0]
    assert moved[-1] == pytest.approx(0.2)
    assert service.signal == 0
    assert service.standing.counts["taken"] == 1
    assert service.standing.counts["mine: frames"] == door.frames > 20
    assert len(recording.times) == service.standing.counts["frames"] // 4
    assert told
    assert told[-1].time_s <= service.standing.time_s


def test_in_real_time_each_frame_is_asked_at_its_time_and_latencies_are_told(start: Start) -> None:
    port = free_port()
    start(port, "--zenoh", "--listen", f"tcp/127.0.0.1:{port}", "--body", "mock")
    body = f"zenoh:robotis_bioloid@tcp/127.0.0.1:{port}"
    _wait_until_served(body)
    plant = make_plant(body, [Part(BIOLOID.name, BIOLOID, BIOLOID.pose("stand"), (0.0, 0.0, 0.0))], None)
    assert isinstance(plant, RemotePlant)
    began_s = time.monotonic()
    drive(plant, {BIOLOID.name: standing()}, until_s=0.5, clock=RealClock(time.monotonic, time.sleep))
    assert time.monotonic() - began_s >= 63 / 128  # frames of 1/128 s, the first at once
    told = plant.latencies
    assert (told.frames, told.asks, told.lost) == (64, 64, 0)
    assert 0.0 < told.p50_ms <= told.p99_ms <= told.worst_ms
