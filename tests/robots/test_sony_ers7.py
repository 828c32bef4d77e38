"""The ERS-7's card against Sony's manual, Sony's own motions and what Sony's support said."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from posewright.robots import Accelerometer, Camera, RangeSensor, Robot, robot

LEGS = ("left_front", "left_rear", "right_front", "right_rear")


@pytest.fixture(scope="module")
def ers7() -> Robot:
    return robot("sony_ers7")


@pytest.mark.parametrize(
    ("ending", "deg_per_frame"),
    [
        ("neck_tilt", 1.46),
        ("head_pan", 4.61),
        ("head_tilt", 2.65),
        ("mouth", 4.65),
        ("_rotator", 2.23),
        ("_elevator", 2.42),
        ("_knee", 2.42),
        ("tail_tilt", 6.95),
        ("tail_pan", 6.95),
    ],
)
def test_speeds_are_those_of_sonys_motion_editor(ers7: Robot, ending: str, deg_per_frame: float) -> None:
    joints = [name for name in ers7.joint_names if name.endswith(ending)]
    assert joints
    for joint in joints:
        speed = ers7.servo(joint).no_load_speed_rad_s
        assert math.degrees(speed) * ers7.frame_period_s == pytest.approx(deg_per_frame, rel=1e-7)


@pytest.mark.parametrize(
    ("leg", "rotator", "lowest"),
    [
        ("front", -115, -1),
        ("front", -64, -2),
        ("front", -10, -10),
        ("front", 20, -10),
        ("front", 29, -8),  # two rows overlap: the wider one holds
        ("front", 64, -3),
        ("front", 130, -2),
        ("rear", 115, 0),
        ("rear", 15, -10),
        ("rear", -10, -10),
        ("rear", -13, -9),
        ("rear", -50, -2),
        ("rear", -130, 0),
    ],
)
def test_the_elevator_is_limited_by_the_rotator_as_the_manual_says(
    ers7: Robot, leg: str, rotator: float, lowest: float
) -> None:
    for side in ("left", "right"):
        pose = ers7.pose("stand")
        pose[ers7.index(f"{side}_{leg}_rotator")] = math.radians(rotator)
        pose[ers7.index(f"{side}_{leg}_elevator")] = math.radians(lowest - 0.25)
        table = ers7.coupling.joints.index(f"{side}_{leg}_elevator")
        beyond = np.degrees(ers7.coupling.excess(pose)[0, table])
        lower, upper = (math.degrees(bound[0, table]) for bound in ers7.coupling.bounds(pose))
        assert beyond == pytest.approx(0.25)
        assert (lower, upper) == pytest.approx((lowest, 88))


def test_the_head_keeps_out_of_the_way_of_an_open_mouth(ers7: Robot) -> None:
    table = ers7.coupling.joints.index("head_tilt")
    joints = [ers7.index(name) for name in ("mouth", "neck_tilt", "head_tilt")]
    for angles, lowest in (((-20, -60, -5), 5), ((-20, -39.5, 0), -5), ((-20, -10, -10), -5)):
        pose = ers7.pose("stand")
        pose[joints] = np.radians(angles)
        assert math.degrees(ers7.coupling.bounds(pose)[0][0, table]) == pytest.approx(lowest)
    pose[joints] = np.radians((-50, -60, -5))
    assert ers7.coupling.excess(pose)[0, table] == 0.0


@pytest.mark.parametrize(
    ("pose", "motion"),
    [
        ("stand", "a_stand#stand_so0_makebow"),
        ("walk", "a_walk#walk_sox_fwd"),
        ("sit", "a_sit#stand_standard"),
    ],
)
def test_named_poses_are_the_first_keyframes_of_sonys_motions_to_the_micro_radian(
    ers7: Robot, sdk_motions: dict[str, npt.NDArray[np.int64]], pose: str, motion: str
) -> None:
    ticks = np.rint(ers7.to_ticks(ers7.pose(pose))).astype(np.int64)
    assert ticks.tolist() == sdk_motions[motion][0].tolist()


def test_sonys_motions_list_the_joints_in_the_cards_order(ers7: Robot, omtn: Callable[[str], Any]) -> None:
    for name in ("a_stand__stand_so0_makebow", "mind2_part_h_any__any_soc_clock1"):
        label, locators, _ = omtn(f"aibo_mtn/{name}.mtn")
        assert [ers7.naming("open_r")[locator] for locator in locators] == list(ers7.design(label))


def test_sonys_motions_stay_within_the_mechanism_and_near_the_limits(
    ers7: Robot, sdk_motions: dict[str, npt.NDArray[np.int64]]
) -> None:
    lower, upper = ers7.limits
    first, last = ers7.hardware_limits
    moved = [name not in ("left_ear", "right_ear") for name in ers7.joint_names]
    for name, keyframes in sdk_motions.items():
        angles = ers7.from_ticks(keyframes.astype(np.float64))
        assert ((first <= angles) & (angles <= last))[:, moved].all(), name
        assert np.degrees(np.maximum(lower - angles, angles - upper)).max() < 3.1, name
        assert np.degrees(ers7.coupling.excess(angles)).max() <= 2.51, name


def test_its_largest_step_is_just_above_that_of_sonys_own_motions(
    ers7: Robot, sdk_motions: dict[str, npt.NDArray[np.int64]]
) -> None:
    largest = math.degrees(max(np.abs(np.diff(rows, axis=0)).max() for rows in sdk_motions.values()) * 1e-6)
    assert 0.0 < (ers7.motion_rules.max_step_deg or 0.0) - largest < 1.5
    assert (ers7.motion_rules.large_step_deg or 0.0) < largest


def test_front_and_rear_legs_reach_equally_far_to_the_robots_ends(ers7: Robot) -> None:
    for leg in LEGS:
        joint = ers7.joint(f"{leg}_rotator")
        ends = [math.degrees(joint.lower_rad), math.degrees(joint.upper_rad)]
        forward, backward = (ends[1], -ends[0]) if "front" in leg else (-ends[0], ends[1])
        assert (forward, backward) == pytest.approx((130, 115))


def test_a_servo_is_told_micro_radians(ers7: Robot) -> None:
    for servo in ers7.servos:
        assert servo.id is None
        assert servo.tick_rad == pytest.approx(1e-6, rel=1e-12)
        assert servo.to_ticks(0.0) == 0.0
        assert (servo.first_tick, servo.last_tick) == (-3141592, 3141592)
    assert ers7.servo("left_front_knee").stiffness == 8.0


def test_gains_are_the_manuals(ers7: Robot) -> None:
    standard, weak = (ers7.servo_models["J1"].gain(name) for name in ("standard", "weak"))
    assert (standard.p, standard.i, standard.d) == (0x1C, 0x08, 0x01)
    assert (weak.p, weak.i, weak.d) == (0x10, 0x04, 0x01)
    for model in ers7.servo_models.values():
        assert all(gains.shifts == (0x0E, 0x02, 0x0F) for gains in model.gains)
    assert standard.scaled == (0x1C / 4, 0x08 / 2**14, 0x01 / 2)


def test_it_has_three_distances_an_accelerometer_four_paws_and_a_camera(ers7: Robot) -> None:
    ranges = {
        sensor.name: (sensor.min_range_m, sensor.max_range_m)
        for sensor in ers7.sensors
        if isinstance(sensor, RangeSensor)
    }
    assert ranges == {
        "infrared_near": (0.05, 0.5),
        "infrared_far": (0.2, 1.5),
        "infrared_chest": (0.1, 0.9),
    }
    accelerometer = ers7.sensor("accelerometer")
    assert isinstance(accelerometer, Accelerometer)
    assert accelerometer.range_m_s2 == pytest.approx(2 * 9.80665)
    camera = ers7.sensor("head_camera")
    assert isinstance(camera, Camera)
    wide = 2 * math.degrees(math.atan(416 / 320 * math.tan(math.radians(camera.vertical_fov_deg) / 2)))
    assert wide == pytest.approx(56.9, abs=0.2)
    assert len(ers7.feet) == 4
    assert {sensor.foot for sensor in ers7.sensors if sensor.kind == "foot_contact"} == set(ers7.feet)  # type: ignore[union-attr]


def test_it_has_26_lights(ers7: Robot) -> None:
    assert len(ers7.leds) == 26
    assert len({led.name for led in ers7.leds}) == 26


def test_in_webots_its_joints_are_called_by_their_locators(ers7: Robot) -> None:
    assert ers7.naming("webots") == ers7.naming("open_r")
    assert ers7.names_in("tekkotsu")["head_tilt"] == "NECK:nod"
