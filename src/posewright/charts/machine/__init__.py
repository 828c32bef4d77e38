"""The machine of a chart, on which the interpreter, the proofs and the code generator work."""

from __future__ import annotations

from posewright.charts.machine.interpreter import Interpreter, TickOutcome
from posewright.charts.machine.lowering import lower
from posewright.charts.machine.machine import MAX_MICROSTEPS, STATE_SEPARATOR, Machine, Snapshot, all_actions
from posewright.charts.machine.microsteps import EntrySet
from posewright.charts.machine.monitor import (
    BrokenPromise,
    Monitor,
    TickConditions,
    format_broken_promise,
    format_promise,
)
from posewright.charts.machine.node import ROOT, CompoundTransition, Counter, StateNode
from posewright.charts.machine.tick import Env, TickExecution

__all__ = [
    "MAX_MICROSTEPS",
    "ROOT",
    "STATE_SEPARATOR",
    "BrokenPromise",
    "CompoundTransition",
    "Counter",
    "EntrySet",
    "Env",
    "Interpreter",
    "Machine",
    "Monitor",
    "Snapshot",
    "StateNode",
    "TickConditions",
    "TickExecution",
    "TickOutcome",
    "all_actions",
    "format_broken_promise",
    "format_promise",
    "lower",
]
