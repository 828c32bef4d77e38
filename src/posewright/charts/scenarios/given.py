"""Rows of inputs as a tick takes them."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.charts.model import Chart
from posewright.charts.types import Value

Given = tuple[Mapping[str, Value], tuple[str, ...]]
"""All inputs of a tick, and the events that come."""


def given(chart: Chart, inputs: Mapping[str, Value]) -> Given:
    """Return a row of inputs, which are known to be right, as a tick takes them."""
    events = tuple(name for name in chart.events if inputs.get(name))
    return {name: inputs[name] for name in chart.inputs}, events
