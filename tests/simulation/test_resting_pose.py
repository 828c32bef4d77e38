"""On which of its parts a robot comes to rest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posewright.robots import Robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.placement import find_standing_normal
from posewright.simulation.resting_pose import Supports, find_resting_normal, find_supports

metres = st.floats(-0.2, 0.2).map(lambda number: round(number, 4))
quickly = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def points(*places: tuple[float, float, float]) -> Supports:
    return Supports(np.array(places, dtype=float), np.zeros(len(places)))


def test_points_are_carried_as_soles_are() -> None:
    square = [(1, 1, 0), (1, -1, 0), (-1, -1, 0), (-1, 1, 0)]
    step = points(*square, (3, 1, 1), (3, -1, 1))
    for centre in (np.array([0.0, 0.0, 2.0]), np.array([2.0, 0.0, 2.0])):
        assert find_resting_normal(step, centre) == pytest.approx(find_standing_normal(step.centres, centre))


def test_a_thicker_ball_lifts_its_corner() -> None:
    centres = np.array([(1, 1, 0), (1, -1, 0), (-1, 0, 0)], dtype=float)
    up = find_resting_normal(Supports(centres, np.array([0.1, 0.1, 0.3])), np.array([0.0, 0.0, 1.0]))
    assert math.asin(up[0]) == pytest.approx(-math.asin(0.2 / 2.0))
    assert up[1] == pytest.approx(0.0)


def test_of_two_ways_to_lie_the_one_with_less_lean_counts() -> None:
    roof = points(
        (0.1, 0.1, 0),
        (0.1, -0.1, 0),
        (0, 0.1, -0.01),
        (0, -0.1, -0.01),
        (-0.1, 0.1, 0.05),
        (-0.1, -0.1, 0.05),
    )
    up = find_resting_normal(roof, np.array([0.001, 0.0, 0.1]))
    assert up[0] == pytest.approx(-0.1 / math.hypot(1.0, 0.1), abs=1e-6)


@quickly
@given(
    balls=st.lists(st.tuples(metres, metres, metres, st.floats(0.005, 0.05)), min_size=4, max_size=9),
    centre=st.tuples(metres, metres, st.floats(0.2, 0.4)),
)
def test_nothing_is_below_the_floor_and_three_balls_touch_it(
    balls: list[tuple[float, float, float, float]], centre: tuple[float, float, float]
) -> None:
    numbers = np.array(balls)
    supports = Supports(numbers[:, :3], numbers[:, 3])
    up = find_resting_normal(supports, np.array(centre))
    assert np.linalg.norm(up) == pytest.approx(1.0)
    heights = np.sort(supports.bottom_heights(up))
    upright = np.array_equal(up, [0.0, 0.0, 1.0])
    assert upright or heights[2] - heights[0] < 1e-5


@quickly
@given(shares=st.lists(st.floats(0.0, 1.0), min_size=20, max_size=20))
def test_any_pose_of_a_dog_lies_on_the_floor(dog: SimulatedBody, shares: list[float]) -> None:
    lower, upper = dog.robot.limits
    dog.put_down(lower + np.array(shares) * (upper - lower))
    supports = find_supports(dog.instance)
    assert supports.bottom_heights(np.array([0.0, 0.0, 1.0])).min() == pytest.approx(0.0, abs=1e-9)
    assert dog.world.data.xmat[dog.world.addresses.base_body][8] > 0.0
    assert not dog.world.data.qvel.any()


def test_boxes_count_with_their_corners_and_capsules_with_their_ends(bioloid: Robot, ers7: Robot) -> None:
    for robot, lowest in ((bioloid, "right_sole"), (ers7, "left_rear_paw")):
        body = SimulatedBody(World(robot))
        supports = find_supports(body.instance)
        low = supports.centres[supports.bottom_heights(np.array([0.0, 0.0, 1.0])).argmin()]
        assert np.linalg.norm(low - body.world.data.geom(lowest).xpos) < 0.3
        assert supports.bottom_heights(np.array([0.0, 0.0, 1.0])).min() == pytest.approx(0.0, abs=1e-9)
