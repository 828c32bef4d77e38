"""The camera rule: a head that turns fast costs pictures, counted one by one."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.motions import DesignRules, Easing, Finding, Keyframe, Level, Motion, Pose, check_design_rules
from posewright.robots import robot

CARD = robot("sony_ers7")
RATE_HZ, SLOW_DEG_S = 30.0, 70.0
RULES = DesignRules(
    camera_joints=("neck_tilt", "head_pan", "head_tilt"),
    camera_rate_hz=RATE_HZ,
    camera_speed_deg_s=SLOW_DEG_S,
)


def turning(*frames: tuple[float, float], joint: str = "head_pan", **rest: object) -> Motion:
    """Return a motion of one joint: time to reach an angle, and the angle [deg]."""
    keyframes = tuple(Keyframe(Pose((joint,), np.array([math.radians(deg)])), reach) for reach, deg in frames)
    return replace(Motion("look", CARD.name, (joint,), keyframes), **rest)  # type: ignore[arg-type]


def lost(motion: Motion, rules: DesignRules = RULES) -> list[Finding]:
    return [found for found in check_design_rules(motion, CARD, rules=rules) if found.rule == "camera"]


def test_pictures_are_counted_while_the_head_turns() -> None:
    (finding,) = lost(turning((0.0, 0.0), (0.5, 0.0), (0.1, 10.0), (0.4, 10.0)))
    assert (finding.level, finding.rule, finding.unit) == (Level.WARNING, "camera", "frames")
    assert (finding.keyframe, finding.joint, finding.value, finding.limit) == (3, "head_pan", 3.0, 0.0)
    assert finding.message == (
        "the camera loses 3 of 30 pictures (10%), at 0.50-0.60 s: head_pan turns 100 deg/s "
        "on the way into keyframe 3, pictures blur above 70 deg/s"
    )
    assert finding.times_s == pytest.approx((0.55, 0.55))


def test_a_head_at_the_threshold_costs_nothing_and_one_above_it_everything() -> None:
    assert lost(turning((0.0, 0.0), (0.5, SLOW_DEG_S / 2.0))) == []
    (finding,) = lost(turning((0.0, 0.0), (0.5, SLOW_DEG_S / 2.0 + 0.01)))
    assert finding.value == 15.0


@pytest.mark.parametrize("joint", ["left_front_knee", "tail_pan", "mouth"])
def test_only_joints_that_move_the_camera_cost_pictures(joint: str) -> None:
    start = math.degrees(CARD.pose("stand")[CARD.index(joint)])
    assert lost(turning((0.0, start), (0.1, start + 15.0), joint=joint)) == []


@pytest.mark.parametrize("joint", RULES.camera_joints)
def test_every_joint_of_the_head_counts(joint: str) -> None:
    (finding,) = lost(turning((0.0, -10.0), (0.1, -2.0), joint=joint))
    assert finding.joint == joint


def test_joints_that_turn_together_cost_no_picture_twice() -> None:
    joints = ("head_pan", "head_tilt")
    both = [Keyframe(Pose(joints, np.radians([deg, deg])), reach) for reach, deg in ((0.0, 0.0), (0.2, 20.0))]
    (finding,) = lost(Motion("both", CARD.name, joints, tuple(both)))
    assert finding.value == 6.0


def test_a_picture_is_lost_if_the_head_is_fast_in_any_part_of_it() -> None:
    """From 0.51 to 0.53 s is inside the picture from 0.500 to 0.533 s; to 0.54 s touches the next."""
    for fast_s, pictures in ((0.02, 1.0), (0.03, 2.0)):
        (finding,) = lost(turning((0.0, 0.0), (0.51, 0.0), (fast_s, 5.0), (0.4, 5.0)))
        assert finding.value == pictures


def test_a_jump_costs_the_picture_it_falls_into() -> None:
    (finding,) = lost(turning((0.0, 0.0), (0.51, 0.0), (0.0, 30.0), (0.49, 30.0)))
    assert finding.value == 1.0
    assert "head_pan jumps on the way into keyframe 3" in finding.message


def test_an_eased_way_costs_pictures_only_where_it_is_fast() -> None:
    linear = turning((0.0, 0.0), (1.0, 60.0))
    assert lost(linear) == []
    eased = replace(linear, keyframes=tuple(replace(k, easing=Easing.SMOOTH) for k in linear.keyframes))
    (finding,) = lost(eased)  # at its fastest pi / 2 times the mean, 94 deg/s
    assert 10.0 < (finding.value or 0.0) < 20.0


def test_several_stretches_are_named_and_of_many_the_first() -> None:
    nods = [(0.0, 0.0)] + [(0.1, 20.0), (0.2, 20.0), (0.1, 0.0), (0.2, 0.0)] * 4
    (finding,) = lost(turning(*nods))
    assert "at 0.00-0.10, 0.30-0.40, 0.60-0.70, 0.90-1.00, 1.20-1.30 s and 3 times more:" in finding.message
    assert finding.value == 24.0


def test_the_way_back_of_a_loop_counts() -> None:
    start = Pose(("head_pan",), np.zeros(1))
    away = turning((0.5, 0.0), (0.5, 30.0), start=start, repeat=None)
    assert lost(away) == []
    snap = replace(away, keyframes=(replace(away.keyframes[0], reach_s=0.1), away.keyframes[1]))
    (finding,) = lost(snap)
    assert (finding.keyframe, finding.value) == (1, 3.0)


def test_a_card_may_bear_some_lost_pictures() -> None:
    three = turning((0.0, 0.0), (0.5, 0.0), (0.1, 10.0), (0.4, 10.0))
    assert lost(three, replace(RULES, camera_lost_frames=3)) == []
    (finding,) = lost(three, replace(RULES, camera_lost_frames=2))
    assert (finding.value, finding.limit) == (3.0, 2.0)


def test_a_robot_without_a_camera_that_counts_loses_none() -> None:
    assert lost(turning((0.0, 0.0), (0.1, 50.0)), DesignRules()) == []


def test_a_turn_that_takes_days_is_counted_without_counting_each() -> None:
    (finding,) = lost(turning((0.0, 0.0), (86_400.0, 1e9)))
    assert finding.value == 86_400.0 * RATE_HZ


@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=1, max_size=12))
def test_on_the_grid_of_pictures_exactly_the_fast_ones_are_lost(stretches: list[tuple[int, bool]]) -> None:
    angle, frames = 0.0, [(0.0, 0.0)]
    for pictures, fast in stretches:
        seconds = float(Fraction(pictures) / Fraction(RATE_HZ))
        angle += (1.5 if fast else 0.5) * SLOW_DEG_S * seconds
        frames.append((seconds, angle))
    expected = sum(pictures for pictures, fast in stretches if fast)
    assert sum(found.value or 0.0 for found in lost(turning(*frames))) == expected
