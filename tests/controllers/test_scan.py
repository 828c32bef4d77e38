"""Corridors, free courses and walls agree with plain geometry, and with their mirror images."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.controllers.behaviours.scan import Beams, Scan, Side
from posewright.errors import InputError

MAX_RANGE_M = 5.0
RING = Beams.of(-180.0, 5.0, 72)

ranges_m = st.lists(st.floats(0.05, 4.9) | st.just(MAX_RANGE_M), min_size=72, max_size=72).map(np.array)
# Off the beams' own directions: a point exactly abeam is neither ahead nor behind.
headings_rad = st.floats(-math.pi, math.pi).map(lambda angle: angle + 0.0123)


def scan_of(ranges: np.ndarray, beams: Beams = RING) -> Scan:
    return Scan(beams, ranges, MAX_RANGE_M)


def corridor_by_hand(scan: Scan, towards_rad: float, width_m: float) -> float:
    """Look at each beam's end on its own, without any matrix."""
    free = MAX_RANGE_M
    for angle, reach in zip(scan.beams.angles, scan.ranges, strict=True):
        ahead = reach * math.cos(angle - towards_rad)
        aside = reach * math.sin(angle - towards_rad)
        if reach < MAX_RANGE_M and ahead > 0.0 and abs(aside) <= width_m / 2.0:
            free = min(free, ahead)
    return free


@given(ranges_m, headings_rad, st.floats(0.05, 1.0))
def test_a_corridor_is_as_long_as_the_nearest_point_in_it(ranges, towards, width) -> None:
    scan = scan_of(ranges)
    length = scan.corridor(towards_rad=towards, width_m=width)
    # A point within rounding of the corridor's side may fall either way.
    near = [corridor_by_hand(scan, towards, width + slack) for slack in (-1e-9, 0.0, 1e-9)]
    assert min(near) - 1e-9 <= length <= max(near) + 1e-9


@given(ranges_m, headings_rad, st.sampled_from(Side), st.floats(0.1, 0.6), st.floats(0.2, 1.5))
def test_the_free_course_is_the_first_whose_corridor_is_long_enough(
    ranges, towards, side, width, length
) -> None:
    scan = scan_of(ranges)
    turn_rad = scan.free_course(towards_rad=towards, side=side, width_m=width, length_m=length)
    turns = [math.radians(5.0 * i) for i in range(37)]

    def first_clear(slack: float) -> float:
        """Return the first turn after which a corridor that much wider and longer is free."""
        for turn in turns:
            heading = towards + side.value * turn
            if scan.corridor(towards_rad=heading, width_m=width + slack) >= length + slack:
                return turn
        return math.inf

    # A point within rounding of a corridor's side or end may fall either way.
    turn_rad = math.inf if turn_rad is None else turn_rad
    assert first_clear(-1e-9) - 1e-9 <= turn_rad <= first_clear(1e-9) + 1e-9


@given(ranges_m, headings_rad, st.floats(0.1, 0.6))
def test_a_mirrored_scan_gives_mirrored_answers(ranges, towards, width) -> None:
    beams = Beams(np.radians(np.arange(-177.5, 180.0, 5.0)))
    scan = scan_of(ranges, beams)
    mirrored = scan_of(ranges[::-1], beams)
    assert scan.corridor(towards_rad=towards, width_m=width) == pytest.approx(
        mirrored.corridor(towards_rad=-towards, width_m=width)
    )
    wall = scan.farthest_along(towards_rad=towards, within_rad=1.0)
    assert wall == pytest.approx(mirrored.farthest_along(towards_rad=-towards, within_rad=1.0))
    left, right = (
        scan.free_course(towards_rad=a, side=s, width_m=width, length_m=0.6)
        for a, s in ((towards, Side.LEFT), (towards, Side.RIGHT))
    )
    assert mirrored.free_course(towards_rad=-towards, side=Side.RIGHT, width_m=width, length_m=0.6) == left
    assert mirrored.free_course(towards_rad=-towards, side=Side.LEFT, width_m=width, length_m=0.6) == right


