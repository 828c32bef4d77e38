"""Ticks fall due on exact frames, for ever."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.control import Schedule
from posewright.controllers.passes import Passes

FRAME_S = 1 / 128


@pytest.mark.parametrize("period_s", [0.1, 0.02, 0.0333, 1 / 128, 0.25, 1.0])
def test_over_a_thousand_seconds_every_tick_is_at_its_first_possible_frame(period_s: float) -> None:
    schedule = Schedule(period_s, FRAME_S)
    exact = Fraction(str(period_s)) if period_s != 1 / 128 else Fraction(1, 128)
    for tick in range(int(1000 / period_s)):
        frame = schedule.frame_of(tick)
        assert Fraction(frame, 128) >= tick * exact
        assert Fraction(frame - 1, 128) < tick * exact


def test_at_ten_hertz_blocks_are_of_12_or_13_frames_and_five_take_64() -> None:
    schedule = Schedule(0.1, FRAME_S)
    frames = [schedule.frame_of(tick) for tick in range(11)]
    assert frames == [0, 13, 26, 39, 52, 64, 77, 90, 103, 116, 128]


@given(st.integers(0, 10**9), st.sampled_from([0.1, 0.05, 0.03]))
def test_ticks_come_in_order(tick: int, period_s: float) -> None:
    schedule = Schedule(period_s, FRAME_S)
    assert schedule.frame_of(tick) < schedule.frame_of(tick + 1)


@given(st.sampled_from([0.009, 0.015, 0.0075, 0.02, 0.0078, 1 / 128, 1 / 60]), st.integers(1, 200))
def test_a_period_of_whole_frames_is_due_on_that_frame_whatever_the_frame(frame_s: float, k: int) -> None:
    schedule = Schedule(k * frame_s, frame_s)
    assert [schedule.frame_of(tick) for tick in (0, 1, 2, 1000)] == [0, k, 2 * k, 1000 * k]


@pytest.mark.parametrize("frame_s", [0.009, 0.015, 0.0075, 1 / 128])
def test_a_pass_of_whole_frames_ends_on_its_last_frame(shop, frame_s: float) -> None:
    robot = replace(shop.robot, frame_period_s=frame_s)
    passes = Passes(shop.nod("nod", "left_elbow", reach_s=20 * frame_s), robot)
    assert (passes.frames_to_first_keyframe, passes.duration_frames) == (20, 40)
    once = passes.sample(shop.stand, 0, Fraction(0))
    assert (len(once.rows), once.phase) == (40, 0)
