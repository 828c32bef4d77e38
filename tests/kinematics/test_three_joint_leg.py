"""The three-joint leg against the document's matrices, itself and finite differences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.arrays import Floats
from posewright.errors import InputError, UnreachableError
from posewright.kinematics import IkForm, Knee, Lift, ThreeJointLeg

from .legs import EQUAL, FRONT, ODD, all_legs, bent_angles, both_knees, knee_zero, legal_angles, plain_legs

EPS = float(np.finfo(np.float64).eps)


def turn_x(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def turn_y(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])


def move(x: float, y: float, z: float) -> Floats:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def chain(leg: ThreeJointLeg, q1: float, q2: float, q3: float) -> Floats:
    """Return the document's matrix product, with the offsets put in where they are on the robot."""
    upper, lower = leg.upper_angle_rad, leg.lower_angle_rad
    knee = move(leg.upper_m * math.sin(upper), 0.0, -leg.upper_m * math.cos(upper))
    foot = move(leg.lower_m * math.sin(lower), leg.side_m, -leg.lower_m * math.cos(lower))
    return turn_y(-q1) @ turn_x(q2) @ knee @ turn_y(-q3) @ foot


@all_legs
def test_forward_is_the_matrix_product(leg: ThreeJointLeg) -> None:
    angles = legal_angles(200, seed=1)
    products = np.array([chain(leg, *row) for row in angles.tolist()])
    np.testing.assert_allclose(leg.forward(angles), products[:, :3, 3], rtol=0, atol=1e-15)
    np.testing.assert_allclose(leg.shank_rotations(angles), products[:, :3, :3], rtol=0, atol=1e-15)


@plain_legs
def test_forward_is_the_documents_three_sums(leg: ThreeJointLeg) -> None:
    q1, q2, q3 = legal_angles(1000, seed=2).T
    out = leg.lower_m * np.cos(q3) + leg.upper_m
    x = leg.lower_m * np.sin(q3) * np.cos(q1) + np.sin(q1) * np.cos(q2) * out
    y = np.sin(q2) * out
    z = leg.lower_m * np.sin(q1) * np.sin(q3) - np.cos(q1) * np.cos(q2) * out
    np.testing.assert_allclose(
        leg.forward(np.column_stack([q1, q2, q3])), np.column_stack([x, y, z]), rtol=0, atol=1e-15
    )


def test_a_million_legal_triples_come_back_to_1e_12() -> None:
    angles = legal_angles(1_000_000, seed=3)
    found = EQUAL.inverse(EQUAL.forward(angles))
    errors = np.abs(found - angles)
    clear = angles[:, 2] >= 0.03  # 1.7 degrees from the straight knee
    assert clear.mean() > 0.98
    assert errors[clear].max() <= 1e-12
    # and nearer to the straight knee as the docstring has it
    bend = np.sin(angles[:, 2])
    assert (errors[:, 2] <= np.minimum(16.0 * EPS / bend, 2e-7)).all()


@plain_legs
def test_hundred_thousand_triples_of_other_legs_come_back_to_1e_12(leg: ThreeJointLeg) -> None:
    angles = legal_angles(100_000, seed=4, knee=(3.0, 122.0))
    assert np.abs(leg.inverse(leg.forward(angles)) - angles).max() <= 1e-12


@all_legs
@both_knees
def test_angles_come_back_as_exactly_as_the_jacobian_allows(leg: ThreeJointLeg, knee: Knee) -> None:
    rng = np.random.default_rng(5)
    bend = knee.value * 10.0 ** rng.uniform(-6.0, 0.0, 20_000)
    q2 = rng.uniform(-1.2, 1.2, bend.size)
    angles = np.column_stack([rng.uniform(-3.0, 3.0, bend.size), q2, knee_zero(leg) + bend])
    found = leg.inverse(leg.forward(angles), knee=knee)
    worst = np.linalg.norm(np.linalg.inv(leg.jacobian(angles)), ord=2, axis=(1, 2))
    reach = leg.reach_m[1]
    assert (np.linalg.norm(found - angles, axis=1) <= 8.0 * EPS * reach * worst).all()
    knee_bound = 4.0 * EPS * reach**2 / (leg.upper_m * leg.lower_m * np.abs(np.sin(bend)))
    assert (np.abs(found - angles)[:, 2] <= knee_bound).all()


