from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.motions import Keyframe, Motion, Pose, RetargetedMotion, retarget_motion
from posewright.robots import Robot, robot

OLD = robot("robotis_bioloid")


def other(**changes: object) -> Robot:
    """Return a robot that has fewer joints than the Bioloid, and a stiffer knee."""
    joints = tuple(
        replace(joint, lower_rad=-0.1, upper_rad=0.5) if joint.name == "left_knee" else joint
        for joint in OLD.joints
        if "shoulder" not in joint.name
    )
    return replace(OLD, name="other", joints=joints, poses={}, mirror_pairs=(), **changes)


def motion(*angles: dict[str, float]) -> Motion:
    joints = ("left_shoulder_roll", "left_knee", "right_knee")
    frames = tuple(
        Keyframe(Pose.of(joints, pose), 0.5, stiffness={"left_knee": 3.0}, attitude=(0.0, 0.1, 0.0))
        for pose in angles
    )
    return Motion("kick", OLD.name, joints, frames, start=frames[0].pose)


def test_joints_keep_their_angles_under_their_names() -> None:
    carried = retarget_motion(motion({"left_knee": 0.3, "right_knee": 0.2}), other())
    assert carried.motion.robot == "other"
    assert carried.motion.keyframes[0].pose.angle("right_knee") == 0.2
    assert carried.clips == ()


def test_joints_the_other_robot_lacks_are_told_and_none_is_invented() -> None:
    carried = retarget_motion(motion({"left_shoulder_roll": 1.0, "left_knee": 0.3}), other())
    assert carried.missing == ("left_shoulder_roll",)
    assert set(carried.motion.joints) == {"left_knee", "right_knee"}
    assert "right_elbow" in carried.unmoved


def test_every_angle_beyond_a_limit_is_clipped_and_told() -> None:
    carried = retarget_motion(motion({"left_knee": 0.3}, {"left_knee": 0.9}, {"left_knee": -0.2}), other())
    assert [(c.keyframe, c.joint, c.requested_rad, c.clipped_rad) for c in carried.clips] == [
        (2, "left_knee", 0.9, 0.5),
        (3, "left_knee", -0.2, -0.1),
    ]
    assert "keyframe 2: left_knee 51.57 deg is beyond the limit, clipped to 28.65 deg" in str(
        carried.clips[0]
    )
    assert carried.motion.keyframes[1].pose.angle("left_knee") == 0.5


def test_a_held_joint_stays_held_and_the_attitude_is_kept_but_not_the_stiffness() -> None:
    carried = retarget_motion(motion({"left_knee": 0.3}), other()).motion
    assert np.isnan(carried.keyframes[0].pose.angle("right_knee"))
    assert carried.keyframes[0].attitude == (0.0, 0.1, 0.0)
    assert carried.keyframes[0].stiffness is None


def test_on_its_own_robot_nothing_changes() -> None:
    kick = motion({"left_knee": 0.3})
    carried = retarget_motion(kick, OLD)
    assert (carried.missing, carried.clips) == ((), ())
    assert carried.motion.keyframes[0].pose.with_joints(kick.joints) == kick.keyframes[0].pose


def doubtful(doubt: str, *names: str) -> Robot:
    card = other()
    joints = tuple(replace(one, uncertain=doubt) if one.name in names else one for one in card.joints)
    return replace(card, joints=joints)


@pytest.mark.parametrize("theirs", [True, False], ids=["of the other", "of its own"])
def test_a_joint_that_is_0_elsewhere_on_one_of_the_two_is_not_carried_over(theirs: bool) -> None:
    kick = motion({"left_knee": 0.3, "right_knee": 0.2})
    card, target = (OLD, doubtful("zero", "left_knee")) if theirs else (doubtful("zero", "left_knee"), OLD)
    carried = retarget_motion(replace(kick, robot=card.name), target, card)
    assert carried.unmatched == ("left_knee",)
    assert "left_knee" not in (*carried.motion.joints, *carried.missing, *carried.unmoved)
    assert carried.motion.keyframes[0].pose.angle("right_knee") == 0.2
    assert carried.remarks == ()


@pytest.mark.parametrize(
    ("doubt", "says"), [("sign", "the positive direction on"), ("side", "the side of this joint")]
)
def test_a_joint_of_which_something_is_uncertain_is_carried_over_with_a_remark(doubt: str, says: str) -> None:
    carried = retarget_motion(
        motion({"left_knee": 0.3}), doubtful(doubt, "left_knee", "right_knee", "left_elbow")
    )
    assert carried.motion.keyframes[0].pose.angle("left_knee") == 0.3
    (remark,) = carried.remarks
    assert remark.startswith("right_knee, left_knee: ")  # in the order of the robot's card
    assert says in remark
    assert "other" in remark


def test_a_robot_has_no_doubts_about_its_own_motions() -> None:
    card = doubtful("zero", "left_knee")
    carried = retarget_motion(replace(motion({"left_knee": 0.3}), robot=card.name), card)
    assert (carried.unmatched, carried.remarks) == ((), ())


def whole(name: str, target: str) -> RetargetedMotion:
    card = robot(name)
    keyframes = (Keyframe(Pose(card.joint_names, card.pose("stand")), 0.0, 1.0),)
    return retarget_motion(Motion("stands", name, card.joint_names, keyframes), robot(target))


def test_of_an_ers210_the_tail_tilt_stays_behind_and_the_tail_pan_is_doubtful() -> None:
    carried = whole("sony_ers210", "sony_ers7")
    assert carried.unmatched == ("tail_tilt",)
    assert carried.missing == ("head_roll",)
    (remark,) = carried.remarks
    assert remark.startswith("tail_pan: the positive direction on sony_ers210 is undocumented")
    back = whole("sony_ers7", "sony_ers210")
    assert (back.unmatched, back.remarks) == (carried.unmatched, carried.remarks)


def test_of_an_ers110_it_is_a_guess_which_leg_is_which() -> None:
    sign, side = whole("sony_ers110", "sony_ers210").remarks
    assert sign.startswith("head_roll, tail_pan: ")
    assert sum("_" in word for word in side.split(":")[0].split(", ")) == 12
    assert "the side of this joint on sony_ers110 is a guess" in side


def test_an_ers210_and_an_ers220_share_their_motions() -> None:
    assert whole("sony_ers220", "sony_ers210").remarks == whole("sony_ers210", "sony_ers220").remarks == ()


def test_a_joint_that_is_0_elsewhere_is_not_enough_to_have_in_common() -> None:
    wag = Pose.of(("tail_tilt",), {"tail_tilt": 0.1})
    with pytest.raises(InputError, match="with the same zero position"):
        retarget_motion(Motion("wag", "sony_ers210", wag.joints, (Keyframe(wag, 0.1),)), robot("sony_ers7"))


def test_two_robots_without_a_joint_in_common_are_refused() -> None:
    joints = tuple(replace(joint, name=f"x_{joint.name}") for joint in OLD.joints)
    servos = tuple(replace(servo, joint=f"x_{servo.joint}") for servo in OLD.servos)
    stranger = replace(OLD, name="stranger", joints=joints, servos=servos, poses={}, mirror_pairs=())
    with pytest.raises(InputError, match="moves no joint that stranger has"):
        retarget_motion(motion({"left_knee": 0.3}), stranger)
