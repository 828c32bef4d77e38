"""Walks made of pages are tuned as gaits are, in other processes too, and end in a file for the robot."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from posewright.cli.app import run
from posewright.controllers import PageGait, read_page_gait, write_page_gait
from posewright.errors import DocumentError, FormatError, InputError, UnknownNameError
from posewright.runs import GaitProblem, GaitTask, tune_gait
from posewright.runs.tuning.reading import parse_tune

TUNING = """\
tune: quick_pages
robot: robotis_bioloid
gait: {file: walk.mtn, page: 1}
parameters:
  rate: {range: [0.5, 1.3], start: 1}
  lean_rad: [-0.1, 0.1]
  amplitude.legs: [0.8, 1.2]
walks:
  - {forward_m_s: greatest, seconds: 0.8, settle_s: 0.4}
score: {speed: 1, fall: 2}
"""
START = {"rate": 1.0, "lean_rad": 0.0, "amplitude.legs": 1.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages of our biped at 0.15 m/s."""
    folder = tmp_path_factory.mktemp("pages")
    assert run(["gait", "sample", "biped", "--forward", "0.15", "-o", str(folder / "walk.mtn")]) == 0
    return folder


@pytest.fixture(scope="module")
def task(folder: Path) -> GaitTask:
    return parse_tune(TUNING, folder / "quick.tune.yaml")


def test_a_tuned_walk_is_a_file_that_walks_as_in_the_search(task: GaitTask, tmp_path: Path) -> None:
    tuned = tune_gait(task, generations=1, population=4, seed=1)
    assert isinstance(tuned.gait, PageGait)
    assert tuned.result.score <= tuned.result.generations[0].best_score
    write_page_gait(tuned.gait, tmp_path / "tuned.mtn", accept_faults=True)
    written = read_page_gait(tmp_path / "tuned.mtn", 1)
    searched = task.candidate(tuned.values)
    frames = []
    for walk in (searched, written):
        generator = walk.generator(walk.card)
        generator.request(walk.velocity)
        frames.append(generator.frames(300))
    np.testing.assert_array_equal(*frames)


def test_a_faster_rate_scores_better(task: GaitTask) -> None:
    problem = GaitProblem(task)
    slow = problem.evaluate(START | {"rate": 0.6})
    normal = problem.evaluate(START)
    assert slow.is_judged
    assert normal.score < -0.1 < slow.score
    assert float(normal.facts["speed_m_s"]) == pytest.approx(0.15, rel=0.2)


def test_another_process_evaluates_the_same(task: GaitTask) -> None:
    copy = pickle.loads(pickle.dumps(task))  # noqa: S301 -- our own
    assert copy.digest == task.digest
    assert GaitProblem(copy).evaluate(START) == GaitProblem(task).evaluate(START)


def test_another_page_or_file_is_another_search(task: GaitTask, folder: Path) -> None:
    second_page = parse_tune(TUNING.replace("page: 1", "page: 2"), folder / "quick.tune.yaml")
    assert second_page.digest != task.digest
    write_page_gait(task.gait.with_values({"rate": 0.5}), folder / "slow.mtn")
    slow = parse_tune(TUNING.replace("walk.mtn", "slow.mtn"), folder / "quick.tune.yaml")
    assert slow.digest != task.digest


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("page: 1", "page: 300"), UnknownNameError, "no page 300"),
        (("walk.mtn", "run.mtn"), FormatError, "run.mtn"),
        ((", page: 1", ""), DocumentError, "'page' is missing"),
        (("amplitude.legs", "amplitude.tail"), InputError, "unknown value 'amplitude.tail'"),
        (("range: [0.5, 1.3]", "range: [0.1, 1.3]"), InputError, "range is 0.2 to 5"),
    ],
)
def test_errors_name_what_is_wrong(
    folder: Path, change: tuple[str, str], error: type[InputError], message: str
) -> None:
    with pytest.raises(error, match=message):
        parse_tune(TUNING.replace(*change), folder / "quick.tune.yaml")


def test_the_result_is_a_motion_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "quick.tune.yaml"
    path.write_text(TUNING)
    assert run(["tune", str(path), "--generations", "1", "-o", str(folder / "best.gait.yaml")]) != 0
    assert "end the name in .mtn" in capsys.readouterr().err
