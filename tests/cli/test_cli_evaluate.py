"""`posewright evaluate` and `--record`: what a verb says, its recording says again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import run
from posewright.recordings import read_mcap
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]

FOLDER = robot("sony_ers7").folder
NOD = "" if FOLDER is None else str(FOLDER / "motions" / "nod.motion.yaml")
WALK = ("gait", "run", "trot", "--forward", "0.1", "--seconds", "1")


def said(captured: Captured, *words: object, code: int = 0) -> str:
    assert run([*map(str, words)]) == code
    out, err = captured.readouterr()
    assert bool(err) is (code > 1)
    return out or err


def told(captured: Captured, *words: object) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(said(captured, *words, "--json"), parse_constant=pytest.fail)
    return data


@pytest.mark.parametrize("body", [(), ("--body", "random", "--seed", 3)])
def test_a_recorded_walk_has_the_figures_of_the_walk_to_the_last_digit(
    capsys: Captured, tmp_path: Path, body: tuple[object, ...]
) -> None:
    path = tmp_path / "walk.mcap"
    walked = told(capsys, *WALK, *body, "--record", path)
    again = told(capsys, "evaluate", path)
    assert set(walked) - set(again) == {"wall_s", "real_time_factor"}
    assert again == {name: walked[name] for name in again}
    assert again["recording_digest"] == read_mcap(path).digest()


def test_with_a_recording_or_without_the_figures_are_the_same(capsys: Captured, tmp_path: Path) -> None:
    with_it, without = told(capsys, *WALK, "--record", tmp_path / "w.mcap"), told(capsys, *WALK)
    took = {"wall_s", "real_time_factor"}
    assert {name: with_it[name] for name in without if name not in took} == {
        name: without[name] for name in without if name not in took
    }


def test_a_recorded_motion_has_the_numbers_of_its_check(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "nod.mcap"
    checked = told(capsys, "motion", "check", NOD, "--physics", "--record", path)
    again = told(capsys, "evaluate", path)
    (physics,) = checked["physics"]
    assert again.pop("findings") == checked["findings"] == []
    assert again == {name: physics[name] for name in again}


def test_each_of_several_gaits_has_a_recording_with_its_name(capsys: Captured, tmp_path: Path) -> None:
    words = ("gait", "compare", "crawl", "trot", "--forward", 0.03, "--seconds", 0.5)
    compared = told(capsys, *words, "--record", tmp_path / "walk.mcap")["gaits"]
    for gait in compared:
        again = told(capsys, "evaluate", tmp_path / f"walk.{gait['gait']}.mcap")
        assert again == {name: gait[name] for name in again}


def test_people_get_the_tables_of_the_verb_itself(capsys: Captured, tmp_path: Path) -> None:
    path, nod = tmp_path / "walk.mcap", tmp_path / "nod.mcap"
    said(capsys, *WALK, "--record", path)
    assert "cost of transport" in said(capsys, "evaluate", path)
    said(capsys, "motion", "film", NOD, "-o", tmp_path / "nod.svg", "--pictures", 2, "--record", nod)
    assert "under gravity" in said(capsys, "evaluate", nod)


def test_what_cannot_be_recorded_or_evaluated_is_said_in_a_line(capsys: Captured, tmp_path: Path) -> None:
    for words, expected in (
        ((*WALK, "--record", tmp_path / "walk.txt"), "end the name in .mcap"),
        ((*WALK, "--record", tmp_path / "no" / "walk.mcap"), "walk.mcap"),
        ((*WALK, "--bodies", 2, "--record", tmp_path / "walk.mcap"), "--record is for one body"),
        (("motion", "check", NOD, "--record", tmp_path / "nod.mcap"), "--record needs --physics"),
        (("evaluate", NOD), "nod.motion.yaml"),
        (("evaluate", tmp_path / "none.mcap"), "none.mcap"),
    ):
        line = said(capsys, *words, code=2)
        assert expected in line
        assert line.count("\n") <= 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "controller", "rows"),
    [(WALK, "gait trot", 250), (("motion", "check", NOD, "--physics"), "motion nod", 450)],
)
def test_a_recording_of_no_contest_says_who_did_what_in_place_of_a_score(
    capsys: Captured, tmp_path: Path, words: tuple[str, ...], controller: str, rows: int
) -> None:
    path = tmp_path / "run.mcap"
    said(capsys, *words, "--record", path)
    digest = read_mcap(path).digest()
    for verb in ("replay", "judge"):
        page = said(capsys, verb, path)
        assert f"no contest: {controller} on sony_ers7, seed 0" in page
        assert f"digest {digest[:16]}" in page
        assert all(word in page for word in ("robot", "duration", str(rows)))
        data = told(capsys, verb, path)
        assert (data["contest"], data["digest"]) == (None, digest)
        assert data["robots"]["sony_ers7"] == {"robot": "sony_ers7", "controller": controller, "rows": rows}
    said(capsys, "replay", path, "--plot", tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000
