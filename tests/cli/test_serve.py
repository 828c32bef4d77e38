"""`posewright serve` as a shell sees it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from posewright.cli import app
from posewright.network.host import ServiceStatus
from posewright.recordings import read_mcap
from posewright.runs.serving import ServiceReport


def zenoh_at() -> list[str]:
    """Return how to serve over Zenoh where nobody else does."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return ["--zenoh", "--listen", f"tcp/127.0.0.1:{listener.getsockname()[1]}"]


def test_what_was_served_is_told_as_json_and_nothing_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record = tmp_path / "served.mcap"
    words = ["--body", "mock", "--for", "0.3", "--record", str(record), "--json"]
    assert app.run(["serve", "robotis_bioloid", *zenoh_at(), *words]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out)
    assert told["counts"]["frames"] > 0
    assert told["counts"]["zenoh: accepted"] == told["signal"] == 0
    assert "robotis_bioloid (mock) is served over zenoh as robotis_bioloid" in said.err
    assert record.exists()


def test_ctrl_c_is_how_it_ends() -> None:
    words = ["serve", "robotis_bioloid", *zenoh_at(), "--body", "mock", "--name", "red"]
    command, pipe = [sys.executable, "-m", "posewright", *words], subprocess.PIPE
    with subprocess.Popen(command, text=True, stdout=pipe, stderr=pipe) as server:  # noqa: S603 -- our own
        timer = threading.Timer(60.0, server.kill)
        timer.start()
        assert server.stderr is not None
        assert "as red" in server.stderr.readline()
        time.sleep(0.3)
        server.send_signal(signal.SIGINT)
        said, errors = server.communicate()
        timer.cancel()
    assert server.returncode == 0
    assert "served" in said
    assert "frames" in said
    assert "Traceback" not in errors


def test_counters_are_told_in_words_and_who_commands_in_few(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = {"late": 0, "refused": 1, "clients' refused": 2, "zenoh: refused": 3, "zenoh: observers": 4}
    standing, progress = ServiceStatus(1.5, "x" * 300, "", 128.0, counts), list[str]()

    def serve(*_: Any, on_progress: Callable[[ServiceStatus], None], **__: Any) -> ServiceReport:
        on_progress(standing)
        return ServiceReport(standing)

    monkeypatch.setattr("posewright.runs.serve", serve)
    monkeypatch.setattr("posewright.cli.console.spinner", lambda *_, **__: nullcontext(progress.append))
    assert app.run(["serve", "robotis_bioloid", "--zenoh"]) == 0
    (line,) = progress
    assert f" {'x' * 32}... commands  4 observers" in line
    told = " ".join(capsys.readouterr().out.split())
    words = (
        "commands rejected 1, requests of clients rejected 2, zenoh: messages rejected 3, zenoh: observers 4"
    )
    assert words in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no transport is selected"),
        (["--zenoh", "--yarp", "--listen", "tcp/127.0.0.1:1"], "--listen is for one transport"),
        (["--zenoh", "--name-server"], "--yarp"),
        (["--yarp", "--listen", "here"], "HOST:PORT"),
        (["--yarp", "--listen", f"127.0.0.1:{'9' * 5000}"], "HOST:PORT"),
        (["--yarp", "--body", f"dynamixel:/dev/ttyUSB0@{'9' * 5000}"], "not the address of a serial port"),
        (["--yarp", "--cameras"], "--zenoh"),
        (["--yarp", "--yarp-version", "5"], "YARP 5"),
        (["--zenoh", "--cameras", "--body", "mock"], "only a simulated robot can send pictures"),
        (["--zenoh", "--layout", "example_1"], "--layout needs --arena"),
        (["--zenoh", "--start", "1,2"], "X,Y,YAW"),
        (["--zenoh", "--hold-after", "0"], "hold after"),
        *((["--zenoh", "--body", "mock", "--for", some], "the duration is") for some in ("nan", "-5", "0")),
        (["--zenoh", "--record", "a.txt"], ".mcap"),
        (["--zenoh", "--listen", "tcp/0.0.0.0:0"], "anyone could command"),
    ],
)
def test_serve_refuses_what_makes_no_sense(
    words: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app.run(["serve", "robotis_bioloid", *words]) == app.EXIT_BAD_INPUT
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out


def test_a_robot_on_a_field_begins_in_the_middle_of_its_start_zone(tmp_path: Path) -> None:
    out = tmp_path / "served.mcap"
    words = [*zenoh_at(), "--arena", "ceabot_obstacles", "--for", "0.5", "--record", str(out)]
    assert app.run(["serve", "robotis_bioloid", *words]) == 0
    x, y, *_ = read_mcap(out).robot().base[0]
    assert (x, y) == (pytest.approx(0.25, abs=0.02), pytest.approx(0.0, abs=0.02))
