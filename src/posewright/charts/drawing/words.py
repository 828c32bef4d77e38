"""Labels of arrows: words as in UML, `event [guard] / actions`, or truth-table rows such as `01X/10`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from enum import Enum

from posewright.charts.expression import Expression, Literal
from posewright.charts.formats import Cube, cube_text, guard_cube
from posewright.charts.model import Action, Actions, Assign, Branch, Chart, ChartKind, State, Transition

TRUE_LITERAL = Literal(True)

NON_BREAKING_SPACE = "\u00a0"
"""A space at which lines are not broken."""

SPACE_BEFORE_UNIT = re.compile(r"(?<=\d) (?!(?:and|or|if|else)\b)(?=[a-z%])")
"""The space between a number and its unit."""

MIN_WRAP_WIDTH = 8


def wrap_text(text: str, width: int, indent: str = "  ", first: str = "") -> list[str]:
    """Wrap a text into lines of at most `width` characters, about equally long.

    Words are not broken, and a number and its unit stay together.

    Args:
        text: the text to be wrapped.
        width: characters of a line.
        indent: prefix of the second and further lines.
        first: prefix of the first line.
    """
    glued_text = SPACE_BEFORE_UNIT.sub(NON_BREAKING_SPACE, text)
    lines = _wrap_lines(glued_text, width, first, indent)
    while width > MIN_WRAP_WIDTH:  # the least width with as many lines makes them about equally long
        width -= 1
        narrower_lines = _wrap_lines(glued_text, width, first, indent)
        if len(narrower_lines) != len(lines):
            break
        lines = narrower_lines
    return [line.replace(NON_BREAKING_SPACE, " ") for line in lines]


def _wrap_lines(text: str, width: int, first: str, indent: str) -> list[str]:
    """Return the lines of a text wrapped at `width`, without splitting words."""
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def actions_text(actions: Actions) -> str:
    """Return actions as one line: `motion=walk, tries=tries + 1; raise lost`."""
    return "; ".join(_action_text(action) for action in actions)


def _action_text(action: Action) -> str:
    """Return an action as text: `motion=walk`, `if near {raise lost}` or `raise lost`."""
    if isinstance(action, Assign):
        return ", ".join(f"{name}={value}" for name, value in action.values.items())
    if isinstance(action, Branch):
        otherwise = f" else {{{actions_text(action.otherwise)}}}" if action.otherwise else ""
        return f"if {action.when} {{{actions_text(action.then)}}}{otherwise}"
    return f"raise {action.event}"


def trigger_text(transition: Transition) -> str:
    """Return a transition's events, delay and guard: `start after 0.5 s [near]`; empty if it has none."""
    parts = [", ".join(transition.on)]
    if transition.after_s:
        parts.append(f"after {transition.after_s:g} s")
    if transition.is_else:
        parts.append("[else]")
    elif transition.when.tree != TRUE_LITERAL:
        parts.append(f"[{transition.when}]")
    return " ".join(part for part in parts if part)


def transition_text(transition: Transition) -> str:
    """Return a transition as one line, without its target."""
    actions = f"/ {actions_text(transition.do)}" if transition.do else ""
    return f"{trigger_text(transition)} {actions}".strip()


def transition_lines(transition: Transition, width: int) -> list[str]:
    """Return a transition as lines, with the actions on lines of their own if one line is too short."""
    one_line = transition_text(transition)
    if len(one_line) <= width:
        return [one_line]
    actions = f"/{NON_BREAKING_SPACE}{actions_text(transition.do)}" if transition.do else ""
    return [
        *wrap_text(trigger_text(transition), width),
        *wrap_text(actions, width, indent="    ", first="  "),
    ]


def reaction_texts(state: State) -> list[str]:
    """Return the entry, during and exit actions of a state as texts."""
    actions_by_name = {"entry": state.entry, "during": state.during, "exit": state.exit}
    return [
        f"{name} /{NON_BREAKING_SPACE}{actions_text(actions)}"
        for name, actions in actions_by_name.items()
        if actions
    ]


