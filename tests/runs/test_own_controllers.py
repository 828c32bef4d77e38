"""A controller of a stranger's own takes part wherever a behaviour does."""

from __future__ import annotations

import importlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.shell import run_here

import posewright as pw
from posewright.bodies import BodyState, JointCommands
from posewright.control import Block, Controller, Program, Seed
from posewright.controllers.behaviours import BehaviourController
from posewright.errors import InputError, UserCodeError, Where
from posewright.runs.python_programs import PythonKind, load_object
from posewright.runs.trial import read_trial, trial_run

run_module = importlib.import_module("posewright.runs.run")  # `posewright.runs.run` is the function

MINE = '''
import numpy as np

from posewright.bodies import JointCommands


class Mine:
    """Stands, and nods the right shoulder."""

    def __init__(self, program, seed):
        self.pose = program.start_pose

    def next(self, state, n):
        angles = np.repeat(self.pose[np.newaxis], n, axis=0)
        angles[:, 0] += 0.2 * np.sin(state.time_s)
        return JointCommands(angles)

    def restart(self):
        pass

    def close(self):
        pass
'''


class Wrapped:
    """A behaviour's controller in a stranger's coat; notes what happens to it."""

    created: list[Wrapped] = []  # noqa: RUF012 -- all that were created

    def __init__(self, program: Program, seed: Seed) -> None:
        self.inner = program.controller(seed)
        self.restarts = 0
        self.closes = 0
        self.created.append(self)

    def next(self, state: BodyState, n: int) -> JointCommands:
        return self.inner.next(state, n)

    def restart(self) -> None:
        self.restarts += 1
        self.inner.restart()

    def close(self) -> None:
        self.closes += 1


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_a_race_by_a_wrapped_behaviour_is_the_behaviours_race_to_the_last_bit() -> None:
    Wrapped.created.clear()
    plain = pw.run_trial("passivity-test", seed=3)
    wrapped = pw.run_trial("passivity-test", seed=3, controller=Wrapped)
    assert wrapped.recording.content_digest == plain.recording.content_digest
    (controller,) = Wrapped.created
    assert isinstance(controller.inner, BehaviourController)
    assert controller.closes == 1


def test_a_controller_is_restarted_when_the_referee_begins_another_try() -> None:
    Wrapped.created.clear()
    outcome = pw.run_trial("passivity-test", seed=3, controller=Wrapped)
    tries = [event for event in outcome.recording.events if event.kind in {"try", "halt"}]
    assert Wrapped.created[0].restarts == len(tries)


def test_a_class_without_close_is_refused_before_anything_runs() -> None:
    class Short:
        def next(self, state: BodyState, n: int) -> JointCommands:
            raise AssertionError("nothing runs")

    with pytest.raises(InputError, match="is not a controller: it lacks restart, close"):
        pw.run_trial("passivity-test", controller=Short)


def test_a_class_that_inherits_controller_needs_next_only() -> None:
    class Still(Controller):
        def next(self, state: BodyState, n: int) -> JointCommands:
            return JointCommands(np.repeat(state.positions[np.newaxis], n, axis=0))

    outcome = pw.run_trial("passivity-test", seed=1, controller=Still)
    assert outcome.recording.robot().header.controller == "python Still"
    assert Path(__file__).name in outcome.recording.header.documents


