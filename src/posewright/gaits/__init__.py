"""Gaits: from a velocity command to poses, frame by frame; periodic, with every parameter by name.

The order of work is that of the document: `step.StepPlanner.plan` reads from top to bottom.
"""

from __future__ import annotations

from posewright.gaits.arc import chain, compose, left_behind, separate
from posewright.gaits.bounds import greatest_speed_m_s, greatest_turn_rad_s
from posewright.gaits.checking import Concern, GaitCheck, Tried, Worst, check_gait
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.curves import Interpolation
from posewright.gaits.explanations import EXPLANATIONS, Explanation, Kind, explanation
from posewright.gaits.gait import Gait
from posewright.gaits.parameters import ForeHind, GaitParameters
from posewright.gaits.phases import (
    CRAWL,
    FEET,
    LEFT_TURN,
    PACE,
    PHASE_TABLES,
    RIGHT_TURN,
    TROT,
    PhaseTable,
    phase_table,
)
from posewright.gaits.quadruped import QuadrupedGait
from posewright.gaits.reading import gait_names, read_gait, read_gait_and_robot
from posewright.gaits.sampling import sample_gait
from posewright.gaits.timing import GaitTiming, timing_of
from posewright.gaits.travel import TravelGain, Trim
from posewright.gaits.writing import gait_text, write_gait

__all__ = [
    "CRAWL",
    "EXPLANATIONS",
    "FEET",
    "LEFT_TURN",
    "PACE",
    "PHASE_TABLES",
    "RIGHT_TURN",
    "STILL",
    "TROT",
    "Concern",
    "Explanation",
    "ForeHind",
    "Gait",
    "GaitCheck",
    "GaitParameters",
    "GaitTiming",
    "Interpolation",
    "Kind",
    "PhaseTable",
    "QuadrupedGait",
    "TravelGain",
    "Tried",
    "Trim",
    "VelocityCommand",
    "Worst",
    "chain",
    "check_gait",
    "compose",
    "explanation",
    "gait_names",
    "gait_text",
    "greatest_speed_m_s",
    "greatest_turn_rad_s",
    "left_behind",
    "phase_table",
    "read_gait",
    "read_gait_and_robot",
    "sample_gait",
    "separate",
    "timing_of",
    "write_gait",
]
