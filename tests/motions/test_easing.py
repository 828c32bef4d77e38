from __future__ import annotations

import numpy as np
import pytest

from posewright.motions import robotis_accel_share
from posewright.motions.pose import smooth, trapezoid

U = np.linspace(0.0, 1.0, 1001)


def test_the_smooth_way_begins_and_ends_at_rest_and_peaks_at_half_pi() -> None:
    speed = np.diff(smooth(U)) * 1000
    assert speed[0] < 0.01
    assert speed[-1] < 0.01
    assert speed.max() == pytest.approx(np.pi / 2, abs=1e-5)


@pytest.mark.parametrize("share", [0.05, 0.25, 0.4, 0.5])
def test_the_trapezoid_accelerates_cruises_and_brakes(share: float) -> None:
    way = trapezoid(U, np.array(share))
    assert (way[0], way[-1]) == (0.0, 1.0)
    np.testing.assert_allclose(way + way[::-1], 1.0, atol=1e-12)
    speed = np.diff(way) * 1000
    assert speed.max() <= 1.0 / (1.0 - share) + 1e-9
    middle = (U[:-1] > share) & (U[1:] < 1.0 - share)
    np.testing.assert_allclose(speed[middle], 1.0 / (1.0 - share), atol=1e-9)
    acceleration = np.diff(speed[U[1:] < share]) * 1000
    np.testing.assert_allclose(acceleration, 1.0 / (share * (1.0 - share)), atol=1e-5)


def test_a_trapezoid_without_ramps_is_linear() -> None:
    np.testing.assert_allclose(trapezoid(U, np.array(0.0)), U, atol=1e-15)


@pytest.mark.parametrize(
    ("accel", "reach_s", "share"),
    [(32, 1.0, 0.25), (32, 0.125, 0.5), (4, 0.125, 0.25), (0, 1.0, 0.0), (5, 0.0, 0.5)],
)
def test_inertial_force_is_a_ramp_of_so_many_frames_at_most_half_the_way(
    accel: float, reach_s: float, share: float
) -> None:
    assert robotis_accel_share(accel, reach_s) == share
