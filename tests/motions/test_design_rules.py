from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from posewright.errors import InputError, UnknownNameError
from posewright.motions import DesignRules, Easing, Finding, Keyframe, Level, Motion, Pose
from posewright.robots import robot

from .all_rules import check_all

CARD = robot("robotis_bioloid")
READY = Pose(CARD.joint_names, CARD.pose("walk_ready"))


def pose(**moved_deg: float) -> Pose:
    """Return walk_ready with some joints moved by so many degrees."""
    angles = READY.angles.copy()
    for joint, degrees in moved_deg.items():
        angles[CARD.index(joint)] += math.radians(degrees)
    return Pose(CARD.joint_names, angles)


def motion(*frames: tuple[float, Pose], easing: Easing = Easing.LINEAR, **rest: object) -> Motion:
    keyframes = tuple(Keyframe(at, reach, easing=easing) for reach, at in frames)
    whole = Motion("tried", CARD.name, CARD.joint_names, keyframes, start=READY)
    return replace(whole, **rest)  # type: ignore[arg-type]  # a test's shorthand


def found(of: Motion, **options: object) -> list[Finding]:
    return list(check_all(of, CARD, **options))  # type: ignore[arg-type]  # a test's shorthand


GOOD = motion((0.5, pose(left_elbow=40)), (0.5, READY))


def test_a_good_motion_has_no_findings() -> None:
    assert found(GOOD) == []


def test_an_end_far_from_every_named_pose_is_an_error_that_says_everything() -> None:
    (finding,) = found(motion((0.5, pose(left_elbow=40))), near_pose="walk_ready")
    assert (finding.level, finding.rule) == (Level.ERROR, "pose")
    assert (finding.keyframe, finding.joint, finding.limit, finding.unit) == (1, "left_elbow", 25.0, "deg")
    assert finding.value is not None
    assert finding.value > 25.0
    assert "left_elbow" in finding.message


def test_the_named_pose_may_be_chosen() -> None:
    assert {f.keyframe for f in found(GOOD, near_pose="sit")} == {0, 2}
    with pytest.raises(UnknownNameError, match="did you mean sit"):
        found(GOOD, near_pose="sitt")


def test_a_page_that_goes_on_and_a_loop_have_no_end_to_judge() -> None:
    away = motion((0.5, pose(left_elbow=40)))
    assert found(replace(away, next="more")) == []
    assert found(replace(away, repeat=None)) == []


def test_long_is_an_error_unless_it_loops_or_celebrates() -> None:
    (finding,) = found(motion((2.5, READY)))
    assert (finding.rule, finding.value, finding.limit, finding.unit) == ("duration", 2.5, 2.0, "s")
    assert found(motion((2.5, READY)), celebration=True) == []
    assert found(motion((2.5, READY), repeat=None)) == []
    assert found(motion((2.5, READY), speed=2.0)) == []
    assert found(motion((2.5, READY)), rules=DesignRules(max_duration_s=3.0)) == []


def test_a_large_step_is_an_error() -> None:
    finding, back = found(motion((0.9, pose(left_elbow=70)), (0.9, READY)))
    assert (finding.rule, finding.keyframe, finding.joint, finding.limit) == ("step", 1, "left_elbow", 60.0)
    assert finding.value == pytest.approx(70.0)
    assert back.keyframe == 2


def test_a_limit_is_broken_where_it_is_broken_and_only_there() -> None:
    knee = math.degrees(READY.angle("left_knee"))
    finding, *others = found(
        motion((0.5, pose(left_knee=-knee - 12.0)), (0.5, READY)), rules=DesignRules(max_step_deg=99)
    )
    assert others == []
    assert (finding.rule, finding.keyframe, finding.joint) == ("limit", 1, "left_knee")
    assert finding.value == pytest.approx(-12.0)
    assert finding.limit == pytest.approx(-5.0)
    outside = replace(GOOD, start=pose(left_knee=-knee - 12.0))
    assert [f.keyframe for f in found(outside) if f.rule == "limit"] == [0]


def test_a_joint_that_cannot_arrive_in_time_is_an_error_and_one_that_lags_a_warning() -> None:
    (late,) = (f for f in found(motion((0.1, pose(left_elbow=40)), (0.5, READY))))
    assert (late.level, late.rule, late.keyframe, late.joint, late.unit) == (
        Level.ERROR,
        "speed",
        1,
        "left_elbow",
        "deg/s",
    )
    assert late.value == pytest.approx(400.0)
    assert late.limit == pytest.approx(354.0)
    (lags,) = found(motion((0.15, pose(left_elbow=40)), (0.5, READY), easing=Easing.SMOOTH))
    assert lags.level is Level.WARNING
    assert lags.value == pytest.approx(40 / 0.15 * math.pi / 2, rel=1e-3)


def test_a_jump_is_an_error_and_a_jump_to_nowhere_is_none() -> None:
    (jump,) = found(motion((0.0, pose(left_elbow=20)), (0.5, READY)))
    assert (jump.rule, jump.value, jump.level) == ("speed", math.inf, Level.ERROR)
    assert "commanded to jump" in jump.message
    assert found(motion((0.0, READY), (0.5, READY))) == []


def test_the_seam_of_a_loop_is_judged_too() -> None:
    (seam,) = found(motion((0.05, pose(left_elbow=5)), (0.5, pose(left_elbow=45)), repeat=None))
    assert (seam.rule, seam.keyframe) == ("speed", 1)
    assert seam.value == pytest.approx(800.0)


def test_without_a_start_the_way_into_the_first_keyframe_is_not_judged() -> None:
    unknown = replace(motion((0.01, READY), (0.5, READY)), start=None)
    assert found(unknown) == []


def test_an_infinite_angle_is_an_error() -> None:
    angles = READY.angles.copy()
    angles[3] = np.inf
    findings = found(motion((0.5, Pose(CARD.joint_names, angles)), (0.5, READY)))
    assert "finite" in {f.rule for f in findings}
    assert {f.joint for f in findings} == {CARD.joint_names[3]}


def test_a_joint_that_comes_back_from_free_is_warned_of() -> None:
    limp = Pose(CARD.joint_names, READY.angles, frozenset({"left_elbow"}))
    findings = found(motion((0.5, limp), (0.5, READY)))
    assert [(f.level, f.rule, f.keyframe, f.joint) for f in findings] == [
        (Level.WARNING, "free", 2, "left_elbow")
    ]


def test_a_motion_of_another_robot_is_refused() -> None:
    toy = Motion("toy", "toy", ("tail",), (Keyframe(Pose(("tail",), np.array([0.0])), 1.0),))
    with pytest.raises(InputError, match="moves tail, which robotis_bioloid does not have"):
        check_all(toy, CARD)


def test_the_worst_come_first() -> None:
    levels = [f.level for f in found(motion((0.15, pose(left_elbow=40)), (0.1, READY), easing=Easing.SMOOTH))]
    assert levels == [Level.ERROR, Level.WARNING]
