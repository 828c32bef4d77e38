"""What stands on arrows: words as UML writes them, `event [guard] / actions`, or signs such as `01X/10`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from enum import Enum

from posewright.charts.expression import Expression, Literal
from posewright.charts.formats import Cube, cube_text, guard_cube
from posewright.charts.model import Action, Actions, Assign, Branch, Chart, ChartKind, State, Transition

TRUE = Literal(True)

GLUE = "\u00a0"
UNIT = re.compile(r"(?<=\d) (?!(?:and|or|if|else)\b)(?=[a-z%])")
"""The space between a number and its unit."""


def wrapped(text: str, width: int, indent: str = "  ", first: str = "") -> list[str]:
    """Return a text in lines of at most `width` letters where its words allow it, about equally long.

    The first line begins with `first`, the others with `indent`; a number and its unit stay together.
    """
    glued = UNIT.sub(GLUE, text)
    lines = _lines(glued, width, first, indent)
    while width > 8 and len(narrower := _lines(glued, width - 1, first, indent)) == len(lines):
        lines = narrower
        width = width - 1
    return [line.replace(GLUE, " ") for line in lines]


def _lines(text: str, width: int, first: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def actions_text(actions: Actions) -> str:
    """Return actions in a line: `motion=walk, tries=tries + 1; raise lost`."""
    return "; ".join(_action_text(action) for action in actions)


def _action_text(action: Action) -> str:
    if isinstance(action, Assign):
        return ", ".join(f"{name}={value}" for name, value in action.values.items())
    if isinstance(action, Branch):
        otherwise = f" else {{{actions_text(action.otherwise)}}}" if action.otherwise else ""
        return f"if {action.when} {{{actions_text(action.then)}}}{otherwise}"
    return f"raise {action.event}"


def trigger_text(transition: Transition) -> str:
    """Return what a transition waits for: `start after 0.5 s [near]`; empty where it is nothing."""
    parts = [", ".join(transition.on)]
    if transition.after_s:
        parts.append(f"after {transition.after_s:g} s")
    if transition.is_else:
        parts.append("[else]")
    elif transition.when.tree != TRUE:
        parts.append(f"[{transition.when}]")
    return " ".join(part for part in parts if part)


def transition_text(transition: Transition) -> str:
    """Return a transition in a line, but for where it leads."""
    actions = f"/ {actions_text(transition.do)}" if transition.do else ""
    return f"{trigger_text(transition)} {actions}".strip()


def transition_lines(transition: Transition, width: int) -> list[str]:
    """Return a transition in lines, its actions on a line of their own where one line is too short."""
    whole = transition_text(transition)
    if len(whole) <= width:
        return [whole]
    actions = f"/{GLUE}{actions_text(transition.do)}" if transition.do else ""
    return [*wrapped(trigger_text(transition), width), *wrapped(actions, width, "    ", "  ")]


def reactions(state: State) -> list[str]:
    """Return what a state does when it is entered, at every tick, and when it is left."""
    named = {"entry": state.entry, "during": state.during, "exit": state.exit}
    return [f"{name} /{GLUE}{actions_text(actions)}" for name, actions in named.items() if actions]


def goal_text(transition: Transition) -> str:
    """Return where a transition leads, in words."""
    if transition.junction is not None:
        return f"junction {transition.junction}"
    return ", ".join(
        f"{target.history.value} history of {target.state}" if target.history else target.state
        for target in transition.go
    )


PLENTY = 8
"""Transitions above which words would hide the picture, and signs are used where they can be."""


class Style(Enum):
    """How arrows are labelled; AUTO takes what reads best."""

    AUTO = "auto"
    WORDS = "words"
    SIGNS = "signs"
    NUMBERS = "numbers"


def uses_signs(chart: Chart, style: Style) -> bool:
    """Return whether a chart is drawn with signs: they are for flat machines with a truth table."""
    if style is Style.AUTO:
        plenty = sum(len(state.transitions) for state in chart.states) > PLENTY
        return plenty and _speaks_signs(chart)
    return style is Style.SIGNS and _speaks_signs(chart)


def _speaks_signs(chart: Chart) -> bool:
    """Return whether every transition can be said as a row of a truth table."""
    plain = chart.is_flat and bool(chart.inputs) and not chart.junctions
    return plain and all(_is_row(chart, t) for state in chart.states for t in state.transitions)


def _is_row(chart: Chart, transition: Transition) -> bool:
    leads = transition.on or transition.after_s or transition.leads_to_junction or transition.is_else
    sets = len(transition.do) <= 1 and all(isinstance(action, Assign) for action in transition.do)
    return sets and not leads and _cube(chart, transition) is not None and _sets_all(chart, transition)


def _sets_all(chart: Chart, transition: Transition) -> bool:
    values = _values(transition)
    constant = all(isinstance(value.constant, bool) for value in values.values())
    return chart.kind is ChartKind.MOORE or (constant and values.keys() == chart.outputs.keys())


def _values(transition: Transition) -> Mapping[str, Expression]:
    """Return what a transition sets; a row of a truth table does nothing else on its way."""
    first = transition.do[0] if transition.do else None
    return first.values if isinstance(first, Assign) else {}


def signs_explained(chart: Chart) -> str:
    """Return what the letters and columns of signs mean."""
    columns = chart.table_form.inputs
    outputs = chart.table_form.outputs
    right = f" / {' '.join(outputs)}" if chart.kind is ChartKind.MEALY else ""
    meaning = ", ".join(f"{column} = {name}" for column, name in columns.items() if column != name)
    return f"{' '.join(columns)}{right}    X = either" + (f"    {meaning}" if meaning else "")


def _cube(chart: Chart, transition: Transition) -> Cube | None:
    return guard_cube(transition.when, list(chart.table_form.inputs.values()))


def signs_of(chart: Chart, transition: Transition) -> str:
    """Return a transition as a row of the truth table: `01X/10`."""
    left = cube_text(_cube(chart, transition) or ())
    if chart.kind is ChartKind.MOORE:
        return left
    outputs = (_values(transition)[name].constant for name in chart.table_form.outputs.values())
    return f"{left}/{cube_text(tuple(outputs))}"
