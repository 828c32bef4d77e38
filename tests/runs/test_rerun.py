"""A recorded run is simulated again from its recording alone; only an honest one gives the same digest."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.days import SHORT_DAY

import posewright as pw
from posewright.cli.app import run
from posewright.recordings import Recording, read_mcap, write_mcap
from posewright.robots.catalogue import CATALOGUE_FOLDER
from posewright.runs import RerunStatus, read_day, rerun_day, rerun_files
from posewright.runs.provenance import PROGRAMS, VERSIONS, model_documents

NODDER = """
import numpy as np
from posewright.bodies import JointCommands
from posewright.control import Controller


class Nodder(Controller):
    def __init__(self, program, seed):
        self.pose = program.start_pose
        self.amplitude = np.random.default_rng(seed).uniform(0.1, 0.3)

    def next(self, state, n):
        angles = np.tile(self.pose, (n, 1))
        angles[:, 0] += self.amplitude * np.sin(state.time_s)
        return JointCommands(angles)

    def restart(self):
        pass

    def close(self):
        pass
"""


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "honest.mcap"
    pw.run_trial("passivity-test", seed=1, record=path)
    return path


def glided(recording: Recording) -> Recording:
    """Return a recording in which the robot ends 20 cm further."""
    (name, record), *_ = recording.robots.items()
    offsets = np.linspace(0.0, 0.2, recording.n_rows)
    base = record.base.copy()
    base[:, 0] += offsets
    footprints = record.footprints.copy()
    footprints[..., 0] += offsets[:, None, None]
    return replace(recording, robots={name: replace(record, base=base, footprints=footprints)})


@pytest.mark.parametrize(
    ("trial", "options"),
    [
        ("passivity-test", {"seed": 2, "body": "random"}),
        ("passivity-test", {"seed": 2, "body": "random", "streams": "2026-11"}),
        ("passivity-test", {"seed": 2, "body": "random_push_05"}),
        ("passivity-test-2017", {"seed": 3, "body": "plates_3mm"}),
        ("mini_crossing", {"seed": 4}),
        ("mini_race", {"seed": 5}),
        ("mini_sumo", {"seed": 2}),
    ],
)
def test_an_honest_run_gives_the_same_recording_again(
    trial: str, options: dict[str, object], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    resolved_trial = request.getfixturevalue(trial) if trial.startswith("mini_") else trial
    pw.run_trial(resolved_trial, record=tmp_path / "run.mcap", **options)  # type: ignore[arg-type]  # mixed options
    result = pw.rerun(read_mcap(tmp_path / "run.mcap"))
    assert result.is_same, str(result)
    assert not any("made with" in note for note in result.notes)


def test_one_and_two_processes_give_the_same_results(honest: Path, tmp_path: Path) -> None:
    write_mcap(glided(read_mcap(honest)), tmp_path / "forged.mcap")
    paths = [honest, tmp_path / "forged.mcap", tmp_path / "missing.mcap"]
    alone = list(rerun_files(paths))
    assert alone == list(rerun_files(paths, workers=2))
    expected = [RerunStatus.SAME, RerunStatus.DIFFERENT, RerunStatus.IMPOSSIBLE]
    assert [result.status for result in alone] == expected


def test_a_forgery_differs_from_the_row_where_it_begins(honest: Path) -> None:
    result = pw.rerun(glided(read_mcap(honest)))
    assert result.status is RerunStatus.DIFFERENT
    assert result.reason == "base of robotis_bioloid differ from 0.06 s on"


def test_another_body_than_that_of_the_header_gives_another_recording(honest: Path) -> None:
    recording = read_mcap(honest)
    (name, robot), *_ = recording.header.robots.items()
    light = replace(robot, facts={**robot.facts, "domain": {**robot.facts["domain"], "mass_scale": 0.5}})
    header = replace(recording.header, robots={name: light})
    record = replace(recording.robots[name], header=light)
    result = pw.rerun(replace(recording, header=header, robots={name: record}))
    assert result.status is RerunStatus.DIFFERENT
    assert f"{name} differs from its model: mass_scale 0.5" in result.notes


def test_judge_exits_with_1_unless_the_rerun_is_the_same(
    honest: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_mcap(glided(read_mcap(honest)), tmp_path / "forged.mcap")
    assert run(["judge", str(honest), "--rerun"]) == 0
    assert "the simulation gives the same recording, digest" in capsys.readouterr().out
    assert run(["judge", str(tmp_path / "forged.mcap"), "--rerun", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["rerun"]["status"] == "different"


def test_rank_leaves_out_what_the_simulation_does_not_give(honest: Path, tmp_path: Path) -> None:
    recording = read_mcap(honest)
    (name, record), *_ = recording.robots.items()
    subtle = replace(record, efforts=record.efforts * 0.999)  # contradicts nothing
    write_mcap(replace(recording, robots={name: subtle}), tmp_path / "forged.mcap")
    assert not pw.rank(honest, tmp_path).failed
    ranking = pw.rank(honest, tmp_path, rerun=True)
    assert [entry.name for entry in ranking.failed] == ["forged.mcap"]
    assert "left out: the simulation gives another recording: efforts" in str(ranking.failed[0].error)


def test_a_run_that_was_not_simulated_says_so(tmp_path: Path, mini_race: Path) -> None:
    pw.run_trial(mini_race, body="mock", record=tmp_path / "mock.mcap")
    result = pw.rerun(read_mcap(tmp_path / "mock.mcap"))
    assert result.status is RerunStatus.IMPOSSIBLE
    assert "ran on mock, and only simulations can be repeated" in result.reason


def test_python_code_is_executed_only_if_it_is_trusted(tmp_path: Path, mini_race: Path) -> None:
    (tmp_path / "nodder.py").write_text(NODDER)
    pw.run_trial(mini_race, behaviour=f"{tmp_path / 'nodder.py'}:Nodder", record=tmp_path / "nod.mcap")
    pw.run_trial(mini_race, controller=f"{tmp_path / 'nodder.py'}:Nodder", record=tmp_path / "nod_2.mcap")
    (tmp_path / "nodder.py").unlink()
    for name in ("nod.mcap", "nod_2.mcap"):
        recording = read_mcap(tmp_path / name)
        assert "--trust-python" in pw.rerun(recording).reason
        assert pw.rerun(recording, trust_python=True).is_same


def test_a_robot_that_does_not_ship_is_carried_with_its_model(tmp_path: Path) -> None:
    entry = tmp_path / "entry"
    shutil.copytree(CATALOGUE_FOLDER / "robotis_bioloid", tmp_path / "club_robot")
    for path in [tmp_path / "club_robot" / "robot.yaml", *(tmp_path / "club_robot").glob("motions/*.yaml")]:
        path.write_text(path.read_text().replace("robot: robotis_bioloid", "robot: club_robot"))
    entry.mkdir()
    for suffix in ("behaviour", "chart"):
        name = f"passivity_test.{suffix}.yaml"
        text = (CATALOGUE_FOLDER / "robotis_bioloid" / "behaviours" / name).read_text()
        (entry / name).write_text(text.replace("robot: robotis_bioloid", "robot: ../club_robot"))
    behaviour = entry / "passivity_test.behaviour.yaml"
    pw.run_trial(
        "passivity-test", behaviour=behaviour, robot=tmp_path / "club_robot", record=tmp_path / "a.mcap"
    )
    shutil.rmtree(tmp_path / "club_robot")
    shutil.rmtree(entry)
    recording = read_mcap(tmp_path / "a.mcap")
    assert pw.find_inconsistencies(recording) == ()
    result = pw.rerun(recording)
    assert result.is_same, str(result)
    assert "club_robot has a card that does not ship" in result.notes


def test_a_model_brings_the_meshes_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "foot.stl").write_bytes(b"\x00\xff")
    (tmp_path / "secret.txt").write_text("not named")
    (tmp_path / "model.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><mesh file="foot.stl"/></mujoco>'
    )
    card = replace(
        pw.robot("robotis_bioloid"), name="mine", folder=tmp_path, model_path=tmp_path / "model.xml"
    )
    assert set(model_documents(card)) == {"mine.model/model.xml", "mine.model/meshes/foot.stl.base64"}


def test_other_versions_are_named(honest: Path) -> None:
    recording = read_mcap(honest)
    extras = {**recording.header.extras, VERSIONS: {"Posewright": "0.0.1", "NumPy": "0"}}
    result = pw.rerun(replace(recording, header=replace(recording.header, extras=extras)))
    assert result.is_same
    assert result.notes[0].startswith("made with Posewright 0.0.1, here it is ")
    assert "the recording does not name its MuJoCo, machine" in result.notes


def test_a_recording_of_an_earlier_version_is_still_judged_and_repeated(honest: Path) -> None:
    recording = read_mcap(honest)
    extras = {
        name: value for name, value in recording.header.extras.items() if name not in {VERSIONS, PROGRAMS}
    }
    old = replace(recording, header=replace(recording.header, extras=extras))
    assert old.digest() == recording.digest()
    assert pw.judge(old) == pw.judge(recording)
    assert pw.rerun(old).is_same


def test_documents_with_paths_are_not_written_elsewhere(honest: Path, tmp_path: Path) -> None:
    recording = read_mcap(honest)
    for name in ("../../../../../../outside.yaml", str(tmp_path / "outside.yaml")):
        documents = {**recording.header.documents, name: "x: 1\n"}
        result = pw.rerun(replace(recording, header=replace(recording.header, documents=documents)))
        assert "has a path outside the recording" in result.reason
    assert not (tmp_path / "outside.yaml").exists()


def test_a_day_is_repeated_run_by_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.day.yaml").write_text(SHORT_DAY)
    for name in ("ours", "theirs"):
        entry = f"entry: {name}\nrobot: robotis_bioloid\nbehaviours: {{passivity-test: passivity_test}}\n"
        (tmp_path / name).mkdir()
        (tmp_path / name / "entry.yaml").write_text(entry)
    pw.play_day([tmp_path / "ours", tmp_path / "theirs"], tmp_path / "day", rules=tmp_path / "mine.day.yaml")
    day = read_day(tmp_path / "day")
    assert all(result.is_same for _, result in rerun_day(day))
    report = ["contest", "report", str(tmp_path / "day"), "--films", "0", "--rerun"]
    assert run(report) == 0
    assert "rerun: 2 of 2 runs gave the same recording" in capsys.readouterr().out
    path = next((tmp_path / "day" / "passivity-test").glob("*ours.mcap"))
    write_mcap(glided(read_mcap(path)), path)
    assert run(report) == 1
    assert "passivity-test/ours: the simulation gives another recording: " in capsys.readouterr().err
