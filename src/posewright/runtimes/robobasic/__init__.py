"""RoboBASIC: reads, checks and formats programs for the MR-C3024 of a RoboNova-1, and runs them on any body.

`syntax` parses each line into a statement, `compiler` turns the statements into steps, and `machine` runs the
steps on a `board` in simulated time; `servos` turns MOVE, SPEED and PTP into counts, pulse by pulse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runtimes.robobasic.ad_ports import find_moved_sensors as find_moved_sensors
    from posewright.runtimes.robobasic.compiler import compile_or_raise as compile_or_raise
    from posewright.runtimes.robobasic.compiler import compile_source as compile_source
    from posewright.runtimes.robobasic.controller import RoboBasicController as RoboBasicController
    from posewright.runtimes.robobasic.formatter import format_source as format_source
    from posewright.runtimes.robobasic.inputs import read_inputs as read_inputs
    from posewright.runtimes.robobasic.linter import lint as lint
    from posewright.runtimes.robobasic.load import ROBOT as ROBOT
    from posewright.runtimes.robobasic.load import open_program as open_program
    from posewright.runtimes.robobasic.load import open_source as open_source
    from posewright.runtimes.robobasic.load import program_names as program_names
    from posewright.runtimes.robobasic.load import read_program_file as read_program_file
    from posewright.runtimes.robobasic.machine import BasicMachine as BasicMachine
    from posewright.runtimes.robobasic.machine import CompiledProgram as CompiledProgram
    from posewright.runtimes.robobasic.motion_reader import Routine as Routine
    from posewright.runtimes.robobasic.motion_reader import read_motions as read_motions
    from posewright.runtimes.robobasic.motion_reader import read_routines as read_routines
    from posewright.runtimes.robobasic.motion_writer import MotionsProgram as MotionsProgram
    from posewright.runtimes.robobasic.motion_writer import write_motions as write_motions
    from posewright.runtimes.robobasic.run_report import format_run_report as format_run_report
    from posewright.runtimes.robobasic.servos import speed_from_measurement as speed_from_measurement
    from posewright.runtimes.robobasic.setup import RoboBasicKind as RoboBasicKind
    from posewright.runtimes.robobasic.setup import RoboBasicProgram as RoboBasicProgram
    from posewright.runtimes.robobasic.setup import set_up_basic as set_up_basic
    from posewright.runtimes.robobasic.syntax import MAX_BYTES as MAX_BYTES
    from posewright.runtimes.robobasic.syntax import read_source as read_source
    from posewright.runtimes.robobasic.tree import BasicFinding as BasicFinding
    from posewright.runtimes.robobasic.tree import BasicSource as BasicSource
    from posewright.runtimes.robobasic.tree import Severity as Severity
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
