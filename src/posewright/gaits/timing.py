"""How long a foot is up and down."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.gaits.parameters import GaitParameters

FRAMES_A_PAIR = 2
"""The document counts in pairs of frames: 16 ms on an AIBO."""

FEWEST_FRAMES = 4
"""A cycle of fewer would have steps without a frame: each of four feet may lift in one of its own."""

_SLACK = 1e-9
"""Up and down longer than a foot is in the air by this part of it is rounding: they fill just that time."""


@dataclass(frozen=True, slots=True)
class GaitTiming:
    """The times of a cycle, which is a whole number of frames.

    Attributes:
        frames: of a cycle.
        period_s: of a cycle [s].
        ground_s: a foot is down [s].
        air_s: a foot is in the air [s].
        ascent_s: of these, on its way up; as long on its way down [s].
    """

    frames: int
    period_s: float
    ground_s: float
    air_s: float
    ascent_s: float

    @property
    def air_share(self) -> float:
        """The part of a cycle a foot is in the air."""
        return self.air_s / self.period_s


def timing_of(parameters: GaitParameters, frame_s: float) -> GaitTiming:
    """Return the times that follow from the parameters, the cycle rounded to whole frames.

    Raises:
        InputError: a foot would have to go up and down in less time than it is in the air.
    """
    wanted_s = (
        parameters.maximum_displacement_m / parameters.ground_speed_m_s * (1.0 + parameters.air_ground_factor)
    )
    frames = max(round(wanted_s / frame_s), FEWEST_FRAMES)
    period_s = frames * frame_s
    ground_s = period_s / (1.0 + parameters.air_ground_factor)
    air_s = period_s - ground_s
    ascent_s = parameters.ascent_pairs * FRAMES_A_PAIR * frame_s
    longest_s = air_s * (1.0 + _SLACK)
    if 2.0 * ascent_s > longest_s:
        most = int(longest_s / (2.0 * FRAMES_A_PAIR * frame_s))
        raise InputError(
            f"ascent_pairs is {parameters.ascent_pairs}: up and down take {2.0 * ascent_s:g} s, but a foot "
            f"is in the air for {math.floor(1e4 * air_s) / 1e4:g} s",
            hint=f"at most {most}, or a longer cycle (maximum_displacement_m / ground_speed_m_s)"
            if most
            else "a longer cycle: maximum_displacement_m / ground_speed_m_s",
        )
    return GaitTiming(frames, period_s, ground_s, air_s, min(ascent_s, air_s / 2.0))
