from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from posewright.errors import InputError, UnknownNameError
from posewright.motions import Easing, Keyframe, Motion, Pose, Samples
from posewright.motions.pose import Tangent

Build = Callable[..., Motion]


def hip(samples: Samples) -> list[float]:
    return [round(float(angle), 9) for angle in samples.angles[:, 0]]


def test_it_goes_from_its_start_through_its_keyframes_and_rests(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0, 0.5), (0.5, 2.0), start=0.0)
    assert hip(motion.sample(4.0)) == [0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.5, 2.0]
    assert motion.at(99.0).angle("hip") == 2.0
    assert motion.keyframe_times.tolist() == [1.0, 2.0]
    assert motion.sample(4.0).keyframes.tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 1]


def test_without_a_start_it_stands_in_its_first_pose(motion_of: Build) -> None:
    assert hip(motion_of((1.0, 1.0), (1.0, 2.0)).sample(2.0)) == [1.0, 1.0, 1.0, 1.5, 2.0]


def test_a_loop_without_a_start_begins_in_its_last_pose(motion_of: Build) -> None:
    assert hip(motion_of((1.0, 1.0), (1.0, 2.0), repeat=None).sample(2.0)) == [2.0, 1.5, 1.0, 1.5, 2.0]


def test_a_loop_with_a_start_goes_through_the_seam_from_its_last_pose(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0), (1.0, 2.0), repeat=2, start=0.0)
    assert hip(motion.sample(2.0)) == [0.0, 0.5, 1.0, 1.5, 2.0, 1.5, 1.0, 1.5, 2.0]


def test_a_motion_for_ever_is_sampled_for_one_pass_unless_told_otherwise(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0), (1.0, 2.0), repeat=None)
    assert len(motion.sample(8.0).times) == 17
    assert hip(motion.sample(1.0, until_s=5.0)) == [2.0, 1.0, 2.0, 1.0, 2.0, 1.0]


def test_the_pose_it_is_started_from_wins_over_its_own_start(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0), start=0.0)
    assert motion.at(0.5, Pose(("hip",), np.array([3.0]))).angle("hip") == 2.0
    held = Pose(("hip",), np.array([np.nan]))
    assert motion.at(0.5, held).angle("hip") == 0.5


def test_a_held_joint_stays_until_it_is_given_an_angle(motion_of: Build) -> None:
    assert hip(motion_of((1.0, 1.0), (1.0, None), (1.0, 2.0), start=0.0).sample(1.0)) == [0.0, 1.0, 1.0, 2.0]
    assert hip(motion_of((1.0, None), (1.0, 2.0)).sample(1.0)) == [2.0, 2.0, 2.0]


def test_a_joint_that_nobody_ever_gives_an_angle_is_nan_and_not_free(motion_of: Build) -> None:
    samples = motion_of((1.0, None)).sample(1.0)
    assert np.isnan(samples.angles).all()
    assert not samples.free.any()


def test_a_joint_is_free_from_the_beginning_of_the_way_until_it_is_given_an_angle(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0), (1.0, "free"), (1.0, None), (1.0, 3.0), start=0.0)
    samples = motion.sample(2.0)
    assert samples.free[:, 0].tolist() == [False] * 3 + [True] * 4 + [False] * 2
    assert np.isnan(samples.angles[samples.free]).all()
    # it comes back from the last angle it was given: nobody knows where it hangs
    assert hip(samples)[-2:] == [2.0, 3.0]
    assert motion.at(2.0).free == {"hip"}


def test_a_keyframe_reached_in_no_time_is_a_jump(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0), (0.0, 5.0), (1.0, 6.0), start=0.0)
    assert motion.at(1.0 - 1e-9).angle("hip") == pytest.approx(1.0)
    assert motion.at(1.0).angle("hip") == 5.0
    assert motion.at(1.5).angle("hip") == 5.5
    assert motion_of((0.0, 7.0)).at(0.0).angle("hip") == 7.0


def test_pchip_does_not_look_over_a_jump(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0), (0.0, 50.0), (1.0, 51.0), start=0.0, easing=Easing.PCHIP)
    assert hip(motion.sample(2.0)) == [0.0, 0.5, 50.0, 50.5, 51.0]


