"""What safety would not let through of a walk, however the walk is cut into blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.evaluation.walking.track import Correction
from posewright.experiments.walking.corrections import Corrections
from posewright.robots import robot

CARD = robot("sony_ers7")
FRAME_S = CARD.frame_period_s
STANDING = CARD.pose("stand")


def in_blocks(asked: Floats, cuts: list[int]) -> tuple[Floats, tuple[Correction, ...]]:
    """Return what safety lets through of a walk that is cut there, and what it does not."""
    corrections, sent = Corrections(CARD), STANDING[np.newaxis]
    for start, end in pairwise((0, *cuts, len(asked))):
        passed = corrections.let_through(asked[start:end], start, sent[-1])
        sent = np.concatenate([sent, passed.angles])
    return sent, corrections.found


@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 149), unique=True, max_size=6).map(sorted))
@settings(max_examples=40, deadline=None)
def test_what_safety_holds_back_does_not_depend_on_the_blocks(seed: int, cuts: list[int]) -> None:
    random = np.random.default_rng(seed)
    wild = random.random((150, len(STANDING))) < 0.02
    asked = STANDING + wild * random.normal(0.0, 1.5, (150, len(STANDING)))
    sent, found = in_blocks(asked, cuts)
    whole, all_found = in_blocks(asked, [])
    assert np.array_equal(sent, whole)
    assert found == all_found
    assert {one.guard for one in found} == {"joint limit", "speed limit"}


def test_a_joint_held_back_all_the_time_counts_once_in_32_frames() -> None:
    knee = CARD.index("left_front_knee")
    asked = np.tile(STANDING, (200, 1))
    asked[50:150, knee] = CARD.limits[1][knee] + 0.1
    _, found = in_blocks(asked, [70])
    frames = [round(one.time_s / FRAME_S) for one in found if one.guard == "joint limit"]
    assert frames == [51, 65, 97, 129]
