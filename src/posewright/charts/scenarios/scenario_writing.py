"""Scenarios to documents: a step on a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from posewright.charts.scenarios.scenario import Expectation, Scenario, ScenarioStep
from posewright.charts.types import Value
from posewright.documents import one_line, save_document


def save_scenario(scenario: Scenario, path: Path | str) -> None:
    """Write a scenario, atomically; over an existing document only what changed is changed."""
    save_document(path, scenario_data(scenario))


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as the plain data of its document."""
    data = {
        "scenario": scenario.name,
        "chart": scenario.chart,
        "description": scenario.description,
        "start": scenario.start,
        "steps": [one_line(_step(step)) for step in scenario.steps],
    }
    return {key: value for key, value in data.items() if value not in (None, "")}


def _step(step: ScenarioStep) -> dict[str, Any]:
    lasts = {"for": f"{step.seconds!r} s"} if step.seconds else {"ticks": step.ticks}
    data = {
        **lasts,
        "set": _values(step.set),
        "send": list(step.send),
        "expect": _expectation(step.expect),
        "throughout": _expectation(step.throughout),
    }
    return {key: value for key, value in data.items() if value not in ({}, [])}


def _expectation(expectation: Expectation) -> dict[str, Any]:
    states = {"in": _few(expectation.inside), "not_in": _few(expectation.outside)}
    return {**{key: names for key, names in states.items() if names}, **_values(expectation.values)}


def _few(names: Sequence[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _values(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values as charts write them: truth values are 0 and 1."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in values.items()}
