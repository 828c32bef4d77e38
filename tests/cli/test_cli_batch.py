"""`posewright run --seeds`, `rank`, and `gait run` and `motion check` over folders, as a shell sees them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.shell import run_here

import posewright as pw

DOG = Path(pw.robot("sony_ers7").folder or "")


def command(*options: object) -> list[str]:
    return [sys.executable, "-m", "posewright", *map(str, options)]


def run_and_stop(stop_signal: signal.Signals, folder: Path, *options: object) -> tuple[int, str]:
    """Run a batch, stop it when its first run is done, and return its exit code and last line."""
    process = subprocess.Popen(  # noqa: S603 -- our own program
        command(*options, "--out", folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    while not list(folder.glob("journal/*.json")) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(stop_signal)
    output = process.communicate()[0]
    return process.returncode, output.splitlines()[-1]


TESTS = ("run", "passivity-test", "--seeds", "1-4")


@pytest.fixture(scope="module")
def finished_batch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "tests"
    process = run_here(*TESTS, "--workers", 1, "--out", folder, "--json")
    assert (process.returncode, process.stderr) == (0, "")
    summary = json.loads(process.stdout)
    assert (summary["n_runs"], summary["failed"], summary["passed"], summary["mean"]) == (4, 0, 4, 1.0)
    assert [row["seed"] for row in summary["runs"]] == [1, 2, 3, 4]
    return folder


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be killed so")
@pytest.mark.parametrize(
    ("stop_signal", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=str
)
def test_a_batch_that_was_stopped_goes_on_to_the_same_bytes(
    finished_batch: Path, tmp_path: Path, stop_signal: signal.Signals, code: int
) -> None:
    folder = tmp_path / "tests"
    exit_code, last_line = run_and_stop(stop_signal, folder, *TESTS, "--workers", 2)
    assert exit_code == code
    assert stop_signal is signal.SIGKILL or last_line.startswith("note: stopped after ")
    process = run_here(*TESTS, "--workers", 1, "--out", folder)
    assert process.returncode == 0
    assert "(done before)" in process.stdout
    names = {path.name for path in finished_batch.rglob("*")}
    assert {path.name for path in folder.rglob("*")} == names
    for path in filter(Path.is_file, finished_batch.rglob("*")):
        assert (folder / path.relative_to(finished_batch)).read_bytes() == path.read_bytes()


def test_a_person_reads_a_line_a_run_the_summary_and_how_to_see_the_worst(finished_batch: Path) -> None:
    output = run_here(*TESTS, "--out", finished_batch).stdout
    assert "seed 3  points 1.00  passed yes" in output
    assert "mean points 1.000 each" in output
    assert "passed 4 of 4" in output
    replay_line = next(
        line for line in output.splitlines() if line.startswith("replay the worst: posewright replay ")
    )
    assert Path(replay_line.split()[5]).is_file()


@pytest.mark.parametrize(
    "options",
    [
        ("--seeds", "5-1"),
        ("--seeds", "1-3", "--seed", 2),
        ("--seeds", "1-3", "--plot", "race.png"),
        ("--seeds", "1-3", "--view"),
        ("--seeds", "1-3", "--layout", "exampel_1"),
        ("--seeds", "1-3", "--body", "randon"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said_before_it_runs(options: tuple[str, ...], tmp_path: Path) -> None:
    process = run_here("run", "obstacle-race", "--out", tmp_path / "out", *options)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_what_is_of_many_runs_is_refused_for_one(tmp_path: Path) -> None:
    for options in (("--out", tmp_path / "out"), ("--no-recordings",), ("--workers", 2)):
        process = run_here("run", "passivity-test", *options)
        assert (process.returncode, process.stdout) == (2, "")
        assert f"{options[0]} cannot be used without --seeds" in process.stderr


def test_rank_names_what_it_cannot_read_and_exits_with_1(finished_batch: Path, tmp_path: Path) -> None:
    (tmp_path / "junk.mcap").write_bytes(b"junk")
    process = run_here("rank", finished_batch, tmp_path / "junk.mcap", "--csv", tmp_path / "places.csv")
    assert process.returncode == 1
    assert "junk.mcap" in process.stderr
    assert "place 1" in process.stdout.splitlines()[1]
    places = (tmp_path / "places.csv").read_text().splitlines()
    assert places[0].startswith("recording,place,points,passed,time_s,")
    assert len(places) == 6


def test_a_folder_of_gaits_is_walked_at_several_speeds(tmp_path: Path) -> None:
    for name in ("trot", "fast"):
        shutil.copy(DOG / f"gaits/{name}.gait.yaml", tmp_path)
    command_line = (
        "gait",
        "run",
        tmp_path,
        "--speeds",
        "0.05,0.1",
        "--seconds",
        0.5,
        "--out",
        tmp_path / "walked",
    )
    summary = json.loads(run_here(*command_line, "--json").stdout)
    assert [row["gait"] for row in summary["runs"]] == [
        f"{name}.gait.yaml at {speed}" for name in ("fast", "trot") for speed in (0.05, 0.1)
    ]
    assert summary["upright"] == 4
    assert run_here(*command_line).stdout.count("(done before)") == 4
    assert len(list((tmp_path / "walked").glob("*.mcap"))) == 4


def test_a_speed_that_stands_there_twice_is_told_of_before_anything_walks() -> None:
    process = run_here("gait", "run", "trot", "--speeds", "0.1,0.1")
    assert (process.returncode, process.stdout) == (2, "")
    assert "trot at 0.1 is listed twice" in process.stderr


def test_a_folder_of_motions_is_checked_and_what_cannot_be_read_fails(tmp_path: Path) -> None:
    shutil.copytree(DOG / "motions", tmp_path / "motions")
    (tmp_path / "motions/notes.txt").write_text("no motion")
    process = run_here("motion", "check", tmp_path / "motions", "--out", tmp_path / "checked", "--json")
    summary = json.loads(process.stdout)
    names = sorted(path.name for path in (DOG / "motions").iterdir())
    assert [row["file"] for row in summary["runs"]] == names
    assert process.returncode == int(summary["sound"] < len(names))
    assert (tmp_path / "checked/results.csv").is_file()
    named_process = run_here("motion", "check", tmp_path / "motions", tmp_path / "motions/notes.txt")
    assert named_process.returncode == 1
    assert "file notes.txt  error:" in named_process.stdout
