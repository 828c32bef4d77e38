"""The design rules of the AIBO ERS-7: each is broken alone by one motion, and not by its neighbour."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from posewright.errors import UnknownNameError
from posewright.formats import read_motion
from posewright.motions import DesignRules, Finding, Keyframe, Level, Motion, Pose
from posewright.robots import MotionRules, robot

from .all_rules import check_all

CARD = robot("sony_ers7")
RULES = DesignRules.of(CARD)
STAND = CARD.pose("stand")
FRAME_S = 0.008


def pose(**to_deg: float) -> Pose:
    """Return Sony's stand with some joints at so many degrees."""
    angles = STAND.copy()
    for joint, degrees in to_deg.items():
        angles[CARD.index(joint)] = math.radians(degrees)
    return Pose(CARD.joint_names, angles)


def motion(*frames: tuple[float, Pose], **rest: object) -> Motion:
    keyframes = tuple(Keyframe(at, reach) for reach, at in frames)
    whole = Motion("tried", CARD.name, CARD.joint_names, keyframes)
    return replace(whole, **rest)  # type: ignore[arg-type]  # a test's shorthand


def there_and_back(seconds: float = 1.0, **to_deg: float) -> Motion:
    return motion((0.0, pose()), (seconds, pose(**to_deg)), (seconds, pose()))


def found(of: Motion, rule: str, **options: object) -> list[Finding]:
    """Return what one rule finds, as a standing motion that may take its time."""
    asked = {"near_pose": "stand", "celebration": True, **options}
    return [f for f in check_all(of, CARD, **asked) if f.rule == rule]  # type: ignore[arg-type]


def test_standing_still_breaks_no_rule() -> None:
    assert check_all(motion((0.0, pose()), (1.0, pose())), CARD) == ()


@pytest.mark.parametrize(
    ("knee_deg", "level", "limit"),
    [
        (121.9, None, None),
        (122.1, None, None),
        (122.2, Level.WARNING, 122.0),
        (127.1, Level.WARNING, 122.0),
        (127.2, Level.ERROR, 127.0),
        (-24.9, None, None),
        (-25.2, Level.WARNING, -25.0),
        (-30.1, Level.WARNING, -25.0),
        (-30.2, Level.ERROR, -30.0),
    ],
)
def test_beyond_the_limit_is_a_warning_and_beyond_the_mechanism_an_error(
    knee_deg: float, level: Level | None, limit: float | None
) -> None:
    findings = found(there_and_back(left_rear_knee=knee_deg), "limit")
    if level is None:
        assert findings == []
        return
    (finding,) = findings
    assert (finding.level, finding.keyframe, finding.joint) == (level, 2, "left_rear_knee")
    assert finding.value == pytest.approx(knee_deg)
    assert finding.limit == pytest.approx(limit)


def test_a_warning_names_both_limits_and_an_error_the_one_that_is_broken() -> None:
    (warning,) = found(there_and_back(left_rear_knee=125), "limit")
    assert warning.message == (
        "keyframe 2: left_rear_knee is commanded to 125.00 deg, beyond its limit of 122.00 deg, "
        "though not its mechanical one of 127.00 deg"
    )
    (error,) = found(there_and_back(left_rear_knee=128), "limit")
    assert (
        error.message
        == "keyframe 2: left_rear_knee is commanded to 128.00 deg, its mechanical limit is 127.00 deg"
    )


def test_a_joint_without_a_known_mechanism_has_one_limit() -> None:
    (error,) = found(there_and_back(left_ear=21), "limit")
    assert (error.level, error.limit) == (Level.ERROR, pytest.approx(20.0))
    assert error.message == "keyframe 2: left_ear is commanded to 21.00 deg, its limit is 20.00 deg"


