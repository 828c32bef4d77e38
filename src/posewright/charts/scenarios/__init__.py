"""Scenarios: inputs over time and what they are expected to lead to, read, run and written."""

from __future__ import annotations

from posewright.charts.scenarios.given import Given, given
from posewright.charts.scenarios.rows import (
    Row,
    Tick,
    fits,
    parse_row,
    read_rows,
    run_rows,
    state_called,
    value_typed,
)
from posewright.charts.scenarios.scenario import Expectation, Scenario, ScenarioStep, rows_of
from posewright.charts.scenarios.scenario_finding import files_in, scenarios_beside
from posewright.charts.scenarios.scenario_reading import parse_scenario, read_scenario
from posewright.charts.scenarios.scenario_running import ScenarioResult, run_scenario, run_scenarios
from posewright.charts.scenarios.scenario_writing import save_scenario

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
    "value_typed",
]
