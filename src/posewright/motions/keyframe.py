"""A keyframe: a pose, the time to reach it, and how."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from posewright.errors import InputError
from posewright.motions.easing import DEFAULT_ACCEL_SHARE, Easing
from posewright.motions.pose import Pose

SHORTEST_S = 1e-6
"""A way or a pause is none at all, or at least this long: below, a clock of floats cannot tell."""

LONGEST_S = 86_400.0
"""A day: longer than any honest way or pause."""

Attitude = tuple[float, float, float]
"""Roll, pitch and yaw [rad]."""

TIME_HINT = f"a time is 0, or {SHORTEST_S:g} to {LONGEST_S:g} seconds"


@dataclass(frozen=True)
class Keyframe:
    """A pose, the time to reach it, the pause after it, its easing and its stiffness.

    Attributes:
        pose: where the joints are to be.
        reach_s: time on the way into the pose [s]; 0 jumps there.
        pause_s: time to stay in it [s].
        easing: how the way INTO the pose is gone.
        stiffness: by joint [N m/rad], from the start of the way on; None leaves the servo's own.
        accel_share: share of the way's time spent accelerating, and again braking (0..0.5); only the
            trapezoid reads it.
        attitude: roll, pitch and yaw of the trunk that the author had in mind [rad]: roll leans to the right,
            pitch forward, yaw turns left (REP-103). No servo makes it, gravity does; None where nobody said.
    """

    pose: Pose
    reach_s: float
    pause_s: float = 0.0
    easing: Easing = Easing.LINEAR
    stiffness: Mapping[str, float] | None = None
    accel_share: float = DEFAULT_ACCEL_SHARE
    attitude: Attitude | None = None

    def __post_init__(self) -> None:
        for what, seconds in (("reach_s", self.reach_s), ("pause_s", self.pause_s)):
            if not (seconds == 0.0 or SHORTEST_S <= seconds <= LONGEST_S):
                raise InputError(f"{what} is {seconds}", hint=TIME_HINT)
        if not 0.0 <= self.accel_share <= 0.5:
            raise InputError(f"accel_share is {self.accel_share}", hint="the range is 0..0.5")
        if self.attitude is not None and not all(map(math.isfinite, self.attitude)):
            raise InputError(f"the attitude is {self.attitude}", hint="roll, pitch and yaw in radians")
        if self.stiffness is not None:
            object.__setattr__(self, "stiffness", MappingProxyType(self._checked(self.stiffness)))

    def _checked(self, stiffness: Mapping[str, float]) -> dict[str, float]:
        for joint, value in stiffness.items():
            if joint not in self.pose.joints:
                raise InputError(f"the stiffness is of {joint!r}, which is no joint of the pose")
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"the stiffness of {joint} is {value}", hint="N m/rad, 0 or more")
        return dict(stiffness)

    @property
    def is_curved(self) -> bool:
        """Whether the way into it is not gone at one even speed."""
        if self.reach_s == 0.0 or self.easing is Easing.LINEAR:
            return False
        return self.easing is not Easing.TRAPEZOID or self.accel_share > 0.0

    @property
    def duration(self) -> float:
        """Time on the way and in the pause together [s]."""
        return self.reach_s + self.pause_s
