"""Any controller drives a robot on a bare floor, and all of it is recorded."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import posewright as pw
from posewright.bodies import BodyState, JointCommands, MockBody, Plant, TorquePolicy
from posewright.control import Block, Controller, Safety, Watcher
from posewright.errors import InputError, OutputError, UnknownNameError
from posewright.recordings import Recording
from posewright.runs import Run, run
from posewright.runs.python_programs import PythonProgram

DOG = pw.robot("sony_ers7")
STAND = DOG.pose("stand")
PAN = DOG.index("head_pan")


class Nod(Controller):
    """Turns the head to the side, and fails after a while where it is told to."""

    def __init__(self, fails_after: int = 10**9) -> None:
        self.frames = 0
        self.fails_after = fails_after

    def next(self, state: BodyState, n: int) -> JointCommands:
        del state
        if self.frames >= self.fails_after:
            raise InputError("enough")
        rows = np.repeat(STAND[np.newaxis], n, axis=0)
        rows[:, PAN] = 0.004 * (self.frames + np.arange(n))
        self.frames += n
        return JointCommands(rows)


class After:
    """Ends a run after some blocks."""

    def __init__(self, blocks: int) -> None:
        self.left = blocks

    def watch(self, block: Block) -> bool:
        del block
        self.left -= 1
        return self.left <= 0


def program_of(controller: Controller) -> PythonProgram:
    return PythonProgram("nod", DOG, lambda _program, _seed: controller, DOG.sensors, STAND)


def nod(body: str = "mock", **options: object) -> Recording:
    return pw.perform(Nod(), DOG, **{"name": "nod", "until_s": 0.8, "body": body, **options})


@pytest.mark.parametrize("body", ["sim", "mock", "random"])
def test_a_controller_runs_on_any_body_and_the_same_run_has_the_same_digest(body: str) -> None:
    first = nod(body, seed=3)
    second = nod(body, seed=3)
    assert first.digest() == second.digest()
    assert (first.n_rows, first.header.rate_hz, first.header.contest) == (100, 125.0, "")
    assert first.header.robots[DOG.name].controller == "nod"
    turned = first.robots[DOG.name].positions[-1, PAN]
    assert turned == pytest.approx(0.4, abs=0.05)


def test_another_seed_is_another_body() -> None:
    assert nod("random", seed=3).digest() != nod("random", seed=4).digest()


def test_a_recording_is_replayed_measured_and_is_of_no_contest(tmp_path: Path) -> None:
    path = tmp_path / "nod.mcap"
    recording = nod("sim", record=path, documents={"nod.txt": "left"}, extras={"nod": 1})
    read = pw.read_recording(path)
    assert read.digest() == recording.digest()
    assert (read.header.documents["nod.txt"], read.header.extras["nod"]) == ("left", 1)
    assert pw.replay(path, plot=tmp_path / "nod.png").score.warnings == ()
    assert (tmp_path / "nod.png").stat().st_size > 1000
    assert pw.evaluate(read).robots[DOG.name].falls == 0


def test_a_run_that_fails_is_recorded_as_far_as_it_went(tmp_path: Path) -> None:
    path = tmp_path / "nod.mcap"
    with pytest.raises(InputError, match="enough"):
        pw.perform(Nod(fails_after=64), DOG, name="nod", until_s=2.0, body="mock", record=path)
    assert pw.read_recording(path).n_rows == 64


def test_a_watcher_ends_it() -> None:
    assert nod(watchers=[After(1)]).n_rows == 64


def test_safety_may_be_ones_own() -> None:
    def farthest(safety: Safety | None) -> float:
        return float(nod(until_s=4.0, safety=safety).robot().commands[:, PAN].max())

    assert farthest(None) == DOG.limits[1][PAN]
    assert farthest(Safety(DOG, hardware=True)) == DOG.hardware_limits[1][PAN] > DOG.limits[1][PAN]


@pytest.mark.parametrize("until_s", [0.0, -1.0, float("nan"), float("inf"), 3601.0])
def test_a_time_that_makes_no_sense_is_refused(until_s: float) -> None:
    with pytest.raises(InputError, match="above 0, up to 3600 s"):
        nod(until_s=until_s)


def test_what_cannot_be_is_refused_before_anything_moves(tmp_path: Path) -> None:
    for error, options in (
        (UnknownNameError, {"body": "teapot"}),
        (UnknownNameError, {"pose": "lotus"}),
        (OutputError, {"record": tmp_path / "nowhere" / "nod.mcap"}),
    ):
        with pytest.raises(error):
            nod(**options)
    assert list(tmp_path.iterdir()) == []


def test_a_robot_that_was_taken_hold_of_is_released_where_something_fails_before_it_is_driven() -> None:
    body = MockBody(DOG)
    nodding = program_of(Nod())

    def fail(plant: Plant) -> Watcher:
        assert plant is body
        raise InputError("no window")

    with pytest.raises(InputError, match="no window"):
        run(Run("nod", {DOG.name: nodding}, 1.0, lambda _parts, _arena: body, plant_watchers=[fail]))
    assert (body.stops, body.is_open) == ([TorquePolicy.RELEASE], False)


def test_a_controller_is_closed_however_a_run_ends() -> None:
    class Closing(Nod):
        closes = 0

        def close(self) -> None:
            self.closes += 1

    for fails_after in (10**9, 64):
        controller = Closing(fails_after)
        with contextlib.suppress(InputError):
            pw.perform(controller, DOG, name="nod", until_s=1.0, body="mock")
        assert controller.closes == 1


def test_something_that_is_no_controller_is_refused_before_anything_moves() -> None:
    class Half:
        def next(self, state: BodyState, n: int) -> JointCommands:
            raise AssertionError("nothing moves")

    with pytest.raises(InputError, match="is not a controller"):
        pw.perform(Half(), DOG, name="half", until_s=1.0, body="mock")  # type: ignore[arg-type]  # on purpose
