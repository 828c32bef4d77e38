"""A trial with documents of one's own runs on those, and its recording says so."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import posewright as pw
from posewright.arenas import Box, read_layout
from posewright.contests import rules
from posewright.errors import DocumentError, FormatError, InputError, OutputError, UnknownNameError
from posewright.figures import recorded_world
from posewright.recordings import Header, RobotHeader, read_mcap
from posewright.robots import robot
from posewright.runs import read_trial
from posewright.runs.provenance import model_documents

SHIPPED = robot("robotis_bioloid")

TRIAL = """\
trial: mine
robot: ROBOT
arena: {kind: ceabot_obstacles, layout: two.layout.yaml}
behaviour: mine.behaviour.yaml
contest: short.rules.yaml
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with a trial, a robot, a behaviour, a layout and rules of one's own; a race of 6 s."""
    place = tmp_path / "work"
    source = SHIPPED.folder
    assert source is not None
    shutil.copytree(source, place)
    card = (place / "robot.yaml").read_text().replace("robot: robotis_bioloid", "robot: my_robot")
    (place / "robot.yaml").write_text(card)
    for motion in (place / "motions").iterdir():
        motion.write_text(motion.read_text().replace("robot: robotis_bioloid", "robot: my_robot"))
    for kind in ("behaviour", "chart"):
        shutil.copy(place / "behaviours" / f"obstacle_race.{kind}.yaml", place)
    behaviour = (place / "obstacle_race.behaviour.yaml").read_text()
    for name, card_name in (("mine", "my_robot"), ("by_path", "./robot.yaml"), ("other", "robotis_bioloid")):
        changed = behaviour.replace("robot: robotis_bioloid", f"robot: {card_name}")
        (place / f"{name}.behaviour.yaml").write_text(changed)
    text = rules().text.replace("rules: ceabot_2013/obstacle_race", "rules: mine/short")
    (place / "short.rules.yaml").write_text(text.replace("time_limit_s: 300", "time_limit_s: 0.5"))
    (place / "two.layout.yaml").write_text("# by hand\nboxes: [[1.0, 0.3], [1.5, -0.3, 30]]\n")
    (place / "mine.trial.yaml").write_text(TRIAL.replace("ROBOT", "robot.yaml"))
    return place


def test_files_in_the_options_of_a_trial_are_beside_its_document(folder: Path) -> None:
    (folder / "walk.mtn").write_text("a motion file")
    options = "options: {motions: walk.mtn, pose: stand}\n"
    (folder / "mine.trial.yaml").write_text(TRIAL.replace("ROBOT", "robot.yaml") + options)
    assert read_trial(folder / "mine.trial.yaml").options == {
        "motions": f"{folder}/walk.mtn",
        "pose": "stand",
    }


def test_a_trial_runs_with_its_own_robot_layout_and_rules(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = pw.run_trial(folder / "mine.trial.yaml", record=folder / "race.mcap")
    recording = run.recording
    assert (list(recording.header.robots), recording.header.contest) == (["my_robot"], "mine/short")
    assert recording.duration_s < 10.0
    documents = recording.header.documents
    assert documents["my_robot.robot.yaml"] == (folder / "robot.yaml").read_text()
    assert documents["short.rules.yaml"] == (folder / "short.rules.yaml").read_text()
    assert documents["mine.behaviour.yaml"] == (folder / "mine.behaviour.yaml").read_text()
    assert "robot: my_robot" in documents["motions/walk_forward.motion.yaml"]
    assert pw.replay(folder / "race.mcap").score == run.score
    monkeypatch.chdir(folder)
    again = pw.run_trial("mine.trial.yaml", behaviour="by_path.behaviour.yaml")
    assert list(again.recording.header.robots) == ["my_robot"]
    assert again.recording.header.identity() == recording.header.identity()


def test_the_world_of_ones_own_robot_is_built_from_the_recording_alone(folder: Path) -> None:
    header = pw.run_trial(folder / "mine.trial.yaml").recording.header
    own = robot(folder / "robot.yaml")
    assert recorded_world(header).robot.name == "my_robot"
    assert recorded_world(header).robot.joints == own.joints
    assert recorded_world(header, own).robot.name == "my_robot"
    with pytest.raises(InputError, match="not of 'robotis_bioloid'"):
        recorded_world(header, SHIPPED)
    documents = {name: text for name, text in header.documents.items() if ".model/" not in name}
    with pytest.raises(InputError, match=r"not carry the model of 'my_robot' .*pass the robot's card"):
        recorded_world(replace(header, documents=documents))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("../../outside.xml", "<mujoco/>", "a path outside the recording"),
        ("mesh.stl.base64", "no base64!", "is not base64"),
        ("model.xml", '<mujoco><include file="/etc/passwd"/></mujoco>', "<include> is not supported"),
        ("model.xml", '<mujoco><replicate count="1000000"/></mujoco>', "<replicate> is not supported"),
    ],
)
def test_a_model_in_a_recording_reads_and_writes_nothing_elsewhere(
    folder: Path, name: str, text: str, message: str
) -> None:
    card = robot(folder / "robot.yaml")
    documents = {"my_robot.robot.yaml": card.text, **model_documents(card), f"my_robot.model/{name}": text}
    header = Header({"my_robot": RobotHeader("my_robot", joints=card.joint_names)}, documents=documents)
    with pytest.raises((InputError, FormatError), match=message):
        recorded_world(header)


