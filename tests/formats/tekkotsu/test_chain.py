"""From Tekkotsu's format through Sony's and Webots' and back: everything within the quanta."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.formats import FORMATS, WriteOptions
from posewright.motions import Motion
from posewright.robots import robot

ERS7 = robot("sony_ers7")
FRAME_S = 0.016
CHAIN = ("aibo-omtn", "webots-motion", "tekkotsu-mot")
ANGLES_RAD = 0.5e-6 + 0.5e-6 + 1e-6  # the quanta of the three; of the last, one, as it leaves keys out
NAMES = [name for name in ERS7.naming("tekkotsu") if not name.startswith("EAR")]


def through(motion: Motion) -> tuple[list[Motion], list[str]]:
    """Return a motion written and read again in each format of the chain, and all that got lost."""
    motions, losses = [motion], list[str]()
    for name in CHAIN:
        written = FORMATS[name].render(motions[-1], Path("some"), WriteOptions())
        losses += written.losses
        motions.append(FORMATS[name].read(written.data, Path("some"), ERS7).motion())
    return motions[1:], losses


def check(motion: Motion, mtn: Motion, back: Motion) -> None:
    times = motion.keyframe_times
    frames = mtn.keyframe_times[-len(times) :]  # before them it stands where the way in would lead
    np.testing.assert_allclose(frames, times, rtol=0.0, atol=FRAME_S / 2 + 1e-9)
    assert back.duration == pytest.approx(mtn.duration)
    places = [back.joints.index(joint) for joint in motion.joints]
    there = motion.sample_at(times).angles
    np.testing.assert_allclose(back.sample_at(frames).angles[:, places], there, rtol=0.0, atol=ANGLES_RAD)


@given(
    st.lists(
        st.tuples(
            st.integers(16, 900), st.dictionaries(st.sampled_from(NAMES), st.floats(-1.5, 1.5), min_size=1)
        ),
        min_size=1,
        max_size=6,
    )
)
def test_every_angle_comes_back_within_the_quanta_and_every_time_within_a_frame(
    steps: list[tuple[int, dict[str, float]]],
) -> None:
    lines = [f"advanceTime {ms}\n" + "\n".join(f"{n} {v!r}" for n, v in keys.items()) for ms, keys in steps]
    data = "\n".join(["#MSq", *lines, "#END", ""]).encode()
    motion = FORMATS["tekkotsu-mot"].read(data, Path("some.mot"), ERS7).motion()
    (mtn, _, back), losses = through(motion)
    check(motion, mtn, back)
    assert all("besides" in loss for loss in losses)


def test_a_real_sequence_comes_back(samples: Callable[[str], Path]) -> None:
    path = samples("tekkotsu/aibo_k_fwd.mot")
    motion = FORMATS["tekkotsu-mot"].read(path.read_bytes(), path, ERS7).motion()
    (mtn, _, back), losses = through(motion)
    check(motion, mtn, back)
    assert losses == []  # but for what moves no joint: its name
