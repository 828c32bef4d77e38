"""The way of a foot through the air, what lies between two points, and which foot is up when."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError, UnknownNameError
from posewright.gaits import (
    CRAWL,
    FEET,
    LEFT_TURN,
    PACE,
    PHASE_TABLES,
    RIGHT_TURN,
    TROT,
    Interpolation,
    PhaseTable,
    phase_table,
    read_gait,
    timing_of,
)
from posewright.gaits.curves import weights
from posewright.gaits.quadruped.foot_timeline import AirPath, air_path

HEIGHTS = st.floats(0.0, 0.05)
SHARES = st.floats(0.0, 1.0)
ASCENTS = st.floats(0.05, 0.5)
TIMES = np.linspace(0.0, 1.0, 401)


def path(**other: float) -> AirPath:
    values = {"rear_m": 0.01, "central_m": 0.02, "front_m": 0.03, "ascent_share": 0.25}
    return AirPath(**{**values, "ascent_factor": 0.3, "shape_factor": 0.0, **other})


@given(st.tuples(HEIGHTS, HEIGHTS, HEIGHTS), ASCENTS, SHARES, SHARES)
def test_a_foot_goes_from_the_ground_to_the_ground_and_never_back(
    over: tuple[float, float, float], ascent: float, factor: float, shape: float
) -> None:
    rear, central, front = over
    along, heights = AirPath(rear, central, front, ascent, factor, shape).stroke_shares_and_heights(TIMES)
    assert along[0] == heights[0] == 0.0
    assert along[-1] == pytest.approx(1.0, abs=1e-15)
    assert heights[-1] == pytest.approx(0.0, abs=1e-15)
    assert (np.diff(along) >= -1e-15).all()
    assert heights.min() >= 0.0
    assert heights.max() <= max(rear, central, front) + 1e-15
    middle = AirPath(rear, central, front, ascent, factor, shape).stroke_shares_and_heights(np.array([0.5]))
    assert middle[0][0] == pytest.approx(0.5)
    assert middle[1][0] == pytest.approx(central)


@given(HEIGHTS, HEIGHTS, HEIGHTS, st.floats(0.05, 0.45), SHARES)
def test_straight_lines_lead_over_the_three_heights(
    rear: float, central: float, front: float, ascent: float, factor: float
) -> None:
    straight = AirPath(rear, central, front, ascent, factor, 0.0)
    along, heights = straight.stroke_shares_and_heights(np.array([ascent, 0.5, 1.0 - ascent]))
    assert heights == pytest.approx([rear, central, front])
    assert along == pytest.approx([factor / 2.0, 0.5, 1.0 - factor / 2.0])


def test_the_ascent_factor_leads_from_a_square_to_a_diamond() -> None:
    square, _ = path(ascent_factor=0.0).stroke_shares_and_heights(np.array([0.25, 0.75]))
    assert square.tolist() == [0.0, 1.0]
    diamond, _ = path(ascent_factor=1.0).stroke_shares_and_heights(np.array([0.25, 0.75]))
    assert diamond.tolist() == [0.5, 0.5]


def test_the_shape_factor_leads_from_straight_lines_to_half_an_ellipse() -> None:
    even = {"rear_m": 0.02, "central_m": 0.02, "front_m": 0.02}
    along, heights = path(shape_factor=1.0, **even).stroke_shares_and_heights(TIMES)
    assert (2.0 * along - 1.0) ** 2 + (heights / 0.02) ** 2 == pytest.approx(np.ones_like(along))
    blend = path(shape_factor=0.4, **even).stroke_shares_and_heights(TIMES)
    straight, round_one = (
        path(shape_factor=0.0, **even).stroke_shares_and_heights(TIMES),
        path(shape_factor=1.0, **even).stroke_shares_and_heights(TIMES),
    )
    for mixed, one, other in zip(blend, straight, round_one, strict=True):
        assert mixed == pytest.approx(0.6 * one + 0.4 * other)


def test_the_ellipse_rises_by_the_rear_height_and_sinks_by_the_front_height() -> None:
    _, low_rear = path(shape_factor=1.0, rear_m=0.0).stroke_shares_and_heights(np.array([0.2]))
    _, high_rear = path(shape_factor=1.0, rear_m=0.03).stroke_shares_and_heights(np.array([0.2]))
    assert high_rear[0] > low_rear[0] + 0.005
    _, low_front = path(shape_factor=1.0, front_m=0.0).stroke_shares_and_heights(np.array([0.8]))
    assert (
        path(shape_factor=1.0, front_m=0.03).stroke_shares_and_heights(np.array([0.8]))[1][0]
        > low_front[0] + 0.005
    )


@given(ASCENTS)
def test_a_foot_is_told_the_corners_and_what_lies_between(ascent: float) -> None:
    instants = path(ascent_share=ascent).point_phases
    assert (np.diff(instants) > 0.0).all()
    for corner in (0.0, ascent, 0.5, 1.0 - ascent, 1.0):
        assert np.abs(instants - corner).min() < 1e-12


def test_fore_and_hind_feet_have_their_own_heights() -> None:
    gait = read_gait("trot").with_values({"rear_height_m.fore": 0.02, "rear_height_m.hind": 0.03})
    timing = timing_of(gait.parameters, 0.008)
    rears = {foot: air_path(gait.parameters, timing, foot).rear_m for foot in FEET}
    assert rears == {"left_front": 0.02, "right_front": 0.02, "left_rear": 0.03, "right_rear": 0.03}


KNOTS = st.lists(st.floats(0.01, 1.0), min_size=2, max_size=12).map(lambda w: np.cumsum([0.0, *w]))


@given(KNOTS, st.sampled_from(Interpolation))
def test_lines_and_splines_lead_through_the_same_points(knots: np.ndarray, way: Interpolation) -> None:
    assert weights(knots, knots, way) == pytest.approx(np.eye(len(knots)), abs=1e-12)


@given(KNOTS, st.sampled_from(Interpolation), SHARES)
def test_what_all_points_share_stays(knots: np.ndarray, way: Interpolation, part: float) -> None:
    times = np.array([part * knots[-1]])
    assert weights(knots, times, way).sum(axis=1) == pytest.approx([1.0], abs=1e-12)
    line = 2.0 * knots - 1.0
    assert weights(knots, times, way) @ line == pytest.approx(2.0 * times - 1.0, abs=1e-9)


@given(KNOTS)
def test_a_spline_follows_a_parabola_between_inner_knots(knots: np.ndarray) -> None:
    if len(knots) < 5:
        return
    times = np.linspace(knots[1], knots[-2], 23)
    curve = weights(knots, times, Interpolation.SPLINE) @ (knots**2 - knots)
    assert curve == pytest.approx(times**2 - times, abs=1e-9)


@given(KNOTS)
def test_a_spline_has_one_slope_at_each_knot(knots: np.ndarray) -> None:
    values = np.sin(7.0 * knots)
    for knot in knots[1:-1]:
        around = np.array([knot - 1e-6, knot, knot + 1e-6])
        before, here, after = weights(knots, around, Interpolation.SPLINE) @ values
        assert here - before == pytest.approx(after - here, abs=1e-6 * 2e-2)


@given(KNOTS)
def test_what_comes_later_than_two_knots_does_not_matter(knots: np.ndarray) -> None:
    times = np.linspace(knots[0], knots[1], 5)
    assert (weights(knots, times, Interpolation.SPLINE)[:, 3:] == 0.0).all()


def test_the_tables_that_books_draw() -> None:
    assert set(PHASE_TABLES) == {"crawl", "trot", "pace", "left_turn", "right_turn"}
    lift = TROT.offsets
    assert lift["left_front"] == lift["right_rear"] != lift["right_front"] == lift["left_rear"]
    lift = PACE.offsets
    assert lift["left_front"] == lift["left_rear"] != lift["right_front"] == lift["right_rear"]
    assert sorted(CRAWL.offsets.values()) == sorted(LEFT_TURN.offsets.values()) == [0.0, 0.25, 0.5, 0.75]
    assert RIGHT_TURN.offsets == LEFT_TURN.mirrored.offsets
    assert phase_table("crawl") is CRAWL
    with pytest.raises(UnknownNameError, match="phase table"):
        phase_table("gallop")


@pytest.mark.parametrize("name", ["crawl", "trot", "pace"])
def test_a_straight_table_is_its_own_mirror_half_a_cycle_later(name: str) -> None:
    table = phase_table(name)
    later = {foot: (phase + 0.5) % 1.0 for foot, phase in table.offsets.items()}
    assert table.mirrored.offsets == later


@pytest.mark.parametrize("name", PHASE_TABLES)
def test_a_table_mirrored_twice_is_itself(name: str) -> None:
    table = phase_table(name)
    assert table.mirrored.mirrored == table
    assert hash(table.mirrored.mirrored) == hash(table)
    assert table.mirrored.starts == table.starts


@pytest.mark.parametrize(
    "lift", [{}, {"left_front": 0.0}, dict.fromkeys(FEET, 1.0), dict.fromkeys(FEET, -0.1)]
)
def test_a_table_that_is_none_is_refused(lift: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"of left_front|from 0 to less than 1"):
        PhaseTable("own", lift)
