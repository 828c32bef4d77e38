"""A servo's ticks and its joint's angle say the same thing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError
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
    tested_servo = servo(centre, direction)
    assert tested_servo.from_ticks(tested_servo.to_ticks(angle)) == pytest.approx(angle, abs=1e-12)
    assert tested_servo.from_servo_deg(tested_servo.to_servo_deg(angle)) == pytest.approx(angle, abs=1e-12)


@given(centres, directions, st.integers(0, 1022))
def test_ticks_grow_with_the_angle_or_against_it(centre: float, direction: int, tick: int) -> None:
    tested_servo = servo(centre, direction)
    step = tested_servo.from_ticks(tick + 1.0) - tested_servo.from_ticks(float(tick))
    assert step == pytest.approx(direction * math.radians(300.0 / 1024.0), abs=1e-12)


@given(centres, directions)
def test_the_joint_is_at_zero_where_the_servo_is_at_its_centre(centre: float, direction: int) -> None:
    assert servo(centre, direction).to_servo_deg(0.0) == centre
    assert servo(centre, direction).from_servo_deg(centre) == 0.0


def test_tick_512_is_150_degrees() -> None:
    assert servo().to_ticks(0.0) == 512.0


def test_arrays_are_converted_as_their_numbers_are() -> None:
    tested_servo = servo(60.0, -1)
    table = np.array([[0.0, 0.5], [-0.5, 1.0]])
    expected = [[tested_servo.to_ticks(float(angle)) for angle in row] for row in table]
    assert tested_servo.to_ticks(table).tolist() == expected
    np.testing.assert_allclose(tested_servo.from_ticks(tested_servo.to_ticks(table)), table, atol=1e-12)


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


def angle_servo(direction: int = 1, centre_deg: float = 0.0) -> Servo:
    """Return a servo that is told micro-radians, as those of an AIBO."""
    return Servo(
        joint="knee",
        id=None,
        model="J3",
        centre_deg=centre_deg,
        direction=direction,
        no_load_speed_rad_s=5.3,
        stall_torque_nm=1.5,
        compliance_slope=None,
        ticks=6283185,
        range_deg=360.0,
        first_tick=-3141592,
        tick_urad=1.0,
        stiffness_nm_rad=8.0,
    )


@given(st.integers(-3141592, 3141592), directions)
def test_a_micro_radian_servo_counts_micro_radians(tick: int, direction: int) -> None:
    tested_servo = angle_servo(direction)
    assert tested_servo.from_ticks(float(tick)) == pytest.approx(direction * tick * 1e-6, abs=1e-15)
    assert round(tested_servo.to_ticks(tested_servo.from_ticks(float(tick)))) == tick


def test_positions_are_counted_from_the_first_to_the_last() -> None:
    assert (servo().first_tick, servo().last_tick) == (0, 1023)
    assert (angle_servo().first_tick, angle_servo().last_tick) == (-3141592, 3141592)
    assert angle_servo().reach_rad == pytest.approx((-3.141592, 3.141592), abs=1e-12)


def test_stiffness_is_what_is_said_where_no_slope_says_it() -> None:
    assert angle_servo().stiffness == 8.0


def test_a_servo_must_be_stiff_somehow() -> None:
    with pytest.raises(InputError, match="has no stiffness"):
        replace(angle_servo(), stiffness_nm_rad=None)
