"""`motion walk` measures a walk by pages as `gait run` does one of a gait, and writes adjusted pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import run
from posewright.evaluation import evaluate_walk
from posewright.figures.walk import _title
from posewright.gaits import read_gait
from posewright.recordings import read_mcap
from posewright.robots import robot

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def walk_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the pages of our biped at 0.15 m/s."""
    path = tmp_path_factory.mktemp("pages") / "walk.mtn"
    assert run(["gait", "sample", "biped", "--forward", "0.15", "-o", str(path)]) == 0
    return path


def measure(capsys: Captured, *words: str | Path) -> dict[str, Any]:
    """Return the figures of a walk of two seconds."""
    capsys.readouterr()
    arguments = ("motion", "walk", *words, "--seconds", "2", "--settle", "0.5", "--json")
    assert run(list(map(str, arguments))) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def error(capsys: Captured, *words: str | Path) -> str:
    """Return the error of a walk that cannot be measured."""
    capsys.readouterr()
    assert run(["motion", "walk", *map(str, words)]) != 0
    return " ".join(capsys.readouterr().err.split())


def test_a_walk_by_pages_has_the_figures_of_a_gait(capsys: Captured, walk_file: Path, tmp_path: Path) -> None:
    recording = tmp_path / "walk.mcap"
    result = measure(capsys, walk_file, "--record", recording)
    assert (result["gait"], result["falls"]) == ("walk", 0)
    # 25 steps of 16 ms in place of 15.6 ms: 2 % slower than the gait, whose feet gain for slip
    gait = read_gait("biped", robot=robot("robotis_bioloid"))
    feet_m_s = gait.travel_gain.forward * 0.15 + gait.trim.forward_m_s
    assert result["commanded_forward_m_s"] == pytest.approx(feet_m_s / 1.024, rel=0.05)
    assert result["speed_m_s"] == pytest.approx(0.15, rel=0.15)
    assert run(["evaluate", str(recording), "--json"]) == 0
    evaluated = json.loads(capsys.readouterr().out)
    assert {name: evaluated[name] for name in ("speed_m_s", "feet", "recording_digest")} == {
        name: result[name] for name in ("speed_m_s", "feet", "recording_digest")
    }


def test_an_adjusted_walk_is_written_as_it_was_measured(
    capsys: Captured, walk_file: Path, tmp_path: Path
) -> None:
    target = tmp_path / "slow.mtn"
    settings = ("--set", "rate=0.8", "--set", "amplitude.legs=0.9")
    result = measure(capsys, walk_file, *settings, "-o", target)
    again = measure(capsys, target)
    for changing in ("wall_s", "real_time_factor", "recording_digest", "gait"):
        del result[changing], again[changing]
    assert again == result


def test_errors_name_what_would_be_right(capsys: Captured, walk_file: Path, tmp_path: Path) -> None:
    assert "did you mean amplitude.knee" in error(capsys, walk_file, "--set", "amplitude.nee=1")
    assert "there is no page 300" in error(capsys, walk_file, "--page", "300")
    assert "end the name in .mtn" in error(capsys, walk_file, "-o", tmp_path / "walk.h")
    fast = error(capsys, walk_file, "--set", "rate=5", "-o", tmp_path / "fast.mtn")
    assert "could harm the robot" in fast
    assert "--accept-faults" in fast
    assert "nothing has moved" in error(capsys, walk_file, "--set", "rate=5", "--body", "dynamixel:/dev/none")


def test_the_title_of_a_picture_names_the_page(capsys: Captured, walk_file: Path, tmp_path: Path) -> None:
    recording = tmp_path / "walk.mcap"
    measure(capsys, walk_file, "--record", recording)
    title = _title(evaluate_walk(read_mcap(recording)))
    assert title.startswith("walk on robotis_bioloid: forward 0.1")


def test_many_bodies_walk_by_pages(capsys: Captured, walk_file: Path) -> None:
    result = measure(capsys, walk_file, "--bodies", "2")
    assert [body["seed"] for body in result["bodies"]] == [0, 1]


@pytest.mark.parametrize(
    ("file", "speed_m_s"),
    [("grab-n-lift_BADSUM.mtn", 0.12), ("robkwan_bio_prm_humanoidtypea_en.mtn", 0.11)],
)
def test_robotis_pages_walk_at_their_known_speed(
    capsys: Captured, samples: Callable[[str], Path], file: str, speed_m_s: float
) -> None:
    """The vendor's pages walk at 0.12 m/s (physics.md, part F): at rate 2.9; the other file has rate 2.7."""
    result = measure(capsys, samples(f"robotis_mtn_text/{file}"), "--page", "F_S_L")
    assert result["speed_m_s"] == pytest.approx(speed_m_s, abs=0.01)
    assert result["falls"] == 0
