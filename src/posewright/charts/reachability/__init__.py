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
    TimerAbstraction,
    assignments_of,
    is_defined,
    keep_registers,
    may_be_undefined,
)
from posewright.charts.reachability.conditions import Answer
from posewright.charts.reachability.domain import Domain, Spans, parted, where
from posewright.charts.reachability.equivalence import Equivalence, equivalent
from posewright.charts.reachability.exploration import Exploration, explore
from posewright.charts.reachability.graph import BreadthFirst, ReachabilityGraph
from posewright.charts.reachability.limits import USUAL, Limits, WorkBudget
from posewright.charts.reachability.path import InputSpace, PathCondition, paths
from posewright.charts.reachability.questions import Questions
from posewright.charts.reachability.states import AbstractState, Follower, SymbolicStep

__all__ = [
    "USUAL",
    "AbstractState",
    "Abstraction",
    "Answer",
    "BreadthFirst",
    "Domain",
    "Equivalence",
    "Exploration",
    "Follower",
    "InputSpace",
    "Limits",
    "PathCondition",
    "Questions",
    "ReachabilityGraph",
    "Spans",
    "SymbolicStep",
    "TimerAbstraction",
    "WorkBudget",
    "assignments_of",
    "equivalent",
    "explore",
    "is_defined",
    "keep_registers",
    "may_be_undefined",
    "parted",
    "paths",
    "where",
]
