"""Laws that hold for every motion, tried on motions drawn at random."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator

from posewright.motions import Easing, Keyframe, Motion, Pose

JOINTS = ("hip", "knee", "ankle")
ANGLES = st.floats(-2.5, 2.5).map(lambda x: round(x, 6))
REACHES = st.integers(1, 400).map(lambda n: n / 200)
PAUSES = st.one_of(st.just(0.0), REACHES)
EASINGS = tuple(Easing)
QUICK = settings(max_examples=40, deadline=None)


@st.composite
def poses(draw: st.DrawFn, held: bool, free: bool) -> Pose:
    limp = frozenset(joint for joint in JOINTS if free and draw(st.booleans()))
    values = [math.nan if held and draw(st.booleans()) else draw(ANGLES) for _ in JOINTS]
    return Pose(JOINTS, np.array(values), limp)


@st.composite
def keyframes(draw: st.DrawFn, easings: tuple[Easing, ...], held: bool, free: bool) -> Keyframe:
    share = draw(st.sampled_from((0.0, 0.1, 0.25, 0.5)))
    easing = draw(st.sampled_from(easings))
    return Keyframe(draw(poses(held, free)), draw(REACHES), draw(PAUSES), easing, accel_share=share)


@st.composite
def motions(
    draw: st.DrawFn,
    easings: tuple[Easing, ...] = EASINGS,
    held: bool = False,
    free: bool = False,
    repeat: tuple[int | None, ...] = (1, 2, 5, None),
) -> Motion:
    return Motion(
        "drawn",
        "toy",
        JOINTS,
        tuple(draw(st.lists(keyframes(easings, held, free), min_size=1, max_size=5))),
        repeat=draw(st.sampled_from(repeat)),
        speed=draw(st.sampled_from((0.5, 1.0, 1.3, 3.0))),
        start=draw(st.one_of(st.none(), poses(held, free))),
    )


def knots(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Return every time at which a pose is reached or left in one pass, and the resolved poses there."""
    times, rows = [0.0], [motion.resolved_poses()[0].angles]
    for frame, pose in zip(motion.keyframes, motion.resolved_poses()[1:], strict=True):
        for seconds in (frame.reach_s, frame.pause_s):
            if seconds:
                times.append(times[-1] + seconds)
                rows.append(pose.angles)
    return np.array(times) / motion.speed, np.array(rows)


@given(motions(held=True, free=True), st.floats(0.7, 300.0))
@QUICK
def test_one_time_and_many_times_agree(motion: Motion, rate: float) -> None:
    samples = motion.sample(rate, until_s=min(2.3 * motion.duration, 20 / rate))
    for time, angles, free in zip(samples.times, samples.angles, samples.free, strict=True):
        pose = motion.at(float(time))
        np.testing.assert_allclose(pose.angles, angles, atol=1e-12, rtol=0)
        np.testing.assert_array_equal(pose.free_mask, free)


@given(motions())
@QUICK
def test_every_keyframe_is_passed_through_exactly(motion: Motion) -> None:
    for time, frame in zip(motion.keyframe_times, motion.keyframes, strict=True):
        np.testing.assert_array_equal(motion.at(float(time)).angles, frame.pose.angles)
        paused = motion.at(float(time) + frame.pause_s / motion.speed)
        np.testing.assert_array_equal(paused.angles, frame.pose.angles)


@given(motions(held=True, free=True))
@QUICK
def test_the_free_joints_at_a_keyframe_are_its_own_and_those_still_free(motion: Motion) -> None:
    for time, resolved in zip(motion.keyframe_times, motion.resolved_poses()[1:], strict=True):
        assert motion.at(float(time)) == resolved


@given(motions(held=True))
@QUICK
def test_nothing_jumps(motion: Motion) -> None:
    fine = motion.sample_at(np.linspace(0.0, 2.2 * motion.duration, 2001)).angles
    assume(not np.isnan(fine).any())
    fastest = max(
        float(np.abs(np.diff([p.angles for p in motion.resolved_poses()], axis=0)).max()) + 5.0, 5.0
    ) / min(frame.reach_s / motion.speed for frame in motion.keyframes)
    # 3 is above the peak of every easing: 15/8, pi/2, 2 for the triangle, 3 for a monotone cubic
    assert np.abs(np.diff(fine, axis=0)).max() <= 3.0 * fastest * 2.2 * motion.duration / 2000 + 1e-9


