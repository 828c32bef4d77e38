"""Every joint has keys of its own; the motion follows the same path, and so does a written file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.formats import WriteOptions
from posewright.formats.motion_format import KeyTimes
from posewright.formats.tekkotsu.format import MOT
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import robot

ERS7 = robot("sony_ers7")
NAMES = ERS7.names_in("tekkotsu")
JOINTS = tuple(joint for joint in ERS7.joint_names if not ERS7.joint(joint).two_state)
WRITTEN_RAD = 1e-6
NAN = float("nan")

angles = st.floats(-2.0, 2.0)
tracks = st.dictionaries(
    st.sampled_from(JOINTS),
    st.dictionaries(st.integers(0, 3000), angles, min_size=1, max_size=5),
    min_size=1,
    max_size=5,
)


def text_of(keys: dict[str, dict[int, float]]) -> bytes:
    lines = [f"setTime {t}\n{NAMES[joint]} {v!r}" for joint, track in keys.items() for t, v in track.items()]
    return "\n".join(["#MSq", *lines, "#END", ""]).encode()


@given(tracks, st.lists(st.integers(0, 3000), min_size=1, max_size=20))
def test_a_motion_goes_where_every_joints_own_keys_lead(
    keys: dict[str, dict[int, float]], times: list[int]
) -> None:
    motion = MOT.read(text_of(keys), Path("some.mot"), ERS7).motion()
    assert set(motion.joints) == set(keys)
    for joint, track in keys.items():
        times_of_keys = sorted(track)
        later = np.array([t for t in [*times, *times_of_keys] if t >= times_of_keys[0]])
        expected = np.interp(later, times_of_keys, [track[t] for t in times_of_keys])
        actual = motion.sample_at(later / 1000.0).angles[:, motion.joints.index(joint)]
        np.testing.assert_allclose(actual, expected, rtol=0.0, atol=1e-9)


@given(tracks)
def test_a_motion_has_a_keyframe_where_any_joint_has_a_key(keys: dict[str, dict[int, float]]) -> None:
    motion = MOT.read(text_of(keys), Path("some.mot"), ERS7).motion()
    expected = sorted({t for track in keys.values() for t in track})
    np.testing.assert_allclose(motion.keyframe_times * 1000.0, expected, atol=1e-6)


@st.composite
def motions(draw: st.DrawFn) -> Motion:
    joints = tuple(draw(st.lists(st.sampled_from(JOINTS), min_size=1, max_size=4, unique=True)))
    count = draw(st.integers(1, 6))
    angle_or_nan = st.one_of(angles, st.just(NAN))
    rows = draw(
        st.lists(
            st.lists(angle_or_nan, min_size=len(joints), max_size=len(joints)),
            min_size=count,
            max_size=count,
        )
    )
    rows[0][0] = draw(angles)
    reaches = draw(st.lists(st.floats(0.003, 2.0), min_size=count, max_size=count))
    pauses = draw(st.lists(st.one_of(st.just(0.0), st.floats(0.003, 1.0)), min_size=count, max_size=count))
    if draw(st.booleans()):
        reaches[0] = 0.0
    speed = draw(st.sampled_from([1.0, 0.5, 1.3]))
    frames = [
        Keyframe(Pose(joints, np.array(row)), r, p) for row, r, p in zip(rows, reaches, pauses, strict=True)
    ]
    return Motion("some", "sony_ers7", joints, tuple(frames), speed=speed)


def on_the_clock(motion: Motion) -> Motion:
    """Return the motion with every time rounded to whole milliseconds from the start, as a file has them."""
    frames = []
    before = after = 0.0
    for frame in motion.keyframes:
        arrives = after + frame.reach_s / motion.speed
        after = arrives + frame.pause_s / motion.speed
        reach, pause = round(arrives, 3) - before, round(after, 3) - round(arrives, 3)
        before = round(after, 3)
        frames.append(replace(frame, reach_s=max(reach, 0.0), pause_s=pause if pause > 1e-4 else 0.0))
    return replace(motion, keyframes=tuple(frames), speed=1.0)


@given(motions(), st.sampled_from(KeyTimes))
def test_a_written_motion_goes_the_same_way_within_the_quantum(motion: Motion, keys: KeyTimes) -> None:
    rendering = MOT.render(motion, Path("some.mot"), WriteOptions(keys))
    assert rendering.losses == ()
    back = MOT.read(rendering.data, Path("some.mot"), ERS7).motion()
    rounded = on_the_clock(motion)
    assert back.duration == pytest.approx(rounded.duration, abs=1e-9)
    times = np.unique(
        np.concatenate([back.keyframe_times, rounded.keyframe_times, np.linspace(0, rounded.duration, 37)])
    )
    start = Pose(motion.joints, np.full(len(motion.joints), 0.5))
    columns = [motion.joints.index(joint) for joint in back.joints]
    expected = rounded.sample_at(times, start).angles[:, columns]
    actual = back.sample_at(times, start.with_joints(back.joints)).angles
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=WRITTEN_RAD + 1e-9)


@given(motions())
def test_times_do_not_drift(motion: Motion) -> None:
    rendering = MOT.render(motion, Path("some.mot"), WriteOptions(KeyTimes.ALL))
    back = MOT.read(rendering.data, Path("some.mot"), ERS7).motion()
    is_set = [not np.isnan(frame.pose.angles).all() for frame in motion.keyframes]
    for time in motion.keyframe_times[is_set]:
        assert np.abs(back.keyframe_times - time).min() <= 0.0005 + 1e-9
    assert back.duration == pytest.approx(motion.duration, abs=0.0005 + 1e-9)


@given(motions())
def test_what_was_written_once_is_written_alike_again(motion: Motion) -> None:
    first = MOT.render(motion, Path("some.mot"), WriteOptions()).data
    back = MOT.read(first, Path("some.mot"), ERS7).motion()
    again = MOT.render(replace(back, origin=None), Path("some.mot"), WriteOptions()).data
    reread = MOT.read(again, Path("some.mot"), ERS7).motion()
    np.testing.assert_allclose(reread.keyframe_times[-1], back.keyframe_times[-1], atol=1e-9)
    times = np.linspace(0.0, back.duration, 23)
    np.testing.assert_allclose(
        reread.sample_at(times).angles, back.sample_at(times).angles, rtol=0.0, atol=WRITTEN_RAD + 1e-9
    )