@pytest.mark.parametrize(
    ("side", "end", "rotator_deg"),
    [("left", "front", -60.0), ("right", "front", -60.0), ("left", "rear", -50.0)],
)
@pytest.mark.parametrize(
    ("below_deg", "level"),
    [(0.0, None), (0.4, None), (0.6, Level.WARNING), (5.4, Level.WARNING), (5.6, Level.ERROR)],
)
def test_an_elevator_goes_as_low_as_its_rotator_lets_it(
    side: str, end: str, rotator_deg: float, below_deg: float, level: Level | None
) -> None:
    rotator, elevator = f"{side}_{end}_rotator", f"{side}_{end}_elevator"
    # both lie in a row of Sony's table that says -2
    low = motion(
        (0.0, pose(**{rotator: rotator_deg, elevator: 5.0})),
        (1.0, pose(**{rotator: rotator_deg, elevator: -2.0 - below_deg})),
    )
    findings = found(low, "coupled")
    if level is None:
        assert findings == []
        return
    (finding,) = findings
    assert (finding.level, finding.keyframe, finding.joint) == (level, 2, elevator)
    assert finding.limit == pytest.approx(-2.0)
    assert f"with {rotator} at {rotator_deg:.1f} it goes no lower than -2.0 deg" in finding.message


def test_a_coupled_limit_looks_between_keyframes_too() -> None:
    """Both ends are allowed, but on the straight way between them the leg passes where it is not."""
    over = motion(
        (0.0, pose(left_front_rotator=15.0, left_front_elevator=-10.0)),
        (1.0, pose(left_front_rotator=75.0, left_front_elevator=-2.0)),
    )
    (finding,) = found(over, "coupled")
    assert finding.message.startswith("on the way into keyframe 2: left_front_elevator")
    assert 0.0 < finding.times_s[0] < 1.0


def test_an_open_mouth_needs_a_head_that_is_up_where_the_neck_is_down() -> None:
    down = {"neck_tilt": -60.0, "mouth": -20.0}
    assert found(motion((0.0, pose(**down, head_tilt=4.6))), "coupled") == []
    (finding,) = found(motion((0.0, pose(**down, head_tilt=4.0))), "coupled")
    assert (finding.joint, finding.limit) == ("head_tilt", pytest.approx(5.0))
    assert "with mouth at -20.0 and neck_tilt at -60.0 it goes no lower than 5.0 deg" in finding.message
    up = {"neck_tilt": -20.0, "mouth": -20.0}
    assert found(motion((0.0, pose(**up, head_tilt=4.0))), "coupled") == []


def part(**to_deg: float) -> Motion:
    """Return a motion of some joints alone, to so many degrees."""
    alone = Pose.of(tuple(to_deg), {joint: math.radians(degrees) for joint, degrees in to_deg.items()})
    return Motion("part", CARD.name, alone.joints, (Keyframe(alone, 0.0, 1.0),))


def test_a_joint_that_is_not_moved_stands_where_it_does_in_the_pose_stand() -> None:
    (finding,) = found(part(head_tilt=-8.0), "coupled")
    assert (finding.joint, finding.limit, finding.level) == ("head_tilt", pytest.approx(-5.0), Level.WARNING)
    assert "with mouth at -5.0 as in pose stand and neck_tilt at -20.0 as in pose stand it" in finding.message
    assert found(part(head_tilt=-4.0), "coupled") == []
    assert found(part(left_front_elevator=-9.0), "coupled") == []
    (down,) = found(part(head_tilt=0.0, neck_tilt=-60.0), "coupled")
    assert "with mouth at -5.0 as in pose stand and neck_tilt at -60.0 it" in down.message


def test_no_fault_is_found_with_a_joint_that_is_not_moved() -> None:
    assert found(part(mouth=-20.0, neck_tilt=-60.0), "coupled") == []


def test_without_a_pose_to_stand_in_a_coupled_limit_needs_all_its_joints() -> None:
    card = replace(CARD, poses={}, motion_rules=MotionRules())
    assert check_all(part(head_tilt=-8.0), card, celebration=True) == ()


def test_a_coupled_limit_that_is_no_closer_than_the_joints_own_is_not_told_twice() -> None:
    high = there_and_back(2.0, left_front_elevator=90.0)
    assert len(found(high, "limit")) == 1
    assert found(high, "coupled") == []


