from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.motions import Easing, Keyframe, Motion, Pose, straighten_motion

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
    straight = straighten_motion(curved, step_s)
    assert math.isclose(straight.duration, curved.duration)
    assert all(frame.easing is Easing.LINEAR for frame in straight.keyframes)
    reaches = [frame.reach_s / speed for frame in straight.keyframes]
    assert max(reaches) <= 1.5 * step_s + 1e-6 or easing is Easing.LINEAR
    times = straight.keyframe_times
    np.testing.assert_allclose(
        straight.sample_at(times).angles, curved.sample_at(times).angles, atol=1e-9, rtol=0
    )


def test_at_the_usual_step_the_curve_is_met_within_a_two_hundredth_of_its_way() -> None:
    curved = motion(Easing.SMOOTH)
    times = np.linspace(0.0, curved.duration, 2000)
    off = np.abs(straighten_motion(curved).sample_at(times).angles - curved.sample_at(times).angles)
    assert off.max() < 0.005


def test_a_straight_motion_is_left_as_it_is() -> None:
    straight = motion(Easing.LINEAR)
    assert straighten_motion(straight) == straight


def test_held_joints_stay_held_and_free_ones_free() -> None:
    frames = [*motion(Easing.SMOOTH).keyframes]
    frames[2] = replace(frames[2], pose=Pose.of(JOINTS, {"left_knee": 0.2}, free=("right_knee",)))
    straight = straighten_motion(replace(motion(Easing.SMOOTH), keyframes=tuple(frames)))
    assert all(math.isnan(frame.pose.angle("right_knee")) for frame in straight.keyframes[1:])
    assert "right_knee" not in straight.keyframes[5].pose.free
    assert straight.keyframes[-2].pose.free == {"right_knee"}


@settings(deadline=None)
@given(st.floats(0.05, 2.0), st.floats(0.5, 2.0), st.sampled_from([0.008, 0.016, 0.02, None]))
def test_pieces_end_on_one_grid_from_the_beginning_and_keyframes_stay_where_they_are(
    reach_s: float, speed: float, grid_s: float | None
) -> None:
    curved = motion(Easing.SMOOTH, reach_s=reach_s, speed=speed)
    step_s = 0.04 if grid_s == 0.02 else 0.032
    straight = straighten_motion(curved, grid_s=grid_s)
    off = np.abs(straight.keyframe_times / step_s - np.rint(straight.keyframe_times / step_s)) > 1e-6
    own = np.abs(straight.keyframe_times[:, None] - curved.keyframe_times).min(axis=1) < 1e-9
    assert np.all(own[off])
    assert np.abs(straight.keyframe_times[:, None] - curved.keyframe_times).min(axis=0).max() < 1e-9


def test_what_is_left_of_a_step_goes_to_the_piece_beside_it() -> None:
    straight = straighten_motion(motion(Easing.SMOOTH, reach_s=0.5))
    reaches = [frame.reach_s for frame in straight.keyframes[1:]]
    assert min(reaches) >= 0.016 - 1e-9
    assert max(reaches) <= 0.048 + 1e-9


def test_the_attitude_goes_along_on_a_straight_line() -> None:
    frames = motion(Easing.SMOOTH).keyframes
    leaning = tuple(replace(frame, attitude=(0.1 * i, 0.0, -0.2 * i)) for i, frame in enumerate(frames))
    curved = replace(motion(Easing.SMOOTH), keyframes=leaning)
    times = np.linspace(-0.1, 1.0, 200)
    there = straighten_motion(curved).attitude_at(times)
    wanted = curved.attitude_at(times)
    assert there is not None
    assert wanted is not None
    np.testing.assert_allclose(there, wanted, atol=1e-9)


@pytest.mark.parametrize("step_s", [0.0, -1.0, math.nan, 1e-9])
def test_a_step_that_is_none_or_far_too_short_is_refused(step_s: float) -> None:
    with pytest.raises(InputError):
        straighten_motion(motion(Easing.SMOOTH), step_s)
