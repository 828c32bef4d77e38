"""A controller of a stranger's own takes part wherever a behaviour does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.shell import run_here

import posewright as pw
from posewright.bodies import BodyState, JointCommands
from posewright.control import Block, Controller, Program, Seed
from posewright.controllers.behaviours import BehaviourController
from posewright.errors import InputError
from posewright.runs.python_programs import PythonKind

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
    assert wrapped.recording.digest() == plain.recording.digest()
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
    assert outcome.recording.robot().header.controller == "behaviour passivity_test"


def test_a_class_in_a_file_runs_a_trial_from_the_command_line(mine: Path) -> None:
    result = run_here("run", "passivity-test", "--behaviour", f"{mine}:Mine", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["behaviour"] == "Mine"


def test_a_class_in_a_file_takes_a_behaviours_place_from_the_command_line(mine: Path) -> None:
    arguments = ["run", "passivity-test", "--controller", f"{mine}:Mine", "--json"]
    result = run_here(*arguments)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["behaviour"] == "passivity_test"


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
