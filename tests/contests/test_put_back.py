"""Where a robot is put: with room around it, as near as may be, and without gain."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arenas import arena, point_distances, random_layout
from posewright.contests.put_back import clear_place, turned_towards

CLEARANCE = 0.2


def poses(boxes) -> np.ndarray:
    return np.array([(b.x, b.y, 0.25, math.cos(b.yaw_rad / 2), 0, 0, math.sin(b.yaw_rad / 2)) for b in boxes])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 500), st.floats(0.0, 2.5), st.floats(-1.0, 1.0), st.sampled_from([1.0, -1.0]))
def test_on_a_legal_layout_there_is_always_room_nearby(seed, x, y, forward):
    boxes = random_layout(seed)
    x_m, y_m = clear_place(x, y, poses(boxes), arena(), clearance_m=CLEARANCE, forward=forward)
    places = np.array([(b.x, b.y, b.yaw_rad) for b in boxes])
    assert point_distances((x_m, y_m), places, (0.2, 0.2)).min() >= CLEARANCE
    assert CLEARANCE <= x_m <= 2.5 - CLEARANCE
    assert abs(y_m) <= 1.0 - CLEARANCE


def test_a_free_place_is_kept():
    assert clear_place(1.2, 0.1, np.empty((0, 7)), arena(), clearance_m=0.2, forward=1.0) == (1.2, 0.1)


def test_of_two_equally_near_places_the_one_further_back_is_taken():
    box = poses(random_layout(0)[:1]) * 0.0 + (1.25, 0.0, 0.25, 1.0, 0.0, 0.0, 0.0)
    for forward in (1.0, -1.0):
        x_m, _ = clear_place(1.25, 0.0, box, arena(), clearance_m=0.2, forward=forward)
        assert (x_m - 1.25) * forward < -0.2


def test_a_box_lying_on_its_side_is_kept_clear_of_along_its_length():
    half = math.sqrt(0.5)
    lying = np.array([(1.25, 0.0, 0.1, half, 0.0, half, 0.0)])  # tipped over its y: its height lies along x
    x_m, y_m = clear_place(1.55, 0.0, lying, arena(), clearance_m=0.2, forward=-1.0)
    assert math.hypot(max(abs(x_m - 1.25) - 0.25, 0.0), max(abs(y_m) - 0.1, 0.0)) >= 0.2


@given(st.floats(-math.pi, math.pi), st.sampled_from([0.0, math.pi]), st.floats(0.0, 1.0))
def test_turning_never_exceeds_what_is_allowed_and_never_turns_away(heading, goal, most):
    turned = turned_towards(heading, goal, most)
    before, after = (abs(math.remainder(goal - angle, math.tau)) for angle in (heading, turned))
    assert abs(math.remainder(turned - heading, math.tau)) <= most + 1e-9
    assert after <= before + 1e-9
    assert after == 0.0 or math.isclose(before - after, most, abs_tol=1e-9) or after < 1e-9
