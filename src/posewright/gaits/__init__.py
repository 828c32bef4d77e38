"""Gaits: periodic generators of joint angles, frame by frame, from a velocity command.

Every parameter has a name, and `quadruped.step.StepPlanner.plan` computes a step in the order of the lecture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.gaits.arc import WHOLE_TURN_RAD as WHOLE_TURN_RAD
    from posewright.gaits.arc import chain as chain
    from posewright.gaits.arc import se2_exp as se2_exp
    from posewright.gaits.arc import se2_log as se2_log
    from posewright.gaits.arc import to_moved_frame as to_moved_frame
    from posewright.gaits.biped.gait import BipedGait as BipedGait
    from posewright.gaits.biped.generator import BipedGenerator as BipedGenerator
    from posewright.gaits.biped.parameters import BipedParameters as BipedParameters
    from posewright.gaits.biped.stair_gait import StairGait as StairGait
    from posewright.gaits.biped.stair_gait import stair_gait as stair_gait
    from posewright.gaits.biped.stair_steps import StairSteps as StairSteps
    from posewright.gaits.checking import CommandCheck as CommandCheck
    from posewright.gaits.checking import CommandTour as CommandTour
    from posewright.gaits.checking import GaitCheck as GaitCheck
    from posewright.gaits.checking import GaitConcern as GaitConcern
    from posewright.gaits.checking import WorstCase as WorstCase
    from posewright.gaits.checking import check_gait as check_gait
    from posewright.gaits.checking import leg_joint_indices as leg_joint_indices
    from posewright.gaits.command import STILL as STILL
    from posewright.gaits.command import GaitGenerator as GaitGenerator
    from posewright.gaits.command import GaitStep as GaitStep
    from posewright.gaits.command import SteppingGenerator as SteppingGenerator
    from posewright.gaits.command import VelocityCommand as VelocityCommand
    from posewright.gaits.command import VelocityLimits as VelocityLimits
    from posewright.gaits.command import bound_text as bound_text
    from posewright.gaits.command import velocity_limits as velocity_limits
    from posewright.gaits.curves import Interpolation as Interpolation
    from posewright.gaits.description import describe_gait as describe_gait
    from posewright.gaits.description import gait_lines as gait_lines
    from posewright.gaits.description import gait_table as gait_table
    from posewright.gaits.explanation import Explanation as Explanation
    from posewright.gaits.explanation import ParameterKind as ParameterKind
    from posewright.gaits.feedback import OPEN_LOOP as OPEN_LOOP
    from posewright.gaits.feedback import FeedbackGains as FeedbackGains
    from posewright.gaits.gait import Gait as Gait
    from posewright.gaits.gait import GaitCycle as GaitCycle
    from posewright.gaits.gait import ParametricGait as ParametricGait
    from posewright.gaits.new_gait import create_gait as create_gait
    from posewright.gaits.quadruped.foot_timeline import AirPath as AirPath
    from posewright.gaits.quadruped.foot_timeline import air_path as air_path
    from posewright.gaits.quadruped.gait import QuadrupedGait as QuadrupedGait
    from posewright.gaits.quadruped.gait import require_quadruped as require_quadruped
    from posewright.gaits.quadruped.generator import QuadrupedGenerator as QuadrupedGenerator
    from posewright.gaits.quadruped.parameters import EXPLANATIONS as EXPLANATIONS
    from posewright.gaits.quadruped.parameters import ForeHind as ForeHind
    from posewright.gaits.quadruped.parameters import GaitParameters as GaitParameters
    from posewright.gaits.quadruped.parameters import explanation as explanation
    from posewright.gaits.quadruped.phases import CRAWL as CRAWL
    from posewright.gaits.quadruped.phases import FEET as FEET
    from posewright.gaits.quadruped.phases import LEFT_TURN as LEFT_TURN
    from posewright.gaits.quadruped.phases import PACE as PACE
    from posewright.gaits.quadruped.phases import PHASE_TABLES as PHASE_TABLES
    from posewright.gaits.quadruped.phases import RIGHT_TURN as RIGHT_TURN
    from posewright.gaits.quadruped.phases import TROT as TROT
    from posewright.gaits.quadruped.phases import PhaseTable as PhaseTable
    from posewright.gaits.quadruped.phases import phase_table as phase_table
    from posewright.gaits.quadruped.phases import walking_legs as walking_legs
    from posewright.gaits.quadruped.timing import FRAMES_PER_PAIR as FRAMES_PER_PAIR
    from posewright.gaits.quadruped.timing import GaitTiming as GaitTiming
    from posewright.gaits.quadruped.timing import greatest_speed_m_s as greatest_speed_m_s
    from posewright.gaits.quadruped.timing import greatest_turn_rad_s as greatest_turn_rad_s
    from posewright.gaits.quadruped.timing import require_command_in_range as require_command_in_range
    from posewright.gaits.quadruped.timing import timing_of as timing_of
    from posewright.gaits.reading import gait_names as gait_names
    from posewright.gaits.reading import parse_gait as parse_gait
    from posewright.gaits.reading import read_gait as read_gait
    from posewright.gaits.reading import read_gait_and_robot as read_gait_and_robot
    from posewright.gaits.reading import robot_of_gait as robot_of_gait
    from posewright.gaits.sampling import sample_gait as sample_gait
    from posewright.gaits.steady import SteadyWalk as SteadyWalk
    from posewright.gaits.steady import steady_walk as steady_walk
    from posewright.gaits.travel import TravelGain as TravelGain
    from posewright.gaits.travel import Trim as Trim
    from posewright.gaits.writing import gait_text as gait_text
    from posewright.gaits.writing import write_gait as write_gait
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
