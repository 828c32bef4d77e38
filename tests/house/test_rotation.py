"""Attitudes against SciPy's own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posewright.rotation import (
    heading,
    roll_pitch_yaw,
    roll_pitch_yaw_of_matrix,
    rotation_matrices,
    uprightness,
)


@pytest.fixture
def turns() -> Rotation:
    return Rotation.random(500, rng=np.random.default_rng(3))


def quaternions(turns: Rotation) -> np.ndarray:
    return np.roll(turns.as_quat(), 1, axis=-1)  # SciPy counts the real part last


def test_angles_are_those_of_turning_by_yaw_then_pitch_then_roll(turns: Rotation) -> None:
    expected = turns.as_euler("ZYX")[:, ::-1]
    assert roll_pitch_yaw(quaternions(turns)) == pytest.approx(expected, abs=1e-9)
    assert heading(quaternions(turns)) == pytest.approx(expected[:, 2], abs=1e-9)
    by_matrix = [roll_pitch_yaw_of_matrix(matrix) for matrix in turns.as_matrix()]
    assert np.array(by_matrix) == pytest.approx(expected, abs=1e-9)


def test_matrices_have_the_bodys_own_axes_as_columns(turns: Rotation) -> None:
    expected = turns.as_matrix()
    assert rotation_matrices(quaternions(turns)) == pytest.approx(expected, abs=1e-12)
    assert rotation_matrices(quaternions(turns).reshape(5, 100, 4)) == pytest.approx(
        expected.reshape(5, 100, 3, 3)
    )
    assert rotation_matrices(quaternions(turns)[0]) == pytest.approx(expected[0], abs=1e-12)


def test_uprightness_is_how_high_the_bodys_own_z_points(turns: Rotation) -> None:
    assert uprightness(quaternions(turns)) == pytest.approx(turns.apply((0.0, 0.0, 1.0))[:, 2])


def test_heading_is_where_the_bodys_own_x_points_from_above(turns: Rotation) -> None:
    x, y, _ = turns.apply((1.0, 0.0, 0.0)).T
    assert heading(quaternions(turns)) == pytest.approx(np.arctan2(y, x), abs=1e-9)


def test_a_quaternion_and_its_negative_are_one_attitude(turns: Rotation) -> None:
    one = quaternions(turns)
    assert roll_pitch_yaw(-one) == pytest.approx(roll_pitch_yaw(one))


def test_any_shape_of_many_and_a_single_one_are_taken(turns: Rotation) -> None:
    many = quaternions(turns).reshape(5, 100, 4)
    assert (roll_pitch_yaw(many).shape, heading(many).shape, uprightness(many).shape) == (
        (5, 100, 3),
        (5, 100),
        (5, 100),
    )
    assert heading(np.array([math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)])) == pytest.approx(math.pi / 2)


def test_a_pitch_of_a_quarter_turn_is_no_error() -> None:
    straight_down = np.array([math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]) * (1.0 + 1e-16)
    assert roll_pitch_yaw(straight_down)[1] == pytest.approx(math.pi / 2)
