"""The whole of a chart's native document, `*.chart.yaml`, read and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields as dataclass_fields
from functools import partial
from pathlib import Path
from typing import Any

from posewright.charts.formats.declarations import (
    SECTIONS,
    constant_data,
    function_data,
    read_declarations,
    read_form,
    read_initial_values,
    read_resources,
    type_data,
    value_data,
)
from posewright.charts.formats.entries import (
    LONGEST_S,
    SHORTEST_S,
    choice_of,
    condition_in,
    keyed,
    number_text,
    scalar,
    seconds_in,
    text_of,
    without_gaps,
)
from posewright.charts.formats.known import STATE_HINT, ErrorCollector, Known, is_state_name, states_named
from posewright.charts.formats.states import (
    read_segments,
    read_states,
    read_targets,
    refuse_both,
    segments_data,
    state_data,
    targets_data,
)
from posewright.charts.model import (
    Chart,
    Kind,
    Otherwise,
    Priority,
    Promise,
    PropertyKind,
    Steps,
    Transition,
    chart_name,
    title_of,
)
from posewright.documents import (
    Node,
    is_there,
    one_line,
    parse_document,
    plain_mapping,
    read_text,
    save_document,
)
from posewright.errors import InputError, UnknownNameError

VOWS = ("never", "always", "leads_to")
PROMISE_KEYS = (*VOWS, "when", "within", "name")
PROMISE_HINT = "write {never: x}, {always: x} or {when: x, leads_to: y, within: 2 s}"


def _promises(fields: Mapping[str, Node], known: Known) -> tuple[Promise, ...]:
    found: dict[str, Promise] = {}
    for number, item in enumerate(fields["promises"].items() if "promises" in fields else (), start=1):
        promise = known.errors.tried(partial(_promise, item, number, known, found.keys()), None)
        if promise is not None:
            found[promise.name] = promise
    return tuple(found.values())


def _promise(node: Node, number: int, known: Known, others: Collection[str]) -> Promise:
    fields = keyed(node, PROMISE_KEYS)
    vows = [key for key in VOWS if key in fields]
    if len(vows) != 1:
        fault = f"both {vows[0]!r} and {vows[1]!r}" if vows else "it promises nothing"
        node.fail(fault, hint=PROMISE_HINT)
    (vow,) = vows
    leads = vow == "leads_to"
    node.fields(required=("when", "leads_to", "within") if leads else (vow,), optional=("name",))
    key, declared = "when" if leads else vow, known.declared
    name = (title_of(fields["name"]) if "name" in fields else "") or _default_name(PropertyKind(vow), number)
    if name in others:
        node.fail(f"a promise {name!r} is there twice", hint="rename one")
    return Promise(
        name=name,
        vow=PropertyKind(vow),
        when=condition_in(node, key, fields[key], known.promise_scope),
        goal=condition_in(node, vow, fields[vow], known.promise_scope) if leads else None,
        within_s=seconds_in(fields["within"], declared.constants, declared.units) if leads else 0.0,
        line=node.line,
    )


def _default_name(vow: PropertyKind, number: int) -> str:
    return f"{vow.value} {number}"


REQUIRED = ("chart", "period_s")
STATECHART_KEYS = ("events", "local_events", "steps", "regions")

MAX_JUNCTIONS = 200
"""Named junctions in a chart; one may lead to the next."""

CHART_KEYS = (
    *REQUIRED,
    "description",
    "source",
    "kind",
    "steps",
    *SECTIONS,
    "initial_values",
    "initial_outputs",
    "resources",
    "promises",
    "priority",
    "otherwise",
    "table",
    "initial",
    "junctions",
    "states",
    "regions",
)


def parse_chart(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of its document.

    Args:
        text: the document.
        path: where it stands: for messages, and to find the tables of functions beside it.

    Raises:
        DocumentError: the document, or an entry in it, is not what it should be.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: a state, an event, a key or a type that does not exist.

    Where several things are wrong, the first is raised, and has the `others`.
    """
    return chart_of_document(parse_document(text, path))


def chart_of_document(root: Node) -> Chart:
    """Return the chart that a document's tree holds; as `parse_chart`."""
    errors = ErrorCollector()
    try:
        fields = _fields(root, errors)
        known = _known(root, fields, errors)
        parts = _parts(fields, known)
    except InputError as error:
        errors.note(error)
    errors.require_none()
    try:
        return Chart(kind=known.kind, path=root.path, **parts)
    except InputError as error:
        if error.where is None or error.where.line is None:  # the model knows not every line
            error.where = fields.get("initial", fields.get("states", root)).where
        raise


def _fields(root: Node, errors: ErrorCollector) -> dict[str, Node]:
    fields = root.fields()
    for key, node in fields.items():
        if key not in CHART_KEYS:
            unknown = UnknownNameError.among("key here", key, CHART_KEYS, where=node.where)
            errors.note(unknown, node.value)
    if not fields.keys() >= {*REQUIRED}:
        errors.require_none()  # a misspelt key is worth more than a missing one
    root.fields(required=REQUIRED)
    refuse_both(fields)
    if "regions" not in fields:
        if not fields.keys() >= {"initial", "states"}:
            errors.require_none()
        root.fields(required=(*REQUIRED, "initial", "states"))
    states = fields["regions"] if "regions" in fields else fields["states"]
    if not states.fields():
        states.fail("there is no state", hint="a chart has at least one")
    return fields


