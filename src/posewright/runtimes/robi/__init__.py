"""Robi 2: lists, converts and patches its programs, judges its postures, and runs programs on any body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runtimes.robi.catalogue import program_names as program_names
    from posewright.runtimes.robi.controller import RobiController as RobiController
    from posewright.runtimes.robi.listing import assemble as assemble
    from posewright.runtimes.robi.listing import format_listing as format_listing
    from posewright.runtimes.robi.load import open_program as open_program
    from posewright.runtimes.robi.machine import ProgramMachine as ProgramMachine
    from posewright.runtimes.robi.memory import RobiMemory as RobiMemory
    from posewright.runtimes.robi.memory import memory_map as memory_map
    from posewright.runtimes.robi.motion_reader import program_to_motion as program_to_motion
    from posewright.runtimes.robi.motion_writer import ConvertedMotion as ConvertedMotion
    from posewright.runtimes.robi.motion_writer import motion_to_program as motion_to_program
    from posewright.runtimes.robi.patch import apply_patch as apply_patch
    from posewright.runtimes.robi.patch import make_patch as make_patch
    from posewright.runtimes.robi.patch import patch_file as patch_file
    from posewright.runtimes.robi.patch import read_patch_file as read_patch_file
    from posewright.runtimes.robi.patch import unpatch_file as unpatch_file
    from posewright.runtimes.robi.postures import JUDGED_BY as JUDGED_BY
    from posewright.runtimes.robi.postures import Judgement as Judgement
    from posewright.runtimes.robi.postures import Posture as Posture
    from posewright.runtimes.robi.postures import judge as judge
    from posewright.runtimes.robi.postures import judge_postures as judge_postures
    from posewright.runtimes.robi.postures import posture_table as posture_table
    from posewright.runtimes.robi.program import Rm4Program as Rm4Program
    from posewright.runtimes.robi.run_report import ending_lines as ending_lines
    from posewright.runtimes.robi.run_report import format_run_report as format_run_report
    from posewright.runtimes.robi.setup import RobiKind as RobiKind
    from posewright.runtimes.robi.setup import RobiProgram as RobiProgram
    from posewright.runtimes.robi.setup import set_up_robi as set_up_robi
    from posewright.runtimes.robi.status import Status as Status
    from posewright.runtimes.robi.status import status_of as status_of
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