@pytest.mark.parametrize(
    ("joint", "per_frame"), [("neck_tilt", 1.46), ("left_front_rotator", 2.23), ("tail_pan", 6.95)]
)
def test_speed_is_said_in_degrees_a_frame_too(joint: str, per_frame: float) -> None:
    start = math.degrees(STAND[CARD.index(joint)])
    frames = 5

    def turn(share: float) -> Motion:
        return there_and_back(frames * FRAME_S, **{joint: start - share * per_frame * frames})

    assert found(turn(0.999), "speed") == []
    there, back = found(turn(1.01), "speed")
    assert (there.level, there.joint, there.keyframe, back.keyframe) == (Level.WARNING, joint, 2, 3)
    assert there.value == pytest.approx(1.01 * per_frame / FRAME_S)
    assert there.limit == pytest.approx(per_frame / FRAME_S)
    assert f"{1.01 * per_frame:.2f} deg a frame of 8 ms" in there.message
    assert f"the maximum is {per_frame / FRAME_S:.0f} deg/s, {per_frame:.2f} deg a frame" in there.message


@pytest.mark.parametrize(("turned", "level"), [(39.0, Level.WARNING), (41.0, Level.ERROR)])
def test_to_fall_far_behind_sonys_speeds_is_an_error_in_one_frame_or_in_several(
    turned: float, level: Level
) -> None:
    most = 279.0 * 2 * FRAME_S  # what the joint turns in the two frames
    assert 4.0 < most < 5.0
    begin = math.degrees(STAND[CARD.index("left_front_rotator")])
    half, whole = (pose(left_front_rotator=begin + turned * share) for share in (0.5, 1.0))
    at_once = motion((0.0, pose()), (2 * FRAME_S, whole), (1.0, pose()))
    by_halves = motion((0.0, pose()), (FRAME_S, half), (FRAME_S, whole), (1.0, pose()))
    for jump in (at_once, by_halves):
        assert found(jump, "speed")[0].level is level
    assert (
        "behind"
        in found(motion((0.0, pose()), (FRAME_S, pose(left_front_rotator=begin + 59.0))), "speed")[0].message
    )


def test_without_another_word_it_is_to_begin_and_end_near_the_walk_or_standing() -> None:
    assert RULES.near_pose == ("walk", "stand")
    assert RULES.near_pose_deg == DesignRules().near_pose_deg
    for name in RULES.near_pose:
        there = Pose(CARD.joint_names, CARD.pose(name))
        assert not any(f.rule == "pose" for f in check_all(motion((0.0, there), (1.0, pose())), CARD))
    walk = Pose(CARD.joint_names, CARD.pose("walk"))
    assert [f.rule for f in check_all(motion((0.0, walk), (1.0, walk)), CARD) if f.rule == "pose"] == []
    sit = Pose(CARD.joint_names, CARD.pose("sit"))
    findings = [f for f in check_all(motion((0.0, walk), (1.0, sit)), CARD) if f.rule == "pose"]
    assert {(f.level, f.keyframe, f.limit) for f in findings} == {(Level.ERROR, 2, RULES.near_pose_deg)}
    assert all("from pose walk" in f.message for f in findings)  # which is nearer
    assert all(f.message.endswith("; it is near pose sit") for f in findings)


def test_the_nearest_pose_may_be_asked_for() -> None:
    sit = Pose(CARD.joint_names, CARD.pose("sit"))
    sitting = motion((0.0, sit), (1.0, sit))
    assert found(sitting, "pose", near_pose="nearest") == []
    assert found(sitting, "pose", near_pose="walk") != []
    with pytest.raises(UnknownNameError, match="did you mean sit"):
        check_all(sitting, CARD, near_pose="sitt")


def test_a_pose_that_is_another_altogether_is_one_finding() -> None:
    flat = motion((0.0, Pose(CARD.joint_names, CARD.pose("broad_base"))), (1.0, pose()))
    (finding,) = found(flat, "pose")
    assert (finding.keyframe, finding.joint) == (1, "left_front_rotator")
    away = np.degrees(np.abs(CARD.pose("broad_base") - STAND))
    others = int((away > RULES.near_pose_deg).sum()) - 1
    assert finding.message.endswith(f"; {others} more joints are not near either; it is near pose broad_base")


def test_a_motion_of_the_head_alone_is_judged_by_the_head_alone() -> None:
    head = ("neck_tilt", "head_pan", "head_tilt")
    at = Pose(head, np.array([STAND[CARD.index(joint)] for joint in head]))
    nod = Motion("nod", CARD.name, head, (Keyframe(at, 0.0), Keyframe(at, 1.0)))
    assert check_all(nod, CARD, near_pose="stand") == ()
    assert check_all(nod, CARD, near_pose="sit") == ()
    aside = Pose(head, at.angles + np.radians([0.0, 60.0, 0.0]))
    (finding,) = (f for f in check_all(replace(nod, keyframes=(Keyframe(aside, 0.0, 1.0),)), CARD))
    assert (finding.rule, finding.joint) == ("pose", "head_pan")