def target_text(transition: Transition) -> str:
    """Return a transition's target as text."""
    if transition.junction is not None:
        return f"junction {transition.junction}"
    return ", ".join(
        f"{target.history.value} history of {target.state}" if target.history else target.state
        for target in transition.go
    )


MANY_TRANSITIONS = 8
"""With more transitions AUTO prefers signs to words, if the chart allows it."""


class LabelStyle(Enum):
    """How arrows are labelled; AUTO chooses by the size of the picture."""

    AUTO = "auto"
    WORDS = "words"
    SIGNS = "signs"
    NUMBERS = "numbers"


def uses_signs(chart: Chart, style: LabelStyle) -> bool:
    """Return whether a chart is drawn with signs, which need a flat machine with a truth table."""
    if style is LabelStyle.AUTO:
        n_transitions = sum(len(state.transitions) for state in chart.states)
        return n_transitions > MANY_TRANSITIONS and _fits_truth_table(chart)
    return style is LabelStyle.SIGNS and _fits_truth_table(chart)


def _fits_truth_table(chart: Chart) -> bool:
    """Return whether every transition can be written as a row of a truth table."""
    if not chart.is_flat or not chart.inputs or chart.junctions:
        return False
    return all(_is_table_row(chart, t) for state in chart.states for t in state.transitions)


def _is_table_row(chart: Chart, transition: Transition) -> bool:
    """Return whether a transition can be a row of a truth table.

    Its guard must be a cube (each input true, false or either), and its only action must set all outputs. It
    has no event, no delay, no junction and no `else`.
    """
    if transition.on or transition.after_s or transition.leads_to_junction or transition.is_else:
        return False
    if len(transition.do) > 1 or not all(isinstance(action, Assign) for action in transition.do):
        return False
    return _guard_cube(chart, transition) is not None and _sets_all_outputs(chart, transition)


def _sets_all_outputs(chart: Chart, transition: Transition) -> bool:
    """Return whether a transition sets all outputs to constants; in a Moore machine the states set them."""
    if chart.kind is ChartKind.MOORE:
        return True
    values = _assigned_values(transition)
    are_constant = all(isinstance(value.constant, bool) for value in values.values())
    return are_constant and values.keys() == chart.outputs.keys()


def _assigned_values(transition: Transition) -> Mapping[str, Expression]:
    """Return the outputs that a truth-table transition sets."""
    first = transition.do[0] if transition.do else None
    return first.values if isinstance(first, Assign) else {}


def explain_signs(chart: Chart) -> str:
    """Return the legend of signs: `A B / L    X = either    A = near`.

    It has the columns of the inputs, those of the outputs of a Mealy machine, and the inputs that columns
    abbreviate.
    """
    input_columns = chart.table_form.input_of_column
    output_columns = chart.table_form.output_of_column
    outputs_text = f" / {' '.join(output_columns)}" if chart.kind is ChartKind.MEALY else ""
    names = ", ".join(f"{column} = {name}" for column, name in input_columns.items() if column != name)
    names_text = f"    {names}" if names else ""
    return f"{' '.join(input_columns)}{outputs_text}    X = either{names_text}"


def _guard_cube(chart: Chart, transition: Transition) -> Cube | None:
    return guard_cube(transition.when, list(chart.table_form.input_of_column.values()))


def transition_signs(chart: Chart, transition: Transition) -> str:
    """Return a transition as a row of the truth table: `01X/10`."""
    inputs_text = cube_text(_guard_cube(chart, transition) or ())
    if chart.kind is ChartKind.MOORE:
        return inputs_text
    values = _assigned_values(transition)
    outputs = tuple(values[name].constant for name in chart.table_form.output_of_column.values())
    return f"{inputs_text}/{cube_text(outputs)}"
