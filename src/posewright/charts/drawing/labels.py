"""What stands on the arrows: words, signs such as `01X/10`, or numbers that a key explains."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from posewright.charts.drawing.words import actions_text
from posewright.charts.expression import Expression
from posewright.charts.model import Assign, Chart, Kind, State, Transition
from posewright.charts.tables import Cube, cube_text, guard_cube

WRAP_AT = 36
"""Letters in a line on an arrow."""

KEY_AT = 100
"""Letters in a line of the key."""

PLENTY = 8
"""Transitions above which words would hide the picture, and signs are used where they can be."""

MAX_LINES = 3
"""Lines on an arrow above which numbers and a key read better."""


class Style(Enum):
    """How arrows are labelled; AUTO takes what reads best."""

    AUTO = "auto"
    WORDS = "words"
    SIGNS = "signs"
    NUMBERS = "numbers"


def is_plain(chart: Chart) -> bool:
    """Return whether a chart is a classic machine: flat, and its transitions only set values."""
    return (
        chart.is_flat
        and not chart.junctions
        and chart.initial[0].memory is None
        and all(_is_plain_state(state) for state in chart.states)
    )


def _is_plain_state(state: State) -> bool:
    reacts = state.entry or state.during or state.exit or state.final
    return not reacts and all(_is_plain_transition(transition) for transition in state.transitions)


def _is_plain_transition(transition: Transition) -> bool:
    simple = len(transition.do) <= 1 and all(isinstance(action, Assign) for action in transition.do)
    leads = transition.on or transition.leads_on or transition.is_else
    return simple and not leads and (transition.goal is not None or not transition.go)


@dataclass(frozen=True)
class Edge:
    """All transitions from one state to another, drawn as one arrow."""

    start: str
    end: str
    lines: tuple[str, ...]


def resolve(chart: Chart, style: Style) -> Style:
    """Return the style that a chart is drawn in: signs need a truth table, AUTO is decided."""
    if style is Style.SIGNS or (style is Style.AUTO and len(_numbered(chart)) > PLENTY):
        if speaks_signs(chart):
            return Style.SIGNS
        style = Style.AUTO
    if style is not Style.AUTO:
        return style
    crowded = any(len(edge.lines) > MAX_LINES for edge in _edges(chart, Style.WORDS))
    return Style.NUMBERS if crowded else Style.WORDS


def edges_of(chart: Chart, style: Style = Style.AUTO) -> tuple[Edge, ...]:
    """Return one edge per pair of states between which transitions lead, in the chart's order."""
    return _edges(chart, resolve(chart, style))


def caption(chart: Chart, style: Style = Style.AUTO) -> tuple[str, ...]:
    """Return the lines below the picture that explain signs or numbers."""
    found = resolve(chart, style)
    if found is Style.SIGNS:
        return (signs_explained(chart),)
    return tuple(_key(chart)) if found is Style.NUMBERS else ()


def _edges(chart: Chart, style: Style) -> tuple[Edge, ...]:
    said: dict[tuple[str, str], list[str]] = {}
    for number, start, transition in _numbered(chart):
        pair = (start, transition.goal or start)
        if style is Style.WORDS:
            lines = _words(transition)
        else:
            lines = [signs_of(chart, transition) if style is Style.SIGNS else str(number)]
        said.setdefault(pair, []).extend(lines)
    per_line = {Style.WORDS: 1, Style.SIGNS: 2, Style.NUMBERS: 5}[style]
    return tuple(Edge(*pair, _packed(lines, per_line)) for pair, lines in said.items())


def _numbered(chart: Chart) -> list[tuple[int, str, Transition]]:
    pairs = [(state.name, transition) for state in chart.states for transition in state.transitions]
    return [(number, name, transition) for number, (name, transition) in enumerate(pairs, 1)]


def _packed(lines: list[str], per_line: int) -> tuple[str, ...]:
    """Put several short labels on a line where there are many."""
    if len(lines) <= MAX_LINES and per_line == 2:
        per_line = 1
    return tuple("  ".join(lines[i : i + per_line]) for i in range(0, len(lines), per_line))


def speaks_signs(chart: Chart) -> bool:
    """Return whether every transition can be said as a row of a truth table."""
    transitions = [t for state in chart.states for t in state.transitions]
    return bool(chart.inputs) and all(
        _cube(chart, transition) is not None and not transition.after_s and _sets_all(chart, transition)
        for transition in transitions
    )


def _sets_all(chart: Chart, transition: Transition) -> bool:
    values = _values(transition)
    constant = all(isinstance(value.constant, bool) for value in values.values())
    return chart.kind is Kind.MOORE or (constant and values.keys() == chart.outputs.keys())


def _values(transition: Transition) -> Mapping[str, Expression]:
    """Return what a transition sets; the plain charts drawn here do nothing else on their way."""
    first = transition.do[0] if transition.do else None
    return first.values if isinstance(first, Assign) else {}


def signs_explained(chart: Chart) -> str:
    """Return what the letters and columns of signs mean."""
    columns, outputs = chart.table_form.inputs, chart.table_form.outputs
    right = f" / {' '.join(outputs)}" if chart.kind is Kind.MEALY else ""
    meaning = ", ".join(f"{column} = {name}" for column, name in columns.items() if column != name)
    return f"{' '.join(columns)}{right}    X = either" + (f"    {meaning}" if meaning else "")


def _cube(chart: Chart, transition: Transition) -> Cube | None:
    return guard_cube(transition.when, list(chart.table_form.inputs.values()))


def signs_of(chart: Chart, transition: Transition) -> str:
    """Return a transition as a row of the truth table: `01X/10`."""
    left = cube_text(_cube(chart, transition) or ())
    if chart.kind is Kind.MOORE:
        return left
    outputs = (_values(transition)[name].constant for name in chart.table_form.outputs.values())
    return f"{left}/{cube_text(tuple(outputs))}"


def _guard(transition: Transition) -> str:
    guard = str(transition.when)
    if not transition.after_s:
        return guard
    after = f"after {transition.after_s:g} s"
    return after if transition.when.constant is True else f"{after}, {guard}"


def _words(transition: Transition) -> list[str]:
    actions = f"/ {actions_text(transition.do)}" if transition.do else ""
    whole = f"{_guard(transition)} {actions}".strip()
    if len(whole) <= WRAP_AT:
        return [whole]
    guard = textwrap.wrap(_guard(transition), WRAP_AT, break_long_words=False, subsequent_indent="  ")
    rest = textwrap.wrap(actions, WRAP_AT, break_long_words=False, subsequent_indent="    ")
    return [*guard, *(f"  {line}" for line in rest)]


def _key(chart: Chart) -> list[str]:
    """Return a line for every transition, states as headings."""
    lines, heading = [], ""
    for number, start, transition in _numbered(chart):
        if start != heading:
            heading = start
            lines.append(start)
        goal = f" -> {transition.goal}" if transition.goal is not None else ""
        actions = f" / {actions_text(transition.do)}" if transition.do else ""
        text = f"{number:>4}  {_guard(transition)}{actions}{goal}"
        lines += textwrap.wrap(text, KEY_AT, subsequent_indent=" " * 8, break_long_words=False)
    return lines