def test_a_behaviour_for_another_robot_is_refused(folder: Path) -> None:
    with pytest.raises(DocumentError, match="for robotis_bioloid, not for my_robot"):
        pw.run_trial(folder / "mine.trial.yaml", behaviour=folder / "other.behaviour.yaml")
    with pytest.raises(DocumentError, match="for my_robot, not for robotis_bioloid"):
        pw.run_trial(behaviour=folder / "by_path.behaviour.yaml")


def test_another_card_of_the_same_name_is_not_taken_for_the_trials(folder: Path) -> None:
    for document in (folder / "robot.yaml", *(folder / "motions").iterdir()):
        document.write_text(document.read_text().replace("robot: my_robot", "robot: robotis_bioloid"))
    with pytest.raises(DocumentError, match="a different card of robotis_bioloid"):
        pw.run_trial(behaviour=folder / "by_path.behaviour.yaml")
    (folder / "mine.trial.yaml").write_text(TRIAL.replace("ROBOT", "./"))
    run = pw.run_trial(folder / "mine.trial.yaml", behaviour=folder / "by_path.behaviour.yaml")
    assert "robotis_bioloid.robot.yaml" in run.recording.header.documents


@pytest.mark.parametrize("change", [{"robot.yaml": "robot_yaml.yaml"}, {"short.rules": "long.rules"}])
def test_a_document_that_is_not_there_is_named(folder: Path, change: dict[str, str]) -> None:
    text = TRIAL.replace("ROBOT", "robot.yaml")
    for old, new in change.items():
        text = text.replace(old, new)
    (folder / "wrong.trial.yaml").write_text(text)
    with pytest.raises(DocumentError, match="No such file"):
        pw.run_trial(folder / "wrong.trial.yaml")
    (folder / "wrong.trial.yaml").write_text(TRIAL.replace("ROBOT", "robotis_bioliod"))
    with pytest.raises(UnknownNameError, match="robotis_bioloid"):
        pw.run_trial(folder / "wrong.trial.yaml")


def test_names_in_a_trial_stay_names(folder: Path) -> None:
    (folder / "named.trial.yaml").write_text(
        "trial: named\nrobot: robotis_bioloid\narena: {kind: ceabot_obstacles}\n"
        "behaviour: obstacle_race\ncontest: ceabot_2013/obstacle_race\n"
    )
    trial = read_trial(folder / "named.trial.yaml")
    assert (trial.robot, trial.behaviour, trial.contest) == (
        "robotis_bioloid",
        "obstacle_race",
        "ceabot_2013/obstacle_race",
    )


@pytest.mark.parametrize(("layout", "seed"), [("two.layout.yaml", 0), ("random", 5), ("example_1", 0)])
def test_the_layout_travels_along(folder: Path, layout: str, seed: int, tmp_path: Path) -> None:
    layout_argument = folder / layout if layout.endswith(".yaml") else layout
    run = pw.run_trial(
        folder / "mine.trial.yaml", layout=layout_argument, seed=seed, record=tmp_path / "race.mcap"
    )
    header = read_mcap(tmp_path / "race.mcap").header
    assert header == run.recording.header
    name = layout.split(".", maxsplit=1)[0]
    (tmp_path / "again.layout.yaml").write_text(header.documents[f"{name}.layout.yaml"])
    boxes = read_layout(tmp_path / "again.layout.yaml", legal=False)
    np.testing.assert_allclose(
        [(box.x, box.y, box.yaw_rad) for box in boxes], header.boxes, atol=1e-3, err_msg=str(Box)
    )


def test_sensors_of_a_race_sit_where_the_model_has_them(folder: Path) -> None:
    sensors = pw.run_trial(folder / "mine.trial.yaml").recording.robot().header.sensors
    assert sensors["ring"]["base_pose"][2] > 0.03
    assert sensors["laser_front"]["base_pose"][0] > 0.0


@pytest.mark.parametrize("place", ["nowhere/race.mcap", "."])
def test_a_recording_that_cannot_be_written_is_told_before_the_race(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def raced(*_: object, **__: object) -> None:
        raise AssertionError("the race was run first")

    monkeypatch.setattr("posewright.runs.trial.run", raced)
    with pytest.raises(OutputError, match="cannot write here"):
        pw.run_trial(folder / "mine.trial.yaml", record=folder / place)
