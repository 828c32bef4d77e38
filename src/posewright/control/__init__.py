"""Control: whatever decides, and the one loop that drives a plant by it, with safety between the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.control.controller import Controller as Controller
    from posewright.control.controller import Correction as Correction
    from posewright.control.controller import Feedback as Feedback
    from posewright.control.controller import GaitController as GaitController
    from posewright.control.controller import Schedule as Schedule
    from posewright.control.controller import Script as Script
    from posewright.control.loop import Block as Block
    from posewright.control.loop import Clock as Clock
    from posewright.control.loop import RealClock as RealClock
    from posewright.control.loop import SimulatedClock as SimulatedClock
    from posewright.control.loop import Until as Until
    from posewright.control.loop import Watcher as Watcher
    from posewright.control.loop import drive as drive
    from posewright.control.player import Player as Player
    from posewright.control.safety import Guard as Guard
    from posewright.control.safety import Interventions as Interventions
    from posewright.control.safety import SafeCommands as SafeCommands
    from posewright.control.safety import Safety as Safety
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
