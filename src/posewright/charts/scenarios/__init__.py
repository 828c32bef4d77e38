"""Scenarios: inputs over time and what they are expected to lead to, read, run and written."""

from __future__ import annotations

from posewright.charts.scenarios.rows import (
    Given,
    Row,
    Tick,
    fits,
    given,
    parse_row,
    read_rows,
    run_rows,
    state_called,
    tick_rows,
    value_typed,
)
from posewright.charts.scenarios.running import ScenarioResult, run_scenario, run_scenarios
from posewright.charts.scenarios.scenario import (
    Expectation,
    Scenario,
    ScenarioStep,
    files_in,
    parse_scenario,
    read_scenario,
    rows_of,
    save_scenario,
    scenarios_beside,
)

__all__ = [
    "Expectation",
    "Given",
    "Row",
    "Scenario",
    "ScenarioResult",
    "ScenarioStep",
    "Tick",
    "files_in",
    "fits",
    "given",
    "parse_row",
    "parse_scenario",
    "read_rows",
    "read_scenario",
    "rows_of",
    "run_rows",
    "run_scenario",
    "run_scenarios",
    "save_scenario",
    "scenarios_beside",
    "state_called",
    "tick_rows",
    "value_typed",
]
