"""Exploration: every state that a chart can reach, and every way in which a tick can go there.

exploration = explore(chart)
exploration.complete               whether that is all that can happen
exploration.incomplete_reasons     if not, why
exploration.reached_states         states, breadth first
exploration.distinct_states        one state for all that differ only in counters and have the same steps
exploration.steps_from(state)      the steps from a state, each with inputs that show it
exploration.trace_to(state)        the shortest inputs from the start to a state
exploration.taken_transitions      for each transition, the first state and step that take it
"""

from __future__ import annotations

from posewright.charts.reachability.abstraction import (
    Abstraction,
    CounterAbstraction,
    CounterValues,
    abstract_registers,
    convert_to_register,
    is_defined,
    list_assignments,
    may_be_undefined,
)
from posewright.charts.reachability.comparisons import Registers, SymbolicFunction
from posewright.charts.reachability.domain import Domain, Spans, find_spans, partition
from posewright.charts.reachability.exploration import Exploration, explore
from posewright.charts.reachability.graph import BreadthFirst, ReachabilityGraph, Trace
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
    ExploredPath,
    StateKey,
    StepTarget,
    SymbolicStep,
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
    "CounterAbstraction",
    "CounterValues",
    "Domain",
    "Exploration",
    "ExplorationLimits",
    "ExploredPath",
    "InputSpace",
    "PathCondition",
    "ReachabilityGraph",
    "Registers",
    "Spans",
    "StateKey",
    "StepTarget",
    "SymbolicCompiler",
    "SymbolicFunction",
    "SymbolicStep",
    "SymbolicTick",
    "Trace",
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
