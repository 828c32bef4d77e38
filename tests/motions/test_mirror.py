from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.motions import Keyframe, Motion, Pose, mirror_motion
from posewright.robots import robot

CARD = robot("robotis_bioloid")
ANGLES = st.lists(st.one_of(st.just(np.nan), st.floats(-2.5, 2.5)), min_size=18, max_size=18)


def motion(angles: list[float], free: frozenset[str] = frozenset()) -> Motion:
    pose = Pose(CARD.joint_names, np.array(angles), free)
    frame = Keyframe(pose, 1.0, stiffness={"left_knee": 3.0, "right_elbow": 4.0})
    return Motion("drawn", CARD.name, CARD.joint_names, (frame,), start=pose)


@given(ANGLES, st.frozensets(st.sampled_from(CARD.joint_names)))
@settings(max_examples=40, deadline=None)
def test_mirrored_twice_it_is_the_same(angles: list[float], free: frozenset[str]) -> None:
    one = motion(angles, free)
    assert mirror_motion(mirror_motion(one, CARD), CARD) == one


@given(st.lists(st.floats(-2.5, 2.5), min_size=18, max_size=18))
@settings(max_examples=40, deadline=None)
def test_it_mirrors_poses_as_the_robot_does(angles: list[float]) -> None:
    (frame,) = mirror_motion(motion(angles), CARD, name="other").keyframes
    np.testing.assert_array_equal(frame.pose.angles, CARD.mirror(np.array(angles)))
    assert frame.stiffness == {"right_knee": 3.0, "left_elbow": 4.0}


def test_it_needs_both_sides() -> None:
    joints = ("left_knee",)
    lame = Motion("lame", CARD.name, joints, (Keyframe(Pose(joints, np.array([0.1])), 1.0),))
    with pytest.raises(InputError, match="moves left_knee but not right_knee"):
        mirror_motion(lame, CARD)
