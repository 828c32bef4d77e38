"""Experiments: run a trial, replay it, tune a gait, try a motion under gravity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runs.arenas import EXPORTS as EXPORTS
    from posewright.runs.arenas import export_arena as export_arena
    from posewright.runs.batch import Batch as Batch
    from posewright.runs.batch import BatchRun as BatchRun
    from posewright.runs.batch import run_batch as run_batch
    from posewright.runs.batch_report import figure_text as figure_text
    from posewright.runs.batch_report import figure_words as figure_words
    from posewright.runs.batch_report import report_of as report_of
    from posewright.runs.batch_report import write_report as write_report
    from posewright.runs.batch_trials import read_seeds as read_seeds
    from posewright.runs.batch_trials import run_many as run_many
    from posewright.runs.fake_bus import fake_bus as fake_bus
    from posewright.runs.fake_bus import fake_counts as fake_counts
    from posewright.runs.fake_bus import fake_port as fake_port
    from posewright.runs.inspection import inspect_robot as inspect_robot
    from posewright.runs.motion import try_motion as try_motion
    from posewright.runs.motion_check import CheckOptions as CheckOptions
    from posewright.runs.motion_check import MotionCheck as MotionCheck
    from posewright.runs.motion_check import check_motion_file as check_motion_file
    from posewright.runs.motion_check import pages_of as pages_of
    from posewright.runs.openr import openr_result as openr_result
    from posewright.runs.openr import run_openr as run_openr
    from posewright.runs.outcome import Outcome as Outcome
    from posewright.runs.perform import PerformOptions as PerformOptions
    from posewright.runs.perform import perform as perform
    from posewright.runs.perform import perform_program as perform_program
    from posewright.runs.plants import choose_plant as choose_plant
    from posewright.runs.plants import make_plant as make_plant
    from posewright.runs.plants import plant_names as plant_names
    from posewright.runs.play import play_gait as play_gait
    from posewright.runs.play import play_motion as play_motion
    from posewright.runs.programs import program_kinds as program_kinds
    from posewright.runs.programs import read_program as read_program
    from posewright.runs.ranking import files_in as files_in
    from posewright.runs.ranking import rank as rank
    from posewright.runs.replaying import draw_board as draw_board
    from posewright.runs.replaying import draw_outcome as draw_outcome
    from posewright.runs.replaying import replay as replay
    from posewright.runs.rerun import Rerun as Rerun
    from posewright.runs.rerun import RerunStatus as RerunStatus
    from posewright.runs.rerun import rerun as rerun
    from posewright.runs.rerun import rerun_files as rerun_files
    from posewright.runs.robi import robi_result as robi_result
    from posewright.runs.robi import run_robi as run_robi
    from posewright.runs.robobasic import basic_result as basic_result
    from posewright.runs.robobasic import run_basic as run_basic
    from posewright.runs.robot_files import ImportedRobot as ImportedRobot
    from posewright.runs.robot_files import biped_block as biped_block
    from posewright.runs.robot_files import export_robot as export_robot
    from posewright.runs.robot_files import import_robot as import_robot
    from posewright.runs.robot_files import name_robot_folder as name_robot_folder
    from posewright.runs.run import Outputs as Outputs
    from posewright.runs.run import Progress as Progress
    from posewright.runs.run import Run as Run
    from posewright.runs.run import run as run
    from posewright.runs.serving import serve as serve
    from posewright.runs.streams import Derivation as Derivation
    from posewright.runs.streams import Streams as Streams
    from posewright.runs.stress import FACTORS as FACTORS
    from posewright.runs.stress import StressedProgram as StressedProgram
    from posewright.runs.stress import list_runs as list_runs
    from posewright.runs.stress import read_stressed_program as read_stressed_program
    from posewright.runs.stress import stress_program as stress_program
    from posewright.runs.tournament.contestant import Contestant as Contestant
    from posewright.runs.tournament.contestant import check_contestant as check_contestant
    from posewright.runs.tournament.contestant import read_contestant as read_contestant
    from posewright.runs.tournament.day import Day as Day
    from posewright.runs.tournament.day import read_day as read_day
    from posewright.runs.tournament.day import save_day as save_day
    from posewright.runs.tournament.day_check import check_day as check_day
    from posewright.runs.tournament.day_rules import day_names as day_names
    from posewright.runs.tournament.playing import play_day as play_day
    from posewright.runs.tournament.rerun_day import rerun_day as rerun_day
    from posewright.runs.tournament.site import write_site as write_site
    from posewright.runs.trial import Trial as Trial
    from posewright.runs.trial import TrialOptions as TrialOptions
    from posewright.runs.trial import read_trial as read_trial
    from posewright.runs.trial import run_trial as run_trial
    from posewright.runs.trial import trial_names as trial_names
    from posewright.runs.trial import trial_run as trial_run
    from posewright.runs.tuning.reading import DEFAULT_HELD_OUT as DEFAULT_HELD_OUT
    from posewright.runs.tuning.reading import TuneOverrides as TuneOverrides
    from posewright.runs.tuning.reading import read_tune as read_tune
    from posewright.runs.tuning.reading import tune_names as tune_names
    from posewright.runs.tuning.report import describe_task as describe_task
    from posewright.runs.tuning.report import figures_line as figures_line
    from posewright.runs.tuning.report import journal_data as journal_data
    from posewright.runs.tuning.report import journal_lines as journal_lines
    from posewright.runs.tuning.report import task_table as task_table
    from posewright.runs.tuning.report import tuned_data as tuned_data
    from posewright.runs.tuning.report import tuned_lines as tuned_lines
    from posewright.runs.tuning.search import GaitProblem as GaitProblem
    from posewright.runs.tuning.search import TunedGait as TunedGait
    from posewright.runs.tuning.search import tune_gait as tune_gait
    from posewright.runs.tuning.task import GaitTask as GaitTask
    from posewright.runs.tuning.task import TunableGait as TunableGait
    from posewright.runs.walking.batch import walk_batch as walk_batch
    from posewright.runs.walking.live import walk_live as walk_live
    from posewright.runs.walking.many import ManyReport as ManyReport
    from posewright.runs.walking.many import WalkedBody as WalkedBody
    from posewright.runs.walking.many import walk_many as walk_many
    from posewright.runs.walking.walk import walk_gait as walk_gait
    from posewright.runtimes.robi.setup import set_up_robi as set_up_robi
    from posewright.runtimes.robobasic.setup import set_up_basic as set_up_basic
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
