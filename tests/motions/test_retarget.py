from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.motions import Keyframe, Motion, Pose, carried_over
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
    carried = carried_over(motion({"left_knee": 0.3, "right_knee": 0.2}), other())
    assert carried.motion.robot == "other"
    assert carried.motion.keyframes[0].pose.angle("right_knee") == 0.2
    assert carried.clips == ()


def test_joints_the_other_robot_lacks_are_told_and_none_is_invented() -> None:
    carried = carried_over(motion({"left_shoulder_roll": 1.0, "left_knee": 0.3}), other())
    assert carried.missing == ("left_shoulder_roll",)
    assert set(carried.motion.joints) == {"left_knee", "right_knee"}
    assert "right_elbow" in carried.unmoved


def test_every_angle_beyond_a_limit_is_clipped_and_told() -> None:
    carried = carried_over(motion({"left_knee": 0.3}, {"left_knee": 0.9}, {"left_knee": -0.2}), other())
    assert [(c.keyframe, c.joint, c.asked_rad, c.given_rad) for c in carried.clips] == [
        (2, "left_knee", 0.9, 0.5),
        (3, "left_knee", -0.2, -0.1),
    ]
    assert "keyframe 2: left_knee 51.57 deg is beyond the limit, clipped to 28.65 deg" in str(
        carried.clips[0]
    )
    assert carried.motion.keyframes[1].pose.angle("left_knee") == 0.5


def test_a_held_joint_stays_held_and_the_attitude_is_kept_but_not_the_stiffness() -> None:
    carried = carried_over(motion({"left_knee": 0.3}), other()).motion
    assert np.isnan(carried.keyframes[0].pose.angle("right_knee"))
    assert carried.keyframes[0].attitude == (0.0, 0.1, 0.0)
    assert carried.keyframes[0].stiffness is None


def test_on_its_own_robot_nothing_changes() -> None:
    kick = motion({"left_knee": 0.3})
    carried = carried_over(kick, OLD)
    assert (carried.missing, carried.clips) == ((), ())
    assert carried.motion.keyframes[0].pose.on(kick.joints) == kick.keyframes[0].pose


def test_two_robots_without_a_joint_in_common_are_refused() -> None:
    joints = tuple(replace(joint, name=f"x_{joint.name}") for joint in OLD.joints)
    servos = tuple(replace(servo, joint=f"x_{servo.joint}") for servo in OLD.servos)
    stranger = replace(OLD, name="stranger", joints=joints, servos=servos, poses={}, mirror_pairs=())
    with pytest.raises(InputError, match="moves no joint that stranger has"):
        carried_over(motion({"left_knee": 0.3}), stranger)
