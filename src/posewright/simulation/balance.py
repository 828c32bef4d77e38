"""Balance: what a robot stands on, and whether its centre of mass is over it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from posewright.arrays import Floats
from posewright.simulation.resting import Supports

TOUCHING_M = 0.002
"""What is no higher above the lowest point than this carries the robot."""

_GRAIN = 1e-4 * np.array(list(product((-1.0, 1.0), repeat=2)))
"""Every point that carries is a square of 0.2 mm, [m]: two of them alone also make a hull."""


@dataclass(frozen=True, eq=False)
class Balance:
    """How a robot stands.

    Attributes:
        polygon: corners of the support, counterclockwise from above, `(n, 2)` in the field frame [m].
        margin_m: how far the centre of mass is inside it; negative outside [m].
    """

    polygon: Floats = field(repr=False)
    margin_m: float


def balance_of(supports: Supports, centre_of_mass: Floats) -> Balance:
    """Return how a robot stands on what is lowest of it; the centre of mass is `(3,)` [m]."""
    from scipy.spatial import ConvexHull

    heights = supports.heights(np.array([0.0, 0.0, 1.0]))
    carrying = supports.centres[heights < heights.min() + TOUCHING_M, :2]
    hull = ConvexHull((carrying[:, None] + _GRAIN).reshape(-1, 2))
    margin = -float((hull.equations[:, :2] @ centre_of_mass[:2] + hull.equations[:, 2]).max())
    return Balance(hull.points[hull.vertices], margin)
