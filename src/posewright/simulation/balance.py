"""Static balance: the support polygon of a robot, and whether its centre of mass is above it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.simulation.resting_pose import Supports

TOUCHING_M = 0.002
"""Parts no higher than this above the lowest point carry the robot [m]."""

_POINT_SQUARE = 1e-4 * np.array(list(product((-1.0, 1.0), repeat=2)))
"""Corners of a 0.2 mm square in place of a contact point, so that even two points have a hull [m]."""


@dataclass(frozen=True, eq=False)
class Balance:
    """The support of a robot.

    Attributes:
        polygon: corners of the support polygon, counterclockwise from above, `(n, 2)` in the field frame [m].
        margin_m: distance of the centre of mass from the polygon's edge; negative outside the polygon [m].
    """

    polygon: Floats = field(repr=False)
    margin_m: float


def compute_balance(supports: Supports, centre_of_mass: Floats) -> Balance:
    """Return the balance of a robot on its lowest parts, with its centre of mass at `(3,)` [m]."""
    is_low = find_touching(supports)
    return balance_on(supports.centres[is_low, :2], centre_of_mass)


def find_touching(supports: Supports) -> Flags:
    """Return which balls are no more than `TOUCHING_M` above the lowest point, `(n,)`."""
    heights = supports.bottom_heights(np.array([0.0, 0.0, 1.0]))
    return np.asarray(heights < heights.min() + TOUCHING_M)


def balance_on(contact_points: Floats, centre_of_mass: Floats) -> Balance:
    """Return the balance on some contact points `(n, 2)` [m], with the centre of mass at `(3,)` [m]."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull((contact_points[:, None] + _POINT_SQUARE).reshape(-1, 2))
    # for each edge the outward unit normal and an offset: their sum is the distance outside the edge
    normals = hull.equations[:, :2]
    offsets = hull.equations[:, 2]
    margin = -float((normals @ centre_of_mass[:2] + offsets).max())
    return Balance(hull.points[hull.vertices], margin)
