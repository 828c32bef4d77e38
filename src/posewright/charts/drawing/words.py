"""Transitions and actions in words, as UML writes them: `event [guard] / actions`."""

from __future__ import annotations

import re
import textwrap

from posewright.charts.expression import Literal
from posewright.charts.model import Action, Actions, Assign, Branch, State, Transition

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
        lines, width = narrower, width - 1
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
        f"{target.memory.value} history of {target.state}" if target.memory else target.state
        for target in transition.go
    )
