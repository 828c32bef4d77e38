"""Easings: what share of the way is done after what share of the time, and curves through many points.

The curves are PCHIP's: Fritsch and Carlson's piecewise cubic Hermite interpolation (1980) with SciPy's choice
of slopes, which between two points never leaves the interval of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from posewright.arrays import Floats

DEFAULT_ACCEL_SHARE = 0.25
"""A quarter of the time to accelerate, a quarter to brake: ours, between ROBOTIS' usual extremes."""

ROBOTIS_ACCEL_UNIT_S = 1.0 / 128.0
"""ROBOTIS counts its "inertial force" in frames of 1/128 s (shared fact sheet on formats, 2.2)."""


class Easing(Enum):
    """How a joint goes from one keyframe to the next.

    LINEAR: at one speed. SMOOTH: half a cosine, at rest at both ends, peak speed pi/2 of the mean.
    PCHIP: a monotone cubic through all keyframes (Fritsch and Carlson 1980, in the form of SciPy), which
    does not stop at each and never overshoots. TRAPEZOID: constant acceleration, cruise, constant braking.
    """

    LINEAR = "linear"
    SMOOTH = "smooth"
    PCHIP = "pchip"
    TRAPEZOID = "trapezoid"


def smooth(u: Floats) -> Floats:
    """Half a cosine.

    The gentlest peak speed of the usual smooth curves (pi/2; minimum jerk has 15/8), which matters for
    servos that are near their no-load speed.
    """
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * u), dtype=np.float64)


def trapezoid(u: Floats, accel_share: Floats) -> Floats:
    """Constant acceleration for `accel_share` of the time, cruise, and braking as long again.

    Args:
        u: (n,) share of the time, 0..1.
        accel_share: (n,) or scalar, 0..0.5; 0 is linear.
    """
    ramp = np.maximum(accel_share, 1e-300)  # keeps 0/0 out of a branch that 0 never chooses
    cruise = 1.0 / (1.0 - accel_share)
    speeding = 0.5 * cruise * u * u / ramp
    braking = 1.0 - 0.5 * cruise * (1.0 - u) ** 2 / ramp
    level = cruise * (u - 0.5 * accel_share)
    return np.where(u < accel_share, speeding, np.where(u > 1.0 - accel_share, braking, level))


def robotis_accel_share(accel: float, reach_s: float) -> float:
    """Return the trapezoid's share for a RoboPlus page's "inertial force" `accel`.

    Our reading of ROBOTIS' player: the ramp at each end lasts `accel` frames of 1/128 s, or half the way
    where that is shorter. It differs from the controller in one thing: there a joint that goes on in the
    same direction does not stop at the step, here every way ends at rest.
    """
    if reach_s <= 0.0:
        return 0.5
    return min(0.5, max(0.0, accel * ROBOTIS_ACCEL_UNIT_S / reach_s))


@dataclass(frozen=True, eq=False)
class Curve:
    """A piece of a spline without a jump in it.

    Attributes:
        times: of the knots, rising [s].
        rows: (n_joints,) [rad] at each knot.
        ways: for each way on it, whose it is and the number of the knot it begins at.
    """

    times: list[float] = field(default_factory=list, repr=False)
    rows: list[Floats] = field(default_factory=list, repr=False)
    ways: list[tuple[tuple[int, int], int]] = field(default_factory=list, repr=False)

    def add_knot(self, time: float, row: Floats) -> None:
        """Add a knot, unless it is the one just added (no pause between two ways)."""
        if not self.times or time > self.times[-1]:
            self.times.append(time)
            self.rows.append(row)

    def add_way(self, owner: tuple[int, int], begin: float, begin_row: Floats) -> None:
        """Begin a way at `begin` [s]; its end is the next knot added."""
        self.add_knot(begin, begin_row)
        self.ways.append((owner, len(self.times) - 1))

    def slopes(self) -> Floats:
        """Return the slope at every knot, (n_knots, n_joints) [rad/s]."""
        from scipy.interpolate import PchipInterpolator

        spline = PchipInterpolator(self.times, np.stack(self.rows), axis=0)
        return np.asarray(spline.derivative()(self.times), dtype=np.float64)


def slopes_of_ways(curves: Sequence[Curve], shape: tuple[int, int, int]) -> tuple[Floats, Floats]:
    """Return the speeds at the beginnings and at the ends of all ways, each of `shape` [rad/s]."""
    begins, ends = np.zeros(shape), np.zeros(shape)
    for curve in curves:
        slopes = curve.slopes()
        for owner, knot in curve.ways:
            begins[owner], ends[owner] = slopes[knot], slopes[knot + 1]
    return begins, ends
