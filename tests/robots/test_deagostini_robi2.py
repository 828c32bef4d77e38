"""The Robi 2's card against the words of its owner's notes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.robots import Robot, robot

HEX_WORDS = {
    "stand": "0000 0000 0000 0000 0000 | 0000 0000 0000 0000 0000",
    "sit": "ffe2 fbd2 0000 fef2 0000 | 001e 042e 0000 010e",
    "chair": "ffe7 fc4a 0096 ff60 0000 | 0019 03b6 ff6a 00a0 fff1",
    "ride": "fff6 ff7e 0000 ffb0 fffb | 000a 0082 0000 0050",
    "stand_up_start": "ffe2 fbe6 0000 fef2",
    "stand_up_crouch": "ffe3 fc1b 0497 ff0e",
}
"""Seeds C3: what the robot's programs write, from ID 2 on and, behind the bar, from ID 7 on."""


@pytest.fixture(scope="module")
def robi() -> Robot:
    return robot("deagostini_robi2")


def signed(hex_word: str) -> int:
    value = int(hex_word, 16)
    return value - 0x10000 if value & 0x8000 else value


def test_twenty_joints_stand_in_the_order_of_their_servo_ids(robi: Robot) -> None:
    assert [servo.id for servo in robi.servos] == list(range(2, 22))
    assert robi.numbering("robi2") == dict(zip(range(2, 22), robi.joint_names, strict=True))


def test_a_tick_is_a_tenth_of_a_degree(robi: Robot) -> None:
    for servo in robi.servos:
        assert servo.tick_deg == pytest.approx(0.1, abs=1e-12)
        assert (servo.first_tick, servo.last_tick) == (-1500, 1500)


@pytest.mark.parametrize("pose", HEX_WORDS)
def test_the_poses_are_the_words_of_the_notes(robi: Robot, pose: str) -> None:
    ticks = robi.to_ticks(robi.pose(pose))
    assert ticks == pytest.approx(np.round(ticks), abs=1e-6)
    for side, begin in zip(HEX_WORDS[pose].split("|"), (0, 5), strict=False):
        expected = [signed(hex_word) for hex_word in side.split()]
        assert np.round(ticks[begin : begin + len(expected)]).astype(int).tolist() == expected


@pytest.mark.parametrize("pose", HEX_WORDS)
def test_what_the_notes_do_not_give_is_the_mirror_image_or_zero(robi: Robot, pose: str) -> None:
    """But for the left ankle's roll in the chair, of which only the left word is other than 0."""
    angles = robi.pose(pose)
    odd = [robi.index("right_ankle_roll"), robi.index("left_ankle_roll")] if pose == "chair" else []
    np.testing.assert_allclose(np.delete(robi.mirror(angles), odd), np.delete(angles, odd), atol=1e-12)
    assert not angles[10:].any()


def test_sitting_brings_both_thighs_forward(robi: Robot) -> None:
    degrees = dict(zip(robi.joint_names, np.degrees(robi.pose("sit")), strict=True))
    assert degrees["right_hip_pitch"] == pytest.approx(-107.0)
    assert degrees["left_hip_pitch"] == pytest.approx(-107.0)


def test_crouching_leaves_the_soles_flat_but_for_a_trunk_that_leans_a_little(robi: Robot) -> None:
    """Only so do the words for hip, knee and ankle make sense: that is where their signs are from."""
    pitches = ["right_hip_pitch", "right_knee", "right_ankle_pitch"]
    total = sum(robi.pose("stand_up_crouch")[robi.index(name)] for name in pitches)
    assert math.degrees(total) == pytest.approx(-6.4)


def test_a_robi_that_crouches_or_rides_has_its_feet_apart(robi: Robot) -> None:
    for pose in ("stand_up_crouch", "ride"):
        degrees = dict(zip(robi.joint_names, robi.pose(pose), strict=True))
        assert degrees["right_hip_roll"] < 0.0 < degrees["left_hip_roll"]


def test_it_weighs_a_kilogram(robi: Robot) -> None:
    assert robi.mass_kg == pytest.approx(1.0)


def test_a_frame_is_a_sixtieth_of_a_second(robi: Robot) -> None:
    assert robi.frame_period_s == 1.0 / 60.0


def test_it_has_two_coloured_eyes_and_a_mouth(robi: Robot) -> None:
    assert {led.name: led.colour for led in robi.leds} == {
        "left_eye": "rgb",
        "right_eye": "rgb",
        "mouth": "red",
    }
