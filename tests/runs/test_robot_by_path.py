"""A robot by the path of its card works in every verb, and files that are written name it by that path."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from posewright.cli.app import run
from posewright.errors import DocumentError
from posewright.formats import read_motion, read_motion_file, retarget_file_to_robot, write_motion
from posewright.motions import create_motion, robot_of_motion
from posewright.robots import Robot, robot
from posewright.runs import import_robot

SMALL = Path(__file__).parent / "small_humanoid.urdf"


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """Return a robot that is found by its path only."""
    return import_robot(SMALL, tmp_path_factory.mktemp("robots") / "small").robot


@pytest.fixture
def card(imported: Robot, tmp_path: Path) -> Path:
    """Return the path of its card, in a folder of the test."""
    assert imported.folder is not None
    shutil.copytree(imported.folder, tmp_path / "small")
    return tmp_path / "small" / "robot.yaml"


def verb(*words: object) -> int:
    return run(["motion", *map(str, words)])


def folder_of_robot(path: Path) -> Path | None:
    """Return the folder of the robot that a motion's file names."""
    motion = read_motion(path)
    assert motion.robot == "small_humanoid"
    folder = robot_of_motion(motion).folder
    return None if folder is None else folder.resolve()


def test_a_new_motion_is_readable_again_by_every_verb_without_its_robot(card: Path, tmp_path: Path) -> None:
    (tmp_path / "motions").mkdir()
    path = tmp_path / "motions" / "still.motion.yaml"
    assert verb("new", "still", "--robot", card, "-o", path) == 0
    assert 'robot: "../small/robot.yaml"\n' in path.read_text(encoding="utf-8")
    assert verb("info", path) == 0
    assert verb("check", path) == 0
    assert verb("sample", path, "--rate", "10", "-o", tmp_path / "still.csv") == 0
    assert verb("play", path, "--body", "mock") == 0
    assert verb("play", path, "--robot", card, "--body", "mock") == 0
    assert folder_of_robot(path) == card.parent


def test_a_converted_motion_names_its_robot_relative_to_its_own_folder(card: Path, tmp_path: Path) -> None:
    still = tmp_path / "still.motion.yaml"
    assert verb("new", "still", "--robot", card, "-o", still) == 0
    assert verb("convert", still, tmp_path / "still.motion") == 0  # Webots: joints, and no robot
    assert verb("convert", tmp_path / "still.motion", card.parent / "again.motion.yaml", "--robot", card) == 0
    assert 'robot: "./robot.yaml"\n' in (card.parent / "again.motion.yaml").read_text(encoding="utf-8")
    assert verb("check", card.parent / "again.motion.yaml") == 0


def test_a_motion_of_a_listed_robot_carried_over_to_one_by_path_is_readable(
    card: Path, tmp_path: Path
) -> None:
    card.write_text(
        card.read_text(encoding="utf-8").replace("left_knee", "left_ankle_roll"), encoding="utf-8"
    )
    write_motion(create_motion("still", robot("robotis_bioloid")), tmp_path / "still.motion.yaml")
    out = tmp_path / "out.motion.yaml"
    assert verb("convert", tmp_path / "still.motion.yaml", out, "--robot", card, "--accept-loss") == 0
    assert folder_of_robot(out) == card.parent


def test_an_edited_motion_keeps_the_words_by_which_its_file_names_the_robot(card: Path) -> None:
    path = card.parent / "still.motion.yaml"
    write_motion(create_motion("still", robot(card)), path)
    path.write_text(
        path.read_text(encoding="utf-8").replace('"./robot.yaml"', "../small/robot.yaml  # mine"),
        encoding="utf-8",
    )
    motion = read_motion(path)
    write_motion(replace(motion, repeat=2), path)
    assert "robot: ../small/robot.yaml  # mine\n" in path.read_text(encoding="utf-8")
    elsewhere = card.parent.parent / "still.motion.yaml"
    write_motion(motion, elsewhere)
    assert "./small/robot.yaml" in elsewhere.read_text(encoding="utf-8")
    assert folder_of_robot(elsewhere) == card.parent


def test_two_robots_of_one_name_are_not_taken_for_each_other(card: Path, tmp_path: Path) -> None:
    shutil.copytree(card.parent, tmp_path / "other")
    other = robot(tmp_path / "other" / "robot.yaml")
    path = tmp_path / "still.motion.yaml"
    write_motion(create_motion("still", robot(card)), path)
    carried = retarget_file_to_robot(read_motion_file(path, robot=other), other).motion()
    assert robot_of_motion(carried).folder == other.folder
    assert folder_of_robot(path) == card.parent


def test_an_edited_card_is_read_anew(card: Path, tmp_path: Path) -> None:
    path = tmp_path / "still.motion.yaml"
    write_motion(create_motion("still", robot(card)), path)
    assert robot_of_motion(read_motion(path)).maker == "unknown"
    card.write_text(card.read_text(encoding="utf-8").replace("maker: unknown", "maker: us"), encoding="utf-8")
    assert robot_of_motion(read_motion(path)).maker == "us"


def test_a_card_that_is_not_there_is_told_at_the_line_that_names_it(card: Path, tmp_path: Path) -> None:
    path = tmp_path / "still.motion.yaml"
    write_motion(create_motion("still", robot(card)), path)
    shutil.rmtree(card.parent)
    with pytest.raises(DocumentError, match=r"the card './small/robot.yaml' cannot be read") as caught:
        read_motion(path)
    assert caught.value.where is not None
    assert (caught.value.where.path, caught.value.where.line) == (path, 2)