def _known(root: Node, fields: Mapping[str, Node], errors: ErrorCollector) -> Known:
    """Read every name, before anything that may use it."""
    kind = choice_of(fields, "kind", Kind) or Kind.STATECHART
    if kind is not Kind.STATECHART:
        for key in STATECHART_KEYS:
            if key in fields:
                fields[key].fail(f"a {kind.value} chart has no {key}", hint="say kind: statechart")
    before = len(errors.errors)
    states, done = states_named(root, errors)
    misnamed = len(errors.errors) > before
    declared = read_declarations(fields, errors)
    if misnamed:  # whatever goes to such a state would be wrong as well
        errors.require_none()
    return Known(kind, declared, states, _junctions_named(fields, states), done, errors)


def _junctions_named(fields: Mapping[str, Node], states: Mapping[str, Node]) -> tuple[str, ...]:
    nodes = fields["junctions"].fields() if "junctions" in fields else {}
    if len(nodes) > MAX_JUNCTIONS:
        hint = f"at most {MAX_JUNCTIONS}; a truth table asks many questions at once"
        fields["junctions"].fail(f"{len(nodes)} junctions", hint=hint)
    for name, node in nodes.items():
        if not is_state_name(name):
            node.fail(f"{name[:80]!r} is no name for a junction", hint=STATE_HINT)
        if name in states:
            states[name].fail(f"{name!r} is a state and a junction", hint="rename one")
    return tuple(nodes)


def _parts(fields: Mapping[str, Node], known: Known) -> dict[str, Any]:
    """Return what a chart is made of; a part that does not read is left out, and its error collected."""
    declared, errors = known.declared, known.errors
    junctions = fields["junctions"].fields() if "junctions" in fields else {}
    usual = Otherwise.STAY if known.kind is Kind.STATECHART else Otherwise.REFUSE
    reading: dict[str, Callable[[], Any]] = {
        "name": lambda: chart_name(fields["chart"]),
        "period_s": lambda: fields["period_s"].number(low=SHORTEST_S, high=LONGEST_S),
        "initial": lambda: read_targets(fields["initial"], known.states) if "initial" in fields else (),
        "states": lambda: read_states(fields, known),
        "initial_values": lambda: read_initial_values(fields, declared, errors),
        "junctions": lambda: {
            name: errors.tried(partial(read_segments, node, known), tuple[Transition, ...]())
            for name, node in junctions.items()
        },
        "steps": lambda: choice_of(fields, "steps", Steps) or Steps.ONE,
        "priority": lambda: choice_of(fields, "priority", Priority) or Priority.EXCLUSIVE,
        "otherwise": lambda: choice_of(fields, "otherwise", Otherwise) or usual,
        "promises": lambda: _promises(fields, known),
        "resources": lambda: read_resources(fields, declared),
        "form": lambda: read_form(fields["table"], [*known.states], declared) if "table" in fields else None,
        "description": lambda: text_of(fields, "description"),
        "source": lambda: text_of(fields, "source"),
    }
    parts = {key: errors.tried(read, None) for key, read in reading.items()}
    names = {one.name: getattr(declared, one.name) for one in dataclass_fields(declared)}
    return {**names, **parts, "parallel": "regions" in fields, "otherwise_said": "otherwise" in fields}


def _kept(found: Any, before: Any, data: Any) -> Any:
    """Return `data`, but as it was found wherever it says what was said before.

    Args:
        found: the document as it stands.
        before: what we would write for what the document says.
        data: what we would write for what it should say.
    """
    if repr(before) == repr(data):  # 1, 1.0 and true are equal, and not the same
        return found
    if all(isinstance(each, dict) for each in (found, before, data)):
        return _kept_mapping(found, before, data)
    if all(isinstance(each, list) for each in (found, before, data)) and len(found) == len(before):
        pairs = list(zip(found, before, data, strict=False))
        return [*(_kept(*each) for each in pairs), *data[len(pairs) :]]
    return data


def _kept_mapping(found: dict[str, Any], before: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key in [*data, *(key for key in found if key not in data)]:
        if key not in data:
            if key not in before:  # written out, though it goes without saying
                result[key] = found[key]
        elif key not in before:
            result[key] = data[key]
        elif key in found:
            result[key] = _kept(found[key], before[key], data[key])
        elif repr(before[key]) != repr(data[key]):
            result[key] = data[key]
    return result


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
    found = plain_mapping(parse_document(text, path).value)
    if "initial_outputs" in found:  # the old key
        for known in (before, data):
            if "initial_values" in known and known["initial_values"].keys() <= data["outputs"].keys():
                known["initial_outputs"] = known.pop("initial_values")
    result: dict[str, Any] = _kept(found, before, data)
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
    return {**without_gaps(head), "regions" if chart.parallel else "states": states}


def _promise_data(promise: Promise, number: int) -> dict[str, Any]:
    if promise.vow is PropertyKind.LEADS_TO and promise.goal is not None:
        data: dict[str, Any] = {
            "when": scalar(promise.when),
            "leads_to": scalar(promise.goal),
            "within": f"{number_text(promise.within_s)} s",
        }
    else:
        data = {promise.vow.value: scalar(promise.when)}
    if promise.name != _default_name(promise.vow, number):
        data["name"] = promise.name
    return one_line(data)


def _form_data(chart: Chart) -> dict[str, Any] | None:
    form = chart.form
    if form is None or not form.state_bits:
        return None
    data = {"state_bits": list(form.state_bits), "codes": dict(form.codes), "inputs": dict(form.inputs)}
    renamed = any(column != name for column, name in form.outputs.items())
    return data | ({"outputs": dict(form.outputs)} if renamed else {})
