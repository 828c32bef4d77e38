"""Robot inspection: a card and its model are measured, and held against the contest's limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posewright.contests import Inspection, Measures, Rules, inspect_measures
from posewright.robots import Robot, robot

STRETCHED = "stretched"
"""The pose of a card that a robot is measured in; without one it is measured with all joints at 0."""


def inspect_robot(card: str | Path | Robot, rules: Rules | None = None) -> Inspection:
    """Measure a robot and say which of the limits it keeps.

    Height is measured with legs and body stretched and the arms hanging: in the card's pose `stretched`, or
    with all joints at 0, where a model stands upright. Of the card's mass and the model's the greater counts.
    Limits are CEABOT 2013's where no rules are given.

    Raises:
        UnknownNameError: there is no robot of that name.
        InputError: the robot has no model that could be measured.
    """
    from posewright.simulation.measurements import measure

    which = card if isinstance(card, Robot) else robot(card)
    has_pose = STRETCHED in which.poses
    found = measure(which, which.pose(STRETCHED) if has_pose else np.zeros(len(which.joint_names)))
    told = which.mass_kg or 0.0
    posture = (
        "in the card's pose 'stretched'" if has_pose else "all joints at 0: legs stretched, arms hanging"
    )
    how = (
        ("height_m", f"model, {posture}"),
        ("mass_kg", "card, all its links" if told > found.mass_kg else "model, all its parts"),
        ("foot_m", f"model, longer edge of the largest of {len(found.soles_m)} soles"),
        ("legs", f"card: {', '.join(which.feet)}"),
    )
    height_m, mass_kg, foot_m = (
        round(value, 6) for value in (found.height_m, max(told, found.mass_kg), max(found.soles_m))
    )
    measures = Measures(height_m, mass_kg, foot_m, len(which.feet), how)
    return inspect_measures(which.name, measures, rules)
