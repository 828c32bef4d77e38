"""`posewright serve` as a shell sees it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from posewright.cli import app


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no way in"),
        (["--zenoh", "--yarp", "--listen", "tcp/127.0.0.1:1"], "two doors"),
        (["--zenoh", "--name-server"], "--yarp"),
        (["--yarp", "--listen", "here"], "HOST:PORT"),
        (["--yarp", "--cameras"], "--zenoh"),
        (["--yarp", "--yarp-version", "5"], "YARP 5"),
        (["--zenoh", "--cameras", "--body", "mock"], "not simulated"),
        (["--zenoh", "--layout", "example_1"], "no field"),
        (["--zenoh", "--start", "1,2"], "X,Y,YAW"),
        (["--zenoh", "--hold-after", "0"], "hold after"),
        (["--zenoh", "--record", "a.txt"], ".mcap"),
        (["--zenoh", "--listen", "tcp/0.0.0.0:0"], "strangers"),
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
    assert app.run(["serve", "robotis_bioloid", *words]) == app.BAD_INPUT
    said = capsys.readouterr()
    assert message in said.err
    assert not said.out
