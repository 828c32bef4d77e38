"""Experiments: run a trial, replay it, tune a gait, try a motion under gravity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.experiments.arenas import EXPORTS as EXPORTS
    from posewright.experiments.arenas import export_arena as export_arena
    from posewright.experiments.batch import Batch as Batch
    from posewright.experiments.batch import Run as Run
    from posewright.experiments.batch import run_batch as run_batch
    from posewright.experiments.batch_report import figure_text as figure_text
    from posewright.experiments.batch_report import figure_words as figure_words
    from posewright.experiments.batch_report import keep_report as keep_report
    from posewright.experiments.batch_report import report_of as report_of
    from posewright.experiments.batch_trials import read_seeds as read_seeds
    from posewright.experiments.batch_trials import run_many as run_many
    from posewright.experiments.fake_bus import fake_bus as fake_bus
    from posewright.experiments.fake_bus import fake_counts as fake_counts
    from posewright.experiments.fake_bus import fake_port as fake_port
    from posewright.experiments.inspection import inspect_robot as inspect_robot
    from posewright.experiments.motion import try_motion as try_motion
    from posewright.experiments.openr import openr_result as openr_result
    from posewright.experiments.openr import run_openr as run_openr
    from posewright.experiments.openr import run_program as run_program
    from posewright.experiments.outcome import Outcome as Outcome
    from posewright.experiments.performing import perform as perform
    from posewright.experiments.plants import is_plant as is_plant
    from posewright.experiments.plants import make_plant as make_plant
    from posewright.experiments.plants import plant_names as plant_names
    from posewright.experiments.playing import play_gait as play_gait
    from posewright.experiments.playing import play_motion as play_motion
    from posewright.experiments.ranking import files_in as files_in
    from posewright.experiments.ranking import rank as rank
    from posewright.experiments.replaying import draw_board as draw_board
    from posewright.experiments.replaying import draw_outcome as draw_outcome
    from posewright.experiments.replaying import replay as replay
    from posewright.experiments.robi import ReadyRobi as ReadyRobi
    from posewright.experiments.robi import robi_result as robi_result
    from posewright.experiments.robi import run_robi as run_robi
    from posewright.experiments.robi import set_up_robi as set_up_robi
    from posewright.experiments.robobasic import basic_result as basic_result
    from posewright.experiments.robobasic import run_basic as run_basic
    from posewright.experiments.robobasic import set_up_basic as set_up_basic
    from posewright.experiments.robot_files import ImportedRobot as ImportedRobot
    from posewright.experiments.robot_files import export_robot as export_robot
    from posewright.experiments.robot_files import import_robot as import_robot
    from posewright.experiments.run import Progress as Progress
    from posewright.experiments.run import run_trial as run_trial
    from posewright.experiments.serving import serve as serve
    from posewright.experiments.tournament.contestant import Contestant as Contestant
    from posewright.experiments.tournament.contestant import read_contestant as read_contestant
    from posewright.experiments.tournament.day import Day as Day
    from posewright.experiments.tournament.day import read_day as read_day
    from posewright.experiments.tournament.day import save_day as save_day
    from posewright.experiments.tournament.day_rules import day_names as day_names
    from posewright.experiments.tournament.playing import play_day as play_day
    from posewright.experiments.tournament.site import write_site as write_site
    from posewright.experiments.trial import Trial as Trial
    from posewright.experiments.trial import read_trial as read_trial
    from posewright.experiments.trial import trial_names as trial_names
    from posewright.experiments.tuning.reading import read_tune as read_tune
    from posewright.experiments.tuning.reading import tune_names as tune_names
    from posewright.experiments.tuning.search import GaitProblem as GaitProblem
    from posewright.experiments.tuning.search import TunedGait as TunedGait
    from posewright.experiments.tuning.search import tune_gait as tune_gait
    from posewright.experiments.tuning.task import GaitTask as GaitTask
    from posewright.experiments.walking.batch import walk_batch as walk_batch
    from posewright.experiments.walking.live import walk_live as walk_live
    from posewright.experiments.walking.many import ManyReport as ManyReport
    from posewright.experiments.walking.many import WalkedBody as WalkedBody
    from posewright.experiments.walking.many import walk_many as walk_many
    from posewright.experiments.walking.walk import walk_gait as walk_gait
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
