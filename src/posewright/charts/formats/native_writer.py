"""The writer of native documents, `*.chart.yaml`, which keeps the formatting of an existing document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright.charts.expression import Expression, Function, FunctionRow
from posewright.charts.formats.native_reader import HISTORY_KEYS, default_promise_name, parse_chart
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

MAX_ONE_LINE = 90
"""Characters of a transition that is written on one line."""


def save_chart(chart: Chart, path: Path | str) -> None:
    """Write a chart as a native document, atomically.

    If the file exists and is a chart, only the parts that differ are changed, and its comments stay.

    Raises:
        OutputError: the file cannot be written.
    """
    path = Path(path)
    data = chart_data(chart)
    save_document(path, _merge_with_file(path, data) if path_exists(path) else data)


def _merge_with_file(path: Path, new_data: dict[str, PlainData]) -> dict[str, PlainData]:
    """Return the data of a chart, written like the chart in a file wherever the two have the same meaning.

    So a value that the file writes as `500 ms` stays so instead of becoming 0.5.

    Args:
        path: the existing file.
        new_data: what this writer writes for the new chart.
    """
    text = read_text(path)
    try:
        old_data = chart_data(parse_chart(text, path))
    except InputError:  # the file is not a chart: only its comments are preserved
        return new_data
    document = plain_mapping(parse_document(text, path).value)
    if "initial_outputs" in document:  # the key of older documents: it stays if only outputs have values
        outputs = new_data.get("outputs")
        output_names = outputs.keys() if isinstance(outputs, Mapping) else frozenset[str]()
        for version in (old_data, new_data):
            values = version.get("initial_values")
            if isinstance(values, Mapping) and values.keys() <= output_names:
                version["initial_outputs"] = version.pop("initial_values")
    return _merge_mapping(document, old_data, new_data)


def _merge(document: PlainData, old_data: PlainData, new_data: PlainData) -> PlainData:
    """Return a part of the new data, written like the existing document wherever the meaning is the same.

    Args:
        document: that part of the existing document.
        old_data: what this writer writes for that part of the chart in the existing document.
        new_data: what this writer writes for the new chart.
    """
    if repr(old_data) == repr(new_data):  # not ==, since 1, 1.0 and true are equal
        return document
    if isinstance(document, dict) and isinstance(old_data, dict) and isinstance(new_data, dict):
        return _merge_mapping(document, old_data, new_data)
    if not (isinstance(document, list) and isinstance(old_data, list) and isinstance(new_data, list)):
        return new_data
    if len(document) != len(old_data):
        return new_data  # it is not known which items correspond
    # the new list may be shorter, or have further items
    merged_items = [_merge(*versions) for versions in zip(document, old_data, new_data, strict=False)]
    further_items = new_data[len(merged_items) :]
    return [*merged_items, *further_items]


def _merge_mapping(
    document: Mapping[str, PlainData], old_data: Mapping[str, PlainData], new_data: Mapping[str, PlainData]
) -> dict[str, PlainData]:
    """Return the document's mapping with the differences between `old_data` and `new_data` applied.

    Args:
        document: the mapping in the existing document; it may state defaults, which are not in `old_data`,
            and omit entries.
        old_data: what this writer writes for the chart of the existing document.
        new_data: what this writer writes for the new chart.
    """
    result: dict[str, PlainData] = {}
    for key, value in new_data.items():
        if key not in old_data:
            result[key] = value
        elif key in document:
            result[key] = _merge(document[key], old_data[key], value)
        elif repr(old_data[key]) != repr(value):
            result[key] = value
    # a key that is in neither states a default, which this writer leaves out
    stated_defaults = {
        key: value for key, value in document.items() if key not in new_data and key not in old_data
    }
    return result | stated_defaults


def chart_data(chart: Chart) -> dict[str, PlainData]:
    """Return the plain data of a chart's document; entries with default values are left out."""
    if chart.kind is ChartKind.STATECHART:
        is_default_otherwise = chart.stays_by_default
    else:
        is_default_otherwise = chart.otherwise is Otherwise.REFUSE
    data_before_states = {
        "chart": chart.name,
        "description": chart.description,
        "source": chart.source,
        "kind": chart.kind.value,
        "period_s": chart.period_s,
        "steps": None if chart.steps is StepMode.ONE else chart.steps.value,
        "inputs": _types_data(chart.inputs),
        "events": list(chart.events),
        "local_events": list(chart.local_events),
        "outputs": _types_data(chart.outputs),
        "locals": _types_data(chart.locals),
        "constants": {
            name: constant_data(value, chart.units.get(name)) for name, value in chart.constants.items()
        },
        "initial_values": {name: value_data(value) for name, value in chart.initial_values.items()},
        "functions": {name: function_data(function) for name, function in chart.functions.items()},
        "resources": list(chart.resources),
        "promises": [_promise_data(promise, i) for i, promise in enumerate(chart.promises, 1)],
        "priority": None if chart.priority is Priority.EXCLUSIVE else chart.priority.value,
        "otherwise": None if is_default_otherwise else chart.otherwise.value,
        "table": _table_form_data(chart),
        "initial": targets_data(chart.initial),
        "junctions": {name: segments_data(segments) for name, segments in chart.junctions.items()},
    }
    states = {state.name: state_data(state) for state in chart.states}
    return {**without_empty(data_before_states), "regions" if chart.parallel else "states": states}