def test_the_seam_of_a_loop_is_judged_for_speed_and_step() -> None:
    looped = motion((0.1, pose()), (1.0, pose(head_pan=80)), repeat=None)
    (seam,) = found(looped, "speed")
    assert (seam.keyframe, seam.joint) == (1, "head_pan")
    assert found(replace(looped, repeat=1), "speed") == []


@pytest.mark.parametrize(
    ("name", "strict", "easy"),
    [
        ("max_duration_s", 0.9, 2.1),
        ("max_step_deg", 39.0, 41.0),
        ("large_step_deg", 39.0, 41.0),
        ("near_pose_deg", 9.0, 11.0),
    ],
)
def test_the_card_sets_the_thresholds(name: str, strict: float, easy: float) -> None:
    tried = motion((0.0, pose(head_pan=10.0)), (1.0, pose(head_pan=-30.0)), (1.0, pose(head_pan=10.0)))
    rule = {"max_duration_s": "duration", "near_pose_deg": "pose"}.get(name, "step")
    for value, broken in ((strict, True), (easy, False)):
        card = replace(CARD, motion_rules=replace(CARD.motion_rules, near_pose=("stand",), **{name: value}))
        limits = {f.limit for f in check_all(tried, card) if f.rule == rule}
        assert limits == ({value} if broken else set())


def test_thresholds_given_by_hand_take_the_place_of_the_cards() -> None:
    slow = motion((0.0, pose()), (3.0, pose()))
    assert [f.rule for f in check_all(slow, CARD)] == ["duration"]
    assert check_all(slow, CARD, rules=replace(RULES, max_duration_s=4.0)) == ()


def test_every_rule_a_card_may_say_is_a_threshold() -> None:
    assert {entry.name for entry in fields(MotionRules)} <= {entry.name for entry in fields(DesignRules)}


@pytest.mark.parametrize(
    ("step_deg", "level", "limit"),
    [(59.9, None, None), (60.1, Level.WARNING, 60.0), (90.9, Level.WARNING, 60.0), (91.1, Level.ERROR, 91.0)],
)
def test_a_large_step_is_a_warning_and_a_larger_one_than_any_of_sonys_an_error(
    step_deg: float, level: Level | None, limit: float | None
) -> None:
    findings = found(motion((0.0, pose()), (4.0, pose(left_front_rotator=-5.0 - step_deg))), "step")
    assert [(f.level, f.limit) for f in findings] == ([] if level is None else [(level, limit)])


def test_a_step_that_rounds_to_the_limit_is_not_beyond_it() -> None:
    there = Pose(CARD.joint_names, CARD.pose("stand") + 1e-6 * (np.array(CARD.joint_names) == "tail_pan"))
    assert found(motion((0.0, pose(tail_pan=-60.0)), (4.0, there)), "step") == []


@pytest.mark.parametrize("path", sorted((CARD.folder or Path()).glob("motions/*.yaml")), ids=lambda p: p.stem)
def test_the_motions_that_ship_break_no_rule(path: Path) -> None:
    assert check_all(read_motion(path), CARD) == ()


def test_a_robot_whose_card_says_no_more_has_one_threshold_for_steps() -> None:
    for card in (CARD, robot("sony_ers210")):
        assert (DesignRules.of(card).large_step_deg < math.inf) == (card is CARD)
    assert DesignRules().max_step_deg == 60.0


def test_a_robot_whose_card_is_silent_has_the_defaults() -> None:
    assert DesignRules.of(robot("robotis_bioloid")) == DesignRules()


def test_a_speed_that_rounds_to_the_limit_is_not_beyond_it() -> None:
    """Sony gives hundredths of a degree a frame; files in milliseconds ask for a little more or less."""
    for over, findings in ((0.004, 0), (0.006, 2)):
        assert (
            len(found(there_and_back(0.08, left_front_knee=30.0 + 10 * (2.42 + over)), "speed")) == findings
        )
