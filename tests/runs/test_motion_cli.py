"""What the command line says of a motion under gravity."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from posewright.cli.motion_film import film
from posewright.display import Table
from posewright.evaluation import physics_table
from posewright.formats import MotionFile, read_motion_file
from posewright.motions import Level
from posewright.runs import CheckOptions, check_motion_file

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
    rules = check_motion_file(swing).to_dict()
    names: list[str] = []
    result = check_motion_file(swing, options=CheckOptions(physics=True), on_progress=names.append)
    report = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert report["errors"] == rules["errors"]
    assert report["warnings"] == check_motion_file(swing).count(Level.WARNING) + 1
    assert report["findings"][:-1] == rules["findings"]
    finding = report["findings"][-1]
    assert (finding["rule"], finding["joint"], finding["motion"]) == (
        "speed",
        "right_shoulder_pitch",
        "swing",
    )
    assert set(report["findings"][0]) <= set(finding)
    assert names == ["swing"]
    (played,) = report["physics"]
    assert played["page"] == 1
    assert "findings" not in played


def test_the_numbers_are_told_in_lines_and_in_a_row(swing: MotionFile) -> None:
    ((number, played),) = check_motion_file(swing, options=CheckOptions(physics=True)).simulation_results
    lines = list(map(str, played.number_lines()))
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
    table = physics_table([(number, played.figures())])
    assert isinstance(table, Table)
    assert len(table.rows) == 1


def test_the_verb_films_a_page_lying_on_its_back(swing: MotionFile, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command("film")(film)
    strip = tmp_path / "swing.png"
    arguments = [
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
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and "drawn" in str(result.exception):
        pytest.skip(f"nothing can be drawn here: {result.exception}")
    assert result.exit_code == 0, result.output
    assert strip.read_bytes().startswith(b"\x89PNG")
