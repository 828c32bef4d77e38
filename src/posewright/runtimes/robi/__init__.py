"""Robi 2: its memory, its postures and its programs run on any body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runtimes.robi.controller import RobiController as RobiController
    from posewright.runtimes.robi.listing import assemble as assemble
    from posewright.runtimes.robi.listing import listing as listing
    from posewright.runtimes.robi.machine import ProgramMachine as ProgramMachine
    from posewright.runtimes.robi.memory import Memory as Memory
    from posewright.runtimes.robi.memory import memory_map as memory_map
    from posewright.runtimes.robi.motion_reading import program_motion as program_motion
    from posewright.runtimes.robi.motions import MotionProgram as MotionProgram
    from posewright.runtimes.robi.motions import motion_program as motion_program
    from posewright.runtimes.robi.opening import open_program as open_program
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
    from posewright.runtimes.robi.postures import postures as postures
    from posewright.runtimes.robi.program import Program as Program
    from posewright.runtimes.robi.programs import program_names as program_names
    from posewright.runtimes.robi.setup import RobiKind as RobiKind
    from posewright.runtimes.robi.setup import RobiProgram as RobiProgram
    from posewright.runtimes.robi.setup import set_up_robi as set_up_robi
    from posewright.runtimes.robi.status import Status as Status
    from posewright.runtimes.robi.status import status_of as status_of
    from posewright.runtimes.robi.story import ending_lines as ending_lines
    from posewright.runtimes.robi.story import run_lines as run_lines
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
