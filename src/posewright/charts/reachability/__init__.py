"""Exploration: every state that a chart can reach, and every way in which a tick can go there.

exploration = explore(chart)
exploration.complete, .reasons     whether that is all that can happen; if not, why
exploration.reached                states, breadth first
exploration.distinct_states        one state for all that differ only in counters and have the same steps
exploration.steps_from(state)       the steps from a state, each with inputs that show it
exploration.trace_to(state)        the shortest inputs from the start to a state
exploration.taken_transitions      for each transition, the first state and step that take it
"""

from __future__ import annotations

from posewright.charts.reachability.abstraction import (
    Abstraction,
    Counts,
    TimerAbstraction,
    abstract_registers,
    convert_to_register,
    is_defined,
    list_assignments,
    may_be_undefined,
)
from posewright.charts.reachability.comparisons import Registers, SymbolicFunction
from posewright.charts.reachability.domain import Domain, Spans, find_spans, partition
from posewright.charts.reachability.exploration import Exploration, explore
from posewright.charts.reachability.graph import BreadthFirst, ReachabilityGraph, StateKey, Trace
from posewright.charts.reachability.limits import (
    DEFAULT_LIMITS,
    MAX_ENUMERATED,
    ExplorationLimits,
    WorkBudget,
)
from posewright.charts.reachability.path import InputSpace, PathCondition, explore_paths
from posewright.charts.reachability.states import (
    AbstractState,
    ChartStateSpace,
    SymbolicStep,
    UntimedTarget,
    build_abstract_state,
)
from posewright.charts.reachability.symbolic_compiler import SymbolicCompiler
from posewright.charts.reachability.symbolic_interpreter import SymbolicTick

__all__ = [
    "DEFAULT_LIMITS",
    "MAX_ENUMERATED",
    "AbstractState",
    "Abstraction",
    "BreadthFirst",
    "ChartStateSpace",
    "Counts",
    "Domain",
    "Exploration",
    "ExplorationLimits",
    "InputSpace",
    "PathCondition",
    "ReachabilityGraph",
    "Registers",
    "Spans",
    "StateKey",
    "SymbolicCompiler",
    "SymbolicFunction",
    "SymbolicStep",
    "SymbolicTick",
    "TimerAbstraction",
    "Trace",
    "UntimedTarget",
    "WorkBudget",
    "abstract_registers",
    "build_abstract_state",
    "convert_to_register",
    "explore",
    "explore_paths",
    "find_spans",
    "is_defined",
    "list_assignments",
    "may_be_undefined",
    "partition",
]
