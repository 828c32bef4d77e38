"""What is nobody's input: a reader that goes away, and faults of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from posewright.cli import main
from posewright.cli.app import run
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "words",
    [
        ("robots",),
        ("robots", "show", "robotis_bioloid", "--json"),
        ("--help",),
        ("--version",),
        ("score", "obstacle-race", "--time", "60", "--distance", "150", "--json"),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_gone_away_is_not_complained_of(words: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "posewright", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603 -- our own program
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")


def posewright(*words: str, **streams: object) -> subprocess.CompletedProcess[str]:
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run([sys.executable, "-m", "posewright", *words], text=True, check=False, **piped)  # type: ignore[call-overload,no-any-return]  # noqa: S603 -- our own program; its streams are told by name


@needs_full
@pytest.mark.parametrize("words", [("robots",), ("robots", "--json"), ("gait", "show", "trot", "--no-check")])
def test_a_stdout_that_is_full_is_no_fault_of_ours(words: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = posewright(*words, stdout=full)
    assert (done.returncode, done.stderr) == (1, "error: stdout: No space left on device\n")


@needs_full
def test_bad_input_is_bad_input_though_nobody_can_be_told() -> None:
    with FULL.open("w") as full:
        assert posewright("robots", "show", "nobody", stderr=full).returncode == 2


def test_ctrl_c_while_modules_load_is_one_line(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading:
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "posewright.cli.app", Loading())  # type: ignore[arg-type]  # it interrupts
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "error: stopped\n"


@pytest.mark.parametrize("name", ["kick\x1b[2J", "kick\x9b2J", "kick\udcff"])
def test_nothing_in_a_file_or_its_name_steers_a_terminal(capsys: Captured, tmp_path: Path, name: str) -> None:
    motion = tmp_path / f"{name}.motion.yaml"
    motion.write_bytes(
        (Path(robot("robotis_bioloid").folder or "") / "motions/turn_left.motion.yaml").read_bytes()
    )
    for words in (("info", str(motion)), ("convert", str(motion), str(tmp_path / f"{name}.csv"))):
        assert run(["motion", *words]) in (0, 2)
        told = capsys.readouterr()
        assert name not in told.out + told.err
        assert "kick\\x" in told.out + told.err


def endless() -> tuple[str, ...]:
    return endless()


def starved() -> tuple[str, ...]:
    raise MemoryError


def mistaken() -> tuple[str, ...]:
    raise ValueError("first line\nsecond line")


@pytest.fixture(params=[endless, starved, mistaken], ids=["RecursionError", "MemoryError", "ValueError"])
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a fault of our own deep in a verb; return its name."""
    broken: Callable[[], tuple[str, ...]] = request.param
    monkeypatch.setattr("posewright.robots.robot_names", broken)
    name: str = request.node.callspec.id
    return name


def test_a_fault_of_ours_is_one_line_that_asks_to_be_reported(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.delenv("POSEWRIGHT_DEBUG", raising=False)
    assert run(["robots"]) == 70
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: internal error: {fault}")
    assert "please report it" in captured.err
    assert captured.err.count("\n") == 1


def test_where_the_fault_is_is_shown_to_those_who_ask(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setenv("POSEWRIGHT_DEBUG", "1")
    assert run(["robots"]) == 70
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert fault in shown
    assert shown.splitlines()[-1].startswith("error: internal error")
