"""The thresholds of the design rules: numbers, and why they are what they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from posewright.robots import Robot

NEAREST = "nearest"
"""The name that asks for whichever of the robot's poses is nearest."""


@dataclass(frozen=True)
class DesignRules:
    """What counts as near, short and small. A robot's card may say otherwise under `motion_rules:`.

    Attributes:
        near_pose: names of the poses, near one of which a motion begins and ends; none stands for all the
            robot has.
        near_pose_deg: farthest any joint may be from such a pose at both ends. Ours: the source
            document's walk begins up to 19.4 deg (its arms) from ROBOTIS' walk-ready pose.
        max_duration_s: longest pass of a motion that neither loops nor celebrates (the teams' "about 2 s").
        large_step_deg: a joint that goes farther than this between two keyframes is worth a warning; none
            unless a card says, as the most is enough.
        max_step_deg: farthest a joint may go between two keyframes. Ours: a fifth of an AX-12A's 300 deg.
        slack_deg: how far beyond a joint limit is rounding. Ours: half a tick of 300/1024 deg.
        coupled_slack_deg: how far beyond a limit that depends on other joints is rounding: Sony's tables are
            in whole degrees.
        coupled_margin_deg: farther than this beyond such a limit is an error, less a warning. Ours: Sony has
            no second table for the hardware, but its own walks go 2.5 deg beyond the one there is, and the
            hardware limits of the joints it is about lie 5 deg beyond the others.
        points_per_way: how many points of every way are looked at for limits and speed.
        speed_per_frame: whether speeds are said in degrees a frame too, as the robot's maker gives them.
        camera_joints: the joints that move the camera; none where no camera counts.
        camera_rate_hz: pictures a second.
        camera_speed_deg_s: fastest any of these joints may turn while a picture is taken.
        camera_lost_frames: how many pictures a motion may cost.
    """

    near_pose: tuple[str, ...] = ()
    near_pose_deg: float = 25.0
    max_duration_s: float = 2.0
    large_step_deg: float = math.inf
    max_step_deg: float = 60.0
    slack_deg: float = 0.15
    coupled_slack_deg: float = 0.5
    coupled_margin_deg: float = 5.0
    points_per_way: int = 64
    speed_per_frame: bool = False
    camera_joints: tuple[str, ...] = ()
    camera_rate_hz: float = 30.0
    camera_speed_deg_s: float = math.inf
    camera_lost_frames: int = 0

    @classmethod
    def of(cls, robot: Robot) -> DesignRules:
        """Return the thresholds for a robot: those of its card, the defaults where the card is silent."""
        card: dict[str, Any] = robot.motion_rules.said
        return cls(**card)
