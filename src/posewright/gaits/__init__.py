"""Gaits: from a velocity command to poses, frame by frame; periodic, with every parameter by name.

The order of work is that of the document: `step.StepPlanner.plan` reads from top to bottom.
"""

from __future__ import annotations

from posewright.gaits.arc import WHOLE_TURN_RAD, chain, left_behind, se2_exp, se2_log
from posewright.gaits.command import STILL, GaitGenerator, VelocityCommand
from posewright.gaits.curves import Interpolation
from posewright.gaits.quadruped.checking import Concern, GaitCheck, Tour, Tried, Worst, check_gait
from posewright.gaits.quadruped.foot_timeline import AirPath, air_path
from posewright.gaits.quadruped.gait import Gait, TravelGain, Trim
from posewright.gaits.quadruped.parameters import (
    EXPLANATIONS,
    Explanation,
    ForeHind,
    GaitParameters,
    Kind,
    explanation,
)
from posewright.gaits.quadruped.phases import (
    CRAWL,
    FEET,
    LEFT_TURN,
    PACE,
    PHASE_TABLES,
    RIGHT_TURN,
    TROT,
    PhaseTable,
    phase_table,
    walking_legs,
)
from posewright.gaits.quadruped.reading import gait_names, read_gait, read_gait_and_robot
from posewright.gaits.quadruped.sampling import Steady, sample_gait, steady_walk
from posewright.gaits.quadruped.timing import (
    FRAMES_A_PAIR,
    GaitTiming,
    bound_text,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    refuse_out_of_range,
    timing_of,
)
from posewright.gaits.quadruped.walker import QuadrupedGait
from posewright.gaits.quadruped.writing import gait_text, write_gait

__all__ = [
    "CRAWL",
    "EXPLANATIONS",
    "FEET",
    "FRAMES_A_PAIR",
    "LEFT_TURN",
    "PACE",
    "PHASE_TABLES",
    "RIGHT_TURN",
    "STILL",
    "TROT",
    "WHOLE_TURN_RAD",
    "AirPath",
    "Concern",
    "Explanation",
    "ForeHind",
    "Gait",
    "GaitCheck",
    "GaitGenerator",
    "GaitParameters",
    "GaitTiming",
    "Interpolation",
    "Kind",
    "PhaseTable",
    "QuadrupedGait",
    "Steady",
    "Tour",
    "TravelGain",
    "Tried",
    "Trim",
    "VelocityCommand",
    "Worst",
    "air_path",
    "bound_text",
    "chain",
    "check_gait",
    "explanation",
    "gait_names",
    "gait_text",
    "greatest_speed_m_s",
    "greatest_turn_rad_s",
    "left_behind",
    "phase_table",
    "read_gait",
    "read_gait_and_robot",
    "refuse_out_of_range",
    "sample_gait",
    "se2_exp",
    "se2_log",
    "steady_walk",
    "timing_of",
    "walking_legs",
    "write_gait",
]