@all_legs
def test_a_stretched_leg_comes_back_to_two_ten_millionths(leg: ThreeJointLeg) -> None:
    angles = bent_angles(leg, 5000, 6, Knee.POSITIVE)
    angles[:, 2] = knee_zero(leg)
    found = leg.inverse(leg.forward(angles))
    assert np.abs(found - angles).max() <= 2e-7
    np.testing.assert_allclose(leg.forward(found), leg.forward(angles), rtol=0, atol=1e-15)


@all_legs
def test_every_point_is_reached_in_four_ways(leg: ThreeJointLeg) -> None:
    points = leg.forward(bent_angles(leg, 2000, 7, Knee.POSITIVE))
    ways = []
    for knee, lift in itertools.product(Knee, Lift):
        found = leg.inverse(points, knee=knee, lift=lift, nearest=leg is not EQUAL)
        reached = np.linalg.norm(leg.forward(found) - points, axis=1) < 1e-12
        assert reached.mean() > 0.9  # a leg with offsets reaches a little less when bent the other way
        assert (np.sign(found[:, 2] - knee_zero(leg)) == knee.value).all()
        ways.append(found)
    for one, other in itertools.combinations(ways, 2):
        assert (np.abs(one - other).max(axis=1) > 1e-6).all()


LENGTHS = st.floats(0.01, 1.0)
ANGLES = st.floats(-math.pi, math.pi)


@settings(deadline=None, max_examples=100)
@given(
    LENGTHS, LENGTHS, st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-0.5, 0.5), ANGLES, ANGLES, ANGLES
)
def test_wherever_any_leg_can_put_its_foot_it_can_put_it_again(  # noqa: PLR0917 -- given by place
    upper: float, lower: float, turned: float, bent: float, side: float, q1: float, q2: float, bend: float
) -> None:
    leg = ThreeJointLeg(upper, lower, upper_angle_rad=turned, lower_angle_rad=bent, side_m=side)
    foot = leg.forward((q1, q2, bend + knee_zero(leg)))
    for lift in Lift:
        found = leg.inverse(foot, knee=Knee.POSITIVE if bend >= 0 else Knee.NEGATIVE, lift=lift, nearest=True)
        # where two singular places meet, a foot may be refused by its last digits: then the nearest counts
        assert np.linalg.norm(leg.forward(found) - foot) <= 1e-8 * leg.reach_m[1]


@both_knees
@all_legs
def test_the_bend_keeps_its_sign(leg: ThreeJointLeg, knee: Knee) -> None:
    angles = bent_angles(leg, 5000, 8, knee)
    np.testing.assert_allclose(leg.inverse(leg.forward(angles), knee=knee), angles, rtol=0, atol=1e-13)


def test_a_foot_lifted_beyond_straight_aside_comes_back() -> None:
    angles = np.array([[0.3, math.radians(93.0), math.radians(60.0)]])
    np.testing.assert_allclose(FRONT.inverse(FRONT.forward(angles), lift=Lift.BEYOND), angles, atol=1e-12)


def test_the_strict_form_agrees_with_the_general_one() -> None:
    angles = legal_angles(100_000, seed=9, knee=(1.0, 122.0))
    angles = angles[np.abs(angles[:, 0]) <= math.radians(90.0)]
    points = EQUAL.forward(angles)
    strict = EQUAL.inverse(points, form=IkForm.STRICT)
    np.testing.assert_allclose(strict, EQUAL.inverse(points), rtol=0, atol=2e-12)
    np.testing.assert_allclose(strict, angles, rtol=0, atol=2e-12)


