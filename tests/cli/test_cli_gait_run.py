"""`posewright gait run` and `gait compare` as a shell sees them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from posewright.cli.app import run
from posewright.evaluation.walking.figures import correction_text
from posewright.evaluation.walking.walk import Correction

Captured = pytest.CaptureFixture[str]

KEYS = {
    "speed_m_s",
    "left_m_s",
    "turn_rad_s",
    "falls",
    "fall_times_s",
    "max_tilt_deg",
    "max_joint_speed_ratio",
    "slip_m",
    "cost_of_transport",
    "real_time_factor",
}

WALL = ("wall_s", "real_time_factor")


def posewright(captured: Captured, *words: object) -> tuple[int, str, str]:
    code = run(["gait", *map(str, words)])
    said = captured.readouterr()
    return code, said.out, said.err


def told(captured: Captured, *words: object) -> dict[str, Any]:
    code, out, err = posewright(captured, *words, "--json")
    assert (code, err) == (0, "")
    data: dict[str, Any] = json.loads(out, parse_constant=pytest.fail)
    return data


def test_run_tells_every_figure_as_json_and_nothing_else(capsys: Captured) -> None:
    words = ("run", "trot", "--robot", "sony_ers7", "--forward", 0.1, "--seconds", 1, "--seed", 3)
    data = told(capsys, *words)
    assert set(data) >= KEYS
    assert (data["falls"], data["fall_times_s"], data["body"]) == (0, [], "nominal")
    assert data["commanded_forward_m_s"] == 0.1
    assert data["real_time_factor"] > 0.0


def test_the_seed_draws_the_body_and_only_a_random_one(capsys: Captured) -> None:
    def walked(*words: object) -> dict[str, Any]:
        data = told(capsys, "run", "trot", "--forward", 0.1, "--seconds", 0.5, *words)
        return {
            name: value
            for name, value in data.items()
            if name not in ("seed", "recording_digest", "wall_s", "real_time_factor")
        }

    assert walked("--seed", 1) == walked("--seed", 2)
    one, two = (walked("--body", "random", "--seed", seed) for seed in (1, 2))
    assert one["variation"] != two["variation"]
    assert one == walked("--body", "random", "--seed", 1)


def test_many_bodies_are_told_one_by_one_with_the_worst_and_the_median(capsys: Captured) -> None:
    data = told(capsys, "run", "trot", "--forward", 0.1, "--seconds", 0.5, "--bodies", 2, "--seed", 4)
    assert [body["seed"] for body in data["bodies"]] == [4, 5]
    assert all(set(body) >= KEYS - {"real_time_factor"} for body in data["bodies"])
    assert data["upright"] == 2
    assert data["worst"]["max_tilt_deg"] == max(body["max_tilt_deg"] for body in data["bodies"])
    assert set(data["median"]) == set(data["worst"])


def test_people_get_tables_with_the_limits_beside(capsys: Captured) -> None:
    for words, expected in (
        (
            ("run", "trot", "--forward", 0.1),
            ("0.100 commanded", "at most 1", "left front", "real time", "fixed, as"),
        ),
        (("run", "trot", "--bodies", 2), ("2 of 2 bodies upright", "worst", "median")),
        (("compare", "crawl", "trot", "--forward", 0.03), ("crawl", "trot", "forward 0.03 m/s")),
    ):
        code, out, err = posewright(capsys, *words, "--seconds", 0.5)
        assert (code, err) == (0, "")
        assert all(part in out for part in expected)


def test_what_safety_held_back_is_told_in_degrees_and_as_the_speed_to_keep_up(capsys: Captured) -> None:
    words = ("--forward", 0.1, "--seconds", 0.5, "--set", "ascent_pairs=1", "--set", "front_height_m=0.04")
    code, out, _ = posewright(capsys, "run", "trot", *words)
    lines = [line for line in out.splitlines() if line.startswith("safety: speed limit of ")]
    assert code in (0, 1)
    assert lines
    for line in lines:
        needed, passed = (float(text) for text in re.findall(r"([\d.]+) rad/s", line))
        assert needed > passed
        assert "rad/s needed to follow the request" in line
    high = Correction(0.5, "left_front_knee", "joint limit", math.pi / 2, math.pi / 4)
    assert correction_text(high) == "90.0 deg requested, limited to 45.0 deg"


def test_compare_tells_a_row_a_gait(capsys: Captured) -> None:
    data = told(capsys, "compare", "crawl", "trot", "--forward", 0.03, "--seconds", 0.5)
    assert [gait["gait"] for gait in data["gaits"]] == ["crawl", "trot"]
    assert all(set(gait) >= KEYS for gait in data["gaits"])


def test_a_fall_is_exit_code_1_with_the_json_whole(capsys: Captured, tmp_path: Path) -> None:
    slope = tmp_path / "cliff.bodies.yaml"
    slope.write_text(
        "bodies: cliff\nranges:\n  slope_deg: {low: 44, high: 44.5, source: a test}\n", encoding="utf-8"
    )
    words = ("trot", "--forward", 0.1, "--seconds", 2, "--body", slope, "--json")
    code, out, err = posewright(capsys, "run", *words)
    data = json.loads(out)
    assert (code, err) == (1, "")
    assert data["falls"] == len(data["fall_times_s"]) == 1
    assert set(data) >= KEYS
    code, out, _ = posewright(capsys, "run", *words, "--bodies", 1)
    assert (code, json.loads(out)["upright"]) == (1, 0)
    assert json.loads(out)["fallen_seeds"] == [0]


def too_heavy(folder: Path) -> Path:
    """Return bodies whose weight is no number."""
    heavy = folder / "heavy.bodies.yaml"
    heavy.write_text(
        "bodies: heavy\nranges:\n  mass_scale: {low: 1.0e+308, high: 1.0e+308, source: a test}\n",
        encoding="utf-8",
    )
    return heavy


def test_a_body_the_simulation_fails_on_is_named_and_the_run_is_told_to_the_end(
    capsys: Captured, tmp_path: Path
) -> None:
    words = ("run", "trot", "--seconds", 0.5, "--body", too_heavy(tmp_path), "--seed", 7)
    code, out, err = posewright(capsys, *words, "--bodies", 1)
    assert (code, err) == (1, "")
    assert "0 of 1 bodies upright, 1 failed" in out
    assert "seed 7 failed, the simulation blew up" in out
    code, out, err = posewright(capsys, *words, "--bodies", 1, "--json")
    data = json.loads(out, parse_constant=pytest.fail)
    assert (code, err) == (1, "")
    assert (data["upright"], data["falls"], data["fallen_seeds"]) == (0, 1, [7])
    (failure,) = data["failures"]
    assert (failure["seed"], "blew up" in failure["reason"]) == (7, True)


@pytest.mark.parametrize("verb", ["run", "compare"])
def test_the_gait_that_a_body_failed_under_is_named(verb: str, capsys: Captured, tmp_path: Path) -> None:
    code, out, err = posewright(capsys, verb, "trot", "--seconds", 0.5, "--body", too_heavy(tmp_path))
    assert (code, out) == (2, "")
    assert err.startswith("error: trot: the simulation blew up")


@pytest.mark.parametrize("seed", [-1, 2**63])
@pytest.mark.parametrize("words", [(), ("--body", "random"), ("--bodies", "1")])
def test_a_seed_out_of_range_is_told_the_whole_range(
    capsys: Captured, words: tuple[str, ...], seed: int
) -> None:
    code, out, err = posewright(capsys, "run", "trot", "--seed", seed, *words)
    assert (code, out) == (2, "")
    assert f"the seed is {seed} (expected an integer from 0 to {2**63 - 1})" in err


def test_plot_draws_the_walk(capsys: Captured, tmp_path: Path) -> None:
    code, _, _ = posewright(capsys, "run", "trot", "--seconds", 0.5, "--plot", tmp_path / "walk.svg")
    assert code == 0
    assert "left front" in (tmp_path / "walk.svg").read_text(encoding="utf-8")


def test_set_changes_the_gait(capsys: Captured) -> None:
    low, high = (
        told(
            capsys, "run", "trot", "--seconds", 0.5, "--set", f"travel_gain.forward={gain}", "--forward", 0.1
        )
        for gain in (0.5, 1.0)
    )
    assert low["max_joint_speed_ratio"] != high["max_joint_speed_ratio"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "trott"), "trot"),
        (("run", "trot", "--forward", "9"), "this gait goes at"),
        (("run", "trot", "--turn", "-90"), "this gait turns at"),
        (("run", "trot", "--forward", "nan"), "finite"),
        (("run", "trot", "--left", "inf"), "finite"),
        (("run", "trot", "--seconds", "0"), "seconds"),
        (("run", "trot", "--seconds", "-1"), "seconds"),
        (("run", "trot", "--seconds", "nan"), "seconds"),
        (("run", "trot", "--seconds", "1e12"), "600 s"),
        (("run", "trot", "--settle", "-1"), "settle_s"),
        (("run", "trot", "--seed", "-1"), "seed"),
        (("run", "trot", "--body", "nobody"), "nominal"),
        (("run", "trot", "--body", "nowhere.yaml"), "nowhere.yaml"),
        (("run", "trot", "--body", "no/where.yml"), "no/where.yml"),
        (("run", "trot", "--body", "random", "--seed", "-1"), "seed"),
        (("run", "trot", "--bodies", "99999999"), "bodies"),
        (("run", "trot", "--plot", "walk.gif"), "'.gif' is not the ending of a picture"),
        (("run", "trot", "--bodies", "2", "--plot", "walk.png"), "one body"),
        (("run", "trot", "--workers", "2"), "--workers with --bodies"),
        (("run", "trot", "--set", "shape_factor=7"), "0 to 1"),
        (("run", "trot", "--robot", "robotis_bioloid"), "robotis_bioloid"),
        (("compare", "trot", "trott"), "trot"),
        (("compare", "crawl", "trot", "--forward", "9"), "crawl"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_exit_code_2(
    capsys: Captured, words: tuple[str, ...], said: str
) -> None:
    code, out, err = posewright(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert said in err
    assert len(err.strip().splitlines()) == 1
