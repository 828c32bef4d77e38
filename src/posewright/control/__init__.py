"""Control: what a controller is, the one loop that drives a plant, its clocks, and its safety filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.bodies.clock import Clock as Clock
    from posewright.bodies.clock import RealClock as RealClock
    from posewright.bodies.clock import SimulatedClock as SimulatedClock
    from posewright.control.controller import Controller as Controller
    from posewright.control.loop import Block as Block
    from posewright.control.loop import Until as Until
    from posewright.control.loop import Watcher as Watcher
    from posewright.control.loop import advance_on_clock as advance_on_clock
    from posewright.control.loop import drive as drive
    from posewright.control.program import ControllerFactory as ControllerFactory
    from posewright.control.program import Program as Program
    from posewright.control.program import ProgramKind as ProgramKind
    from posewright.control.program import ProgramWithController as ProgramWithController
    from posewright.control.program import Seed as Seed
    from posewright.control.program import require_known_options as require_known_options
    from posewright.control.safety import Interventions as Interventions
    from posewright.control.safety import SafeCommands as SafeCommands
    from posewright.control.safety import Safety as Safety
    from posewright.control.safety import SafetyLimit as SafetyLimit
    from posewright.control.schedule import Schedule as Schedule
    from posewright.control.script import Script as Script
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
