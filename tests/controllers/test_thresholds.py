"""The laws of hysteresis."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from posewright.controllers.behaviours.inputs import Threshold

readings = st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=30)
limits = st.floats(-0.5, 0.5)
widths = st.floats(0.0, 0.5)


def along(threshold: Threshold, values: list[float]) -> list[bool]:
    """Return what it was after each reading."""
    states = []
    before = False
    for value in values:
        before = threshold.holds(value, before)
        states.append(before)
    return states


@given(readings, limits, widths)
def test_past_the_limit_it_is_true_and_past_the_hysteresis_it_is_false(values, limit, width) -> None:
    for value, state in zip(values, along(Threshold(limit, hysteresis=width), values), strict=True):
        if value < limit:
            assert state
        if value - limit > width:
            assert not state


@given(readings, limits, widths)
def test_in_between_it_stays_what_it_was(values, limit, width) -> None:
    threshold = Threshold(limit, hysteresis=width)
    for before in (False, True):
        between = limit + 0.5 * width
        if between > limit:
            assert threshold.holds(between, before) is before
    states = along(threshold, values)
    for i in range(1, len(states)):
        if states[i] != states[i - 1]:
            assert values[i] < limit or values[i] - limit > width


@given(readings, limits, widths)
def test_above_is_below_seen_in_a_mirror(values, limit, width) -> None:
    below = Threshold(limit, hysteresis=width)
    above = Threshold(-limit, above=True, hysteresis=width)
    assert along(below, values) == along(above, [-value for value in values])


@given(readings, limits, widths, widths)
def test_more_hysteresis_never_makes_it_change_more_often(values, limit, width_a, width_b) -> None:
    def changes(width: float) -> int:
        states = [False, *along(Threshold(limit, hysteresis=width), values)]
        return sum(states[i] != states[i - 1] for i in range(1, len(states)))

    assert changes(max(width_a, width_b)) <= changes(min(width_a, width_b))


def test_a_reading_that_is_no_number_changes_nothing() -> None:
    for before in (False, True):
        assert Threshold(0.35).holds(math.nan, before) is before


def test_at_the_limit_itself_it_is_not_yet_true() -> None:
    assert not Threshold(0.35).holds(0.35, previous=False)
    assert Threshold(0.35).holds(0.35, previous=True)
