"""Arcs: the decomposition of a displacement against the equations it comes from and against integration."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.gaits import STILL, VelocityCommand, chain, se2_exp, se2_log, to_moved_frame

from .arcs import integrated, seen_from_before

WAYS = st.floats(-1.0, 1.0)
TURNS = st.one_of(
    st.floats(-6.2, 6.2), st.sampled_from([0.0, -0.0, 1e-12, -1e-12, 1e-8, -1e-8, 1e-4, -1e-4, 5e-324])
)
COMPONENTS = st.tuples(WAYS, WAYS, TURNS).map(np.array)


def commands() -> np.ndarray:
    """Return 150 random commands, some of them straight, turning hardly at all, or only turning."""
    some = np.random.default_rng(5)
    rows = some.uniform((-1.0, -1.0, -6.2), (1.0, 1.0, 6.2), (150, 3))
    rows[:20, 2] = 0.0
    rows[20:60, 2] = some.choice((-1.0, 1.0), 40) * 10.0 ** some.uniform(-16.0, -2.0, 40)
    rows[60:70, :2] = 0.0
    return rows


def test_a_displacement_is_what_integration_gives_at_any_turn_zero_tiny_and_to_both_sides() -> None:
    rows = commands()
    gone = np.array([integrated(row) for row in rows])
    assert np.abs(se2_exp(rows) - gone).max() < 1e-9
    assert np.abs(se2_log(gone) - rows).max() < 1e-9


@given(COMPONENTS)
def test_the_equations_of_the_document_hold(components: np.ndarray) -> None:
    dx, dy, q = components.tolist()
    x, y, turn = se2_exp(components).tolist()
    assert turn == q
    assert q * x == pytest.approx(dx * math.sin(q) + dy * math.cos(q) - dy, abs=1e-12)
    assert q * y == pytest.approx(dx - dx * math.cos(q) + dy * math.sin(q), abs=1e-12)
    if abs(q) > 1e-3:
        cot = 1.0 / math.tan(q / 2.0)
        assert dx == pytest.approx(q / 2.0 * (x * cot + y), abs=1e-9)
        assert dy == pytest.approx(q / 2.0 * (y * cot - x), abs=1e-9)


@given(COMPONENTS)
def test_what_is_composed_can_be_separated_again(components: np.ndarray) -> None:
    assert np.abs(se2_log(se2_exp(components)) - components).max() < 1e-12


@given(COMPONENTS)
def test_what_is_separated_can_be_composed_again(displacement: np.ndarray) -> None:
    again = se2_exp(se2_log(displacement))
    assert np.abs(again - displacement).max() < 1e-12


@given(COMPONENTS, st.integers(1, 200))
def test_many_small_steps_make_one_large_step(components: np.ndarray, n: int) -> None:
    gone = np.zeros(3)
    for _ in range(n):
        gone = chain(gone, se2_exp(components / n))
    assert np.abs(gone - se2_exp(components)).max() < 1e-9


@given(WAYS, WAYS)
def test_nothing_happens_at_zero_turn(forward: float, left: float) -> None:
    straight = se2_exp([forward, left, 0.0])
    assert straight.tolist() == [forward, left, 0.0]
    for turn in (1e-9, -1e-9):
        assert np.abs(se2_exp([forward, left, turn]) - straight).max() < 2e-9


@given(COMPONENTS)
def test_a_mirror_shows_the_mirrored_displacement(components: np.ndarray) -> None:
    signs = np.array([1.0, -1.0, -1.0])
    assert np.array_equal(se2_exp(signs * components), signs * se2_exp(components))


@given(COMPONENTS)
def test_going_back_the_same_way_ends_where_it_began(components: np.ndarray) -> None:
    assert np.abs(chain(se2_exp(components), se2_exp(-components))).max() < 1e-12


@given(COMPONENTS, COMPONENTS, COMPONENTS)
def test_displacements_chain_in_any_grouping(one: np.ndarray, two: np.ndarray, three: np.ndarray) -> None:
    assert np.abs(chain(chain(one, two), three) - chain(one, chain(two, three))).max() < 1e-12


@given(st.lists(COMPONENTS, min_size=1, max_size=6))
def test_many_at_once_are_as_one_by_one(rows: list[np.ndarray]) -> None:
    together = np.array(rows)
    assert np.array_equal(se2_exp(together), [se2_exp(row) for row in rows])
    assert np.array_equal(se2_log(together), [se2_log(row) for row in rows])


@given(st.tuples(WAYS, WAYS, WAYS).map(np.array), COMPONENTS, COMPONENTS)
def test_points_of_the_ground_stay_where_they_are(
    point: np.ndarray, one: np.ndarray, two: np.ndarray
) -> None:
    seen = to_moved_frame(point, one)
    assert seen[2] == point[2]
    back = chain(one, [*seen[:2], 0.0])
    assert np.abs(back[:2] - point[:2]).max() < 1e-12
    twice = to_moved_frame(seen, two)
    assert np.abs(twice - to_moved_frame(point, chain(one, two))).max() < 1e-12
    assert np.array_equal(to_moved_frame(point[:2], one), seen[:2])


@given(st.tuples(WAYS, WAYS).map(np.array), st.tuples(WAYS, WAYS, st.floats(-3.0, 3.0)).map(np.array))
@settings(max_examples=30)
def test_points_of_the_ground_are_left_behind_by_the_way_that_is_integrated(
    point: np.ndarray, components: np.ndarray
) -> None:
    seen = to_moved_frame(point, se2_exp(components))
    assert seen_from_before(seen, integrated(components)) == pytest.approx(point, abs=1e-9)


@given(st.tuples(WAYS, WAYS, st.floats(-6.0, 6.0)).map(np.array), st.floats(0.5, 20.0))
@settings(max_examples=30)
def test_a_command_for_a_displacement_leads_there_in_that_time(
    displacement: np.ndarray, seconds: float
) -> None:
    command = VelocityCommand.covering(displacement, seconds)
    there = integrated(np.array(list(command.by_name.values())), seconds)
    near = pytest.approx(displacement, abs=1e-7)  # a command of less than 1e-9 is none
    assert there == near
    assert chain(*[se2_exp(command.components(seconds / 2.0))] * 2) == near


def test_a_displacement_in_no_time_or_of_a_whole_turn_has_no_command() -> None:
    for seconds in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InputError, match=r"a displacement is to take .*more than 0 s"):
            VelocityCommand.covering((0.1, 0.0, 0.0), seconds)
    with pytest.raises(InputError, match="has no components"):
        VelocityCommand.covering((0.1, 0.0, 7.0), 1.0)
    with pytest.raises(InputError, match="_m_s is nan"):
        VelocityCommand.covering((0.0, math.nan, 0.0), 1.0)


@pytest.mark.parametrize("turn", [2.0 * math.pi, -2.0 * math.pi, 7.0, math.inf, -math.inf, math.nan])
def test_a_whole_turn_in_one_displacement_is_refused_by_its_value(turn: float) -> None:
    with pytest.raises(InputError, match=r"has no components .*less than a whole turn, 6\.283 rad") as told:
        se2_log([[0.1, 0.0, 0.5], [0.1, 0.0, turn]])
    assert f"{turn:g} rad" in str(told.value)


def test_almost_a_whole_turn_is_not() -> None:
    components = np.array([0.3, -0.2, 2.0 * math.pi - 1e-6])
    assert np.abs(se2_log(se2_exp(components)) - components).max() < 1e-8


@given(WAYS, WAYS, WAYS, st.floats(0.0, 2.0))
def test_the_components_of_a_command_are_velocity_times_time(
    forward: float, left: float, turn: float, seconds: float
) -> None:
    forward, left, turn = (round(value, 9) for value in (forward, left, turn))
    command = VelocityCommand(forward, left, turn)
    assert command.components(seconds).tolist() == [forward * seconds, left * seconds, turn * seconds]
    assert command.mirrored.mirrored == command
    assert STILL.components(seconds).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["forward_m_s", "left_m_s", "turn_rad_s"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} is .*a finite number"):
        VelocityCommand(**{name: value})


@pytest.mark.parametrize("wrong", [[1.0, 2.0], None, "abc", [1.0, 2.0, 3.0, 4.0], [[1.0], [2.0, 3.0]]])
@pytest.mark.parametrize("function", [se2_exp, se2_log, lambda ways: chain(ways, ways)])
def test_what_is_no_triple_is_refused_with_the_shape(function: Callable[[Any], object], wrong: Any) -> None:
    with pytest.raises(InputError, match=r"\(3,\) or \(\.\.\., 3\)"):
        function(wrong)


@pytest.mark.parametrize("wrong", ["a", True, None, [0.1]])
def test_a_command_that_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"forward_m_s is .*a number"):
        VelocityCommand(wrong)


def test_a_command_of_next_to_nothing_is_standing_still() -> None:
    assert VelocityCommand(1e-310, -1e-10, 9e-10) == STILL


@pytest.mark.parametrize("components", [(math.nan, 0.0, 0.0), (0.0, math.inf, 0.0), (0.0, 0.0, -math.inf)])
def test_components_that_are_not_finite_lead_nowhere(components: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="are not finite"):
        se2_exp(components)
