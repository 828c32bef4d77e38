"""Charts written as native documents, `*.chart.yaml`; over an existing one, only what changed is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright.charts.expression import Expression, Function, FunctionRow
from posewright.charts.formats.native import MEMORIES, default_promise_name, parse_chart
from posewright.charts.model import (
    ALWAYS,
    ELSE,
    Action,
    Actions,
    Assign,
    Chart,
    ChartKind,
    Otherwise,
    Priority,
    Promise,
    PromiseKind,
    Raise,
    State,
    StateTarget,
    StepMode,
    Transition,
)
from posewright.charts.types import INT_RANGES, BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.documents import (
    PlainData,
    flow_mapping,
    parse_document,
    path_exists,
    plain_mapping,
    read_text,
    save_document,
)
from posewright.errors import InputError

SHORT = 90
"""Characters of a transition that stands on one line."""


def save_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document, atomically.

    Where `path` holds a chart already, only what changed is changed.
    """
    path = Path(path)
    save_document(path, _over(path, chart_data(chart)) if path_exists(path) else chart_data(chart))


def _over(path: Path, data: dict[str, PlainData]) -> dict[str, PlainData]:
    """Return `data` in the words of the chart that stands at `path`, wherever it says the same."""
    text = read_text(path)
    try:
        before = chart_data(parse_chart(text, path))
    except InputError:  # what stands there is no chart: there is nothing to keep but comments
        return data
    document = plain_mapping(parse_document(text, path).value)
    if "initial_outputs" in document:  # the old key, which knows outputs only
        outputs = data.get("outputs")
        output_names = outputs.keys() if isinstance(outputs, Mapping) else frozenset[str]()
        for version in (before, data):
            values = version.get("initial_values")
            if isinstance(values, Mapping) and values.keys() <= output_names:
                version["initial_outputs"] = version.pop("initial_values")
    return _merge_mapping(document, before, data)


def _merge(document: PlainData, before: PlainData, data: PlainData) -> PlainData:
    """Return `data`, but as it stands in the document wherever it says what was said before.

    Args:
        document: as it stands.
        before: what we would write for what the document says.
        data: what we would write for what it should say.
    """
    if repr(before) == repr(data):  # 1, 1.0 and true are equal, and not the same
        return document
    if isinstance(document, dict) and isinstance(before, dict) and isinstance(data, dict):
        return _merge_mapping(document, before, data)
    if not (isinstance(document, list) and isinstance(before, list) and isinstance(data, list)):
        return data
    if len(document) != len(before):
        return data
    triples = list(zip(document, before, data, strict=False))
    return [*(_merge(*triple) for triple in triples), *data[len(triples) :]]


def _merge_mapping(
    document: Mapping[str, PlainData], before: Mapping[str, PlainData], data: Mapping[str, PlainData]
) -> dict[str, PlainData]:
    result: dict[str, PlainData] = {}
    for key in [*data, *(key for key in document if key not in data)]:
        if key not in data:
            if key not in before:  # written out, though it goes without saying
                result[key] = document[key]
        elif key not in before:
            result[key] = data[key]
        elif key in document:
            result[key] = _merge(document[key], before[key], data[key])
        elif repr(before[key]) != repr(data[key]):
            result[key] = data[key]
    return result


def chart_data(chart: Chart) -> dict[str, PlainData]:
    """Return a chart as the plain data of its document."""
    usual = (
        chart.stays_by_default if chart.kind is ChartKind.STATECHART else chart.otherwise is Otherwise.REFUSE
    )
    head = {
        "chart": chart.name,
        "description": chart.description,
        "source": chart.source,
        "kind": chart.kind.value,
        "period_s": chart.period_s,
        "steps": None if chart.steps is StepMode.ONE else chart.steps.value,
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
        "resources": list(chart.resources),
        "promises": [_promise_data(promise, i) for i, promise in enumerate(chart.promises, 1)],
        "priority": None if chart.priority is Priority.EXCLUSIVE else chart.priority.value,
        "otherwise": None if usual else chart.otherwise.value,
        "table": _form_data(chart),
        "initial": targets_data(chart.initial),
        "junctions": {name: segments_data(segments) for name, segments in chart.junctions.items()},
    }
    states = {state.name: state_data(state) for state in chart.states}
    return {**without_empty(head), "regions" if chart.parallel else "states": states}


