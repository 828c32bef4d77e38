"""What the command line says of a motion under gravity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from posewright.cli.motion_film import film
from posewright.cli.motion_tables import findings_report, physics_lines, physics_table, with_physics
from posewright.formats import MotionFile, read_motion_file

SWING = """\
motion: swing
robot: robotis_bioloid
joints: [right_shoulder_pitch]
start_pose_deg: [-10]
keyframes:
  - {reach_s: 0.1, pose_deg: [-150]}
  - {reach_s: 0.8, pose_deg: [-10]}
"""


@pytest.fixture
def swing(tmp_path: Path) -> MotionFile:
    path = tmp_path / "swing.motion.yaml"
    path.write_text(SWING, encoding="utf-8")
    return read_motion_file(path)


def test_physics_joins_its_findings_to_those_of_the_rules(swing: MotionFile) -> None:
    rules = findings_report(swing, None, near_pose=None, celebration=False)
    told: list[str] = []
    report = with_physics(rules, swing, None, on_progress=told.append)
    assert report["errors"] == rules["errors"]
    assert report["warnings"] == rules["warnings"] + 1
    assert report["findings"][:-1] == rules["findings"]
    found = report["findings"][-1]
    assert (found["rule"], found["joint"], found["motion"]) == ("speed", "right_shoulder_pitch", "swing")
    assert set(rules["findings"][0]) <= set(found)
    assert told == ["swing"]
    (played,) = report["physics"]
    assert played["page"] == 1
    assert "findings" not in played
    json.dumps(report, allow_nan=False)


def test_the_numbers_are_told_in_lines_and_in_a_row(swing: MotionFile) -> None:
    report = with_physics(findings_report(swing, None, near_pose=None, celebration=False), swing, None)
    lines = list(physics_lines(report["physics"][0]))
    assert lines[0] == "swing under gravity, 0.90 s:"
    assert [line.split()[0] for line in lines[1:]] == [
        "falls",
        "distance",
        "tilt",
        "self-contact",
        "slip",
        "lag",
        "full",
    ]
    assert "right_shoulder_pitch" in lines[6]
    assert physics_table(report["physics"]).row_count == 1


def test_the_verb_films_a_page_lying_on_its_back(swing: MotionFile, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command("film")(film)
    strip = tmp_path / "swing.png"
    words = [
        str(swing.path),
        "-o",
        str(strip),
        "--pictures",
        "2",
        "--attitude",
        "0",
        "-90",
        "--camera",
        "front",
    ]
    result = CliRunner().invoke(app, words)
    if result.exception is not None and "drawn" in str(result.exception):
        pytest.skip(f"nothing can be drawn here: {result.exception}")
    assert result.exit_code == 0, result.output
    assert strip.read_bytes().startswith(b"\x89PNG")
