"""Bodies: what is driven, behind one small interface, and how one body differs from its model."""

from __future__ import annotations

from posewright.bodies.body import Body, Plant, Supervisor, TorquePolicy
from posewright.bodies.domain import NOMINAL, DomainParameters
from posewright.bodies.domain_randomization import (
    Distribution,
    DomainRandomization,
    Normal,
    Uniform,
    domain_randomization,
    domain_randomization_names,
    draw_domain,
    read_domain_randomization,
)
from posewright.bodies.joints import (
    BodyState,
    Contacts,
    Decision,
    Fault,
    FaultKind,
    GroundTruth,
    JointCommands,
    JointStates,
    Reading,
)
from posewright.bodies.mock import MockBody, Placement

__all__ = [
    "NOMINAL",
    "Body",
    "BodyState",
    "Contacts",
    "Decision",
    "Distribution",
    "DomainParameters",
    "DomainRandomization",
    "Fault",
    "FaultKind",
    "GroundTruth",
    "JointCommands",
    "JointStates",
    "MockBody",
    "Normal",
    "Placement",
    "Plant",
    "Reading",
    "Supervisor",
    "TorquePolicy",
    "Uniform",
    "domain_randomization",
    "domain_randomization_names",
    "draw_domain",
    "read_domain_randomization",
]
