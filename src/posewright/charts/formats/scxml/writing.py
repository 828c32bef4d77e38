"""Charts to SCXML: in the W3C's words what they can say, in ours the rest, so that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from posewright.charts.expression import Function
from posewright.charts.formats.declaration_writing import type_data
from posewright.charts.formats.flow import flow_text
from posewright.charts.formats.scxml.names import Names
from posewright.charts.formats.scxml.namespaces import OWN, PREFIX, SCXML, own
from posewright.charts.formats.scxml.python_text import python_value
from posewright.charts.formats.scxml.state_writing import StateWriter
from posewright.charts.formats.scxml.tags import Tag
from posewright.charts.model import Chart, Promise, PropertyKind, Steps, TableForm
from posewright.charts.types import Type, Value
from posewright.documents import write_atomically

TICK = "tick"
"""The event that stands for a tick in charts that ask transitions without an event once a tick."""


def save_scxml(chart: Chart, path: Path | str) -> None:
    """Write a chart as an SCXML document, atomically.

    Raises:
        OutputError: it cannot be written there.
    """
    write_atomically(Path(path), scxml_text(chart).encode())


def scxml_text(chart: Chart) -> str:
    """Return a chart as the text of an SCXML document; read again, it is the same chart.

    What SCXML has no word for is written in our vocabulary, which other readers pass over: `beyond_scxml`
    names it.
    """
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *_root(chart).lines(), ""])


def tick_of(chart: Chart) -> str | None:
    """Return the event that asks transitions without an event; None where they are asked by themselves."""
    if chart.steps is Steps.COMPLETION:
        return None
    return Names((*chart.events, *chart.local_events)).take(TICK, "event")


def _root(chart: Chart) -> Tag:
    tick = tick_of(chart)
    writer = StateWriter(chart, tick)
    children = [*_datamodel(chart), *map(_function, chart.functions.values()), *map(_promise, chart.promises)]
    children += [_table(chart.form)] if chart.form is not None and chart.form.state_bits else []
    for name, ways in chart.junctions.items():
        segments = tuple(writer.transition(way) for way in ways)
        children.append(Tag(own("junction"), {"id": name}, segments))
    states = tuple(writer.state(state) for state in chart.states)
    initial = writer.targets(chart.initial)
    if chart.parallel:
        regions = writer.names.take_state("regions")
        states = (Tag("parallel", {"id": regions, own("regions"): "true"}, states),)
        initial = initial or regions
    return Tag("scxml", {**_head(chart, tick), "initial": initial}, (*children, *states))


def _head(chart: Chart, tick: str | None) -> dict[str, str | None]:
    return {
        "xmlns": SCXML,
        f"xmlns:{PREFIX}": OWN,
        "version": "1.0",
        "datamodel": "python",
        "name": chart.name,
        own("kind"): chart.kind.value,
        own("period_s"): repr(chart.period_s),
        own("steps"): chart.steps.value,
        own("tick"): tick,
        own("priority"): chart.priority.value,
        own("otherwise"): None if chart.just_stays else chart.otherwise.value,
        own("events"): " ".join(chart.events) or None,
        own("local_events"): " ".join(chart.local_events) or None,
        own("resources"): " ".join(chart.resources) or None,
        own("description"): chart.description or None,
        own("source"): chart.source or None,
    }


def _datamodel(chart: Chart) -> Iterator[Tag]:
    start = chart.start_values()
    tags = [_datum(name, kind.zero, "input", kind) for name, kind in chart.inputs.items()]
    for role, kinds in (("output", chart.outputs), ("local", chart.locals)):
        for name, kind in kinds.items():
            unset = None if name in chart.initial_values else "unset"
            tags.append(_datum(name, start[name], role, kind, {own("initial"): unset}))
    for name, value in chart.constants.items():
        tags.append(_datum(name, value, "constant", None, {own("unit"): chart.units.get(name)}))
    if tags:
        yield Tag("datamodel", {}, tuple(tags))


def _datum(
    name: str, value: Value, role: str, kind: Type | None, more: Mapping[str, str | None] | None = None
) -> Tag:
    said = None if kind is None else flow_text(type_data(kind))
    attributes = {"id": name, "expr": python_value(value), own("role"): role, own("type"): said}
    return Tag("data", {**attributes, **(more or {})})


def _function(function: Function) -> Tag:
    takes = (
        Tag(own("takes"), {"name": name, "type": flow_text(type_data(kind))})
        for name, kind in function.takes.items()
    )
    rows = (
        Tag(
            own("row"),
            {
                "cells": " | ".join(row.cells) or None,
                "when": None if row.cells else str(row.when),
                "give": str(row.give),
            },
        )
        for row in function.rows
    )
    gives = flow_text(type_data(function.gives))
    return Tag(own("function"), {"name": function.name, "gives": gives}, (*takes, *rows))


def _promise(promise: Promise) -> Tag:
    if promise.vow is not PropertyKind.LEADS_TO or promise.goal is None:
        return Tag(own("promise"), {"name": promise.name, promise.vow.value: str(promise.when)})
    said = {"when": str(promise.when), "leads_to": str(promise.goal), "within": repr(promise.within_s)}
    return Tag(own("promise"), {"name": promise.name, **said})


def _table(form: TableForm) -> Tag:
    inputs = (Tag(own("column"), {"name": name, "input": one}) for name, one in form.inputs.items())
    outputs = (Tag(own("column"), {"name": name, "output": one}) for name, one in form.outputs.items())
    codes = (Tag(own("code"), {"state": name, "bits": bits}) for name, bits in form.codes.items())
    return Tag(own("table"), {"state_bits": " ".join(form.state_bits)}, (*inputs, *outputs, *codes))