def _promise_data(promise: Promise, number: int) -> dict[str, PlainData]:
    """Return the plain data of a promise; a default name is omitted.

    Args:
        promise: the promise.
        number: its number in the list, from 1, which its default name contains.
    """
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


def _table_form_data(chart: Chart) -> dict[str, PlainData] | None:
    """Return the plain data of the columns of a truth table; None if it has no codes of states."""
    table_form = chart.declared_table_form
    if table_form is None or not table_form.state_bits:
        return None
    data: dict[str, PlainData] = {
        "state_bits": list(table_form.state_bits),
        "codes": dict(table_form.code_of_state),
        "inputs": dict(table_form.input_of_column),
    }
    if any(column != name for column, name in table_form.output_of_column.items()):
        data["outputs"] = dict(table_form.output_of_column)
    return data


def _types_data(types: Mapping[str, Type]) -> dict[str, PlainData]:
    return {name: type_data(value_type) for name, value_type in types.items()}


def type_data(value_type: Type) -> str | dict[str, PlainData]:
    """Return the plain data that declares a type."""
    if isinstance(value_type, BoolType):
        return "bool"
    if isinstance(value_type, EnumType):
        return flow_mapping({"enum": list(value_type.values)})
    data = _number_data(value_type)
    if value_type.unit is not None:
        return flow_mapping({**data, "unit": value_type.unit})
    return str(data["type"]) if "type" in data else flow_mapping(data)


def _number_data(value_type: IntType | FloatType) -> dict[str, PlainData]:
    """Return the plain data of a number's type, without its unit.

    It is `{type: keyword}`, or `{keyword: [low, high]}` if the bounds are not those of a keyword.
    """
    if isinstance(value_type, IntType):
        keyword_range = INT_RANGES.get(value_type.keyword or "")
        has_keyword_range = keyword_range == (value_type.low, value_type.high)
        if has_keyword_range:
            return {"type": value_type.keyword}
        return {"int": [value_type.low, value_type.high]}
    keyword = "float32" if value_type.single else "float"
    return {"type": keyword} if value_type.is_unbounded else {keyword: list(value_type.written_range)}


def constant_data(value: Value, unit: str | None) -> Value:
    """Return the plain data of a constant, with its unit if it has one."""
    if unit is None or isinstance(value, bool | str):
        return value
    return f"{number_text(value)} {unit}"


def value_data(value: Value) -> Value:
    """Return the plain data of an initial value; truth values are 0 and 1."""
    return int(value) if isinstance(value, bool) else value


def function_data(function: Function) -> dict[str, PlainData]:
    """Return the plain data of a function."""
    return {
        "takes": flow_mapping(_types_data(function.parameters)),
        "gives": type_data(function.return_type),
        "rows": [_row_data(row) for row in function.rows],
    }


def _row_data(row: FunctionRow) -> list[Value] | dict[str, PlainData]:
    """Return a row of a function as its cells and value, or as its condition and value if it has no cells."""
    if not row.cells:
        return flow_mapping({"when": scalar(row.when), "give": scalar(row.value)})
    return [*map(scalar_of, row.cells), scalar(row.value)]


def _actions_data(actions: Actions) -> PlainData:
    """Return the plain data of actions: a single action, a list, or an empty list if there are none."""
    return single_or_list([_action_data(action) for action in actions])


def _values_data(values: Mapping[str, Expression]) -> dict[str, PlainData]:
    """Return the plain data of assigned values by variable, for one line in braces."""
    return flow_mapping({name: scalar(value) for name, value in values.items()})


def _action_data(action: Action) -> dict[str, PlainData]:
    """Return the plain data of an action."""
    if isinstance(action, Assign):
        return _values_data(action.values)
    if isinstance(action, Raise):
        return flow_mapping({"raise": action.event})
    data: dict[str, PlainData] = {"if": scalar(action.when), "do": _actions_data(action.then)}
    if action.otherwise:
        data["else"] = _actions_data(action.otherwise)
    return flow_mapping(data)


