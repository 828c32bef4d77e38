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


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "posewright", *map(str, words)]


def stopped(by: signal.Signals, folder: Path, *words: object) -> tuple[int, str]:
    """Run a batch, stop it when its first run is done, and return its exit code and last line."""
    process = subprocess.Popen(  # noqa: S603 -- our own program
        command(*words, "--out", folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    while not list(folder.glob("journal/*.json")) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(by)
    shown = process.communicate()[0]
    return process.returncode, shown.splitlines()[-1]


TESTS = ("run", "passivity-test", "--seeds", "1-6")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "tests"
    done = run_here(*TESTS, "--workers", 1, "--out", folder, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["n_runs"], found["failed"], found["passed"], found["mean"]) == (6, 0, 6, 1.0)
    assert [row["seed"] for row in found["runs"]] == [1, 2, 3, 4, 5, 6]
    return folder


@pytest.mark.skipif(os.name != "posix", reason="only there can a process be killed so")
@pytest.mark.parametrize(
    ("by", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=str
)
def test_a_batch_that_was_stopped_goes_on_to_the_same_bytes(
    whole: Path, tmp_path: Path, by: signal.Signals, code: int
) -> None:
    folder = tmp_path / "tests"
    was, said = stopped(by, folder, *TESTS, "--workers", 2)
    assert was == code
    assert by is signal.SIGKILL or said.startswith("note: stopped after ")
    done = run_here(*TESTS, "--workers", 1, "--out", folder)
    assert done.returncode == 0
    assert "(done before)" in done.stdout
    names = {path.name for path in whole.rglob("*")}
    assert {path.name for path in folder.rglob("*")} == names
    for path in filter(Path.is_file, whole.rglob("*")):
        assert (folder / path.relative_to(whole)).read_bytes() == path.read_bytes()


def test_a_person_reads_a_line_a_run_the_summary_and_how_to_see_the_worst(whole: Path) -> None:
    said = run_here(*TESTS, "--out", whole).stdout
    assert "seed 3  points 1.00  passed yes" in said
    assert "mean points 1.000 each" in said
    assert "passed 6 of 6" in said
    again = next(
        line for line in said.splitlines() if line.startswith("replay the worst: posewright replay ")
    )
    assert Path(again.split()[5]).is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("--seeds", "5-1"),
        ("--seeds", "1-3", "--seed", 2),
        ("--seeds", "1-3", "--plot", "race.png"),
        ("--seeds", "1-3", "--view"),
        ("--seeds", "1-3", "--layout", "exampel_1"),
        ("--seeds", "1-3", "--body", "randon"),
    ],
)
def test_what_is_wrong_with_a_batch_is_said_before_it_runs(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run_here("run", "obstacle-race", "--out", tmp_path / "out", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert not (tmp_path / "out").exists()


def test_what_is_of_many_runs_is_refused_for_one(tmp_path: Path) -> None:
    for words in (("--out", tmp_path / "out"), ("--no-recordings",), ("--workers", 2)):
        done = run_here("run", "passivity-test", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{words[0]} cannot be used without --seeds" in done.stderr


def test_rank_names_what_it_cannot_read_and_exits_with_1(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "junk.mcap").write_bytes(b"junk")
    done = run_here("rank", whole, tmp_path / "junk.mcap", "--csv", tmp_path / "places.csv")
    assert done.returncode == 1
    assert "junk.mcap" in done.stderr
    assert "place 1" in done.stdout.splitlines()[1]
    places = (tmp_path / "places.csv").read_text().splitlines()
    assert places[0].startswith("recording,place,points,passed,time_s,")
    assert len(places) == 8


def test_a_folder_of_gaits_is_walked_at_several_speeds(tmp_path: Path) -> None:
    for name in ("trot", "fast"):
        shutil.copy(DOG / f"gaits/{name}.gait.yaml", tmp_path)
    asked = ("gait", "run", tmp_path, "--speeds", "0.05,0.1", "--seconds", 0.5, "--out", tmp_path / "walked")
    found = json.loads(run_here(*asked, "--json").stdout)
    assert [row["gait"] for row in found["runs"]] == [
        f"{name}.gait.yaml at {speed}" for name in ("fast", "trot") for speed in (0.05, 0.1)
    ]
    assert found["upright"] == 4
    assert run_here(*asked).stdout.count("(done before)") == 4
    assert len(list((tmp_path / "walked").glob("*.mcap"))) == 4


def test_a_speed_that_stands_there_twice_is_told_of_before_anything_walks() -> None:
    done = run_here("gait", "run", "trot", "--speeds", "0.1,0.1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "trot at 0.1 is listed twice" in done.stderr


def test_a_folder_of_motions_is_checked_and_what_cannot_be_read_fails(tmp_path: Path) -> None:
    shutil.copytree(DOG / "motions", tmp_path / "motions")
    (tmp_path / "motions/notes.txt").write_text("no motion")
    done = run_here("motion", "check", tmp_path / "motions", "--out", tmp_path / "checked", "--json")
    found = json.loads(done.stdout)
    names = sorted(path.name for path in (DOG / "motions").iterdir())
    assert [row["file"] for row in found["runs"]] == names
    assert done.returncode == int(found["sound"] < len(names))
    assert (tmp_path / "checked/results.csv").is_file()
    named = run_here("motion", "check", tmp_path / "motions", tmp_path / "motions/notes.txt")
    assert named.returncode == 1
    assert "file notes.txt  error:" in named.stdout
