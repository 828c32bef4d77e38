"""The main job: a Bioloid runs the obstacle race, and everything that is said of it agrees."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import posewright as pw
from posewright.arenas import Box, layout_names, write_layout
from posewright.controllers.behaviours import read_behaviour
from posewright.errors import DocumentError, InputError, UnknownNameError
from posewright.runs import Outcome, Progress


@cache
def race(seed: int) -> Outcome:
    """Return a whole race among boxes that the seed draws, which several tests look at."""
    return pw.run_trial("obstacle-race", layout="random", seed=seed)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return race(7)


@pytest.mark.parametrize("layout", layout_names())
def test_both_legs_of_every_example_layout_are_finished_without_penalty(layout: str) -> None:
    reports: list[Progress] = []
    run = pw.run_trial("obstacle-race", layout=layout, on_progress=reports.append)
    assert (run.score.finished, run.score.penalties, run.score.warnings) == (True, (), ())
    times = [progress.time_s for progress in reports]
    assert times == sorted(times)  # progress is told in simulated time
    assert len(reports) > run.simulated_s
    assert {progress.standing[:5] for progress in reports} == {"leg 1", "leg 2"}


def test_most_random_layouts_are_finished_without_penalty() -> None:
    results = [race(seed).score for seed in (3, 7, 8, 500)]
    assert sum(result.finished and not result.penalties for result in results) >= 3


def test_the_same_trial_and_seed_give_the_same_recording_also_in_another_process_with_other_hashes(
    mini_race: Path,
) -> None:
    digest = pw.run_trial(mini_race, seed=7).recording.digest()
    assert pw.run_trial(mini_race, seed=7).recording.digest() == digest
    code = "import posewright as pw, sys\nprint(pw.run_trial(sys.argv[1], seed=7).recording.digest())\n"
    hashes = {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"}
    command = [sys.executable, "-c", code, str(mini_race)]
    done = subprocess.run(  # noqa: S603 -- our own interpreter and code
        command, env={**os.environ, **hashes}, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == (digest, "")


def test_another_seed_is_another_race(outcome: Outcome) -> None:
    """The digest holds the seed, so it is what the robot did that is compared."""
    other_run = race(8)
    n = min(len(other_run.recording.robot().base), len(outcome.recording.robot().base))
    assert (
        np.abs(other_run.recording.robot().base[:n, :2] - outcome.recording.robot().base[:n, :2]).max() > 0.05
    )


def test_a_recording_alone_is_judged_as_the_run_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = pw.run_trial("obstacle-race", layout="random", seed=3, record=tmp_path / "race.mcap")
    monkeypatch.chdir(tmp_path)
    assert race(3).recording.digest() == run.recording.digest()
    replayed = pw.replay("race.mcap")
    assert replayed.recording.digest() == run.recording.digest()
    assert replayed.score == run.score == pw.judge(pw.read_recording(tmp_path / "race.mcap"))


def test_the_robot_waits_its_five_seconds(outcome: Outcome) -> None:
    recording = outcome.recording
    waiting = recording.times < 5.0
    assert np.ptp(recording.robot().commands[waiting], axis=0).max() < 1e-9
    assert outcome.score.legs[0].started_at_s == pytest.approx(5.05, abs=0.15)


def test_it_turns_round_by_itself_and_comes_back(outcome: Outcome) -> None:
    first, second = outcome.score.legs
    x = outcome.recording.robot().base[:, 0]
    assert x.max() > 2.0
    assert x[-1] < 0.5
    assert first.ended_at_s is not None
    assert second.started_at_s == first.ended_at_s
    assert outcome.recording.events_of("touch") == ()


def test_no_box_and_no_wall_was_moved_or_entered(outcome: Outcome) -> None:
    recording = outcome.recording
    assert np.abs(recording.boxes - recording.boxes[0]).max() < 0.02
    assert np.abs(recording.robot().base[:, 1]).max() < 0.95


def test_joints_stay_within_their_limits(outcome: Outcome) -> None:
    lower, upper = pw.robot("robotis_bioloid").limits
    commands = outcome.recording.robot().commands
    assert (commands >= lower - 1e-9).all()
    assert (commands <= upper + 1e-9).all()


def test_the_documents_machine_runs_too_and_waits() -> None:
    result = pw.run_trial("obstacle-race", behaviour="document_mealy", layout="example_1").score
    assert result.warnings == ()
    assert result.legs[0].distance_cm > 50.0


def test_the_race_is_run_on_the_makers_own_file(samples: Callable[[str], Path]) -> None:
    file = samples("robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn")
    run = pw.run_trial("obstacle-race", layout="example_1", motions=file)
    assert run.score.finished
    assert "walk_forward" in run.recording.robot().decisions.playing


def test_a_file_of_motions_that_no_motion_is_taken_from_is_refused(tmp_path: Path) -> None:
    """Else it would be ignored, and nobody would hear of it."""
    folder = pw.robot("robotis_bioloid").folder
    assert folder is not None
    shutil.copytree(folder, tmp_path / "robotis_bioloid")
    behaviour = tmp_path / "robotis_bioloid/behaviours/obstacle_race.behaviour.yaml"
    behaviour.write_text(re.sub(", vendor_page: \\w+", "", behaviour.read_text()))
    with pytest.raises(DocumentError, match=r"no motion has a `vendor_page` .it plays its own walk_forward"):
        read_behaviour(behaviour, vendor_file="humanoid.mtn")


def test_a_layout_of_ones_own_is_raced_on(tmp_path: Path) -> None:
    write_layout(tmp_path / "mine.layout.yaml", [Box(1.2, 0.05, 0.3)])
    run = pw.run_trial("obstacle-race", layout=tmp_path / "mine.layout.yaml")
    assert run.score.finished
    assert run.recording.header.boxes[0] == pytest.approx((1.2, 0.05, 0.3), abs=1e-3)


def test_what_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="obstacle-race"):
        pw.run_trial("obstacle-rac")
    with pytest.raises(UnknownNameError, match="example_1"):
        pw.run_trial(layout="exampel_1")
    with pytest.raises(UnknownNameError, match="obstacle_race"):
        pw.run_trial(behaviour="obstacle_rac")
    with pytest.raises(InputError):
        pw.run_trial(layout=tmp_path / "missing.layout.yaml")
    with pytest.raises(InputError, match="seed"):
        pw.run_trial(seed=-1)
