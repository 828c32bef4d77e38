"""Robot inspection: a robot's measures, compared with a contest's limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from posewright.contests import Inspection, Measures, Rules, inspect_measures
from posewright.robots import Robot, robot

STRETCHED = "stretched"
"""Name of the pose a robot is measured in; without it all joints are at 0."""


def inspect_robot(card: str | Path | Robot, rules: Rules | None = None) -> Inspection:
    """Measure a robot and compare it with the limits of the rules.

    Height is measured with legs and body stretched and the arms hanging: in the card's pose `stretched`, or
    with all joints at 0. The greater of the card's and the model's mass counts. Default limits are CEABOT
    2013's.

    Raises:
        UnknownNameError: no robot has this name.
        InputError: the robot has no model.
    """
    from posewright.simulation.measurements import measure

    robot_card = card if isinstance(card, Robot) else robot(card)
    has_pose = STRETCHED in robot_card.poses
    pose = robot_card.pose(STRETCHED) if has_pose else np.zeros(len(robot_card.joint_names))
    model = measure(robot_card, pose)
    card_mass_kg = robot_card.mass_kg or 0.0
    posture = (
        "in the card's pose 'stretched'" if has_pose else "all joints at 0: legs stretched, arms hanging"
    )
    methods = (
        ("height_m", f"model, {posture}"),
        ("mass_kg", "card, all its links" if card_mass_kg > model.mass_kg else "model, all its parts"),
        ("foot_m", f"model, longer edge of the largest of {len(model.sole_lengths_m)} soles"),
        ("legs", f"card: {', '.join(robot_card.feet)}"),
    )
    measures = Measures(
        round(model.height_m, 6),
        mass_kg=round(max(card_mass_kg, model.mass_kg), 6),
        foot_m=round(max(model.sole_lengths_m), 6),
        legs=len(robot_card.feet),
        methods=methods,
    )
    return inspect_measures(robot_card.name, measures, rules)