def _promise_data(promise: Promise, number: int) -> dict[str, PlainData]:
    if promise.kind is PromiseKind.LEADS_TO and promise.goal is not None:
        data: dict[str, PlainData] = {
            "when": scalar(promise.when),
            "leads_to": scalar(promise.goal),
            "within": f"{number_text(promise.within_s)} s",
        }
    else:
        data = {promise.kind.value: scalar(promise.when)}
    if promise.name != default_promise_name(promise.kind, number):
        data["name"] = promise.name
    return flow_mapping(data)


def _form_data(chart: Chart) -> dict[str, PlainData] | None:
    form = chart.form
    if form is None or not form.state_bits:
        return None
    data: dict[str, PlainData] = {
        "state_bits": list(form.state_bits),
        "codes": dict(form.codes),
        "inputs": dict(form.inputs),
    }
    if any(column != name for column, name in form.outputs.items()):
        data["outputs"] = dict(form.outputs)
    return data


def type_data(kind: Type) -> str | dict[str, PlainData]:
    """Return a type as the document writes it."""
    if isinstance(kind, BoolType):
        return "bool"
    if isinstance(kind, EnumType):
        return flow_mapping({"enum": list(kind.values)})
    data = _number_data(kind)
    if kind.unit is not None:
        return flow_mapping({**data, "unit": kind.unit})
    return str(data["type"]) if "type" in data else flow_mapping(data)


def _number_data(kind: IntType | FloatType) -> dict[str, PlainData]:
    if isinstance(kind, IntType):
        as_word = kind.keyword is not None and INT_RANGES.get(kind.keyword) == (kind.low, kind.high)
        return {"type": kind.keyword} if as_word else {"int": [kind.low, kind.high]}
    word = "float32" if kind.single else "float"
    return {"type": word} if kind.is_unbounded else {word: list(kind.written_range)}


def constant_data(value: Value, unit: str | None) -> Value:
    """Return a constant, with its unit where it was written in one."""
    if unit is None or isinstance(value, bool | str):
        return value
    return f"{number_text(value)} {unit}"


def value_data(value: Value) -> Value:
    """Return what a variable begins with; truth values as 0 and 1."""
    return int(value) if isinstance(value, bool) else value


def function_data(function: Function) -> dict[str, PlainData]:
    """Return a truth table as the document writes it."""
    return {
        "takes": flow_mapping({name: type_data(kind) for name, kind in function.takes.items()}),
        "gives": type_data(function.gives),
        "rows": [_row_data(row) for row in function.rows],
    }


def _row_data(row: FunctionRow) -> list[Value] | dict[str, PlainData]:
    if not row.cells:
        return flow_mapping({"when": scalar(row.when), "give": scalar(row.give)})
    return [*map(scalar_of, row.cells), scalar(row.give)]


def _actions_data(actions: Actions) -> PlainData:
    return single_or_list([_action_data(action) for action in actions])


def _values_data(values: Mapping[str, Expression]) -> dict[str, PlainData]:
    return flow_mapping({name: scalar(value) for name, value in values.items()})


def _action_data(action: Action) -> dict[str, PlainData]:
    if isinstance(action, Assign):
        return _values_data(action.values)
    if isinstance(action, Raise):
        return flow_mapping({"raise": action.event})
    data: dict[str, PlainData] = {"if": scalar(action.when), "do": _actions_data(action.then)}
    if action.otherwise:
        data["else"] = _actions_data(action.otherwise)
    return flow_mapping(data)