def _transition_data(transition: Transition, *, in_state: bool) -> dict[str, PlainData]:
    """Return the plain data of a transition.

    Args:
        transition: the transition.
        in_state: whether it starts at a state, not at a junction. A document then requires a guard, unless
            there is a trigger, a minimum time or a junction.
    """
    may_omit_guard = not in_state or transition.on or transition.after_s or transition.leads_to_junction
    if transition.is_else:
        when: Value | None = ELSE
    elif transition.when == ALWAYS and may_omit_guard:
        when = None
    else:
        when = scalar(transition.when)
    data = without_empty(
        {
            "description": transition.description,
            "on": single_or_list(transition.on),
            "when": when,
            "after_s": transition.after_s or None,
            "do": _actions_data(transition.do),
            "go": targets_data(transition.go),
            "local": transition.local or None,
            "then": segments_data(transition.then),
            "junction": transition.junction,
        }
    )
    if not data.keys() & {"do", "go", "then", "junction"}:  # a document requires one of them
        data["do"] = flow_mapping({})
    fits_one_line = "then" not in data and len(str(data)) <= MAX_ONE_LINE
    return flow_mapping(data) if fits_one_line else data


def segments_data(segments: tuple[Transition, ...]) -> list[dict[str, PlainData]]:
    """Return the plain data of the segments of a junction."""
    return [_transition_data(segment, in_state=False) for segment in segments]


def targets_data(targets: tuple[StateTarget, ...]) -> PlainData:
    """Return the plain data of targets: a name, a history, or a list; an empty list if there are none."""
    return single_or_list([_target_data(target) for target in targets])


def _target_data(target: StateTarget) -> str | dict[str, PlainData]:
    """Return the plain data of a target: the name of a state, or its history with the default."""
    if target.history is None:
        return target.state
    key_by_history_kind = {kind: key for key, kind in HISTORY_KEYS.items()}
    key = key_by_history_kind[target.history]
    return flow_mapping(without_empty({key: target.state, "default": single_or_list(target.default)}))


def state_data(state: State) -> dict[str, PlainData] | list[dict[str, PlainData]]:
    """Return the plain data of a state: a list if it has transitions only, else a mapping."""
    data = state_mapping_data(state)
    if data == {"final": True}:
        return flow_mapping(data)
    return transitions_data(state) if data.keys() <= {"transitions"} else data


def transitions_data(state: State) -> list[dict[str, PlainData]]:
    """Return the plain data of the transitions of a state."""
    return [_transition_data(transition, in_state=True) for transition in state.transitions]


def state_mapping_data(state: State) -> dict[str, PlainData]:
    """Return the plain data of a state as a mapping, also if it has transitions only.

    Entries with default values are left out. The states inside it follow as `states` or `regions`.
    """
    data = without_empty(
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
        children_data = {child.name: state_data(child) for child in state.states}
        data["regions" if state.parallel else "states"] = children_data
    return data


_TRUTH_VALUES = {"true": True, "false": False}


def single_or_list(items: Sequence[PlainData]) -> PlainData:
    """Return the only element of a sequence, or a list of its elements if it has none or several."""
    return items[0] if len(items) == 1 else list(items)


def without_empty(data: Mapping[str, PlainData]) -> dict[str, PlainData]:
    """Return the entries that are not None, empty text, or an empty collection."""
    return {key: value for key, value in data.items() if value not in (None, "", {}, [])}


def scalar(expression: Expression) -> Value:
    """Return an expression as a document holds it: a number or truth value where it is one, else its text."""
    return scalar_of(str(expression))


def scalar_of(text: str) -> Value:
    """Return the number or truth value that YAML writes as exactly this text, else the text."""
    if text in _TRUTH_VALUES:
        return _TRUTH_VALUES[text]
    # a digit comes first or after a minus sign; float() would also accept a variable called nan or inf
    may_be_number = text.removeprefix("-")[:1].isdigit()
    if not may_be_number:
        return text
    for number_type in (int, float):
        try:
            number = number_type(text)
        except ValueError:
            continue
        # a number that YAML would write as another text, such as 007 or 1e3, stays a text
        return number if str(number) == text else text
    return text


def number_text(number: float) -> str:
    """Return the shortest text of a number that loses no digit."""
    text = str(int(number)) if float(number).is_integer() else repr(float(number))
    return text if len(text) <= 18 else f"{number:.16e}"
