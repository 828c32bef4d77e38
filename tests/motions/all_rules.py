"""Every rule there is, with a robot's own thresholds: what the tests of single rules look at."""

from __future__ import annotations

from typing import Any

from posewright.motions import DesignRules, Finding, Motion, check_design_rules
from posewright.robots import Robot


def check_all(motion: Motion, robot: Robot, **how: Any) -> tuple[Finding, ...]:
    """Check a motion against all rules, whoever asks for them."""
    return check_design_rules(motion, robot, **{"rules": DesignRules.of(robot), **how})