def room_around(x: float, y: float, yaw: float) -> np.ndarray:
    """Return what a ring reads at (x, y) in an empty room of 2.5 x 2 m, looking along yaw."""
    bearings = RING.angles + yaw
    c = np.cos(bearings)
    s = np.sin(bearings)
    with np.errstate(divide="ignore", over="ignore"):
        along_x = np.where(c > 0, (2.5 - x) / c, -x / c)
        along_y = np.where(s > 0, (1.0 - y) / s, (-1.0 - y) / s)
    return np.minimum(np.abs(along_x), np.abs(along_y))


@given(st.floats(0.2, 2.3), st.floats(-0.8, 0.8), headings_rad)
def test_the_wall_is_as_far_as_it_is_whatever_stands_before_it(x, y, yaw) -> None:
    ranges = room_around(x, y, yaw)
    before = scan_of(ranges).farthest_along(towards_rad=-yaw, within_rad=math.radians(20.0))
    assert before == pytest.approx(2.5 - x, abs=1e-9) or before < 2.5 - x  # a corner may hide the wall
    boxed = np.where(np.arange(72) % 3 == 0, 0.15, ranges)
    after = scan_of(boxed).farthest_along(towards_rad=-yaw, within_rad=math.radians(20.0))
    assert after == pytest.approx(before, abs=1e-9) or after < before


def test_a_box_of_the_contest_ahead_is_gone_round_on_either_side() -> None:
    ranges = np.full(72, MAX_RANGE_M)
    for i, angle in enumerate(RING.angles):
        if abs(0.6 * math.tan(angle)) <= 0.1 and math.cos(angle) > 0:
            ranges[i] = 0.6 / math.cos(angle)
    scan = scan_of(ranges)
    assert scan.corridor(towards_rad=0.0, width_m=0.3) == pytest.approx(0.6)
    # The outermost beams that meet it, 5 degrees off, end 5 cm aside of the middle.
    for side in Side:
        turn = scan.free_course(towards_rad=0.0, side=side, width_m=0.3, length_m=0.8)
        assert turn == pytest.approx(math.radians(20.0))


def test_a_beam_without_an_answer_counts_as_one_that_met_nothing() -> None:
    for strange in (math.nan, math.inf, -1.0, 0.0, 7.0):
        scan = scan_of(np.full(72, strange))
        assert scan.corridor(towards_rad=0.0, width_m=0.4) == MAX_RANGE_M
        assert scan.farthest_along(towards_rad=0.0, within_rad=1.0) == MAX_RANGE_M
        assert scan.free_course(towards_rad=0.0, side=Side.LEFT, width_m=0.4, length_m=1.0) == 0.0


def test_what_a_scan_does_not_look_at_is_not_free() -> None:
    front = Beams.of(-60.0, 5.0, 25)
    scan = scan_of(np.full(25, MAX_RANGE_M), front)
    assert not front.is_ring
    assert scan.corridor(towards_rad=math.radians(61.0), width_m=0.3) == MAX_RANGE_M
    assert scan.corridor(towards_rad=math.radians(90.0), width_m=0.3) == 0.0
    turn = scan.free_course(towards_rad=math.radians(90.0), side=Side.RIGHT, width_m=0.3, length_m=0.5)
    assert turn == pytest.approx(math.radians(30.0))


def test_beams_may_be_counted_from_left_to_right() -> None:
    rising = Beams.of(-60.0, 5.0, 25)
    falling = Beams.of(60.0, -5.0, 25)
    ranges = np.linspace(0.2, 2.0, 25)
    for towards in np.radians(np.arange(-180.0, 180.0, 15.0)):
        length = scan_of(ranges, rising).corridor(towards_rad=towards, width_m=0.3)
        assert scan_of(ranges[::-1], falling).corridor(towards_rad=towards, width_m=0.3) == length


def test_a_scan_without_beams_is_refused() -> None:
    with pytest.raises(InputError, match="one beam or more"):
        Beams(np.empty(0))
