"""A servo's ticks and its joint's angle say the same thing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.robots import Servo

centres = st.floats(0.0, 300.0)
directions = st.sampled_from([1, -1])
angles = st.floats(-6.0, 6.0)


def servo(centre_deg: float = 150.0, direction: int = 1, slope: float = 32.0) -> Servo:
    return Servo(
        joint="knee",
        id=1,
        model="AX-12A",
        centre_deg=centre_deg,
        direction=direction,
        no_load_speed_rad_s=6.18,
        stall_torque_nm=1.5,
        compliance_slope=slope,
    )


@given(centres, directions, angles)
def test_an_angle_survives_the_way_to_ticks_and_back(centre: float, direction: int, angle: float) -> None:
    there = servo(centre, direction)
    assert there.from_ticks(there.to_ticks(angle)) == pytest.approx(angle, abs=1e-12)
    assert there.from_servo_deg(there.to_servo_deg(angle)) == pytest.approx(angle, abs=1e-12)


@given(centres, directions, st.integers(0, 1022))
def test_ticks_grow_with_the_angle_or_against_it(centre: float, direction: int, tick: int) -> None:
    there = servo(centre, direction)
    step = there.from_ticks(tick + 1.0) - there.from_ticks(float(tick))
    assert step == pytest.approx(direction * math.radians(300.0 / 1024.0), abs=1e-12)


@given(centres, directions)
def test_the_joint_is_at_zero_where_the_servo_is_at_its_centre(centre: float, direction: int) -> None:
    assert servo(centre, direction).to_servo_deg(0.0) == centre
    assert servo(centre, direction).from_servo_deg(centre) == 0.0


def test_tick_512_is_150_degrees() -> None:
    assert servo().to_ticks(0.0) == 512.0


def test_arrays_are_converted_as_their_numbers_are() -> None:
    there = servo(60.0, -1)
    table = np.array([[0.0, 0.5], [-0.5, 1.0]])
    expected = [[there.to_ticks(float(angle)) for angle in row] for row in table]
    assert there.to_ticks(table).tolist() == expected
    np.testing.assert_allclose(there.from_ticks(there.to_ticks(table)), table, atol=1e-12)


@pytest.mark.parametrize(
    ("slope", "stiffness"),
    [(2, 146.5), (4, 73.3), (8, 36.6), (16, 18.3), (32, 9.16), (64, 4.58), (128, 2.29)],
)
def test_stiffness_is_the_published_one_for_every_slope(slope: float, stiffness: float) -> None:
    assert servo(slope=slope).stiffness == pytest.approx(stiffness, rel=2e-3)


@given(centres, directions)
def test_the_reach_is_the_whole_travel_but_one_tick(centre: float, direction: int) -> None:
    lower, upper = servo(centre, direction).reach_rad
    assert upper - lower == pytest.approx(math.radians(300.0 * 1023 / 1024))
