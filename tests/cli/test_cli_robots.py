"""`posewright robots list`, as a person and as a program use it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from posewright.cli import console
from posewright.cli.app import run
from posewright.robots import robot, robot_names

Captured = pytest.CaptureFixture[str]


def answer(capsys: Captured, *words: str) -> Any:
    assert run([*words, "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_the_list_names_every_robot(capsys: Captured) -> None:
    assert run(["robots", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in robot_names())


def test_the_list_as_json_is_a_list(capsys: Captured) -> None:
    assert [card["name"] for card in answer(capsys, "robots", "list")] == list(robot_names())


def test_a_robot_is_shown_on_one_screen(capsys: Captured) -> None:
    for name in robot_names():
        assert run(["robots", "show", name]) == 0
        shown = capsys.readouterr().out
        assert shown.count("\n") < 40
        assert all(joint in shown for joint in robot(name).joint_names)
    for word in ("-115", "stand, walk, sit", "4 x foot_contact", "kick_right", "trot", "--section"):
        assert word in shown


def test_sections_of_a_card_are_shown_by_name(capsys: Captured) -> None:
    assert run(["robots", "show", "sony_ers7", "--section", "poses", "--section", "servos"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("Poses: degrees") < shown.index("Servo models")
    assert "Sources" not in shown
    assert run(["robots", "show", "sony_ers7", "--section", "sensor"]) == 2
    assert "did you mean sensors?" in capsys.readouterr().err


def test_a_name_is_cut_neither_in_a_file_nor_on_a_narrow_terminal(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    for is_terminal in (False, True):
        monkeypatch.setattr(console, "stdout", Console(force_terminal=is_terminal, no_color=True))
        assert run(["robots", "show", "sony_ers7", "--section", "all"]) == 0
        shown = capsys.readouterr().out
        assert all(joint in shown for joint in robot("sony_ers7").joint_names)


def test_a_whole_card_shows_what_is_known(capsys: Captured) -> None:
    assert run(["robots", "show", "robotis_bioloid", "--section", "all"]) == 0
    shown = capsys.readouterr().out
    for word in ("right_hip_pitch", "AX-12A", "-137", "walk_ready", "uc3m_thesis", "laser_front", "e-Manual"):
        assert word in shown


def test_a_card_as_json_says_what_the_python_twin_says(capsys: Captured) -> None:
    card = answer(capsys, "robots", "show", "robotis_bioloid")
    bioloid = robot("robotis_bioloid")
    assert [joint["name"] for joint in card["joints"]] == list(bioloid.joint_names)
    first = card["joints"][0]
    assert (first["lower_deg"], first["upper_deg"]) == (-239.0, 59.0)
    assert first["servo"]["id"] == 1
    assert card["poses"]["stand"]["ticks"]["right_shoulder_pitch"] == 335
    assert card["poses"]["stand"]["deg"]["right_shoulder_pitch"] == pytest.approx(60 - 335 * 300 / 1024)
    assert card["numberings"]["uc3m_thesis"]["22"] == "left_shoulder_roll"
    assert {"left": "left_knee", "right": "right_knee", "sign": 1} in card["mirror_pairs"]
    assert card["frame_period_s"] == 1 / 128
    assert set(card["sources"]) == set(bioloid.sources)


def test_an_unknown_robot_is_one_line_with_the_nearest_name(capsys: Captured) -> None:
    assert run(["robots", "show", "robotis_biolid"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "error: unknown robot 'robotis_biolid' (did you mean robotis_bioloid?)\n"


def test_ones_own_card_may_be_given_by_its_path(capsys: Captured, tmp_path: Path) -> None:
    folder = robot("robotis_bioloid").folder
    assert folder is not None
    for name in ("robot.yaml", "model.xml"):
        shutil.copy(folder / name, tmp_path)
    by_name = answer(capsys, "robots", "show", "robotis_bioloid")
    by_path = answer(capsys, "robots", "show", str(tmp_path / "robot.yaml"))
    assert by_path.pop("model_path") == str(tmp_path / "model.xml")
    by_name.pop("model_path")
    assert by_path == by_name


def test_a_broken_card_is_one_line_with_its_place(capsys: Captured, tmp_path: Path) -> None:
    card = tmp_path / "robot.yaml"
    card.write_text("robot: walker\n", encoding="utf-8")
    assert run(["robots", "show", str(card)]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"error: {card}:1: 'maker' is missing")
    assert captured.err.count("\n") == 1


def test_help_shows_examples(capsys: Captured) -> None:
    assert run(["robots", "show", "--help"]) == 0
    assert "posewright robots show robotis_bioloid" in capsys.readouterr().out
