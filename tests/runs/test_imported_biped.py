"""A humanoid from a URDF file walks: its legs are read from the file, and a gait is scaled to them."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from posewright.cli.app import run
from posewright.errors import InputError
from posewright.gaits import VelocityCommand, create_gait, read_gait
from posewright.kinematics import biped_legs_of
from posewright.robots import Robot, robot
from posewright.runs import biped_block, import_robot, walk_gait
from posewright.simulation import World

from .humanoids import LEG, write_humanoid

REVERSED = ("left_knee", "right_hip_yaw", "right_hip_roll", "left_ankle_roll")


def make_card(folder: Path, reversed_joints: tuple[str, ...] = ()) -> Robot:
    path = write_humanoid(folder / "own.urdf", reversed_joints=reversed_joints)
    return import_robot(path, folder / "own", name="own").robot


def test_the_legs_of_an_imported_humanoid_are_those_of_its_file(tmp_path: Path) -> None:
    biped = make_card(tmp_path).biped
    assert biped is not None
    assert biped.joints["left"] == tuple(f"left_{joint}" for joint in LEG)
    assert biped.feet == {"right": "right_foot", "left": "left_foot"}
    assert biped.hip_m == pytest.approx((0.005, -0.037, -0.04))
    assert biped.hip_ahead_m == pytest.approx(0.01)
    assert biped.hip_drop_m == pytest.approx(0.004)
    assert biped.thigh_m == pytest.approx((0.002, -0.093))
    assert biped.shank_m == pytest.approx((-0.002, -0.093))
    assert biped.ankle_drop_m == pytest.approx(0.01)
    assert biped.sole_m == pytest.approx((0.0, 0.0, -0.034))
    assert biped.sole_size_m == pytest.approx((0.11, 0.06))


def test_closed_form_and_model_agree_where_joints_turn_the_other_way(tmp_path: Path) -> None:
    card = make_card(tmp_path, REVERSED)
    world = World(card)
    pose = np.random.default_rng(4).uniform(-0.5, 0.5, len(card.joints))
    world.data.qpos[:3] = 0.0
    world.data.qpos[3:7] = (1.0, 0.0, 0.0, 0.0)
    for name, angle in zip(card.joint_names, pose, strict=True):
        world.data.joint(name).qpos[0] = angle
    mujoco.mj_kinematics(world.model, world.data)
    for side, leg in biped_legs_of(card).items():
        sole, rotation = leg.forward(leg.pick_angles(pose))
        foot = world.data.body(f"{side}_foot")
        np.testing.assert_allclose(rotation, foot.xmat.reshape(3, 3), atol=1e-9)
        sole_in_foot = foot.xmat.reshape(3, 3).T @ (sole - foot.xpos)
        np.testing.assert_allclose(sole_in_foot, [0.0, 0.0, -0.034], atol=1e-9)
        solved_pose = np.zeros_like(pose)
        leg.put_angles(solved_pose, leg.solve(sole, rotation))
        np.testing.assert_allclose(solved_pose[list(leg.indices)], pose[list(leg.indices)], atol=1e-9)


def test_an_imported_humanoid_walks_with_a_gait_scaled_to_its_legs(tmp_path: Path) -> None:
    card = make_card(tmp_path, REVERSED)
    gait = create_gait("walk", card)
    shipped_gait = read_gait("biped", robot=robot("robotis_bioloid"))
    shipped_height_m = shipped_gait.flat["hip_height_m"]
    assert gait.parameters.hip_height_m == pytest.approx(shipped_height_m * 0.2001 / 0.1539, rel=0.01)
    report = walk_gait(gait, card, command=VelocityCommand(0.15), seconds=3.0).report
    assert not report.falls
    assert report.travel.speed_m_s > 0.05


def test_a_gait_for_a_card_of_ones_own_is_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_card(tmp_path)
    path = tmp_path / "walk.gait.yaml"
    card_path = str(tmp_path / "own" / "robot.yaml")
    assert run(["gait", "new", "walk", "--robot", card_path, "-o", str(path)]) == 0
    assert "scaled from biped of robotis_bioloid" in capsys.readouterr().out
    assert read_gait(path, robot=robot(card_path)).name == "walk"
    assert run(["gait", "new", "walk", "--robot", card_path, "-o", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"joints": LEG[1:5]}, "4 joints move left_foot"),
        ({"left_shank_m": 0.09}, "shank_m of the legs differs"),
        ({"knee_axis": "{} 0 0"}, r"left_knee turns about \[1, 0, 0\], where a leg has its knee"),
        (
            {"joints": ("hip_roll", "hip_yaw", *LEG[2:])},
            r"left_hip_roll turns about \[1, 0, 0\], where a leg has its hip_yaw",
        ),
    ],
)
def test_legs_of_another_form_are_imported_without_a_gait_and_with_the_reason(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    imported = import_robot(write_humanoid(tmp_path / "own.urdf", **options), tmp_path / "own", name="own")  # type: ignore[arg-type]
    assert imported.robot.biped is None
    assert any("no gait on two legs" in line for line in map(str, imported.lines()))
    with pytest.raises(InputError, match=message):
        biped_block(imported.robot)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[right_hip_yaw, right_hip_roll",
            "[right_hip_roll, right_hip_yaw",
            "the joints of the right leg are",
        ),
        ("foot: right_foot", "foot: left_foot", "is in both legs"),
        ("shank_m: [-0.002, -0.093]", "shank_m: [-0.002, -0.08]", r"shank_m is \[-0.002, -0.093\]"),
        ("right:", "other:", "right"),
        (", directions: [1, 1, 1, -1, 1, -1]", "", "the directions of the left leg are"),
    ],
)
def test_a_card_whose_legs_are_not_those_of_its_model_is_an_error(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    make_card(tmp_path, REVERSED)
    path = tmp_path / "own" / "robot.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        World(robot(path))


def test_exchanged_sides_of_a_card_are_an_error(tmp_path: Path) -> None:
    make_card(tmp_path)
    path = tmp_path / "own" / "robot.yaml"
    head, block, tail = path.read_text(encoding="utf-8").partition("biped:\n")
    lines = tail.splitlines()
    exchanged = [lines[0].replace("right:", "left:"), lines[1].replace("left:", "right:"), *lines[2:]]
    path.write_text(head + block + "\n".join(exchanged), encoding="utf-8")
    with pytest.raises(InputError, match="the foot of the right leg is right_foot"):
        World(robot(path))


@pytest.mark.parametrize("name", ["robotis_bioloid", "hitec_robonova1"])
def test_the_block_of_a_shipped_card_is_that_of_its_model(name: str) -> None:
    block = biped_block(name)
    biped = robot(name).require_biped()
    assert f"hip_m: {list(biped.hip_m)}" in block
    assert f"sole_m: {list(biped.sole_m)}" in block
    assert f"thigh_m: {list(biped.thigh_m)}" in block
