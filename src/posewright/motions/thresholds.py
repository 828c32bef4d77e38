"""The thresholds of the design rules: numbers, and why they are what they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DesignRules:
    """What counts as near, short and small.

    Attributes:
        near_pose_deg: farthest any joint may be from the named pose at both ends. Ours: the source
            document's walk begins up to 19.4 deg (its arms) from ROBOTIS' walk-ready pose.
        max_duration_s: longest pass of a motion that neither loops nor celebrates (the teams' "about 2 s").
        max_step_deg: farthest a joint may go between two keyframes. Ours: a fifth of an AX-12A's 300 deg.
        slack_deg: how far beyond a joint limit is rounding. Ours: half a tick of 300/1024 deg.
        points_per_way: how many points of every way are looked at for limits and speed.
    """

    near_pose_deg: float = 25.0
    max_duration_s: float = 2.0
    max_step_deg: float = 60.0
    slack_deg: float = 0.15
    points_per_way: int = 64
