"""A box on the field: where it stands, and of what kind all boxes are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class BoxKind:
    """What every box of an arena is like.

    Attributes:
        size_m: edges along its own x, y and z [m].
        mass_kg: mass [kg].
        friction: sliding friction against the floor, no unit.
    """

    size_m: tuple[float, float, float]
    mass_kg: float
    friction: float

    @property
    def footprint_m(self) -> tuple[float, float]:
        """Edges of what it covers of the floor [m]."""
        return self.size_m[:2]


@dataclass(frozen=True, slots=True)
class Box:
    """A box standing on the floor.

    Attributes:
        x: of its centre, from the start wall [m].
        y: of its centre, from the middle line to the left [m].
        yaw_rad: how far it is turned to the left [rad].
    """

    x: float
    y: float
    yaw_rad: float = 0.0


def places(boxes: Sequence[Box]) -> NDArray[np.float64]:
    """Return x [m], y [m], yaw [rad] of each box, `(n_boxes, 3)`."""
    return np.array([(box.x, box.y, box.yaw_rad) for box in boxes], dtype=np.float64).reshape(-1, 3)
