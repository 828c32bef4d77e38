"""Distances between turned rectangles, against brute force."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arenas import corners, pair_distances, point_distances

SIZE = (0.2, 0.3)
PLACES = st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-7, 7))


def outline(place, n=150) -> np.ndarray:
    """Return points all along the edges of a rectangle."""
    around = corners([place], SIZE)[0]
    way = np.linspace(0.0, 1.0, n)[:, None]
    return np.concatenate(
        [a + way * (b - a) for a, b in zip(around, np.roll(around, -1, axis=0), strict=True)]
    )


@settings(max_examples=40, deadline=None)
@given(PLACES, PLACES)
def test_distance_is_that_of_the_nearest_points_of_both_outlines(one, other):
    distance = pair_distances([one, other], SIZE)[0, 1]
    sampled = np.hypot(*(outline(one)[:, None] - outline(other)).T).min()
    if distance >= 0.0:
        assert distance - 1e-9 <= sampled <= distance + 0.3 / 150
    else:
        assert (point_distances(dense(one), [other], SIZE) == 0.0).any() or distance > -2e-2


def dense(place) -> np.ndarray:
    """Return points all over a rectangle."""
    side = np.linspace(-0.5, 0.5, 41)
    x, y = np.meshgrid(side * SIZE[0], side * SIZE[1])
    cos, sin = math.cos(place[2]), math.sin(place[2])
    return np.stack([place[0] + cos * x - sin * y, place[1] + sin * x + cos * y], axis=-1)


@given(PLACES, PLACES)
def test_distance_does_not_depend_on_who_asks(one, other):
    there, back = pair_distances([one, other], SIZE)[[0, 1], [1, 0]]
    assert there == back


def test_crossing_rectangles_overlap_though_no_corner_lies_inside():
    cross = [(0.0, 0.0, 0.0), (0.0, 0.0, math.pi / 2)]
    assert pair_distances(cross, (0.1, 1.0))[0, 1] < 0.0


def test_known_distances():
    assert pair_distances([(0, 0, 0), (1, 0, 0)], (0.2, 0.2))[0, 1] == np.float64(0.8)
    turned = pair_distances([(0, 0, 0), (1, 0, math.pi / 4)], (0.2, 0.2))[0, 1]
    assert math.isclose(turned, 1.0 - 0.1 - 0.1 * math.sqrt(2))
    assert math.isclose(pair_distances([(0, 0, 0), (1, 1, 0)], (0.2, 0.2))[0, 1], 0.8 * math.sqrt(2))


def test_a_point_inside_has_no_distance():
    assert point_distances([(0.05, 0.1), (0.2, 0.0)], [(0, 0, 0)], SIZE).tolist() == [[0.0], [0.1]]
