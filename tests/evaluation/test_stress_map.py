"""Stress maps: which values a program tolerates, and what is measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from posewright.evaluation.stress import SPEED, FactorSweep, StressedRun, StressMap, SweepPoint


def sweep(*falls_of_values: tuple[int, ...]) -> FactorSweep:
    """Return a sweep over the values 0, 1, 2 ... with these falls; each upright run has 0.1 m/s."""
    points = []
    for value, falls in enumerate(falls_of_values):
        runs = tuple(
            StressedRun(seed, n_falls, measured=0.1 + 0.01 * seed) for seed, n_falls in enumerate(falls)
        )
        points.append(SweepPoint(float(value), runs))
    return FactorSweep("slope", "slope of the floor", "deg", 0.0, tuple(points))


@pytest.mark.parametrize(
    ("falls", "tolerated"),
    [
        (((0, 0), (0, 0), (1, 0)), (0.0, 1.0)),
        (((1, 0), (0, 0), (0, 0)), (1.0, 2.0)),
        (((0, 0), (2, 2), (0, 0), (0, 0)), (2.0, 3.0)),
        (((0,) * 9 + (1,), (0,) * 8 + (1, 1)), (0.0, 0.0)),
        (((1, 1), (1, 0)), None),
    ],
)
def test_the_tolerated_range_is_the_widest_one_with_nine_of_ten_upright(
    falls: tuple[tuple[int, ...], ...], tolerated: tuple[float, float] | None
) -> None:
    assert sweep(*falls).find_tolerated() == tolerated


def test_a_walk_at_less_than_half_of_its_speed_is_not_tolerated() -> None:
    upright = sweep((0, 0), (0, 0))  # at 0.105 m/s
    assert upright.find_tolerated(commanded=0.2) == (0.0, 1.0)
    assert upright.find_tolerated(commanded=-0.2) == (0.0, 1.0)
    assert upright.find_tolerated(commanded=0.22) is None


def test_only_upright_runs_count_for_the_speed() -> None:
    (point,) = sweep((0, 3, 0, 0, 1)).points
    assert point.n_upright == 3
    assert point.median == pytest.approx(0.12)
    assert point.measured_range == pytest.approx((0.1, 0.13))
    assert point.to_dict()["falls"] == 4


def test_in_a_contest_runs_with_a_fall_have_points_too() -> None:
    (walked,) = sweep((0, 3)).points
    raced = replace(walked, counts_fallen=True)
    assert walked.measurements == pytest.approx((0.1,))
    assert raced.measurements == pytest.approx((0.1, 0.11))


def test_a_value_without_an_upright_run_has_no_speed() -> None:
    (point,) = sweep((1, 1)).points
    assert point.median is None
    assert point.measured_range is None
    stress_map = StressMap("trot", "dog", "10 s", SPEED, 0.1, (sweep((1, 1), (0, 0)),))
    texts = [str(item) for item in stress_map.lines()]
    assert any("'1', 2 of 2" in text or "0 of 2" in text for text in texts)
    assert stress_map.to_dict()["factors"][0]["tolerated"] == [1.0, 1.0]  # type: ignore[index,call-overload]  # plain data
