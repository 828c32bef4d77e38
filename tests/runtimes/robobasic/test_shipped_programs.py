"""The programs that ship do on the simulated robot what their first line says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from posewright.recordings import Recording
from posewright.runs import basic_result, run_basic, run_trial
from posewright.runtimes.robobasic import Severity, compile_source, open_source, program_names
from posewright.runtimes.robobasic.formatter import format_source


def place(recording: Recording, row: int) -> tuple[float, float, float, float]:
    """Return x and y [m], heading [deg] and tilt [deg] of a row."""
    x, y, _, w, i, j, k = recording.robot().base[row].tolist()
    heading = math.degrees(math.atan2(2.0 * (w * k + i * j), 1.0 - 2.0 * (j * j + k * k)))
    return x, y, heading, math.degrees(math.acos(max(-1.0, min(1.0, 1.0 - 2.0 * (i * i + j * j)))))


def run_shipped(name: str, **options: Any) -> tuple[Recording, dict[str, Any]]:
    recording = run_basic(name, **options)
    return recording, basic_result(recording)


@pytest.mark.parametrize("name", program_names())
def test_every_program_is_without_a_fault_and_laid_out_as_the_formatter_does(name: str) -> None:
    source = open_source(name)
    program = compile_source(source)
    assert [one for one in program.findings if one.severity is not Severity.HINT] == []
    assert program.steps
    assert format_source(source) == source.text


def test_bow_bends_forward_and_stands_again() -> None:
    recording, result = run_shipped("bow")
    tilts = [place(recording, row)[3] for row in range(len(recording.times))]
    assert (result["fell"], result["ended"]) == (False, "end")
    assert max(tilts) > 20.0
    assert tilts[-1] < 3.0


@pytest.mark.parametrize("options", [{}, {"body": "random", "seed": 1}, {"body": "random", "seed": 4}])
def test_walk_goes_straight_ahead(options: dict[str, Any]) -> None:
    recording, result = run_shipped("walk", **options)
    x, y, heading, _ = place(recording, -1)
    assert result["fell"] is False
    assert 0.45 < x < 0.85
    assert abs(y) < 0.15
    assert abs(heading) < 25.0


def test_turn_goes_left_and_comes_back() -> None:
    recording, result = run_shipped("turn")
    headings = [place(recording, row)[2] for row in range(len(recording.times))]
    assert result["fell"] is False
    assert max(headings) > 60.0
    assert abs(headings[-1]) < 35.0


def test_kick_lifts_one_foot_after_the_other_and_stays_up() -> None:
    recording, result = run_shipped("kick")
    contacts = recording.robot().foot_contacts
    assert result["fell"] is False
    assert contacts is not None
    assert (~np.asarray(contacts)).any(axis=0).all()


@pytest.mark.parametrize(("key", "down"), [(1, (200, 250)), (2, (0, 30))])
def test_whoever_lies_on_face_or_back_gets_up_by_the_tilt_sensor(key: int, down: tuple[int, int]) -> None:
    recording, result = run_shipped("get_up", inputs=f"REMOCON={key}@0.5")
    seen = [one["AD(5)"] for one in recording.robot().decisions.inputs if "AD(5)" in one]
    assert result["fell"] is True  # that is what the key is for
    assert any(down[0] <= one <= down[1] for one in seen)
    assert place(recording, -1)[3] < 5.0


def test_the_race_is_run_there_and_back_and_judged_like_any_other() -> None:
    outcome = run_trial("obstacle-race", behaviour="race.bas", layout="example_2")
    legs = outcome.score.legs  # type: ignore[attr-defined]  # of the race's own score
    assert [leg.penalties for leg in legs] == [0, 0]
    assert outcome.score.total_points > 25.0
    assert outcome.recording.header.documents["race.bas"] == open_source("race").text
