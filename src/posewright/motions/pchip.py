"""PCHIP: a monotone cubic through points, one curve per joint.

Fritsch and Carlson's piecewise cubic Hermite interpolation (1980) with SciPy's choice of slopes: between two
points a curve never leaves the interval of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posewright.motions.pose import Angles


@dataclass(frozen=True, eq=False)
class Stretch:
    """A piece of a curve without a jump.

    Attributes:
        times: of the knots, rising [s].
        rows: (n_joints,) [rad] at each knot.
        ways: for each way on this stretch, whose it is and the number of the knot it begins at.
    """

    times: list[float] = field(default_factory=list)
    rows: list[Angles] = field(default_factory=list)
    ways: list[tuple[tuple[int, int], int]] = field(default_factory=list)

    def add_knot(self, time: float, row: Angles) -> None:
        """Add a knot, unless it is the one just added (no pause between two ways)."""
        if not self.times or time > self.times[-1]:
            self.times.append(time)
            self.rows.append(row)

    def add_way(self, owner: tuple[int, int], begin: float, begin_row: Angles) -> None:
        """Begin a way at `begin` [s]; its end is the next knot added."""
        self.add_knot(begin, begin_row)
        self.ways.append((owner, len(self.times) - 1))

    def slopes(self) -> Angles:
        """Return the slope at every knot, (n_knots, n_joints) [rad/s]."""
        from scipy.interpolate import PchipInterpolator

        curve = PchipInterpolator(self.times, np.stack(self.rows), axis=0)
        return np.asarray(curve.derivative()(self.times), dtype=np.float64)


def slopes_of_ways(stretches: Sequence[Stretch], shape: tuple[int, int, int]) -> tuple[Angles, Angles]:
    """Return the speeds at the beginnings and at the ends of all ways, each of `shape` [rad/s].

    Args:
        stretches: their ways are owned by (lap, way) pairs.
        shape: (n_laps, n_ways, n_joints).
    """
    begins, ends = np.zeros(shape), np.zeros(shape)
    for stretch in stretches:
        slopes = stretch.slopes()
        for owner, knot in stretch.ways:
            begins[owner], ends[owner] = slopes[knot], slopes[knot + 1]
    return begins, ends
