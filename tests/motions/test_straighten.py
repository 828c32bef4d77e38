from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.motions import Easing, Keyframe, Motion, Pose, straightened

JOINTS = ("left_knee", "right_knee")


def motion(easing: Easing, *, reach_s: float = 0.4, **changes: object) -> Motion:
    poses = [{"left_knee": 0.0, "right_knee": 0.1}, {"left_knee": 1.0}, {"left_knee": 0.2, "right_knee": 0.3}]
    frames = tuple(
        Keyframe(Pose.of(JOINTS, pose), 0.0 if i == 0 else reach_s, pause_s=0.05 * i, easing=easing)
        for i, pose in enumerate(poses)
    )
    return Motion("wave", "robotis_bioloid", JOINTS, frames, **changes)


@settings(deadline=None)  # SciPy is loaded by the first
@given(st.sampled_from(list(Easing)), st.floats(0.05, 2.0), st.floats(0.01, 0.5), st.floats(0.5, 2.0))
def test_straight_pieces_meet_the_curve_at_their_ends(
    easing: Easing, reach_s: float, step_s: float, speed: float
) -> None:
    curved = motion(easing, reach_s=reach_s, speed=speed)
    straight = straightened(curved, step_s)
    assert math.isclose(straight.duration, curved.duration)
    assert all(frame.easing is Easing.LINEAR for frame in straight.keyframes)
    assert all(frame.reach_s <= step_s + 1e-9 for frame in straight.keyframes) or easing is Easing.LINEAR
    times = straight.keyframe_times
    np.testing.assert_allclose(
        straight.sample_at(times).angles, curved.sample_at(times).angles, atol=1e-9, rtol=0
    )


def test_at_the_usual_step_the_curve_is_met_within_a_two_hundredth_of_its_way() -> None:
    curved = motion(Easing.SMOOTH)
    times = np.linspace(0.0, curved.duration, 2000)
    off = np.abs(straightened(curved).sample_at(times).angles - curved.sample_at(times).angles)
    assert off.max() < 0.005


def test_a_straight_motion_is_left_as_it_is() -> None:
    straight = motion(Easing.LINEAR)
    assert straightened(straight) == straight


def test_held_joints_stay_held_and_free_ones_free() -> None:
    frames = [*motion(Easing.SMOOTH).keyframes]
    frames[2] = replace(frames[2], pose=Pose.of(JOINTS, {"left_knee": 0.2}, free=("right_knee",)))
    straight = straightened(replace(motion(Easing.SMOOTH), keyframes=tuple(frames)))
    assert all(math.isnan(frame.pose.angle("right_knee")) for frame in straight.keyframes[1:])
    assert "right_knee" not in straight.keyframes[5].pose.free
    assert straight.keyframes[-2].pose.free == {"right_knee"}


@pytest.mark.parametrize("step_s", [0.0, -1.0, math.nan, 1e-9])
def test_a_step_that_is_none_or_far_too_short_is_refused(step_s: float) -> None:
    with pytest.raises(InputError):
        straightened(motion(Easing.SMOOTH), step_s)