def test_a_class_in_a_file_runs_a_trial_from_the_command_line(mine: Path) -> None:
    result = run_here("run", "passivity-test", "--behaviour", f"{mine}:Mine", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["behaviour"] == "Mine"


def test_a_class_in_a_file_takes_a_behaviours_place_from_the_command_line(mine: Path) -> None:
    arguments = ["run", "passivity-test", "--controller", f"{mine}:Mine", "--json"]
    result = run_here(*arguments)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["behaviour"] == "Mine"


def test_a_class_in_a_file_runs_a_batch_in_several_processes(mine: Path, tmp_path: Path) -> None:
    arguments = ["run", "passivity-test", "--controller", f"{mine}:Mine", "--seeds", "1-2"]
    result = run_here(*arguments, "--workers", "2", "--out", str(tmp_path / "runs"), "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["n_runs"] == 2


def test_an_entry_that_brings_python_is_played_only_where_that_is_trusted(mine: Path, tmp_path: Path) -> None:
    entry = tmp_path / "entry"
    entry.mkdir()
    (entry / "mine.py").write_text(mine.read_text())
    (entry / "entry.yaml").write_text(
        "entry: Stranger\nrobot: robotis_bioloid\nbehaviours: {passivity-test: 'mine.py:Mine'}\n"
    )
    rules = tmp_path / "short.day.yaml"
    rules.write_text(
        "day: short\ntitle: Short\ncontests: {passivity-test: {share: 100, most: 1}}\n"
        "group_size: 4\nadvancing: 2\nsources: {contests: ours}\n"
    )
    with pytest.raises(InputError, match="has a Python program"):
        pw.play_day([entry], tmp_path / "day", rules=rules)
    day = pw.play_day([entry], tmp_path / "day", rules=rules, trust_python=True)
    assert [run.error for _, run in day.disciplines[0].all_runs] == [None]


def test_an_entry_whose_options_name_a_python_file_is_played_only_where_that_is_trusted(
    tmp_path: Path,
) -> None:
    entry = tmp_path / "entry"
    entry.mkdir()
    (entry / "entry.yaml").write_text(
        "entry: Stranger\nrobot: robotis_bioloid\nbehaviours: {obstacle-race: 'openr:move_legs'}\n"
        "options: {obstacle-race: {objects: look_around.py}}\n"
    )
    with pytest.raises(InputError, match=r"has a Python program for obstacle-race: look_around\.py"):
        pw.play_day([entry], tmp_path / "day")


@pytest.mark.parametrize(
    ("reference", "is_python"),
    [
        ("mine.py:Mine", True),
        ("folder/mine.py:Mine", True),
        ("package.module:Mine", True),
        ("python:module:Mine", True),
        ("openr:move_head", False),
        ("robi:startup", False),
        ("race.bas", False),
        ("obstacle_race", False),
    ],
)
def test_a_class_is_told_from_the_programs_of_other_kinds(reference: str, is_python: bool) -> None:
    assert PythonKind().recognises(reference) is is_python


@pytest.mark.parametrize(
    ("trial", "behaviour", "options", "kind"),
    [
        ("dog-crossing", "openr:move_head", {"commands": "MV_LEFT@1"}, "openr move_head"),
        ("exhibition", "robi:startup", {"words": "1@2"}, "robi startup"),
        ("obstacle-race", "race", {}, "robobasic race"),
        ("obstacle-race", "openr:move_legs", {"commands": "MOVE_SI@1"}, "openr move_legs"),
    ],
)
def test_robots_old_programs_take_part_in_trials_of_their_robots(
    trial: str, behaviour: str, options: dict[str, str], kind: str
) -> None:
    class Brief:
        def watch(self, block: Block) -> bool:
            return block.state.time_s > 2.0

    outcome = pw.run_trial(trial, behaviour=behaviour, options=options, make_watcher=lambda _plant: Brief())
    assert outcome.recording.robot().header.controller == kind
    assert outcome.recording.robot().knows_place


BROKEN = {
    "raises in next": ("1 / 0", "Broken.next raised ZeroDivisionError", 8),
    "returns None": ("return None", "Broken.next returned None", None),
    "returns an array": ("return state.positions", "an object of the type ndarray", None),
    "exits": ("raise SystemExit(0)", "Broken.next raised SystemExit: 0", 8),
}


@pytest.mark.parametrize(("body", "message", "line"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_with_a_users_controller_is_said_with_its_file_and_line(
    body: str, message: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(
        "from posewright.control import Controller\n\n\nclass Broken(Controller):\n"
        "    def restart(self): ...\n\n    def next(self, state, n):\n        " + body + "\n"
    )
    with pytest.raises(UserCodeError, match=re.escape(message)) as caught:
        pw.run_trial("passivity-test", controller=f"{path}:Broken")
    if line is not None:
        assert caught.value.where == Where(path, line)
    batch = pw.run_many("passivity-test", seeds="1-2", controller=f"{path}:Broken")
    assert [message in str(run.error) for run in batch.runs] == [True, True]


def test_a_close_that_fails_costs_no_score_and_hides_no_error() -> None:
    class Slams(Controller):
        def next(self, state: BodyState, n: int) -> JointCommands:
            return JointCommands(np.repeat(state.positions[np.newaxis], n, axis=0))

        def close(self) -> None:
            raise RuntimeError("slam")

    class Fails(Slams):
        def next(self, state: BodyState, n: int) -> JointCommands:
            raise ValueError("first")

    outcome = pw.run_trial("passivity-test", controller=Slams)
    assert any("Slams.close raised RuntimeError: slam" in remark for remark in outcome.remarks)
    with pytest.raises(UserCodeError, match="first"):
        pw.run_trial("passivity-test", controller=Fails)


def test_a_batch_goes_on_with_the_same_class_only(mine: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"controller": f"{mine}:Mine", "folder": tmp_path / "runs"}
    pw.run_many("passivity-test", seeds="1", **options)
    mine.write_text(mine.read_text() + "\n# another\n")
    with pytest.raises(InputError, match=r"mine\.py"):
        pw.run_many("passivity-test", seeds="1-2", **options)


def test_seeds_do_not_share_a_controller() -> None:
    class Still(Controller):
        def next(self, state: BodyState, n: int) -> JointCommands:
            return JointCommands(np.repeat(state.positions[np.newaxis], n, axis=0))

    with pytest.raises(InputError, match="cannot share a controller"):
        pw.run_many("passivity-test", seeds="1-2", controller=Still())


def test_a_file_that_was_edited_is_executed_again(mine: Path) -> None:
    first = load_object(f"{mine}:Mine")
    assert load_object(f"{mine}:Mine") is first
    mine.write_text(mine.read_text() + "\nAGAIN = True\n")
    assert load_object(f"{mine}:Mine") is not first


def test_a_robot_that_a_program_cannot_have_is_an_error(mine: Path) -> None:
    with pytest.raises(InputError, match="is to drive sony_ers7, but the robot is robotis_bioloid"):
        pw.run_trial("passivity-test", behaviour=f"{mine}:Mine", options={"robot": "sony_ers7"})


def test_a_contest_needs_a_program_for_each_role() -> None:
    run = trial_run(read_trial("sumo"))
    first = next(iter(run.programs.values()))
    with pytest.raises(InputError, match="one program for each of red, blue"):
        run_module.run(replace(run, programs={"red": first}, starts={}))