def test_speed_divides_all_times(motion_of: Build) -> None:
    motion = motion_of((1.0, 1.0, 1.0), start=0.0, speed=4.0)
    assert motion.duration == 0.5
    assert motion.keyframe_times.tolist() == [0.25]
    assert motion.at(0.125).angle("hip") == 0.5


def test_ten_steps_of_a_tenth_of_a_second_make_one_second_to_the_last_sample(motion_of: Build) -> None:
    motion = motion_of(*[(0.1, float(i)) for i in range(1, 11)], start=0.0)
    assert motion.duration == 1.0
    assert hip(motion.sample(30.0))[-1] == 10.0
    assert hip(motion.sample(10.0)) == [float(i) for i in range(11)]


def test_equal_motions_are_equal_whatever_document_they_come_from(motion_of: Build) -> None:
    one = motion_of((1.0, 1.0), (1.0, None), repeat=None)
    assert one == replace(one, origin=object())
    assert one != replace(one, name="other")


def test_what_makes_no_motion_is_refused(motion_of: Build) -> None:
    pose = Pose(("hip",), np.array([0.0]))
    with pytest.raises(InputError, match="has no keyframe"):
        motion_of()
    with pytest.raises(InputError, match="repeats but takes no time"):
        motion_of((0.0, 1.0), repeat=None)
    with pytest.raises(InputError, match="has speed 0"):
        motion_of((1.0, 1.0), speed=0)
    with pytest.raises(InputError, match="is repeated 0 times"):
        motion_of((1.0, 1.0), repeat=0)
    with pytest.raises(InputError, match="other joints than its own"):
        Motion("odd", "toy", ("knee",), (Keyframe(pose, 1.0),))
    with pytest.raises(InputError, match="rate is 0"):
        motion_of((1.0, 1.0)).sample(0.0)


@pytest.mark.parametrize("seconds", [-1.0, np.nan, np.inf, 1e-9, 1e9])
def test_a_time_that_no_clock_can_keep_is_refused(seconds: float) -> None:
    pose = Pose(("hip",), np.array([0.0]))
    with pytest.raises(InputError, match="reach_s"):
        Keyframe(pose, seconds)
    with pytest.raises(InputError, match="pause_s"):
        Keyframe(pose, 1.0, seconds)


def test_stiffness_is_of_the_poses_joints_and_no_number_below_zero() -> None:
    pose = Pose(("hip",), np.array([0.0]))
    assert Keyframe(pose, 1.0, stiffness={"hip": 9.0}) == Keyframe(pose, 1.0, stiffness={"hip": 9.0})
    with pytest.raises(InputError, match="no joint of the pose"):
        Keyframe(pose, 1.0, stiffness={"knee": 9.0})
    with pytest.raises(InputError, match="stiffness of hip is -1"):
        Keyframe(pose, 1.0, stiffness={"hip": -1.0})
    with pytest.raises(InputError, match="accel_share"):
        Keyframe(pose, 1.0, accel_share=0.7)


def test_a_start_of_joints_the_motion_does_not_have_is_read_by_name(motion_of: Build) -> None:
    everything = Pose(("knee", "hip"), np.array([8.0, 0.5]))
    assert motion_of((1.0, 1.0)).at(0.0, everything).angle("hip") == 0.5
    with pytest.raises(UnknownNameError):
        motion_of((1.0, 1.0)).at(0.0).angle("knee")


def test_a_motion_survives_pickling() -> None:
    joints = ("head", "arm")
    keyframe = Keyframe(
        Pose(joints, [0.1, 0.2]), 0.5, stiffness={"head": 1.5}, tangents={"arm": Tangent(0.1, 0.2)}
    )
    motion = Motion("wave", "somebody", joints, (keyframe,), extras={"author": "me"})
    copy = pickle.loads(pickle.dumps(motion))  # noqa: S301 -- our own
    assert copy == motion
    with pytest.raises(TypeError):
        copy.extras["author"] = "you"
