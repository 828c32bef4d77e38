"""How a walk reacts to sensors: gains of its feedback, each part of which may be 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from posewright.documents import Bounds


@dataclass(frozen=True, slots=True)
class FeedbackGains:
    """Gains of the feedback of a walk; 0 switches a part off.

    Attributes:
        heading_1_s: turn added for each radian that the heading is off [1/s].
        max_heading_turn_rad_s: greatest turn that the heading adds, to either side [rad/s].
    """

    heading_1_s: Annotated[float, Bounds(0.0, 20.0)] = 0.0
    max_heading_turn_rad_s: Annotated[float, Bounds(0.0, 6.0)] = 0.8

    @property
    def is_open_loop(self) -> bool:
        """Whether the walk reads no sensor."""
        return self.heading_1_s == 0.0


OPEN_LOOP = FeedbackGains()
