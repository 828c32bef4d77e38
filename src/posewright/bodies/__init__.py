"""Bodies: what is driven, behind one small interface."""

from __future__ import annotations

from posewright.bodies.body import Body, Supervisor
from posewright.bodies.domain import NOMINAL, DomainParameters
from posewright.bodies.domain_randomization import (
    Distribution,
    DomainRandomization,
    Normal,
    Uniform,
    random_variation,
)
from posewright.bodies.domain_reading import read_variation_ranges, variation_names, variation_ranges
from posewright.bodies.joints import Flags, Floats, GroundTruth, JointCommands, JointStates
from posewright.bodies.mock import MockBody, Placement
from posewright.bodies.state import BodyState, Reading

__all__ = [
    "NOMINAL",
    "Body",
    "BodyState",
    "DomainParameters",
    "Distribution",
    "Flags",
    "Floats",
    "JointCommands",
    "Supervisor",
    "MockBody",
    "Normal",
    "Placement",
    "Reading",
    "JointStates",
    "Uniform",
    "DomainRandomization",
    "GroundTruth",
    "random_variation",
    "read_variation_ranges",
    "variation_names",
    "variation_ranges",
]