def test_the_strict_form_is_the_documents_formula() -> None:
    length = EQUAL.upper_m
    angles = legal_angles(2000, seed=10, knee=(30.0, 100.0))
    angles = angles[np.abs(angles[:, 0]) <= 1.5]
    points = EQUAL.forward(angles)
    q3 = 2.0 * np.arccos(np.linalg.norm(points, axis=1) / (2.0 * length))
    q2 = np.arcsin(points[:, 1] / (length * (1.0 + np.cos(q3))))
    found = EQUAL.inverse(points, form=IkForm.STRICT)
    np.testing.assert_allclose(found[:, 1:], np.column_stack([q2, q3]), rtol=0, atol=1e-12)


@plain_legs
def test_the_general_form_is_the_documents_formula(leg: ThreeJointLeg) -> None:
    angles = legal_angles(2000, seed=11, knee=(20.0, 110.0))
    x, y, z = leg.forward(angles).T
    upper, lower = leg.upper_m, leg.lower_m
    q3 = np.arccos((x * x + y * y + z * z - upper**2 - lower**2) / (2.0 * upper * lower))
    out = lower * np.cos(q3) + upper
    q2 = np.arcsin(y / out)
    beta = np.arctan2(lower * np.sin(q3), np.cos(q2) * out)
    q1 = np.remainder(np.arctan2(x, -z) - beta + math.pi, 2.0 * math.pi) - math.pi
    found = leg.inverse(np.column_stack([x, y, z]))
    np.testing.assert_allclose(found, np.column_stack([q1, q2, q3]), rtol=0, atol=1e-11)


@all_legs
def test_the_jacobian_is_what_central_differences_say(leg: ThreeJointLeg) -> None:
    angles = legal_angles(500, seed=12)
    step = 1e-5
    differences = np.stack(
        [(leg.forward(angles + d) - leg.forward(angles - d)) / (2 * step) for d in step * np.eye(3)], axis=-1
    )
    np.testing.assert_allclose(leg.jacobian(angles), differences, rtol=0, atol=1e-11)


@all_legs
def test_the_determinant_is_the_closed_form(leg: ThreeJointLeg) -> None:
    angles = legal_angles(500, seed=13)
    _, q2, q3 = angles.T
    h = leg.upper_m * math.cos(leg.upper_angle_rad) + leg.lower_m * np.cos(q3 + leg.lower_angle_rad)
    b = h * np.cos(q2) - leg.side_m * np.sin(q2)
    closed = leg.upper_m * leg.lower_m * np.sin(q3 - knee_zero(leg)) * b
    np.testing.assert_allclose(np.linalg.det(leg.jacobian(angles)), closed, rtol=0, atol=1e-17)


@all_legs
@both_knees
def test_one_point_alone_is_as_many(leg: ThreeJointLeg, knee: Knee) -> None:
    angles = bent_angles(leg, 300, 14, knee)
    points = leg.forward(angles)
    ones = np.array([leg.forward_scalar(*row) for row in angles.tolist()])
    np.testing.assert_allclose(ones, points, rtol=0, atol=1e-15)
    back = np.array([leg.inverse_scalar(*row, knee=knee) for row in points.tolist()])
    np.testing.assert_allclose(back, leg.inverse(points, knee=knee), rtol=0, atol=1e-13)


def test_shapes_are_kept() -> None:
    for shape in [(3,), (1, 3), (7, 3), (2, 5, 3), (0, 3)]:
        angles = np.full(shape, 0.4)
        points = EQUAL.forward(angles)
        assert points.shape == EQUAL.inverse(points).shape == shape
        assert EQUAL.jacobian(angles).shape == EQUAL.shank_rotations(angles).shape == (*shape, 3)
    # more than one block, and an end that is none
    many = legal_angles(9001, seed=15, knee=(10.0, 90.0))
    np.testing.assert_allclose(EQUAL.inverse(EQUAL.forward(many)), many, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("points", "saying"),
    [
        ((1.0, 2.0), r"shape \(2,\)"),
        (0.1, r"shape \(\)"),
        (["a", "b", "c"], "not an array of numbers"),
        ([[0.0, 0.0, -0.1], [0.0, math.nan, -0.1]], r"not finite at index 1: \(0, nan, -0.1\)"),
        ((math.inf, 0.0, 0.0), r"not finite: \(inf, 0, 0\)"),
    ],
)
def test_what_is_no_point_is_refused_with_what_it_is(points: object, saying: str) -> None:
    with pytest.raises(InputError, match=saying):
        EQUAL.inverse(points)  # type: ignore[arg-type]


