"""What boxes cover of the floor, against the corners of the box itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posewright.arenas import corners, footprints

SIZE = (0.2, 0.2, 0.5)


def from_above(turn: Rotation) -> np.ndarray:
    """Return the eight corners of a box at (1, 0.3), seen from above, `(8, 2)`."""
    signs = np.stack(np.meshgrid(*[(-0.5, 0.5)] * 3), axis=-1).reshape(-1, 3)
    return turn.apply(signs * SIZE)[:, :2] + (1.0, 0.3)


@pytest.mark.parametrize("yaw_deg", [0.0, 30.0, -100.0])
@pytest.mark.parametrize("tipped", ["", "x", "y", "-x", "-y"])
def test_the_rectangle_is_what_the_eight_corners_enclose(tipped, yaw_deg):
    fallen = {"": [0, 0], "x": [90, 0], "-x": [-90, 0], "y": [0, 90], "-y": [0, -90]}[tipped]
    turn = Rotation.from_euler("z", yaw_deg, degrees=True) * Rotation.from_euler("xy", fallen, degrees=True)
    pose = np.array([[1.0, 0.3, 0.1, *np.roll(turn.as_quat(), 1)]])
    (outline,) = corners(*footprints(pose, SIZE))
    eight = from_above(turn)
    for corner in outline:
        assert np.hypot(*(eight - corner).T).min() < 1e-9
    edges = np.hypot(*(np.roll(outline, -1, axis=0) - outline).T)
    assert sorted(edges.tolist()) == pytest.approx([0.2, 0.2] + [0.5 if tipped else 0.2] * 2)
    assert math.isclose(outline[:, 0].mean(), 1.0)


def test_no_boxes_cover_nothing():
    places, sizes = footprints(np.empty((0, 7)), SIZE)
    assert (places.shape, sizes.shape) == ((0, 3), (0, 2))
