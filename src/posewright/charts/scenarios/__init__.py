"""Scenarios: inputs over time and what they are expected to lead to, read, run and written."""

from posewright.charts.scenarios.scenario import Expectation, Scenario, ScenarioStep, rows_of
from posewright.charts.scenarios.scenario_finding import files_in, scenarios_beside
from posewright.charts.scenarios.scenario_reading import parse_scenario, read_scenario
from posewright.charts.scenarios.scenario_running import Failure, ScenarioResult, run_scenario, run_scenarios
from posewright.charts.scenarios.scenario_writing import save_scenario, scenario_data

__all__ = [
    "Expectation",
    "Failure",
    "Scenario",
    "ScenarioResult",
    "ScenarioStep",
    "files_in",
    "parse_scenario",
    "read_scenario",
    "rows_of",
    "run_scenario",
    "run_scenarios",
    "save_scenario",
    "scenario_data",
    "scenarios_beside",
]
