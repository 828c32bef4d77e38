"""How a walk reacts to sensors: gains of its feedback, each part of which may be 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from posewright.documents import Bounds


class Tilt(NamedTuple):
    """Rotation of a trunk about its horizontal axes, from upright or from another tilt [rad].

    Attributes:
        roll: to the right, about the axis that points ahead [rad].
        pitch: forward, about the axis that points to the left [rad].
    """

    roll: float
    pitch: float


UPRIGHT = Tilt(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class FeedbackGains:
    """Gains of the feedback of a walk; 0 switches a part off.

    A walking trunk rocks about a mean tilt. What a push or a bump adds to that is its excess tilt.

    Attributes:
        heading_1_s: turn added for each radian that the heading is off [1/s].
        max_heading_turn_rad_s: greatest turn that the heading adds, to either side [rad/s].
        foot_levelling: share of the trunk's excess tilt by which the swinging foot is turned back, so that it
            lands level and where it is needed; two legs only.
        rocking_rad: how far an undisturbed trunk rocks about its mean tilt, which is no excess [rad].
    """

    heading_1_s: Annotated[float, Bounds(0.0, 20.0)] = 0.0
    max_heading_turn_rad_s: Annotated[float, Bounds(0.0, 6.0)] = 0.8
    foot_levelling: Annotated[float, Bounds(0.0, 2.0)] = 0.0
    rocking_rad: Annotated[float, Bounds(0.0, 1.0)] = 0.12

    @property
    def holds_heading(self) -> bool:
        """Whether the walk reads the robot's heading."""
        return self.heading_1_s > 0.0

    @property
    def levels_feet(self) -> bool:
        """Whether the walk reads the trunk's tilt."""
        return self.foot_levelling > 0.0

    @property
    def is_open_loop(self) -> bool:
        """Whether the walk reads no sensor."""
        return not self.holds_heading and not self.levels_feet


OPEN_LOOP = FeedbackGains()
