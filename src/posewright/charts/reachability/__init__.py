"""Exploration: every state that a chart can come into, and every way in which a tick can go there.

seen = explore(chart)
seen.complete, seen.reasons     whether that is all there is; if not, why
seen.reached                    states, breadth first
seen.situations                 of these, one for all that differ in counted time only and now go the same
                                ways: enough for whoever asks what can happen, and many times fewer
seen.cases(state)               the ways in which a tick can go, each with inputs that show it
seen.trace_to(state)            the shortest inputs from the start to there
seen.taken                      for each way of the machine, the first state and case that takes it
"""

from __future__ import annotations

from posewright.charts.reachability.abstraction import (
    Abstraction,
    Counts,
    TimerAbstraction,
    as_register_holds,
    assignments_of,
    is_defined,
    keep_registers,
    may_be_undefined,
)
from posewright.charts.reachability.conditions import Answer, Registers
from posewright.charts.reachability.domain import Domain, Spans, find_spans, parted
from posewright.charts.reachability.exploration import Exploration, explore
from posewright.charts.reachability.graph import BreadthFirst, Place, ReachabilityGraph, Trace
from posewright.charts.reachability.limits import SMALL, USUAL, Limits, WorkBudget
from posewright.charts.reachability.path import InputSpace, PathCondition, paths
from posewright.charts.reachability.questions import Questions
from posewright.charts.reachability.states import (
    AbstractState,
    AbstractStates,
    Followed,
    SymbolicStep,
    gathered,
)

__all__ = [
    "SMALL",
    "USUAL",
    "AbstractState",
    "AbstractStates",
    "Abstraction",
    "Answer",
    "BreadthFirst",
    "Counts",
    "Domain",
    "Exploration",
    "Followed",
    "InputSpace",
    "Limits",
    "PathCondition",
    "Place",
    "Questions",
    "ReachabilityGraph",
    "Registers",
    "Spans",
    "SymbolicStep",
    "TimerAbstraction",
    "Trace",
    "WorkBudget",
    "as_register_holds",
    "assignments_of",
    "explore",
    "find_spans",
    "gathered",
    "is_defined",
    "keep_registers",
    "may_be_undefined",
    "parted",
    "paths",
]
