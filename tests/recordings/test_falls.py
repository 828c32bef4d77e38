"""Falls: limits, blocks of any size, and what is one fall or two."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posewright.arrays import Flags, Floats
from posewright.contests.obstacle_race.rules import rules
from posewright.evaluation.walking.walk import fall_limits
from posewright.recordings.falls import (
    DownInterval,
    FallDetector,
    FallenSide,
    FallLimits,
    describe_direction,
    find_fallen_side,
    tilt,
    true_intervals,
    up_in_base_frame,
)

FRAME_S = 1.0 / 128.0
LIMITS = FallLimits(tilt_rad=math.radians(60.0), height_share=0.5, lasting_s=0.25)


def leaning(*degrees: float, height_m: float = 0.2) -> Floats:
    """Return bases that lean forward by so much."""
    half = np.radians(degrees) / 2.0
    base = np.zeros((len(half), 7))
    base[:, 2] = height_m
    base[:, 3] = np.cos(half)
    base[:, 5] = np.sin(half)
    return base


def bases(down: Flags) -> Floats:
    return leaning(*np.where(down, 80.0, 0.0))


def times_of(n: int) -> Floats:
    return np.arange(1.0, n + 1.0) * FRAME_S


def detect_falls(flags: Flags, limits: FallLimits, cuts: tuple[int, ...] = ()) -> list[DownInterval]:
    """Return the falls of a base that is down in some frames, seen in blocks."""
    detector = FallDetector(limits)
    for times, base in zip(np.split(times_of(len(flags)), cuts), np.split(bases(flags), cuts), strict=True):
        detector.advance(times, base)
    return detector.falls()


def test_tilt_is_the_angle_to_the_sky_however_the_field_leans() -> None:
    base = leaning(0.0, 1e-6, 30.0, 90.0, 180.0)
    np.testing.assert_allclose(np.degrees(tilt(base)), (0.0, 1e-6, 30.0, 90.0, 180.0), atol=1e-9)
    slope = np.array((math.sin(math.radians(30.0)), 0.0, math.cos(math.radians(30.0))))
    np.testing.assert_allclose(np.degrees(tilt(base, slope)), (30.0, 30.0, 0.0, 60.0, 150.0), atol=1e-5)


def test_a_base_that_leans_forward_sees_the_sky_behind_it() -> None:
    assert describe_direction(up_in_base_frame(leaning(30.0)[0])) == "back"
    assert describe_direction(-up_in_base_frame(leaning(30.0)[0])) == "forward"
    assert describe_direction(np.array((0.1, 0.5, 0.0))) == "to the left"


def test_runs_are_half_open_and_bridged() -> None:
    flags = np.array([1, 1, 0, 1, 0, 0, 1], dtype=np.bool_)
    assert true_intervals(flags) == [(0, 2), (3, 4), (6, 7)]
    assert true_intervals(flags, max_gap=1) == [(0, 4), (6, 7)]
    assert true_intervals(np.zeros(0, dtype=np.bool_)) == []


def test_a_stumble_is_no_fall() -> None:
    flags = np.zeros(200, dtype=np.bool_)
    flags[20:40] = True
    assert detect_falls(flags, LIMITS) == []
    flags[100:133] = True
    (fall,) = detect_falls(flags, LIMITS)
    assert (fall.begin, fall.end, fall.since_s) == (100, 133, 101 * FRAME_S)


def test_a_base_is_down_where_it_is_low_too() -> None:
    base = np.concatenate([leaning(0.0), leaning(*[0.0] * 50, height_m=0.09)])
    detector = FallDetector(LIMITS)
    assert detector.advance(times_of(51), base) is not None
    assert not FallDetector(FallLimits(1.0)).find_down_rows(base).any()


def test_what_lies_at_the_end_counts_where_it_is_told_to() -> None:
    flags = np.zeros(50, dtype=np.bool_)
    flags[48:] = True
    assert detect_falls(flags, LIMITS) == []
    limits = FallLimits(LIMITS.tilt_rad, lasting_s=0.25, ends_down=True)
    assert [(fall.begin, fall.end) for fall in detect_falls(flags, limits)] == [(48, 50)]


def test_a_short_time_up_interrupts_a_fall_in_a_race_but_not_in_a_walk() -> None:
    # docs/contests.md: 0.5 s; docs/measuring-a-gait.md: 0.3 s with interruptions of up to 0.1 s
    race_limits = rules().fall.limits
    walk_limits = fall_limits(FRAME_S)

    def count_falls(down_s: float, up_s: float, limits: FallLimits) -> int:
        """Return the falls of a base that is down twice, with a time up between and after that."""
        n_down = round(down_s / FRAME_S)
        times = [True] * n_down + [False] * round(up_s / FRAME_S)
        return len(detect_falls(np.array([*times, *times]), limits))

    assert count_falls(0.4, 0.05, race_limits) == 0
    assert count_falls(0.6, 0.05, race_limits) == 2
    assert count_falls(0.2, 0.05, walk_limits) == 1
    assert count_falls(0.2, 0.2, walk_limits) == 0


def test_who_was_put_on_his_feet_falls_anew() -> None:
    detector = FallDetector(LIMITS)
    down = bases(np.ones(40, dtype=np.bool_))
    first = detector.advance(times_of(40), down)
    detector.start_new_interval()
    assert first is not None
    assert detector.advance(times_of(80)[40:60], down[:20]) is None
    again = detector.advance(times_of(80)[60:], down[:20])
    assert again is not None
    assert (first.begin, again.begin) == (0, 40)


@given(
    flags=st.lists(st.booleans(), min_size=1, max_size=80),
    cuts=st.sets(st.integers(1, 79)),
    bridge=st.integers(0, 3),
    min_rows=st.integers(1, 6),
    ends_down=st.booleans(),
)
def test_blocks_do_not_matter_and_falls_are_long_runs(
    flags: list[bool], cuts: set[int], bridge: int, min_rows: int, ends_down: bool
) -> None:
    down = np.array(flags, dtype=np.bool_)
    limits = FallLimits(
        1.0, lasting_s=(min_rows - 1) * FRAME_S, bridge_s=(bridge + 1) * FRAME_S, ends_down=ends_down
    )
    expected = [
        (begin, end)
        for begin, end in true_intervals(down, max_gap=bridge)
        if end - begin >= min_rows or (ends_down and end == len(down))
    ]
    cut_rows = tuple(sorted(cut for cut in cuts if cut < len(down)))
    assert [(fall.begin, fall.end) for fall in detect_falls(down, limits, cut_rows)] == expected


def test_no_rows_say_nothing() -> None:
    assert FallDetector(LIMITS).advance(np.zeros(0), np.zeros((0, 7))) is None
    assert FallDetector(LIMITS).falls() == []


@pytest.mark.parametrize("until_s", [0.2, 0.5])
def test_falls_are_told_as_they_looked_then(until_s: float) -> None:
    flags = np.ones(128, dtype=np.bool_)
    detector = FallDetector(LIMITS)
    detector.advance(times_of(128), bases(flags))
    assert [fall.until_s for fall in detector.falls(until_s)] == ([] if until_s < 0.25 else [until_s])


@given(st.tuples(*[st.floats(-1.0, 1.0)] * 3), st.floats(0.1, 20.0))
def test_the_side_on_which_a_robot_lies_is_the_one_it_fell_to(up: tuple[float, ...], size: float) -> None:
    length = float(np.linalg.norm(up))
    assume(length > 0.1)
    x, y, z = (component / length for component in up)
    tilt_deg = math.degrees(math.acos(min(max(z, -1.0), 1.0)))
    sideways_deg = math.degrees(math.asin(min(abs(y), 1.0)))
    assume(abs(tilt_deg - 60.0) > 1e-6 and abs(sideways_deg - 40.0) > 1e-6)  # the limits of `PhysicsRules`
    side = find_fallen_side(size * x, size * y, size * z)
    if tilt_deg < 60.0 and sideways_deg < 40.0:
        assert side is None
    else:
        directions = {"forward": FallenSide.FRONT, "back": FallenSide.BACK}
        assert side is directions.get(describe_direction(-np.array([x, y, z])), FallenSide.SIDE)
