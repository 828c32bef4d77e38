"""What is nobody's input: a reader that goes away, and faults of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from posewright.cli.app import run

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
