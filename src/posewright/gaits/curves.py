"""Linear and spline interpolation as a matrix of weights, computed once for a gait."""

from __future__ import annotations

from enum import Enum

import numpy as np

from posewright.arrays import Floats


class Interpolation(Enum):
    """The curve of the joints from one point of a step to the next."""

    LINEAR = "linear"
    SPLINE = "spline"


def weights(knots: Floats, times: Floats, interpolation: Interpolation) -> Floats:
    """Return the weight of each knot at each time, `(n_times, n_knots)`; rows add up to 1.

    The spline is cubic between two knots. At a knot it has the slope of the parabola through the knot and its
    two neighbours, so knots after the next two have no influence: a step can be changed at its end without a
    jump in the frames before.

    Args:
        knots: times of the knots, rising, `(n_knots,)`.
        times: times at which the curve is evaluated, `(n_times,)`.
        interpolation: the kind of curve.
    """
    left_indices = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)
    widths = np.diff(knots)
    # t is the position between the knot at `left_indices` and the one after it, 0 to 1, as a column
    t = ((times - knots[left_indices]) / widths[left_indices])[:, np.newaxis]
    values = np.eye(len(knots))  # row k: the value at knot k as weights of all knots
    if interpolation is Interpolation.LINEAR:
        return np.asarray((1.0 - t) * values[left_indices] + t * values[left_indices + 1])
    slopes = _slopes(widths)
    width = widths[left_indices][:, np.newaxis]
    # cubic Hermite basis
    return np.asarray(
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * values[left_indices]
        + t**2 * (3.0 - 2.0 * t) * values[left_indices + 1]
        + width * (t * (1.0 - t) ** 2 * slopes[left_indices] - t**2 * (1.0 - t) * slopes[left_indices + 1])
    )


def _slopes(widths: Floats) -> Floats:
    """Return the matrix that gives the slope at each knot from the values at all knots, `(n_knots, n_knots)`.

    Inside it is the slope of the parabola through three knots, at both ends that of the straight line.
    """
    n_knots = len(widths) + 1
    slopes = np.zeros((n_knots, n_knots))
    for k in range(1, n_knots - 1):
        width_before = widths[k - 1]
        width_after = widths[k]
        total_width = width_before + width_after
        slopes[k, k - 1] = -width_after / (width_before * total_width)
        slopes[k, k] = (width_after - width_before) / (width_before * width_after)
        slopes[k, k + 1] = width_before / (width_after * total_width)
    slopes[0, :2] = -1.0 / widths[0], 1.0 / widths[0]
    slopes[-1, -2:] = -1.0 / widths[-1], 1.0 / widths[-1]
    return slopes
