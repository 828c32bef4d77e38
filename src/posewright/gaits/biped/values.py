"""A biped's gait: robot, parameters, and the compensation for servos that lag and feet that slip."""

from __future__ import annotations

from dataclasses import dataclass, field

from posewright.gaits.biped.parameters import EXPLANATIONS, BipedParameters
from posewright.gaits.values import GaitValues


@dataclass(frozen=True)
class BipedValues(GaitValues):
    """All values of a biped's gait, from which `BipedGenerator` generates joint angles."""

    explanations = EXPLANATIONS

    parameters: BipedParameters = field(repr=False)
    pose: str = field(default="walk_ready", repr=False, kw_only=True)
