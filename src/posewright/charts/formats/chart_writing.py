"""The whole of a chart as the plain data of its document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from posewright.charts.formats.chart_reading import parse_chart
from posewright.charts.formats.declaration_writing import constant_data, function_data, type_data, value_data
from posewright.charts.formats.keeping import kept, plain
from posewright.charts.formats.promise_reading import default_name
from posewright.charts.formats.scalars import number_text, scalar
from posewright.charts.formats.state_writing import segments_data, state_data, targets_data, without_gaps
from posewright.charts.model import Chart, Kind, Otherwise, Priority, Promise, PropertyKind, Steps
from posewright.documents import is_there, one_line, parse_document, read_text, save_document
from posewright.errors import InputError


def save_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document, atomically.

    Where `path` holds a chart already, only what changed is changed.
    """
    path = Path(path)
    save_document(path, _over(path, chart_data(chart)) if is_there(path) else chart_data(chart))


def _over(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    """Return `data` in the words of the chart that stands at `path`, wherever it says the same."""
    text = read_text(path)
    try:
        before = chart_data(parse_chart(text, path))
    except InputError:  # what stands there is no chart: there is nothing to keep but comments
        return data
    found: dict[str, Any] = plain(parse_document(text, path).value)
    if "initial_outputs" in found:  # the old key
        for known in (before, data):
            if "initial_values" in known and known["initial_values"].keys() <= data["outputs"].keys():
                known["initial_outputs"] = known.pop("initial_values")
    result: dict[str, Any] = kept(found, before, data)
    return result


def chart_data(chart: Chart) -> dict[str, Any]:
    """Return a chart as the plain data of its document."""
    usual = chart.just_stays if chart.kind is Kind.STATECHART else chart.otherwise is Otherwise.REFUSE
    head = {
        "chart": chart.name,
        "description": chart.description,
        "source": chart.source,
        "kind": chart.kind.value,
        "period_s": chart.period_s,
        "steps": None if chart.steps is Steps.ONE else chart.steps.value,
        **_declarations(chart),
        "resources": list(chart.resources),
        "promises": [_promise(promise, i) for i, promise in enumerate(chart.promises, 1)],
        "priority": None if chart.priority is Priority.EXCLUSIVE else chart.priority.value,
        "otherwise": None if usual else chart.otherwise.value,
        "table": _form(chart),
        "initial": targets_data(chart.initial),
        "junctions": {name: segments_data(segments) for name, segments in chart.junctions.items()},
    }
    states = {state.name: state_data(state) for state in chart.states}
    return {**without_gaps(head), "regions" if chart.parallel else "states": states}


def _declarations(chart: Chart) -> dict[str, Any]:
    return {
        "inputs": {name: type_data(kind) for name, kind in chart.inputs.items()},
        "events": list(chart.events),
        "local_events": list(chart.local_events),
        "outputs": {name: type_data(kind) for name, kind in chart.outputs.items()},
        "locals": {name: type_data(kind) for name, kind in chart.locals.items()},
        "constants": {
            name: constant_data(value, chart.units.get(name)) for name, value in chart.constants.items()
        },
        "initial_values": {name: value_data(value) for name, value in chart.initial_values.items()},
        "functions": {name: function_data(function) for name, function in chart.functions.items()},
    }


def _promise(promise: Promise, number: int) -> dict[str, Any]:
    if promise.vow is PropertyKind.LEADS_TO and promise.goal is not None:
        data: dict[str, Any] = {
            "when": scalar(promise.when),
            "leads_to": scalar(promise.goal),
            "within": f"{number_text(promise.within_s)} s",
        }
    else:
        data = {promise.vow.value: scalar(promise.when)}
    if promise.name != default_name(promise.vow, number):
        data["name"] = promise.name
    return one_line(data)


def _form(chart: Chart) -> dict[str, Any] | None:
    form = chart.form
    if form is None or not form.state_bits:
        return None
    data: dict[str, Any] = {
        "state_bits": list(form.state_bits),
        "codes": dict(form.codes),
        "inputs": dict(form.inputs),
    }
    if any(column != name for column, name in form.outputs.items()):
        data["outputs"] = dict(form.outputs)
    return data
