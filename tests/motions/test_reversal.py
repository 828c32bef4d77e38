"""A reversed motion goes back the way the motion came."""

from __future__ import annotations

import numpy as np
import pytest

from posewright.formats import read_motion
from posewright.motions import Keyframe, Motion, Pose, reverse_motion
from posewright.robots import robot


def shipped(name: str, robot_name: str) -> Motion:
    folder = robot(robot_name).folder
    assert folder is not None
    return read_motion(folder / "motions" / f"{name}.motion.yaml")


JOINTS = ("head_pan", "head_tilt")


def made(start: Pose | None) -> Motion:
    """Return a motion of three poses, the second of which holds a joint."""
    return Motion(
        "made",
        "sony_ers7",
        JOINTS,
        (
            Keyframe(Pose.of(JOINTS, {"head_pan": 0.1, "head_tilt": -0.2}), 0.3, 0.1),
            Keyframe(Pose.of(JOINTS, {"head_pan": 0.5}), 0.4, 0.2),
            Keyframe(Pose.of(JOINTS, {"head_pan": -0.3, "head_tilt": -0.6}), 0.7, 0.25),
        ),
        start=start,
    )


def test_with_a_start_pose_every_angle_is_that_of_the_mirrored_time() -> None:
    motion = made(Pose.of(JOINTS, {"head_pan": 0.0, "head_tilt": 0.0}))
    back = reverse_motion(motion)
    assert back.duration == pytest.approx(motion.duration)
    for time_s in np.linspace(0.0, motion.duration, 40):
        expected = motion.at(motion.duration - float(time_s)).angles
        assert back.at(float(time_s)).angles == pytest.approx(expected, abs=1e-9)


def test_without_a_start_pose_the_poses_come_in_reverse_order_with_their_pauses() -> None:
    motion = made(None)
    back = reverse_motion(motion)
    assert [frame.pose.angle("head_pan") for frame in back.keyframes] == [-0.3, 0.5, 0.1]
    assert [frame.pose.angle("head_tilt") for frame in back.keyframes] == [-0.6, -0.2, -0.2]
    assert [frame.reach_s for frame in back.keyframes] == [0.3, 0.7, 0.4]
    assert [frame.pause_s for frame in back.keyframes] == [0.25, 0.2, 0.1]


@pytest.mark.parametrize(
    ("name", "robot_name"), [("play_bow", "sony_ers7"), ("walk_forward", "robotis_bioloid")]
)
def test_reversed_twice_a_shipped_motion_moves_as_before(name: str, robot_name: str) -> None:
    motion = shipped(name, robot_name)
    twice = reverse_motion(reverse_motion(motion))
    times = np.linspace(0.0, motion.duration * 0.999, 50)
    assert twice.sample_at(times).angles == pytest.approx(motion.sample_at(times).angles, abs=1e-9)