def _transition_data(transition: Transition, *, in_state: bool) -> dict[str, PlainData]:
    """Return a transition; one of a state may leave out a guard that its events or time imply."""
    caused = transition.on or transition.after_s or transition.leads_to_junction
    obvious = transition.when == ALWAYS and (not in_state or bool(caused))
    data = without_empty(
        {
            "description": transition.description,
            "on": single_or_list(transition.on),
            "when": ELSE if transition.is_else else None if obvious else scalar(transition.when),
            "after_s": transition.after_s or None,
            "do": _actions_data(transition.do),
            "go": targets_data(transition.go),
            "local": transition.local or None,
            "then": segments_data(transition.then),
            "junction": transition.junction,
        }
    )
    if not data.keys() & {"do", "go", "then", "junction"}:
        data["do"] = flow_mapping({})
    return flow_mapping(data) if "then" not in data and len(str(data)) <= SHORT else data


def segments_data(segments: tuple[Transition, ...]) -> list[dict[str, PlainData]]:
    """Return the ways on from a junction."""
    return [_transition_data(segment, in_state=False) for segment in segments]


def targets_data(targets: tuple[StateTarget, ...]) -> PlainData:
    """Return the states to go to: a name, a history, or a list; nothing where there are none."""
    return single_or_list([_target_data(target) for target in targets])


def _target_data(target: StateTarget) -> str | dict[str, PlainData]:
    if target.history is None:
        return target.state
    words = {memory: word for word, memory in MEMORIES.items()}
    return flow_mapping(
        without_empty({words[target.history]: target.state, "default": single_or_list(target.default)})
    )


def state_data(state: State) -> dict[str, PlainData] | list[dict[str, PlainData]]:
    """Return a state: a list where it has transitions only, else a mapping."""
    entries = state_entries(state)
    if entries == {"final": True}:
        return flow_mapping(entries)
    return transitions_data(state) if entries.keys() <= {"transitions"} else entries


def transitions_data(state: State) -> list[dict[str, PlainData]]:
    """Return the transitions of a state."""
    return [_transition_data(transition, in_state=True) for transition in state.transitions]


def state_entries(state: State) -> dict[str, PlainData]:
    """Return a state as a mapping."""
    entries = without_empty(
        {
            "description": state.description,
            "min_s": state.min_s or None,
            "priority": state.priority and state.priority.value,
            "otherwise": state.otherwise and state.otherwise.value,
            "transitions": transitions_data(state),
            "do": _values_data(state.do),
            "entry": _actions_data(state.entry),
            "during": _actions_data(state.during),
            "exit": _actions_data(state.exit),
            "final": state.final or None,
            "initial": targets_data(state.initial),
        }
    )
    if state.states:
        inside = {child.name: state_data(child) for child in state.states}
        entries["regions" if state.parallel else "states"] = inside
    return entries


_TRUTHS = {"true": True, "false": False}


def single_or_list(items: Sequence[PlainData]) -> PlainData:
    """Return the one element where there is one, else a list."""
    return items[0] if len(items) == 1 else list(items)


def without_empty(data: Mapping[str, PlainData]) -> dict[str, PlainData]:
    """Return the entries that say something."""
    return {key: value for key, value in data.items() if value not in (None, "", {}, [])}


def scalar(expression: Expression) -> Value:
    """Return an expression as the scalar that reads as its text."""
    return scalar_of(str(expression))


def scalar_of(text: str) -> Value:
    """Return the number or the truth value that reads as this text, else the text."""
    if text in _TRUTHS:
        return _TRUTHS[text]
    if not text[:1].isdigit() and text[:1] != "-":  # a variable may be called nan
        return text
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if str(number) == text else text
    return text


def number_text(number: float) -> str:
    """Return a number as short as a person would write it, with no digit lost."""
    text = str(int(number)) if float(number).is_integer() else repr(float(number))
    return text if len(text) <= 18 else f"{number:.16e}"
