"""Charts to native documents; over an existing document a person's comments survive."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posewright.charts.chart import Chart, Kind, Otherwise, Priority, State, Transition
from posewright.charts.datatypes import BoolType, EnumType, IntType, Type, Value
from posewright.charts.expression import Expression
from posewright.documents import save_document

_WORDS = {"true": True, "false": False}


def save_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document, atomically.

    Where `path` holds a document already, only what changed is changed.
    """
    save_document(path, chart_data(chart))


def chart_data(chart: Chart) -> dict[str, Any]:
    """Return a chart as the plain data of its document."""
    data = {
        "chart": chart.name,
        "description": chart.description,
        "source": chart.source,
        "kind": chart.kind.value,
        "period_s": chart.period_s,
        "inputs": {name: _type(kind) for name, kind in chart.inputs.items()},
        "outputs": {name: _type(kind) for name, kind in chart.outputs.items()},
        "constants": dict(chart.constants),
        "initial_outputs": {name: _value(value) for name, value in chart.initial_outputs.items()},
        "priority": None if chart.priority is Priority.EXCLUSIVE else chart.priority.value,
        "otherwise": None if chart.otherwise is Otherwise.REFUSE else chart.otherwise.value,
        "table": _form(chart),
        "initial": chart.initial,
        "states": {state.name: _state(chart, state) for state in chart.states},
    }
    return {key: value for key, value in data.items() if value not in (None, "", {})}


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


def _type(kind: Type) -> str | dict[str, list[str] | list[int] | list[float]]:
    if isinstance(kind, BoolType):
        return "bool"
    if isinstance(kind, EnumType):
        return {"enum": list(kind.values)}
    if isinstance(kind, IntType):
        return kind.written or {"int": [kind.low, kind.high]}
    return "float" if kind.open else {"float": [kind.low, kind.high]}


def _value(value: Value) -> Value:
    return int(value) if isinstance(value, bool) else value


def _state(chart: Chart, state: State) -> dict[str, Any] | list[dict[str, Any]] | None:
    transitions = [_transition(transition) for transition in state.transitions]
    data = {
        "description": state.description,
        "do": _actions(state.do) if chart.kind is Kind.MOORE else {},
        "min_s": state.min_s or None,
        "priority": state.priority and state.priority.value,
        "otherwise": state.otherwise and state.otherwise.value,
        "transitions": transitions or None,
    }
    data = {key: value for key, value in data.items() if value not in (None, "", {})}
    return transitions if set(data) <= {"transitions"} else data


def _transition(transition: Transition) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if not (transition.after_s and transition.when.constant is True):
        data["when"] = _scalar(transition.when)
    if transition.after_s:
        data["after_s"] = transition.after_s
    if transition.do:
        data["do"] = _actions(transition.do)
    if transition.go is not None:
        data["go"] = transition.go
    return data


def _actions(do: Mapping[str, Expression]) -> dict[str, Value]:
    return {name: _scalar(expression) for name, expression in do.items()}


def _scalar(expression: Expression) -> Value:
    """Return an expression as the YAML scalar that reads as its text."""
    text = str(expression)
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if str(number) == text else text
    return text
