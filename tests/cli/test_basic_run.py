"""`posewright basic run`: what happened is told line by line, and so is how the robot fared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.cli import app

RunVerb = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run_basic(capsys: pytest.CaptureFixture[str]) -> RunVerb:
    """Give a function that runs the verb: exit code, stdout and stderr."""

    def run_verb(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = app.run(["basic", "run", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run_verb


def write_program(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "ours.bas"
    path.write_text(text, encoding="utf-8")
    return path


def test_keys_are_told_when_they_are_read_and_a_body_without_physics_knows_no_falls(
    run_basic: RunVerb,
) -> None:
    code, out, err = run_basic("hello", "--remocon", "1@1", "--body", "mock")
    assert (code, err) == (0, "")
    assert "1.00 s  line   18  key 1\n" in out
    assert "no physics on this body, so falls are not known" in out


@pytest.mark.parametrize(("seconds", "lies"), [(2.5, True), (14.0, False)])
def test_who_lies_down_and_gets_up_has_not_failed(run_basic: RunVerb, seconds: float, lies: bool) -> None:
    arguments = ("get_up", "--remocon", "2@0.5", "--seconds", seconds)
    code, out, _ = run_basic(*arguments)
    assert code == int(lies)
    assert ("is still down" if lies else "is up again") in out
    result: dict[str, Any] = json.loads(run_basic(*arguments, "--json")[1])
    assert (result["fell"], result["lies"], len(result["falls"])) == (True, lies, 1)


def test_what_fails_while_it_runs_is_told_with_its_line(run_basic: RunVerb, tmp_path: Path) -> None:
    program = write_program(tmp_path, "DIM A AS BYTE\nA = AD(7)\nA = A / REMOCON(1)\nEND\n")
    code, out, _ = run_basic(program, "--body", "mock")
    assert code == 1
    assert f"error: {program}:3: a division by 0" in out


def test_a_sensor_that_is_taken_to_be_elsewhere_and_inputs_that_come_too_late_are_told(
    run_basic: RunVerb, tmp_path: Path
) -> None:
    program = write_program(
        tmp_path, "DIM A AS BYTE\nGOSUB robot_tilt\nEND\nrobot_tilt:\nA = AD(0)\nIF A < 30 THEN END\nRETURN\n"
    )
    code, _, err = run_basic(program, "--body", "mock", "--remocon", "3@50")
    assert code == 0
    assert f"{program}:5: robot_tilt reads AD(0): the tilt sensor is assumed to be plugged in there" in err
    assert "ended before the program had read all inputs" in err


def test_the_variables_are_those_of_the_program(run_basic: RunVerb, tmp_path: Path) -> None:
    program = write_program(tmp_path, "DIM A AS BYTE\nA = 5\nIF RR = A THEN STOP\nEND\n")
    assert "A = 5, RR = 0" in run_basic(program, "--body", "mock")[1]
