"""How points grew: what the curve says at the end of a leg is what the judge says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.contests import judge, progress, score


def race(scenario):
    story = scenario().stand(5.0).walk(1.2, seconds=20.0).fall(1.0).note("fall").touch("fall").put_back()
    story.walk(2.2, seconds=25.0).turn(math.pi, seconds=5.0)
    return story.walk(0.3, seconds=25.0).recording()


def test_a_leg_ends_with_the_judges_points(scenario):
    recording = race(scenario)
    result = judge(recording)
    for leg_progress, leg in zip(progress(recording), result.legs, strict=True):
        assert (leg_progress.times[-1], leg_progress.earned[-1]) == (leg.ended_at_s, leg.raw_points)
        assert leg_progress.if_crossed[-1] == leg.raw_points
        assert (np.diff(leg_progress.times) > 0.0).all()


def test_before_the_line_time_earns_nothing(scenario):
    """An unfinished leg has taken the whole time: points are those of its distance and penalties."""
    first = progress(race(scenario))[0]
    at_15_s = int(np.searchsorted(first.times, 15.0))
    distance_cm = (0.25 + 0.95 * (first.times[at_15_s] - 5.0) / 20.0 - 0.05 - 0.5) * 100.0
    assert first.earned[at_15_s] == pytest.approx(score(300.0, distance_cm, 0).raw_points, abs=0.05)


def test_crossing_earns_less_the_later_it_is_and_a_penalty_counts_from_when_it_was_given(scenario):
    first = progress(race(scenario))[0]
    assert (np.diff(first.if_crossed) < 0.0).all()
    drop = int(np.diff(first.if_crossed).argmin())
    assert first.times[drop] <= 26.0 <= first.times[drop + 1] + 1e-9
    assert (first.earned <= first.if_crossed + 1e-9).all()


def test_legs_that_were_not_begun_have_none(scenario):
    assert progress(scenario().stand(5.0).recording()) == ()
    assert [
        leg_progress.leg
        for leg_progress in progress(scenario().stand(5.0).walk(1.0, seconds=5.0).recording())
    ] == [1]
