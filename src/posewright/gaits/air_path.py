"""The way of a foot through the air: from where it left the ground to where it lands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.gaits.arc import Floats
from posewright.gaits.parameters import GaitParameters
from posewright.gaits.timing import GaitTiming

_LEAST_TRANSFER = 1e-9
"""Part of the time in the air between a corner and the middle; less is rounding of none."""


@dataclass(frozen=True, slots=True, eq=False)
class AirPath:
    """How far along its stroke a foot is, and how high, while it is in the air.

    Straight lines lead from the ground up to the rear height, over the central height to the front height and
    down again; the corners are as far forward as the ascent factor says. The same heights over half an
    ellipse make the other extreme, and the shape factor blends the two.

    Attributes:
        rear_m: height at the first corner [m].
        central_m: height in the middle [m].
        front_m: height at the second corner [m].
        ascent: part of the time in the air until the first corner, 0 to 1/2.
        ascent_factor: 0 a square, 1 a diamond.
        shape_factor: 0 straight, 1 an ellipse.
    """

    rear_m: float
    central_m: float
    front_m: float
    ascent: float
    ascent_factor: float
    shape_factor: float

    def at(self, when: Floats) -> tuple[Floats, Floats]:
        """Return how far along, 0 to 1, and how high [m] the foot is, `(n,)` each.

        Args:
            when: part of the time in the air, 0 to 1, `(n,)`.
        """
        straight_along, straight_height = self._straight(when)
        round_along, round_height = self._round(when)
        share = self.shape_factor
        return (
            (1.0 - share) * straight_along + share * round_along,
            (1.0 - share) * straight_height + share * round_height,
        )

    @property
    def instants(self) -> Floats:
        """The parts of the time in the air at which the foot is told where to be.

        They are lifting off, the corners, the middle, landing, and half way between any two of these.
        """
        corners = np.array([0.0, self.ascent, 0.5, 1.0 - self.ascent, 1.0])
        return np.unique([*corners, *((corners[1:] + corners[:-1]) / 2.0)])

    def _straight(self, when: Floats) -> tuple[Floats, Floats]:
        corner = self.ascent_factor / 2.0
        times = np.array([0.0, self.ascent, 0.5, 1.0 - self.ascent, 1.0])
        along = np.array([0.0, corner, 0.5, 1.0 - corner, 1.0])
        heights = np.array([0.0, self.rear_m, self.central_m, self.front_m, 0.0])
        if 0.5 - self.ascent < _LEAST_TRANSFER:  # up and down at once: the corners are the middle
            times, along, heights = times[::2], along[::2], heights[::2]
        return np.interp(when, times, along), np.interp(when, times, heights)

    def _round(self, when: Floats) -> tuple[Floats, Floats]:
        along = (1.0 - np.cos(np.pi * when)) / 2.0
        envelope = np.interp(along, [0.0, 0.5, 1.0], [self.rear_m, self.central_m, self.front_m])
        return along, envelope * np.sin(np.pi * when)


def air_path(parameters: GaitParameters, timing: GaitTiming, foot: str) -> AirPath:
    """Return the way of one foot through the air."""
    return AirPath(
        rear_m=parameters.rear_height_m.of(foot),
        central_m=parameters.central_height_m.of(foot),
        front_m=parameters.front_height_m.of(foot),
        ascent=timing.ascent_s / timing.air_s,
        ascent_factor=parameters.ascent_factor,
        shape_factor=parameters.shape_factor,
    )
