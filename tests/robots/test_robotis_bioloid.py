"""The Bioloid's card against ROBOTIS' own motion file and the UC3M thesis."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from posewright.robots import RangeSensor, Robot, robot

PAGES = "robotis_mtn_text/robkwan_bio_prm_humanoidtypea_en.mtn"
ROBOPLUS_TO_UC3M = (
    "1-1 2-2 3-3 4-22 5-6 6-7 7-8 8-11 9-12 10-13 11-14 12-15 13-16 14-17 15-18 16-19 17-20 18-21"
)


@pytest.fixture(scope="module")
def bioloid() -> Robot:
    return robot("robotis_bioloid")


@pytest.fixture(scope="module")
def official_steps(samples: Callable[[str], Path]) -> npt.NDArray[np.float64]:
    """All poses of the official motion file in ticks, `(n, 18)`."""
    lines = samples(PAGES).read_text(encoding="utf-8-sig").splitlines()
    steps = [line.removeprefix("step=").split() for line in lines if line.startswith("step=")]
    return np.array([[float(field) for field in fields[1:19]] for fields in steps])


def test_eighteen_joints_stand_in_the_order_of_their_servo_ids(bioloid: Robot) -> None:
    assert [servo.id for servo in bioloid.servos] == list(range(1, 19))
    assert [name.split("_")[0] for name in bioloid.joint_names] == ["right", "left"] * 9


def test_the_robotis_numbering_is_the_servo_ids(bioloid: Robot) -> None:
    assert bioloid.ids("robotis") == {servo.joint: servo.id for servo in bioloid.servos}


def test_the_thesis_renumbers_the_servos_as_it_says(bioloid: Robot) -> None:
    for step in ROBOPLUS_TO_UC3M.split():
        roboplus, thesis = (int(number) for number in step.split("-"))
        assert bioloid.numbering("uc3m_thesis")[thesis] == bioloid.numbering("robotis")[roboplus]
    assert not {4, 5, 9, 10, 23} & set(bioloid.numbering("uc3m_thesis"))


def test_the_servos_are_ax_12a(bioloid: Robot) -> None:
    model = bioloid.servo_models["AX-12A"]
    assert model.no_load_speed_rad_s == pytest.approx(6.18, abs=0.005)
    assert bioloid.max_speeds.tolist() == [model.no_load_speed_rad_s] * 18
    assert bioloid.servos[0].stiffness == pytest.approx(9.16, abs=0.01)
    assert bioloid.servos[0].tick_rad == pytest.approx(math.radians(0.293), rel=1e-3)


def test_every_official_pose_lies_within_the_limits(
    bioloid: Robot, official_steps: npt.NDArray[np.float64]
) -> None:
    lower, upper = bioloid.limits
    angles = bioloid.from_ticks(official_steps)
    assert len(angles) > 1000
    assert (angles >= lower).all()
    assert (angles <= upper).all()


@pytest.mark.parametrize("pose", ["stand", "walk_ready", "sit"])
def test_the_named_poses_are_in_the_official_file(
    bioloid: Robot, official_steps: npt.NDArray[np.float64], pose: str
) -> None:
    ticks = bioloid.to_ticks(bioloid.pose(pose))
    assert np.isclose(official_steps, ticks).all(axis=1).any()


@pytest.mark.parametrize("pose", ["stand", "walk_ready", "sit"])
def test_the_official_poses_are_their_own_mirror_image(bioloid: Robot, pose: str) -> None:
    angles = bioloid.pose(pose)
    np.testing.assert_allclose(np.degrees(bioloid.mirror(angles)), np.degrees(angles), atol=0.6)


def lean_deg(robot: Robot, pose: str, side: str) -> float:
    """How far the trunk leans forward while the sole lies flat."""
    angles = robot.poses[pose]
    return -math.degrees(sum(angles[f"{side}_{joint}"] for joint in ("hip_pitch", "knee", "ankle_pitch")))


def test_in_walk_ready_the_trunk_leans_as_forward_kinematics_of_the_source_found(bioloid: Robot) -> None:
    for side in ("right", "left"):  # the legs of that pose differ by a tick, 0.29 degrees
        assert lean_deg(bioloid, "walk_ready", side) == pytest.approx(9.9, abs=0.5)


@pytest.mark.parametrize("pose", ["stand", "walk_ready", "sit"])
def test_both_soles_lie_flat_under_one_trunk(bioloid: Robot, pose: str) -> None:
    assert lean_deg(bioloid, pose, "right") == pytest.approx(lean_deg(bioloid, pose, "left"), abs=0.5)
    assert 0.0 < lean_deg(bioloid, pose, "right") < 15.0
    for side in ("right", "left"):
        rolls = [bioloid.poses[pose][f"{side}_{joint}"] for joint in ("hip_roll", "ankle_roll")]
        assert math.degrees(sum(rolls)) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("table", ["forward", "left", "right"])
def test_the_documents_poses_are_whole_ticks_within_the_limits(
    bioloid: Robot, source_tables: Callable[[str], Path], table: str
) -> None:
    numbering = bioloid.numbering("uc3m_thesis")
    with source_tables(f"thesis_table_{table}.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if int(row["thesis_id"]) in numbering]
    assert len(rows) == 18
    for row in rows:
        joint = numbering[int(row["thesis_id"])]
        servo = bioloid.servo(joint)
        for column in ("initial_deg", "step1_deg", "step2_deg", "step3_deg", "step4_deg"):
            angle = servo.from_servo_deg(float(row[column]))
            assert servo.to_ticks(angle) == pytest.approx(round(servo.to_ticks(angle)), abs=0.02)
            assert bioloid.joint(joint).allows(angle), (joint, column)


def test_the_three_lasers_are_those_of_the_document(bioloid: Robot) -> None:
    for name, yaw in (("laser_front", 0.0), ("laser_left", 90.0), ("laser_right", -90.0)):
        laser = bioloid.sensor(name)
        assert isinstance(laser, RangeSensor)
        assert (laser.yaw_deg, laser.fan_deg, laser.max_range_m) == (yaw, 1.0, 5.0)
        np.testing.assert_allclose(np.degrees(np.diff(laser.bearings_rad)), 0.05)


def test_a_frame_is_the_128th_part_of_a_second(bioloid: Robot) -> None:
    assert bioloid.frame_period_s == 1.0 / 128.0
