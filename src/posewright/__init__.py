"""Posewright: a workbench for small legged robots.

>>> import posewright as pw
>>> robot = pw.robot("robotis_bioloid")
>>> walk = pw.read_motion("humanoid.mtn", page="F_M_L")
>>> trial = pw.run_trial("obstacle-race", layout="random", seed=7)
>>> trial.score.points

Everything that the command line does is available here; the `--help` of each verb ends with the names of its
Python functions. For the options that draw or film a run (`run --plot`, `--video`), use `draw_outcome` and
`film_recording`.

Importing this module is fast: the package behind a name is imported when the name is first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from posewright.lazy import lazy
from posewright.version import __version__ as __version__

if TYPE_CHECKING:
    from posewright.arenas import random_layout as random_layout
    from posewright.arenas import read_layout as read_layout
    from posewright.arenas import write_arena as write_arena
    from posewright.arenas import write_layout as write_layout
    from posewright.buses.dynamixel import DirectionWizard as DirectionWizard
    from posewright.buses.dynamixel import Teacher as Teacher
    from posewright.buses.dynamixel import apply_calibration as apply_calibration
    from posewright.buses.dynamixel import diagnose, scan, set_id, set_rate, watch
    from posewright.buses.dynamixel import measure_offsets as measure_offsets
    from posewright.buses.dynamixel import open_bus as open_bus
    from posewright.buses.dynamixel import read_calibration as read_calibration
    from posewright.buses.dynamixel import write_calibration as write_calibration
    from posewright.charts import chart as chart
    from posewright.charts import check_chart as check_chart
    from posewright.charts import cover_chart as cover_chart
    from posewright.charts import coverage_of as coverage_of
    from posewright.charts import draw_chart as draw_chart
    from posewright.charts import draw_timeline as draw_timeline
    from posewright.charts import equivalent, minimise
    from posewright.charts import mutate_chart as mutate_chart
    from posewright.charts import parse_chart as parse_chart
    from posewright.charts import read_chart as read_chart
    from posewright.charts import run_chart as run_chart
    from posewright.charts import run_scenarios as run_scenarios
    from posewright.charts import tabulate_chart as tabulate_chart
    from posewright.charts import write_chart as write_chart
    from posewright.codegen import build as build
    from posewright.codegen import explain as explain
    from posewright.codegen import flash_command as flash_command
    from posewright.codegen import generate as generate
    from posewright.codegen import verify as verify
    from posewright.contests import all_arena_names as all_arena_names
    from posewright.contests import contest as contest
    from posewright.contests import contest_names as contest_names
    from posewright.contests import find_arena as find_arena
    from posewright.contests import find_inconsistencies as find_inconsistencies
    from posewright.contests import judge as judge
    from posewright.contests import score as score
    from posewright.control import Controller as Controller
    from posewright.control import Program as Program
    from posewright.controllers import read_page_gait as read_page_gait
    from posewright.controllers import write_page_gait as write_page_gait
    from posewright.controllers.behaviours import read_behaviour as read_behaviour
    from posewright.controllers.behaviours import shipped_motions as shipped_motions
    from posewright.errors import PosewrightError as PosewrightError
    from posewright.evaluation import evaluate as evaluate
    from posewright.figures import draw_arena as draw_arena
    from posewright.figures import draw_gait as draw_gait
    from posewright.figures import draw_motion as draw_motion
    from posewright.figures import draw_parameter as draw_parameter
    from posewright.figures import draw_recording as draw_recording
    from posewright.figures import draw_robot as draw_robot
    from posewright.figures import draw_sequence as draw_sequence
    from posewright.figures import draw_stick as draw_stick
    from posewright.figures import draw_stress as draw_stress
    from posewright.figures import draw_strip as draw_strip
    from posewright.figures import draw_tuning as draw_tuning
    from posewright.figures import draw_walk as draw_walk
    from posewright.figures import draw_walk_report as draw_walk_report
    from posewright.figures import film_motion as film_motion
    from posewright.figures import film_recording as film_recording
    from posewright.figures import save_figure as save_figure
    from posewright.formats import WriteOptions as WriteOptions
    from posewright.formats import add_to_archive as add_to_archive
    from posewright.formats import convert_motion as convert_motion
    from posewright.formats import create_archive as create_archive
    from posewright.formats import extract_archive as extract_archive
    from posewright.formats import import_arena as import_arena
    from posewright.formats import read_archive_file, write_archive_file
    from posewright.formats import read_motion as read_motion
    from posewright.formats import read_motion_file as read_motion_file
    from posewright.formats import remove_from_archive as remove_from_archive
    from posewright.formats import write_motion as write_motion
    from posewright.gaits import VelocityCommand as VelocityCommand
    from posewright.gaits import check_gait as check_gait
    from posewright.gaits import create_gait as create_gait
    from posewright.gaits import gait_names as gait_names
    from posewright.gaits import read_gait as read_gait
    from posewright.gaits import sample_gait as sample_gait
    from posewright.gaits import write_gait as write_gait
    from posewright.hazards import check_motion as check_motion
    from posewright.kinematics import legs_of as legs_of
    from posewright.motions import create_motion as create_motion
    from posewright.motions import sample_motion as sample_motion
    from posewright.recordings import read_mcap, write_mcap
    from posewright.robots import describe
    from posewright.robots import robot as robot
    from posewright.robots import robot_names as robot_names
    from posewright.runs import Run as Run
    from posewright.runs import basic_result as basic_result
    from posewright.runs import biped_block as biped_block
    from posewright.runs import check_contestant as check_contestant
    from posewright.runs import check_day as check_day
    from posewright.runs import draw_board as draw_board
    from posewright.runs import draw_outcome as draw_outcome
    from posewright.runs import export_arena as export_arena
    from posewright.runs import export_robot as export_robot
    from posewright.runs import fake_bus as fake_bus
    from posewright.runs import fake_port as fake_port
    from posewright.runs import import_robot as import_robot
    from posewright.runs import inspect_robot as inspect_robot
    from posewright.runs import openr_result as openr_result
    from posewright.runs import perform as perform
    from posewright.runs import play_day as play_day
    from posewright.runs import play_gait as play_gait
    from posewright.runs import play_motion as play_motion
    from posewright.runs import rank as rank
    from posewright.runs import read_contestant as read_contestant
    from posewright.runs import read_day as read_day
    from posewright.runs import read_program as read_program
    from posewright.runs import read_stressed_program as read_stressed_program
    from posewright.runs import replay as replay
    from posewright.runs import report_walk as report_walk
    from posewright.runs import rerun as rerun
    from posewright.runs import rerun_day as rerun_day
    from posewright.runs import robi_result as robi_result
    from posewright.runs import run as run
    from posewright.runs import run_basic as run_basic
    from posewright.runs import run_many as run_many
    from posewright.runs import run_openr as run_openr
    from posewright.runs import run_robi as run_robi
    from posewright.runs import run_trial as run_trial
    from posewright.runs import serve as serve
    from posewright.runs import stress_program as stress_program
    from posewright.runs import try_motion as try_motion
    from posewright.runs import tune_gait as tune_gait
    from posewright.runs import walk_gait as walk_gait
    from posewright.runs import walk_many as walk_many
    from posewright.runs import write_site as write_site
    from posewright.runtimes.openr import openr_programs as openr_programs
    from posewright.runtimes.openr import sequence_diagram as sequence_diagram
    from posewright.runtimes.openr.stick import add_to_stick as add_to_stick
    from posewright.runtimes.openr.stick import check_monet as check_monet
    from posewright.runtimes.openr.stick import motions_on as motions_on
    from posewright.runtimes.openr.stick import read_stick as read_stick
    from posewright.runtimes.robi import (
        assemble,
        format_listing,
        judge_postures,
        motion_to_program,
        open_program,
        patch_file,
        program_to_motion,
        read_patch_file,
        unpatch_file,
    )
    from posewright.runtimes.robobasic import (
        format_source,
        lint,
        open_source,
        read_motions,
        read_routines,
        write_motions,
    )
    from posewright.studio import open_arena_editor as open_arena_editor
    from posewright.studio import open_studio as open_studio
    from posewright.studio import open_view as open_view

    compare_charts = equivalent
    minimise_chart = minimise
    read_archive = read_archive_file
    write_archive = write_archive_file
    open_robi_program = open_program
    list_robi_program = format_listing
    assemble_robi_program = assemble
    judge_robi_postures = judge_postures
    read_robi_patch = read_patch_file
    patch_robi_program = patch_file
    unpatch_robi_program = unpatch_file
    robi_motion = program_to_motion
    robi_program = motion_to_program
    read_basic = open_source
    check_basic = lint
    format_basic = format_source
    basic_routines = read_routines
    basic_motions = read_motions
    basic_program = write_motions
    describe_robot = describe
    read_recording = read_mcap
    write_recording = write_mcap
    scan_bus = scan
    diagnose_bus = diagnose
    watch_bus = watch
    set_servo_id = set_id
    set_servo_rate = set_rate
else:
    __getattr__, __dir__, _names = lazy(__name__)
    __all__ = ["__version__", *_names]  # noqa: PLE0604 -- all of them text


def load_ipython_extension(shell: object) -> None:
    """Let a notebook show robots, motions, gaits and recordings as pictures: `%load_ext posewright`."""
    from posewright.runs.notebook import register

    register(shell)


def _load_if_in_ipython() -> None:
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        load_ipython_extension(shell)


_load_if_in_ipython()