@given(motions())
@QUICK
def test_no_easing_leaves_the_interval_between_neighbouring_keyframes(motion: Motion) -> None:
    ways = motion.sample_segments(40)
    rows = np.stack([pose.angles for pose in motion.resolved_poses()])
    low, high = np.minimum(rows[:-1], rows[1:]), np.maximum(rows[:-1], rows[1:])
    assert (ways >= low[:, None] - 1e-12).all()
    assert (ways <= high[:, None] + 1e-12).all()


@given(motions())
@QUICK
def test_no_easing_turns_round_on_its_way(motion: Motion) -> None:
    rows = np.stack([pose.angles for pose in motion.resolved_poses()])
    forward = np.sign(np.diff(rows, axis=0))[:, None]
    assert (np.diff(motion.sample_segments(40), axis=1) * forward >= -1e-12).all()


@given(motions())
@QUICK
def test_the_duration_is_the_sum_of_ways_and_pauses_over_the_speed(motion: Motion) -> None:
    total = sum(frame.reach_s + frame.pause_s for frame in motion.keyframes) / motion.speed
    assert motion.duration == pytest.approx(total, rel=1e-12)
    if motion.repeat is None:
        assert math.isinf(motion.total_duration)
    else:
        assert motion.total_duration == pytest.approx(total * motion.repeat, rel=1e-12)


@given(motions(held=True, free=True), st.floats(0.25, 4.0), st.floats(0.0, 3.0))
@QUICK
def test_twice_the_speed_is_the_same_motion_in_half_the_time(
    motion: Motion, factor: float, at: float
) -> None:
    moment = at * motion.duration
    assume(motion.repeat is None or at < motion.repeat)
    near = np.abs(motion.keyframe_times[:, None] + np.arange(4) * motion.duration - moment)
    assume(near.min() > 1e-6)  # at a keyframe itself rounding decides which side free joints are on
    assume(abs(at - round(at)) > 1e-6)
    hurried = replace(motion, speed=motion.speed * factor)
    one, other = motion.at(moment), hurried.at(moment / factor)
    np.testing.assert_allclose(one.angles, other.angles, atol=1e-9)


@given(motions(held=True, free=True, repeat=(3, None)), st.floats(0.01, 0.99))
@QUICK
def test_a_loop_repeats_itself_after_its_first_pass(motion: Motion, share: float) -> None:
    second = motion.sample_at(np.array([motion.duration * (1.0 + share)]))
    third = motion.sample_at(np.array([motion.duration * (2.0 + share)]))
    if all(
        frame.easing is not Easing.PCHIP for frame in motion.keyframes
    ):  # the last pass of PCHIP ends flat
        np.testing.assert_allclose(second.angles, third.angles, atol=1e-9)


@given(motions(easings=(Easing.LINEAR,), repeat=(1,)))
@QUICK
def test_linear_is_what_numpy_makes_of_the_keyframes(motion: Motion) -> None:
    times, rows = knots(motion)
    samples = motion.sample(97.0)
    for column in range(len(JOINTS)):
        expected = np.interp(samples.times, times, rows[:, column])
        np.testing.assert_allclose(samples.angles[:, column], expected, atol=1e-9)


@given(motions(easings=(Easing.PCHIP,), repeat=(1,)))
@QUICK
def test_pchip_is_what_scipy_makes_of_the_keyframes(motion: Motion) -> None:
    times, rows = knots(motion)
    samples = motion.sample(97.0)
    inside = samples.times <= times[-1]
    expected = PchipInterpolator(times, rows, axis=0)(samples.times[inside])
    np.testing.assert_allclose(samples.angles[inside], expected, atol=1e-9)


@given(motions(easings=(Easing.PCHIP,), repeat=(None,)))
@QUICK
def test_pchip_has_no_kink_where_a_loop_closes(motion: Motion) -> None:
    seam, small = 2.0 * motion.duration, 1e-6
    before, at, after = (motion.at(seam + shift).angles for shift in (-small, 0.0, small))
    shortest = min(frame.reach_s for frame in motion.keyframes) / motion.speed
    np.testing.assert_allclose(
        (at - before) / small, (after - at) / small, atol=1e-4 * 5.0 / shortest**2 + 1e-4
    )


@given(motions(held=True, free=True, repeat=(1,)), poses(False, False))
@QUICK
def test_it_begins_in_the_pose_it_is_started_from_and_ends_in_its_last(motion: Motion, start: Pose) -> None:
    assert motion.at(0.0, start) == start
    assert motion.at(-1.0, start) == start
    assert motion.at(motion.duration + 1.0, start) == motion.resolved_poses(start)[-1]
