"""What may stand in a native motion file."""

from __future__ import annotations

REQUIRED = ("motion", "robot", "joints", "keyframes")
DEFAULTS = ("easing", "accel_share", "stiffness_nm_rad")
"""Given for the whole motion, they hold for every keyframe that does not say otherwise."""

OPTIONAL = ("source", "extras", *DEFAULTS, "repeat", "speed", "next", "exit", "start_pose_deg")
KEYFRAME_REQUIRED = ("reach_s", "pose_deg")
KEYFRAME_OPTIONAL = ("pause_s", "attitude_deg", *DEFAULTS)

FREE = "free"
"""Stands for the angle of a joint whose torque is off; nothing (`~`) for one that is held."""
