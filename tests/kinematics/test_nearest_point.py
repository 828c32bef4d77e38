"""The nearest reachable point against an optimiser that knows nothing of the formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from posewright.arrays import Floats
from posewright.kinematics import IkForm, Knee, ThreeJointLeg

from .legs import EQUAL, FRONT, ODD, all_legs, knee_zero

RIGHT = 0.5 * math.pi


def far_points(n: int, seed: int) -> Floats:
    """Return points all around, many of them beside the shoulder, `(n, 3)` [m]."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    points *= (rng.uniform(0.0, 0.25, n) / np.linalg.norm(points, axis=1))[:, None]
    points[::2, 1] = rng.uniform(-0.16, 0.16, len(points[::2]))
    points[::2, ::2] *= 0.2
    return points


def best_by_search(
    leg: ThreeJointLeg, points: Floats, bounds: tuple[tuple[float, float], ...]
) -> list[float]:
    """Return the distance [m] to the nearest foot of many tried, gone down from the best."""
    low, high = np.array(bounds).T
    tried = np.random.default_rng(0).uniform(low, high, (4000, 3))
    feet = leg.forward(tried)
    found = []
    for point in points:
        starts = tried[np.argsort(((feet - point) ** 2).sum(axis=1))[:2]]

        def miss(angles: Floats, point: Floats = point) -> tuple[float, Floats]:
            off = 1e3 * (leg.forward(angles) - point)
            return float(off @ off), 2e3 * off @ leg.jacobian(angles)

        ends = [minimize(miss, start, jac=True, bounds=bounds, method="L-BFGS-B").fun for start in starts]
        found.append(math.sqrt(min(ends)) / 1e3)
    return found


@all_legs
@pytest.mark.parametrize("knee", list(Knee))
def test_no_search_finds_a_nearer_point(leg: ThreeJointLeg, knee: Knee) -> None:
    points = far_points(6, seed=1)
    found = leg.inverse(points, knee=knee, nearest=True)
    distances = np.linalg.norm(leg.forward(found) - points, axis=1)
    zero = knee_zero(leg)
    bend = (zero, zero + math.pi) if knee is Knee.POSITIVE else (zero - math.pi, zero)
    aside = RIGHT if leg.side_m == 0.0 else math.pi
    peer = best_by_search(leg, points, ((-4.0, 4.0), (-aside, aside), bend))
    assert (distances <= np.array(peer) + 1e-9).all()
    assert (found[:, 2] >= bend[0] - 1e-12).all()
    assert (found[:, 2] <= bend[1] + 1e-12).all()
    if leg.side_m == 0.0:
        assert (np.abs(found[:, 1]) <= RIGHT + 1e-12).all()


def test_no_search_finds_a_nearer_point_of_the_strict_form() -> None:
    points = np.concatenate([far_points(12, seed=2), far_points(12, seed=20)])
    found = EQUAL.inverse(points, form=IkForm.STRICT, nearest=True)
    distances = np.linalg.norm(EQUAL.forward(found) - points, axis=1)
    peer = best_by_search(EQUAL, points, ((-RIGHT, RIGHT), (-RIGHT, RIGHT), (0.0, math.pi)))
    assert (distances <= np.array(peer) + 1e-9).all()
    assert (np.abs(found[:, :2]) <= RIGHT + 1e-12).all()


@pytest.mark.parametrize("leg", [EQUAL, FRONT, ODD], ids=["equal parts", "front", "odd"])
def test_a_point_too_far_is_answered_in_its_own_direction(leg: ThreeJointLeg) -> None:
    point = np.array([0.1, 0.05, -0.3])
    foot = leg.forward(leg.inverse(point, nearest=True))
    np.testing.assert_allclose(foot, point * leg.reach_m[1] / np.linalg.norm(point), rtol=0, atol=1e-15)


def test_points_within_reach_are_left_alone() -> None:
    points = np.array([[0.0, 0.0, -0.1], [0.0, 0.0, -0.9], [0.02, 0.03, -0.11]])
    found = EQUAL.inverse(points, nearest=True)
    np.testing.assert_array_equal(found[[0, 2]], EQUAL.inverse(points[[0, 2]]))
    assert EQUAL.inverse_scalar(0.0, 0.0, -0.9, nearest=True) == tuple(found[1])


@all_legs
def test_the_shoulder_itself_and_points_on_the_axis_have_an_answer(leg: ThreeJointLeg) -> None:
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0], [0.0, -0.05, 0.0]])
    found = leg.inverse(points, nearest=True)
    assert np.isfinite(found).all()
    assert np.linalg.norm(leg.forward(found[0])) == pytest.approx(leg.reach_m[0], abs=1e-12)
