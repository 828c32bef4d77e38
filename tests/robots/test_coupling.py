"""Coupled limits: a joint's limits where others stand so and so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.robots import CoupledLimit, Coupling, RangeCondition

JOINTS = ("hip", "knee", "jaw")


def row(lower: float, upper: float, *, rounding: float = 0.0, **where: tuple[float, float]) -> CoupledLimit:
    """Return a row that limits the knee, all in radians."""
    ranges = tuple(RangeCondition(joint, *ends) for joint, ends in where.items())
    return CoupledLimit("knee", ranges, lower, upper, rounding)


def pose(hip: float, knee: float, jaw: float = 0.0) -> list[float]:
    return [hip, knee, jaw]


def test_a_robot_without_coupled_limits_breaks_none() -> None:
    free = Coupling((), JOINTS)
    assert len(free) == 0
    assert free.excess(np.zeros((4, 3))).shape == (4, 0)


def test_a_row_counts_where_the_given_joint_is_in_its_range() -> None:
    coupling = Coupling([row(0.2, 1.0, hip=(-1.0, 0.0))], JOINTS)
    beyond = coupling.excess(np.array([pose(-0.5, 0.1), pose(-0.5, 1.3), pose(-0.5, 0.5), pose(0.5, 0.1)]))
    assert beyond[:, 0].tolist() == pytest.approx([0.1, 0.3, 0.0, 0.0])


def test_where_rows_overlap_it_is_enough_to_keep_one() -> None:
    coupling = Coupling([row(0.2, 1.0, hip=(-1.0, 0.1)), row(-0.5, 1.0, hip=(0.0, 1.0))], JOINTS)
    assert len(coupling) == 1
    beyond = coupling.excess(np.array([pose(-0.5, 0.0), pose(0.05, 0.0), pose(0.05, -0.6), pose(0.5, 0.0)]))
    assert beyond[:, 0].tolist() == pytest.approx([0.2, 0.0, 0.1, 0.0])


def test_the_gaps_of_a_table_in_whole_numbers_are_closed_by_its_rounding() -> None:
    rows = [row(0.2, 1.0, hip=(-10.0, -3.0), rounding=0.5), row(0.0, 1.0, hip=(-2.0, 10.0), rounding=0.5)]
    lower, upper = Coupling(rows, JOINTS).bounds(np.array([pose(-2.7, 0.2), pose(-2.4, 0.0)]))
    assert lower[:, 0].tolist() == [0.2, 0.0]
    assert upper[:, 0].tolist() == [1.0, 1.0]


def test_two_given_joints_must_both_be_in_their_ranges() -> None:
    coupling = Coupling([row(0.2, 1.0, hip=(-1.0, 0.0), jaw=(-0.5, 0.0))], JOINTS)
    assert coupling.names == ("knee at hip and jaw",)
    beyond = coupling.excess(np.array([pose(-0.5, 0.0, -0.2), pose(-0.5, 0.0, 0.2), pose(0.5, 0.0, -0.2)]))
    assert beyond[:, 0].tolist() == pytest.approx([0.2, 0.0, 0.0])


def test_tables_stand_in_the_order_of_the_joints_they_limit() -> None:
    rows = [
        CoupledLimit("jaw", (RangeCondition("hip", 0.0, 1.0),), 0.0, 1.0),
        row(0.0, 1.0, hip=(0.0, 1.0)),
        row(0.0, 1.0, jaw=(0.0, 1.0)),
        row(0.0, 0.5, hip=(1.0, 2.0)),
    ]
    coupling = Coupling(rows, JOINTS)
    assert coupling.joints == ("knee", "knee", "jaw")
    assert coupling.condition_joints == (("hip",), ("jaw",), ("hip",))


def test_where_no_row_counts_there_is_no_limit() -> None:
    lower, upper = Coupling([row(0.2, 1.0, hip=(-1.0, 0.0))], JOINTS).bounds(np.array([pose(0.5, 0.0)]))
    assert (lower[0, 0], upper[0, 0]) == (-math.inf, math.inf)


def test_a_free_joint_breaks_nothing() -> None:
    coupling = Coupling([row(0.2, 1.0, hip=(-1.0, 0.0))], JOINTS)
    beyond = coupling.excess(np.array([pose(math.nan, 0.0), pose(-0.5, math.nan)]))
    assert beyond[:, 0].tolist() == [0.0, 0.0]


angles = st.floats(-2.0, 2.0)
ends = st.tuples(angles, angles).map(lambda pair: (min(pair), max(pair)))


@given(st.lists(st.tuples(ends, ends, ends), min_size=1, max_size=6), st.lists(st.tuples(*[angles] * 3)))
def test_many_poses_at_once_are_judged_as_each_alone(
    table: list[tuple[tuple[float, float], ...]], poses: list[tuple[float, float, float]]
) -> None:
    rows = [row(*own, hip=hip, jaw=jaw) for hip, jaw, own in table]
    beyond = Coupling(rows, JOINTS).excess(np.array(poses).reshape(-1, 3))
    for (hip_rad, knee_rad, jaw_rad), excess in zip(poses, beyond[:, 0].tolist(), strict=True):
        excesses = [
            max(own[0] - knee_rad, knee_rad - own[1], 0.0)
            for hip, jaw, own in table
            if hip[0] <= hip_rad <= hip[1] and jaw[0] <= jaw_rad <= jaw[1]
        ]
        assert excess == pytest.approx(min(excesses, default=0.0))
