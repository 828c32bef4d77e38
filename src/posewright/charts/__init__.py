"""Charts: state machines as pure logic. They know nothing of robots and have no clock of their own.

A chart is read (`read_chart`), checked by proof (`check_chart`), run (`run_chart`, and tick by tick
`Interpreter`), tried (`run_scenarios`, `cover_chart`, `mutate_chart`), compared (`equivalent`), written as a
truth table (`tabulate_chart`), made smaller (`minimise`), drawn (`draw_chart`, `draw_timeline`) and exchanged
(`scxml_text`, `transition_table_text`). What a chart does in a tick stands in docs/chart-semantics.md.

Names load on first use: whoever only runs a chart needs no solver. What follows is a table, and long as such.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posewright.charts.action import Action, Actions, Assign, Branch, Raise, assign
    from posewright.charts.chart import Chart, Kind, Steps
    from posewright.charts.chart_state import ChartState
    from posewright.charts.checks import Report, check_chart, inspect_chart, require_sound
    from posewright.charts.coverage import Cover, Coverage, cover_chart, cover_run, coverage_of, marks
    from posewright.charts.datatypes import BoolType, EnumType, FloatType, IntType, Type, Value
    from posewright.charts.door import chart_in, read_chart
    from posewright.charts.drawing import (
        Mark,
        Style,
        draw_chart,
        draw_mermaid,
        draw_svg,
        draw_timeline,
        style_called,
        timeline_svg,
    )
    from posewright.charts.equivalence import Equivalence, equivalent
    from posewright.charts.exchange import write_chart
    from posewright.charts.exploration import Exploration, explore
    from posewright.charts.expression import Expression, Function, FunctionRow, Scope, parse_expression
    from posewright.charts.finding import Counterexample, Finding, Level, Rule
    from posewright.charts.interpreter import Interpreter, Outcome
    from posewright.charts.machine import Machine, lower
    from posewright.charts.minimising import Method, best_order, minimise, minimised_chart
    from posewright.charts.mutation import Mutant, MutationResult, mutants, mutate_chart
    from posewright.charts.promise import Promise, Vow
    from posewright.charts.promises import Broken, PromiseResult, Verdict, Watch, check_promises
    from posewright.charts.reading import parse_chart
    from posewright.charts.rows import Row, Tick, read_rows
    from posewright.charts.running import rows_given, run_chart
    from posewright.charts.scenarios import (
        Scenario,
        ScenarioResult,
        files_in,
        read_scenario,
        run_scenario,
        run_scenarios,
        save_scenario,
        scenarios_beside,
    )
    from posewright.charts.scxml import beyond_scxml, parse_scxml, save_scxml, scxml_text
    from posewright.charts.state import Otherwise, Priority, State
    from posewright.charts.table_form import TableForm
    from posewright.charts.table_reading import parse_table
    from posewright.charts.transition import Memory, Target, Transition, to
    from posewright.charts.transition_table_reading import parse_transition_table
    from posewright.charts.transition_table_writing import save_transition_table, transition_table_text
    from posewright.charts.truth_table import (
        TableRow,
        TruthTable,
        chart_of,
        save_table,
        table_of,
        tabulate_chart,
    )
    from posewright.charts.writing import chart_data, save_chart

_ROOM = {
    "Action": "action",
    "Actions": "action",
    "Assign": "action",
    "BoolType": "datatypes",
    "Branch": "action",
    "Broken": "promises",
    "Chart": "chart",
    "ChartState": "chart_state",
    "Counterexample": "finding",
    "Cover": "coverage",
    "Coverage": "coverage",
    "EnumType": "datatypes",
    "Equivalence": "equivalence",
    "Exploration": "exploration",
    "Expression": "expression",
    "Finding": "finding",
    "FloatType": "datatypes",
    "Function": "expression",
    "FunctionRow": "expression",
    "IntType": "datatypes",
    "Interpreter": "interpreter",
    "Kind": "chart",
    "Level": "finding",
    "Machine": "machine",
    "Mark": "drawing",
    "Memory": "transition",
    "Method": "minimising",
    "Mutant": "mutation",
    "MutationResult": "mutation",
    "Otherwise": "state",
    "Outcome": "interpreter",
    "Priority": "state",
    "Promise": "promise",
    "PromiseResult": "promises",
    "Raise": "action",
    "Report": "checks",
    "Row": "rows",
    "Rule": "finding",
    "Scenario": "scenarios",
    "ScenarioResult": "scenarios",
    "Scope": "expression",
    "State": "state",
    "Steps": "chart",
    "Style": "drawing",
    "TableForm": "table_form",
    "TableRow": "truth_table",
    "Target": "transition",
    "Tick": "rows",
    "Transition": "transition",
    "TruthTable": "truth_table",
    "Type": "datatypes",
    "Value": "datatypes",
    "Verdict": "promises",
    "Vow": "promise",
    "Watch": "promises",
    "assign": "action",
    "best_order": "minimising",
    "beyond_scxml": "scxml",
    "chart_data": "writing",
    "chart_in": "door",
    "chart_of": "truth_table",
    "check_chart": "checks",
    "check_promises": "promises",
    "cover_chart": "coverage",
    "cover_run": "coverage",
    "coverage_of": "coverage",
    "draw_chart": "drawing",
    "draw_mermaid": "drawing",
    "draw_svg": "drawing",
    "draw_timeline": "drawing",
    "equivalent": "equivalence",
    "explore": "exploration",
    "files_in": "scenarios",
    "inspect_chart": "checks",
    "lower": "machine",
    "marks": "coverage",
    "minimise": "minimising",
    "minimised_chart": "minimising",
    "mutants": "mutation",
    "mutate_chart": "mutation",
    "parse_chart": "reading",
    "parse_expression": "expression",
    "parse_scxml": "scxml",
    "parse_table": "table_reading",
    "parse_transition_table": "transition_table_reading",
    "read_chart": "door",
    "read_rows": "rows",
    "read_scenario": "scenarios",
    "require_sound": "checks",
    "rows_given": "running",
    "run_chart": "running",
    "run_scenario": "scenarios",
    "run_scenarios": "scenarios",
    "save_chart": "writing",
    "save_scenario": "scenarios",
    "save_scxml": "scxml",
    "save_table": "truth_table",
    "save_transition_table": "transition_table_writing",
    "scenarios_beside": "scenarios",
    "scxml_text": "scxml",
    "style_called": "drawing",
    "table_of": "truth_table",
    "tabulate_chart": "truth_table",
    "timeline_svg": "drawing",
    "to": "transition",
    "transition_table_text": "transition_table_writing",
    "write_chart": "exchange",
}

__all__ = [
    "Action",
    "Actions",
    "Assign",
    "BoolType",
    "Branch",
    "Broken",
    "Chart",
    "ChartState",
    "Counterexample",
    "Cover",
    "Coverage",
    "EnumType",
    "Equivalence",
    "Exploration",
    "Expression",
    "Finding",
    "FloatType",
    "Function",
    "FunctionRow",
    "IntType",
    "Interpreter",
    "Kind",
    "Level",
    "Machine",
    "Mark",
    "Memory",
    "Method",
    "Mutant",
    "MutationResult",
    "Otherwise",
    "Outcome",
    "Priority",
    "Promise",
    "PromiseResult",
    "Raise",
    "Report",
    "Row",
    "Rule",
    "Scenario",
    "ScenarioResult",
    "Scope",
    "State",
    "Steps",
    "Style",
    "TableForm",
    "TableRow",
    "Target",
    "Tick",
    "Transition",
    "TruthTable",
    "Type",
    "Value",
    "Verdict",
    "Vow",
    "Watch",
    "assign",
    "best_order",
    "beyond_scxml",
    "chart_data",
    "chart_in",
    "chart_of",
    "check_chart",
    "check_promises",
    "cover_chart",
    "cover_run",
    "coverage_of",
    "draw_chart",
    "draw_mermaid",
    "draw_svg",
    "draw_timeline",
    "equivalent",
    "explore",
    "files_in",
    "inspect_chart",
    "lower",
    "marks",
    "minimise",
    "minimised_chart",
    "mutants",
    "mutate_chart",
    "parse_chart",
    "parse_expression",
    "parse_scxml",
    "parse_table",
    "parse_transition_table",
    "read_chart",
    "read_rows",
    "read_scenario",
    "require_sound",
    "rows_given",
    "run_chart",
    "run_scenario",
    "run_scenarios",
    "save_chart",
    "save_scenario",
    "save_scxml",
    "save_table",
    "save_transition_table",
    "scenarios_beside",
    "scxml_text",
    "style_called",
    "table_of",
    "tabulate_chart",
    "timeline_svg",
    "to",
    "transition_table_text",
    "write_chart",
]


if not TYPE_CHECKING:  # else any name, misspelt ones too, would be there for who checks types

    def __getattr__(name: str) -> object:
        if name not in _ROOM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_ROOM[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
