"""Model: a chart as a value, with its states, transitions, actions and declarations."""

from __future__ import annotations

from posewright.charts.model.action import (
    Action,
    Actions,
    Assign,
    Branch,
    Raise,
    assign,
    events_raised,
    every_action,
    expressions_in,
    names_set,
)
from posewright.charts.model.chart import Chart, Kind, Steps, scope_of
from posewright.charts.model.declarations import (
    MAX_NAME,
    RESERVED,
    Declarations,
    chart_name,
    chart_named,
    file_named,
    name_fault,
    proper_name,
    title_of,
)
from posewright.charts.model.else_guards import ELSE, else_guard, has_elders
from posewright.charts.model.promise import Promise, PropertyKind
from posewright.charts.model.state import Otherwise, Priority, State, walk
from posewright.charts.model.table_form import NEXT, TableForm
from posewright.charts.model.transition import ALWAYS, DONE, Memory, Target, Transition, segments_of, to

__all__ = [
    "ALWAYS",
    "DONE",
    "ELSE",
    "MAX_NAME",
    "NEXT",
    "RESERVED",
    "Action",
    "Actions",
    "Assign",
    "Branch",
    "Chart",
    "Declarations",
    "Kind",
    "Memory",
    "Otherwise",
    "Priority",
    "Promise",
    "PropertyKind",
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
    "proper_name",
    "scope_of",
    "segments_of",
    "title_of",
    "to",
    "walk",
]
