"""The machine of a chart: what runs it, proves things of it and generates code from it works on."""

from __future__ import annotations

from posewright.charts.machine.asking import Asked
from posewright.charts.machine.entering import Entering
from posewright.charts.machine.interpreter import Interpreter, Outcome
from posewright.charts.machine.lowering import lower
from posewright.charts.machine.machine import Machine, every_actions
from posewright.charts.machine.monitor import Broken, Monitor
from posewright.charts.machine.node import CompoundTransition, Counter, Node
from posewright.charts.machine.owing import Obligation
from posewright.charts.machine.snapshot import JOINT, Snapshot
from posewright.charts.machine.stepping import MAX_MICROSTEPS, Tick
from posewright.charts.machine.wording import how_broken, text_of

__all__ = [
    "JOINT",
    "MAX_MICROSTEPS",
    "Asked",
    "Broken",
    "CompoundTransition",
    "Counter",
    "Entering",
    "Interpreter",
    "Machine",
    "Monitor",
    "Node",
    "Obligation",
    "Outcome",
    "Snapshot",
    "Tick",
    "every_actions",
    "how_broken",
    "lower",
    "text_of",
]
