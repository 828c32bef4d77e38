"""Where a robot is put: with room around it, as near as may be, and without gain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from posewright.arenas import Box, arena, point_distances, random_layout
from posewright.contests import rules
from posewright.contests.obstacle_race.put_back import find_clear_place, turn_towards

RULES = rules().put_back
FIELD = arena()
NO_BOXES = np.empty((0, 7))
STOOD_M = 0.06
"""A robot that stood somewhere had at least half a sole's length around its middle."""


def poses(boxes) -> np.ndarray:
    return np.array([(b.x, b.y, 0.25, math.cos(b.yaw_rad / 2), 0, 0, math.sin(b.yaw_rad / 2)) for b in boxes])


def put(x, y, boxes, forward) -> tuple[float, float]:
    field = FIELD.with_boxes([Box(1.0, 0.0)] * len(boxes))  # only their kind counts, which gives their size
    return find_clear_place(x, y, boxes, field, rules=RULES, forward=forward)


def room(x, y, boxes) -> float:
    """Return how far a place is from the nearest box or wall."""
    places = np.array([(b.x, b.y, b.yaw_rad) for b in boxes])
    to_box = point_distances((x, y), places, FIELD.box_kind.footprint_m).min()
    return min(to_box, x, FIELD.size_x - x, FIELD.size_y / 2 - abs(y))


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 500), st.floats(0.06, 2.06), st.floats(-0.94, 0.94), st.sampled_from([1.0, -1.0]))
def test_wherever_a_robot_stood_it_is_put_near_with_room_and_ahead_only_where_it_must(
    seed, distance, y, forward
):
    """On every legal layout; on a leg a robot's middle is never further than its heels past the last line."""
    boxes = random_layout(seed)
    x = distance if forward > 0.0 else 2.5 - distance
    assume(room(x, y, boxes) >= STOOD_M)
    x_m, y_m = put(x, y, poses(boxes), forward)
    assert math.hypot(x_m - x, y_m - y) <= RULES.reach_m + 0.08
    if forward * (x_m - x) > 1e-6:
        assert not any(room(*place, boxes) > RULES.least_m + 0.01 for place in behind(x, y, forward))
    assert room(x_m, y_m, boxes) >= STOOD_M - 0.01
    assert not lines_between(x, x_m, forward)


def behind(x, y, forward):
    """Yield places all over the half disc around a place that is no further along the way."""
    for r in np.arange(0.01, RULES.reach_m, 0.03):
        for angle in np.linspace(math.pi / 2, 3 * math.pi / 2, 25):
            yield x + forward * r * math.cos(angle) - forward * 1e-9, y + r * math.sin(angle)


def lines_between(x, x_m, forward) -> list[float]:
    """Return the near edges of lines that lie ahead of `x` and not ahead of `x_m`."""
    edges = [forward * (line.x - forward * line.width_m / 2) for line in FIELD.lines]
    return [edge for edge in edges if forward * x < edge < forward * x_m - 1e-6]


@pytest.mark.parametrize("forward", [1.0, -1.0])
def test_a_robot_beside_a_box_is_not_put_ahead_of_it(forward):
    """Being put clear of a box it has just passed would win it the line."""
    x = 1.25 + forward * 0.80
    box = poses([Box(x - forward * 0.16, 0.0)])
    x_m, y_m = put(x, 0.0, box, forward)
    assert forward * (x_m - x) <= 0.0
    assert abs(y_m) == pytest.approx(0.3)


def test_a_robot_that_fell_on_the_line_is_put_before_it():
    assert put(2.055, 0.0, NO_BOXES, 1.0) == (pytest.approx(1.99), 0.0)
    assert put(0.445, 0.0, NO_BOXES, -1.0) == (pytest.approx(0.51), 0.0)


def test_only_where_there_is_no_room_behind_is_it_put_ahead_and_by_little():
    wall = poses([Box(1.25, 0.9 - 0.2 * i) for i in range(3)])
    x_m, y_m = put(1.42, 0.7, wall, 1.0)
    assert (x_m, y_m) == (pytest.approx(1.35 + RULES.least_m), pytest.approx(0.7))


def test_even_then_it_is_not_put_past_the_line():
    """The wall touches the line: the roomiest place behind it has to do."""
    wall = poses([Box(1.9, 0.9 - 0.2 * i) for i in range(3)])
    x_m, _ = put(2.005, 0.7, wall, 1.0)
    assert x_m <= 2.005


def test_a_free_place_is_kept():
    assert put(1.2, 0.1, NO_BOXES, 1.0) == (1.2, 0.1)


def test_of_two_equally_near_places_the_one_further_back_is_taken():
    box = poses([Box(1.25, 0.0)])
    for forward in (1.0, -1.0):
        x_m, _ = put(1.25, 0.0, box, forward)
        assert (x_m - 1.25) * forward < -0.2


def test_a_box_lying_on_its_side_is_kept_clear_of_along_its_length():
    half = math.sqrt(0.5)
    lying = np.array([(1.25, 0.0, 0.1, half, 0.0, half, 0.0)])  # tipped over its y: its height lies along x
    x_m, y_m = put(1.55, 0.0, lying, -1.0)
    assert math.hypot(max(abs(x_m - 1.25) - 0.25, 0.0), max(abs(y_m) - 0.1, 0.0)) >= 0.2 - 1e-9


@given(st.floats(-math.pi, math.pi), st.sampled_from([0.0, math.pi]), st.floats(0.0, 1.0))
def test_turning_never_exceeds_what_is_allowed_and_never_turns_away(heading, goal, max_turn):
    turned = turn_towards(heading, goal, max_turn)
    before, after = (abs(math.remainder(goal - angle, math.tau)) for angle in (heading, turned))
    assert abs(math.remainder(turned - heading, math.tau)) <= max_turn + 1e-9
    assert after <= before + 1e-9
    assert after == 0.0 or math.isclose(before - after, max_turn, abs_tol=1e-9) or after < 1e-9
