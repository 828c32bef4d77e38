"""Arcs another way, with nothing of the code under test: by integration and by a rotation matrix."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp


def integrated(velocities: np.ndarray, seconds: float = 1.0) -> np.ndarray:
    """Return where a body is after a time of constant velocity and turn, by numerical integration, `(3,)`.

    Args:
        velocities: forward, left and turn, of a second, `(3,)`.
        seconds: the time.
    """
    forward, left, turn = velocities

    def velocity(_time: float, place: np.ndarray) -> list[float]:
        cos, sin = math.cos(place[2]), math.sin(place[2])
        return [forward * cos - left * sin, forward * sin + left * cos, turn]

    solved = solve_ivp(velocity, (0.0, seconds), np.zeros(3), method="DOP853", rtol=1e-12, atol=1e-13)
    return np.asarray(solved.y[:, -1])


def seen_from_before(points: np.ndarray, displacement: np.ndarray) -> np.ndarray:
    """Return where points are that a body sees after a displacement, seen from where it was, `(..., 2)`."""
    x, y, turn = displacement
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    return np.asarray(points[..., :2] @ rotation.T + (x, y))
