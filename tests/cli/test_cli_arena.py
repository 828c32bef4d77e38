"""`posewright arena`: listed, shown, drawn, imported, exported; and a race on an imported field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import posewright as pw
from posewright.cli.app import EXIT_BAD_INPUT, run
from posewright.errors import InputError

BOX = "DEF {name} Transform {{ translation {at} children Shape {{ geometry Box {{ size {size} }} }} }}\n"
OBJECTS = {
    "floor": ("1.25 0 -0.05", "2.5 2 0.1"),
    "wall_1": ("-0.01 0 0.25", "0.02 2 0.5"),
    "wall_2": ("2.51 0 0.25", "0.02 2 0.5"),
    "wall_3": ("1.25 1.01 0.25", "2.54 0.02 0.5"),
    "wall_4": ("1.25 -1.01 0.25", "2.54 0.02 0.5"),
    "line_1": ("0.5 0 0", "0.02 2 0.001"),
    "line_2": ("2 0 0", "0.02 2 0.001"),
    "box_1": ("1.2 0.75 0.25", "0.2 0.2 0.5"),
}

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    scene = "".join(BOX.format(name=name, at=at, size=size) for name, (at, size) in OBJECTS.items())
    Path("field.wrl").write_text("#VRML V2.0 utf8\n" + scene)
    return tmp_path


def test_arenas_are_listed_with_those_of_contests(capsys: Captured) -> None:
    assert run(["arena", "list", "--json"]) == 0
    names = [arena["name"] for arena in json.loads(capsys.readouterr().out)]
    assert {"ceabot_obstacles", "stairs", "sumo"} <= {*names}


def test_an_arena_is_shown_with_its_sources(capsys: Captured) -> None:
    assert run(["arena", "show", "stairs"]) == 0
    out = capsys.readouterr().out
    assert "step_3" in out
    assert "CEABOT rules 2013" in out


def test_a_drawn_field_is_imported_shown_drawn_and_exported(folder: Path, capsys: Captured) -> None:
    assert run(["arena", "import", "field.wrl", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["arena"]["size_m"] == [2.5, 2.0]
    assert run(["arena", "show", "field.arena.yaml"]) == 0
    assert run(["arena", "plot", "field.arena.yaml", "-o", "field.svg"]) == 0
    assert run(["arena", "export", "field.arena.yaml", "field.urdf", "--to", "urdf"]) == 0
    assert run(["arena", "export", "field.arena.yaml", "field.xml"]) == 0
    assert {path.name for path in folder.iterdir()} >= {"field.svg", "field.urdf", "field.xml"}


@pytest.mark.parametrize(
    "command",
    [
        "arena show nowhere",
        "arena import missing.wrl",
        "arena import field.wrl --up x",
        "arena import field.wrl --scale 0",
        "arena import field.wrl -o field.wrl",
        "arena export stairs out.x --to step",
        "arena plot stairs -o stairs.txt",
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    folder: Path, command: str, capsys: Captured
) -> None:
    files_before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(command.split()) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.startswith("error: ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files_before


def test_a_race_runs_on_the_imported_field_and_is_judged(folder: Path) -> None:
    pw.write_arena("field.arena.yaml", pw.import_arena("field.wrl").arena)
    head = "trial: own\nrobot: robotis_bioloid\nbehaviour: obstacle_race\ncontest: obstacle-race\n"
    (folder / "own.trial.yaml").write_text(f"{head}arena: {{kind: field.arena.yaml}}\n")
    outcome = pw.run_trial("own.trial.yaml")
    assert outcome.recording.header.arena["name"] == "field"
    assert len(outcome.recording.header.boxes) == 1
    assert outcome.score.to_dict()["finished"]


def test_a_race_is_refused_on_a_field_of_another_size(folder: Path) -> None:
    pw.write_arena("half.arena.yaml", pw.import_arena("field.wrl", scale=0.5).arena)
    head = "trial: own\nrobot: robotis_bioloid\nbehaviour: obstacle_race\ncontest: obstacle-race\n"
    (folder / "own.trial.yaml").write_text(f"{head}arena: {{kind: half.arena.yaml}}\n")
    with pytest.raises(InputError, match=r"on the arena 'field': it is 1\.25 x 1 m"):
        pw.run_trial("own.trial.yaml")
