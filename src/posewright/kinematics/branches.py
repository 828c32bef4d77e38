"""Which of several answers: a point can be reached in up to four ways, and the document has two forms."""

from __future__ import annotations

from enum import Enum


class Form(Enum):
    """The two forms of the document's inverse kinematics."""

    STRICT = "strict"
    """Both parts equally long, no offsets, knee >= 0, rotator and elevator within 90 degrees either way."""

    GENERAL = "general"
    """Any lengths and offsets, elevator within 90 degrees either way, the rotator all round."""


class Knee(Enum):
    """Which way the knee bends.

    It is the bend of the leg that counts, the angle between upper leg and shank: the knee joint's own angle
    where the leg has no offsets, else that angle plus `lower_angle_rad - upper_angle_rad`.
    """

    POSITIVE = 1
    NEGATIVE = -1


class Lift(Enum):
    """Which way the elevator lifts the foot aside.

    Seen along the rotator's way the foot hangs below the shoulder (WITHIN) until the leg points straight
    aside, and is above it (BEYOND) when the leg is lifted further. Without a sideward offset these are
    elevators within 90 degrees and beyond; with one, the line from the shoulder to the foot counts instead.
    """

    WITHIN = 1
    BEYOND = -1
