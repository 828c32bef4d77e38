"""`posewright run`, `replay` and `judge` as a shell sees them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.shell import run_here


def posewright(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "posewright", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 -- our own program


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    recording = tmp_path_factory.mktemp("race") / "race.mcap"
    done = posewright(
        "run", "obstacle-race", "--layout", "random", "--seed", 11, "--record", recording, "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout), recording


def test_run_prints_the_result_as_json_and_nothing_else(race: tuple[dict[str, Any], Path]) -> None:
    result, _ = race
    assert len(result["legs"]) == 2
    assert {"time_s", "distance_cm", "penalties", "points", "raw_points"} <= set(result["legs"][0])
    assert {"total_points", "falls", "simulated_s", "wall_s", "digest"} <= set(result)


def test_judge_and_replay_say_of_the_recording_what_run_said(race: tuple[dict[str, Any], Path]) -> None:
    result, recording = race
    for verb in ("judge", "replay"):
        said = json.loads(run_here(verb, recording, "--json").stdout)
        for key in ("legs", "total_points", "raw_total", "falls", "penalties"):
            assert said[key] == result[key]


def test_another_contest_is_run_judged_and_replayed_by_the_same_verbs(tmp_path: Path) -> None:
    recording = tmp_path / "test.mcap"
    done = run_here("run", "passivity-test", "--seed", 3, "--record", recording, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert (result["contest"], result["passed"]) == ("ceabot_2013/passivity_test", True)
    for verb in ("judge", "replay"):
        said = json.loads(run_here(verb, recording, "--json").stdout)
        assert {key: said[key] for key in ("tries", "time_s", "digest")} == {
            key: result[key] for key in ("tries", "time_s", "digest")
        }
    assert "try 1" in run_here("judge", recording).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("run", "obstacle-rac"),
        ("run", "--layout", "exampel_1"),
        ("run", "--layout", "missing.layout.yaml"),
        ("run", "--behaviour", "nobody"),
        ("run", "--seed", "-3"),
        ("run", "--record", "no/such/folder/race.mcap"),
        ("run", "--plot", "race.gif"),
        ("run", "--motions", "missing.mtn"),
        ("run", "--body", "nobody"),
        ("run", "passivity-test", "--body", "mok"),
        ("run", "passivity-test", "--layout", "example_1"),
        ("run", "--view", "--body", "mock"),
        ("replay", "missing.mcap"),
        ("judge", "missing.mcap"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_exit_code_2(words: tuple[str, ...]) -> None:
    done = run_here(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
