"""Mermaid text of a chart, which Git hosts and many editors draw in place."""

from __future__ import annotations

from collections.abc import Iterable

from posewright.charts.drawing.labels import Style, caption, edges_of, is_plain, resolve
from posewright.charts.drawing.layout import node_lines
from posewright.charts.drawing.marks import highlight
from posewright.charts.drawing.mermaid_nested import draw_nested
from posewright.charts.drawing.mermaid_text import escaped, identifier
from posewright.charts.model import Chart


def draw_mermaid(
    chart: Chart, *, active: str | Iterable[str] | None = None, style: Style = Style.AUTO
) -> str:
    """Return a chart as a Mermaid `stateDiagram-v2`.

    Args:
        chart: what to draw.
        active: states to be highlighted: one, several, or several in one word, joined with `+`.
        style: words or signs on the arrows; signs are for flat machines.

    Raises:
        UnknownNameError: there is no state called as one of `active`.
    """
    lit = highlight(chart, active)
    return _draw_plain(chart, lit.inner, style) if is_plain(chart) else draw_nested(chart, lit)


def _draw_plain(chart: Chart, active: frozenset[str], style: Style) -> str:
    style = Style.SIGNS if resolve(chart, style) is Style.SIGNS else Style.WORDS
    lines = ["stateDiagram-v2", *_states(chart), f"    [*] --> {identifier(chart.initial[0].state)}"]
    for edge in edges_of(chart, style):
        label = "<br/>".join(escaped(line.strip()) for line in edge.lines)
        lines.append(f"    {identifier(edge.start)} --> {identifier(edge.end)} : {label}")
    if active:
        names = [identifier(name) for name in chart.state_names if name in active]
        lines.append("    classDef active fill:#ffd98a,stroke:#a05a00,stroke-width:3px")
        lines.append(f"    class {','.join(names)} active")
    comments = [f"    %% {line}" for line in caption(chart, style)]
    return "\n".join([*lines[:1], *comments, *lines[1:]]) + "\n"


def _states(chart: Chart) -> list[str]:
    found = []
    for name in chart.state_names:
        text = "<br/>".join(escaped(line) for line in node_lines(chart, name))
        if text != identifier(name):
            found.append(f'    state "{text}" as {identifier(name)}')
    return found
