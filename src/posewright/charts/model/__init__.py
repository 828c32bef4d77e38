"""Model: a chart as a value, with its states, transitions, actions and declarations."""

from __future__ import annotations

from posewright.charts.model.chart import (Chart, Kind, NEXT, Promise, PropertyKind, Steps, TableForm, scope_of)
from posewright.charts.model.declarations import (Declarations, MAX_NAME, RESERVED, chart_name, chart_named, file_named, name_fault, one_line, proper_name)
from posewright.charts.model.state import (Otherwise, Priority, State, walk)
from posewright.charts.model.transition import (ALWAYS, Action, Actions, Assign, Branch, DONE, ELSE, Memory, Raise, Target, Transition, assign, else_guard, events_raised, every_action, expressions_in, has_elders, names_set, segments_of, to)

__all__ = [
    "ALWAYS",
    "Action",
    "Actions",
    "Assign",
    "Branch",
    "Chart",
    "DONE",
    "Declarations",
    "ELSE",
    "Kind",
    "MAX_NAME",
    "Memory",
    "NEXT",
    "Otherwise",
    "Priority",
    "Promise",
    "PropertyKind",
    "RESERVED",
    "Raise",
    "State",
    "Steps",
    "TableForm",
    "Target",
    "Transition",
    "assign",
    "chart_name",
    "chart_named",
    "else_guard",
    "events_raised",
    "every_action",
    "expressions_in",
    "file_named",
    "has_elders",
    "name_fault",
    "names_set",
    "one_line",
    "proper_name",
    "scope_of",
    "segments_of",
    "to",
    "walk",
]
