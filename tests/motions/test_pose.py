from __future__ import annotations

import numpy as np
import pytest

from posewright.errors import InputError, UnknownNameError
from posewright.motions import Pose

LEG = ("hip", "knee")


def test_a_joint_that_is_not_given_is_held() -> None:
    pose = Pose.of(LEG, {"knee": 0.5})
    assert pose.held_mask.tolist() == [True, False]
    assert pose.angle("knee") == 0.5
    assert np.isnan(pose.angle("hip"))


def test_a_free_joint_has_no_angle_and_is_not_held() -> None:
    pose = Pose(LEG, np.array([0.1, 0.2]), frozenset({"hip"}))
    assert np.isnan(pose.angle("hip"))
    assert not pose.held_mask.any()
    assert pose.free_mask.tolist() == [True, False]


def test_over_a_previous_pose_held_joints_stay_as_they_were_limp_ones_too() -> None:
    before = Pose(("hip", "knee", "ankle"), np.array([1.0, 2.0, np.nan]), frozenset({"ankle"}))
    after = Pose.of(("hip", "knee", "ankle"), {"knee": 5.0}).with_held_from(before)
    assert after == Pose(("hip", "knee", "ankle"), np.array([1.0, 5.0, np.nan]), frozenset({"ankle"}))


def test_on_other_joints_it_keeps_what_it_knows() -> None:
    pose = Pose(LEG, np.array([1.0, 2.0]), frozenset({"knee"})).with_joints(("ankle", "knee", "hip"))
    assert pose.joints == ("ankle", "knee", "hip")
    assert pose.held_mask.tolist() == [True, False, False]
    assert pose.angle("hip") == 1.0
    assert pose.free == {"knee"}


def test_equal_poses_are_equal_and_hash_alike_held_joints_included() -> None:
    one, other = Pose.of(LEG, {"knee": 0.0}), Pose.of(LEG, {"knee": -0.0})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Pose.of(LEG, {"hip": 0.0})
    assert one != Pose.of(LEG, {"knee": 0.0}, free=["hip"])
    assert one != "a pose"


def test_nobody_can_write_into_a_pose() -> None:
    angles = np.array([1.0, 2.0])
    pose = Pose(LEG, angles)
    angles[0] = 9.0
    assert pose.angle("hip") == 1.0
    with pytest.raises(ValueError, match="read-only"):
        pose.angles[0] = 9.0


def test_wrong_counts_and_names_are_refused() -> None:
    with pytest.raises(InputError, match="a pose of 2 joints has angles of shape"):
        Pose(LEG, np.array([1.0]))
    with pytest.raises(InputError, match="twice"):
        Pose(("hip", "hip"), np.array([1.0, 2.0]))
    with pytest.raises(UnknownNameError, match="did you mean knee"):
        Pose.of(LEG, {"kne": 1.0})
    with pytest.raises(UnknownNameError, match="did you mean hip"):
        Pose(LEG, np.array([1.0, 2.0]), frozenset({"hipp"}))