def test_one_point_that_is_none_is_refused_too() -> None:
    for bad in (math.nan, math.inf):
        with pytest.raises(InputError, match="not finite"):
            EQUAL.inverse_scalar(0.0, bad, -0.1)
        with pytest.raises(InputError, match="not finite"):
            EQUAL.forward_scalar(0.0, 0.0, bad)


@pytest.mark.parametrize(
    ("point", "saying"),
    [
        ((0.0, 0.0, -0.2), "too far: 0.2 m from the shoulder, at most 0.139"),
        ((0.0, 0.12, -0.01), "too far aside: 0.12 m, at most 0.104"),
    ],
)
def test_a_point_out_of_reach_says_why(point: tuple[float, float, float], saying: str) -> None:
    with pytest.raises(UnreachableError, match=saying):
        EQUAL.inverse(point)
    with pytest.raises(UnreachableError, match=saying):
        EQUAL.inverse_scalar(*point)


def test_a_point_too_near_says_so() -> None:
    with pytest.raises(UnreachableError, match=r"too near: 0\.02 m from the shoulder, at least 0\.04"):
        ThreeJointLeg(0.09, 0.05).inverse((0.0, 0.0, -0.02))


def test_of_many_points_out_of_reach_the_first_are_told() -> None:
    points = np.tile([0.0, 0.0, -0.1], (6000, 1))
    points[[3, 17, 400, 5000, 5001]] = 0.0, 0.0, -1.0
    with pytest.raises(
        UnreachableError, match=r"5 of 6000 points.*index 3, .*index 17, .*index 400, .*and 2 more"
    ):
        EQUAL.inverse(points)


def test_the_strict_form_refuses_what_it_does_not_know() -> None:
    with pytest.raises(InputError, match="two equal parts"):
        ThreeJointLeg(0.07, 0.08).inverse((0.0, 0.0, -0.1), form=IkForm.STRICT)
    with pytest.raises(InputError, match="two equal parts"):
        FRONT.inverse((0.0, 0.0, -0.1), form=IkForm.STRICT)
    with pytest.raises(InputError, match="forward only"):
        EQUAL.inverse((0.0, 0.0, -0.1), form=IkForm.STRICT, knee=Knee.NEGATIVE)
    behind = EQUAL.forward((math.radians(100.0), 0.0, 0.5))
    with pytest.raises(UnreachableError, match="90 degrees either way"):
        EQUAL.inverse(behind, form=IkForm.STRICT)
    assert EQUAL.inverse(behind)[0] == pytest.approx(math.radians(100.0))


@pytest.mark.parametrize("length", [0.0, -0.07, math.nan, math.inf])
def test_a_leg_has_lengths(length: float) -> None:
    for lengths in ((length, 0.07), (0.07, length)):
        with pytest.raises(InputError, match="a finite number above 0"):
            ThreeJointLeg(*lengths)
    if length > 0 or math.isnan(length):
        with pytest.raises(InputError, match="side_m"):
            ThreeJointLeg(0.07, 0.07, side_m=length)


def test_legs_are_values() -> None:
    assert ThreeJointLeg(0.07, 0.08) == ThreeJointLeg(0.07, 0.08) != ODD
    assert len({ThreeJointLeg(0.07, 0.08), ThreeJointLeg(0.07, 0.08)}) == 1
    assert EQUAL.reach_m == (0.0, 0.139)
