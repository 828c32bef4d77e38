"""Mermaid text of a chart, which Git hosts and many editors draw in place."""

from __future__ import annotations

from posewright.charts.chart import Chart
from posewright.charts.drawing.labels import Style, caption, edges_of, resolve
from posewright.charts.drawing.layout import node_lines

RESERVED = frozenset({"end", "state", "note", "direction", "class", "classdef", "default", "root", "as"})
"""Words that Mermaid would not take for a state's name."""

_ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '#;:"<>%&`{}[]\\'}


def draw_mermaid(chart: Chart, *, active: str | None = None, style: Style = Style.AUTO) -> str:
    """Return a chart as a Mermaid `stateDiagram-v2`.

    Args:
        chart: what to draw.
        active: a state to be highlighted.
        style: words or signs on the arrows.

    Raises:
        UnknownNameError: there is no state called `active`.
    """
    style = Style.SIGNS if resolve(chart, style) is Style.SIGNS else Style.WORDS
    lines = ["stateDiagram-v2", *_states(chart), f"    [*] --> {_id(chart.initial)}"]
    for edge in edges_of(chart, style):
        label = "<br/>".join(_escaped(line.strip()) for line in edge.lines)
        lines.append(f"    {_id(edge.start)} --> {_id(edge.end)} : {label}")
    if active is not None:
        lines.append("    classDef active fill:#ffd98a,stroke:#a05a00,stroke-width:3px")
        lines.append(f"    class {_id(chart.state(active).name)} active")
    comments = [f"    %% {line}" for line in caption(chart, style)]
    return "\n".join([*lines[:1], *comments, *lines[1:]]) + "\n"


def _states(chart: Chart) -> list[str]:
    found = []
    for name in chart.state_names:
        text = "<br/>".join(_escaped(line) for line in node_lines(chart, name))
        if text != _id(name):
            found.append(f'    state "{text}" as {_id(name)}')
    return found


def _id(name: str) -> str:
    return name if name[0].isalpha() and name.lower() not in RESERVED else f"state_{name}"


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)
