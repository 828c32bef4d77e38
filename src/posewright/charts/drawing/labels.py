"""What stands on the arrows: `guard / actions`, or, for machines of truth values, `01X/10`."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import Enum

from posewright.charts.chart import Chart, Kind, Transition
from posewright.charts.cubes import Cube, cube_text, guard_cube

WRAP_AT = 30
"""Letters in a line on an arrow."""

PLENTY = 8
"""Transitions above which words would hide the picture, and signs are used where they can be."""


class Style(Enum):
    """How arrows are labelled; AUTO takes signs where there are many transitions and signs can say it."""

    AUTO = "auto"
    WORDS = "words"
    SIGNS = "signs"


@dataclass(frozen=True)
class Edge:
    """All transitions from one state to another, drawn as one arrow."""

    start: str
    end: str
    lines: tuple[str, ...]


def edges_of(chart: Chart, style: Style = Style.AUTO) -> tuple[Edge, ...]:
    """Return one edge per pair of states between which transitions lead, in the chart's order."""
    signs = wants_signs(chart, style)
    lines: dict[tuple[str, str], list[str]] = {}
    for state in chart.states:
        for transition in state.transitions:
            pair = (state.name, transition.go or state.name)
            said = [_signs(chart, transition)] if signs else _words(transition)
            lines.setdefault(pair, []).extend(said)
    return tuple(
        Edge(start, end, _packed(found) if signs else tuple(found)) for (start, end), found in lines.items()
    )


def wants_signs(chart: Chart, style: Style) -> bool:
    """Return whether the arrows of a chart are labelled with signs."""
    if style is not Style.AUTO:
        return style is Style.SIGNS and speaks_signs(chart)
    return speaks_signs(chart) and sum(len(state.transitions) for state in chart.states) > PLENTY


def speaks_signs(chart: Chart) -> bool:
    """Return whether every transition can be said as a row of a truth table."""
    transitions = [t for state in chart.states for t in state.transitions]
    return bool(chart.inputs) and all(
        _cube(chart, transition) is not None and not transition.after_s and _sets_all(chart, transition)
        for transition in transitions
    )


def _sets_all(chart: Chart, transition: Transition) -> bool:
    constant = all(isinstance(value.constant, bool) for value in transition.do.values())
    return chart.kind is Kind.MOORE or (constant and transition.do.keys() == chart.outputs.keys())


def legend(chart: Chart, style: Style = Style.AUTO) -> str:
    """Return the line that explains the signs, or nothing where words are used."""
    if not wants_signs(chart, style):
        return ""
    columns, outputs = _columns(chart)
    left = " ".join(columns)
    right = f" / {' '.join(outputs)}" if chart.kind is Kind.MEALY else ""
    meaning = ", ".join(f"{column} = {name}" for column, name in columns.items() if column != name)
    return f"{left}{right}    X = either" + (f"    {meaning}" if meaning else "")


def _columns(chart: Chart) -> tuple[dict[str, str], dict[str, str]]:
    if chart.form is not None:
        return dict(chart.form.inputs), dict(chart.form.outputs)
    return {name: name for name in chart.inputs}, {name: name for name in chart.outputs}


def _cube(chart: Chart, transition: Transition) -> Cube | None:
    return guard_cube(transition.when, list(_columns(chart)[0].values()))


def _signs(chart: Chart, transition: Transition) -> str:
    left = cube_text(_cube(chart, transition) or ())
    if chart.kind is Kind.MOORE:
        return left
    outputs = (transition.do[name].constant for name in _columns(chart)[1].values())
    return f"{left}/{cube_text(tuple(outputs))}"


def _packed(lines: list[str]) -> tuple[str, ...]:
    """Put two rows on a line where there are many."""
    if len(lines) <= 3:
        return tuple(lines)
    return tuple("  ".join(lines[i : i + 2]) for i in range(0, len(lines), 2))


def _words(transition: Transition) -> list[str]:
    said = []
    if transition.after_s:
        said.append(f"after {transition.after_s:g} s")
    if not (transition.after_s and transition.when.constant is True):
        said.append(str(transition.when))
    text = ", ".join(said)
    if transition.do:
        text += " / " + ", ".join(f"{name} = {value}" for name, value in transition.do.items())
    return textwrap.wrap(text, WRAP_AT, break_long_words=False) or [text]
