"""Scenarios: inputs over time and the expected outputs; reading, running and writing."""

from __future__ import annotations

from posewright.charts.scenarios.rows import (
    Row,
    Tick,
    TickInputs,
    format_tick_table,
    meets_expectation,
    parse_input_value,
    parse_row,
    read_rows,
    resolve_state_name,
    run_rows,
    split_events,
)
from posewright.charts.scenarios.scenario import (
    Expectation,
    Scenario,
    ScenarioStep,
    expand_scenario_paths,
    find_scenarios,
    parse_scenario,
    read_scenario,
    rows_of,
    save_scenario,
)
from posewright.charts.scenarios.scenario_run import ScenarioResult, run_scenario, run_scenarios

__all__ = [
    "Expectation",
    "Row",
    "Scenario",
    "ScenarioResult",
    "ScenarioStep",
    "Tick",
    "TickInputs",
    "expand_scenario_paths",
    "find_scenarios",
    "format_tick_table",
    "meets_expectation",
    "parse_input_value",
    "parse_row",
    "parse_scenario",
    "read_rows",
    "read_scenario",
    "resolve_state_name",
    "rows_of",
    "run_rows",
    "run_scenario",
    "run_scenarios",
    "save_scenario",
    "split_events",
]
