"""RoboBASIC: programs of a RoboNova-1's MR-C3024 are read, checked, and run on any body.

A line becomes a statement (`syntax`, by `grammar.lark`), a program a list of steps (`compiling`),
which a `Machine` runs on a `Board` in its own time; `Servos` turn MOVE, SPEED and PTP into counts, pulse by
pulse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.runtimes.robobasic.ad_ports import moved_plugs as moved_plugs
    from posewright.runtimes.robobasic.compiling import compile_source as compile_source
    from posewright.runtimes.robobasic.compiling import ready_program as ready_program
    from posewright.runtimes.robobasic.controller import RoboBasicController as RoboBasicController
    from posewright.runtimes.robobasic.inputs import read_inputs as read_inputs
    from posewright.runtimes.robobasic.layout import formatted as formatted
    from posewright.runtimes.robobasic.linting import lint as lint
    from posewright.runtimes.robobasic.machine import Machine as Machine
    from posewright.runtimes.robobasic.machine import Program as Program
    from posewright.runtimes.robobasic.motion_reading import Routine as Routine
    from posewright.runtimes.robobasic.motion_reading import program_motions as program_motions
    from posewright.runtimes.robobasic.motion_reading import routines as routines
    from posewright.runtimes.robobasic.motion_writing import MotionsProgram as MotionsProgram
    from posewright.runtimes.robobasic.motion_writing import motions_program as motions_program
    from posewright.runtimes.robobasic.opening import ROBOT as ROBOT
    from posewright.runtimes.robobasic.opening import open_program as open_program
    from posewright.runtimes.robobasic.opening import open_source as open_source
    from posewright.runtimes.robobasic.opening import program_names as program_names
    from posewright.runtimes.robobasic.servos import speed_from_measurement as speed_from_measurement
    from posewright.runtimes.robobasic.setup import RoboBasicKind as RoboBasicKind
    from posewright.runtimes.robobasic.setup import RoboBasicProgram as RoboBasicProgram
    from posewright.runtimes.robobasic.setup import set_up_basic as set_up_basic
    from posewright.runtimes.robobasic.story import run_lines as run_lines
    from posewright.runtimes.robobasic.syntax import MOST_BYTES as MOST_BYTES
    from posewright.runtimes.robobasic.syntax import read_source as read_source
    from posewright.runtimes.robobasic.tree import Finding as Finding
    from posewright.runtimes.robobasic.tree import Severity as Severity
    from posewright.runtimes.robobasic.tree import Source as Source
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
