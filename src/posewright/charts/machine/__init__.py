"""The machine of a chart: what runs it, proves things of it and generates code from it works on."""

from __future__ import annotations

from posewright.charts.machine.interpreter import Interpreter, Outcome
from posewright.charts.machine.lowering import lower
from posewright.charts.machine.machine import JOINT, MAX_MICROSTEPS, Machine, Snapshot, every_actions
from posewright.charts.machine.microsteps import Entering
from posewright.charts.machine.monitor import Broken, Monitor, TickConditions, how_broken, text_of
from posewright.charts.machine.node import CompoundTransition, Counter, StateNode
from posewright.charts.machine.tick import Env, TickExecution

__all__ = [
    "JOINT",
    "MAX_MICROSTEPS",
    "Broken",
    "CompoundTransition",
    "Counter",
    "Entering",
    "Env",
    "Interpreter",
    "Machine",
    "Monitor",
    "Outcome",
    "Snapshot",
    "StateNode",
    "TickConditions",
    "TickExecution",
    "every_actions",
    "how_broken",
    "lower",
    "text_of",
]
