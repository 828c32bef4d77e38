"""Random layouts: legal, varied, in the way, the same for the same seed."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from posewright.arenas import Box, LayoutFaultKind, arena, check_layout, point_distances, random_layout
from posewright.arenas.layout import NEAR_MIDDLE_M
from posewright.errors import InputError

SEEDS = range(200)


@cache
def drawn() -> list[tuple[Box, ...]]:
    return [random_layout(seed) for seed in SEEDS]


def test_all_are_legal():
    for boxes in drawn():
        assert check_layout(boxes) == ()


def test_the_same_seed_gives_the_same_layout_and_another_another():
    assert [random_layout(seed) for seed in SEEDS] == drawn()
    assert len(set(drawn())) == len(SEEDS)


def test_three_to_six_boxes_each_as_likely():
    counts = Counter(len(boxes) for boxes in drawn())
    assert set(counts) == {3, 4, 5, 6}
    assert min(counts.values()) > len(SEEDS) / 8


@pytest.mark.parametrize("count", range(7))
def test_any_legal_number_can_be_asked_for(count):
    for seed in range(10):
        boxes = random_layout(seed, boxes=count)
        assert len(boxes) == count
        assert check_layout(boxes) == ()


def test_most_stand_in_the_way_of_a_robot_that_just_walks_ahead():
    near = sum(any(abs(box.y) < NEAR_MIDDLE_M for box in boxes) for boxes in drawn())
    assert 0.85 * len(SEEDS) < near < len(SEEDS)


def test_there_are_free_boxes_turned_ones_and_walls():
    turned = sum(any(box.yaw_rad for box in boxes) for boxes in drawn())
    leaning = sum(any(abs(box.y) > 0.85 for box in boxes) for boxes in drawn())
    assert turned > len(SEEDS) / 4
    assert leaning > len(SEEDS) / 4


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="negative"):
        random_layout(-1)
    with pytest.raises(InputError, match="0 to 6"):
        random_layout(0, boxes=7)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0.6, 1.9), st.floats(-0.9, 0.9), st.floats(0, 1.5)), max_size=6))
@example([(0.625, 0.5, 1.0), (0.625, -0.5, 1.0)])  # nearer to the start wall than a gap is wide
def test_a_way_through_is_found_just_where_a_disc_finds_one(places):
    """The check by chains of obstacles against a search on a grid of 2.5 cm for the disc's centre."""
    boxes = [Box(*place) for place in places]
    closed = LayoutFaultKind.PASSAGE in {fault.kind for fault in check_layout(boxes)}
    if closed:
        assert not disc_passes(boxes, 0.25)
    else:
        assert disc_passes(boxes, 0.25 - 0.02)


def disc_passes(boxes, radius) -> bool:
    """Return whether a disc gets from x = 0.25 to x = 2.25, searching on a grid."""
    field, step = arena(), 0.0125
    x, y = np.arange(0.25, 2.2501, step), np.arange(-1.0, 1.0001, step)
    points = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1)
    free = np.abs(points[..., 1]) <= field.size_y / 2 - radius
    if boxes:
        at = [(box.x, box.y, box.yaw_rad) for box in boxes]
        free &= point_distances(points, at, field.box_kind.footprint_m).min(axis=-1) >= radius
    reached = np.zeros_like(free)
    reached[0] = free[0]
    for _ in range(math.prod(free.shape)):
        grown = reached.copy()
        grown[1:] |= reached[:-1]
        grown[:-1] |= reached[1:]
        grown[:, 1:] |= reached[:, :-1]
        grown[:, :-1] |= reached[:, 1:]
        grown &= free
        if (grown == reached).all():
            break
        reached = grown
    return bool(reached[-1].any())
