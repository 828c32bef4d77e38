"""Text of transitions and guards as the messages of findings quote them."""

from __future__ import annotations

from collections.abc import Sequence

from posewright.charts.machine import CompoundTransition
from posewright.charts.model import ALWAYS, Transition

MAX_GUARD_LENGTH = 100
"""Characters of a guard that a message quotes; longer guards are cut."""


def format_trigger(transition: CompoundTransition) -> str:
    """Return the events and guards of a transition as they are written in the chart."""
    guards = format_guards([segment for segment in transition.segments if segment.when != ALWAYS])
    if not transition.events:
        return guards
    events = f"on {' or '.join(transition.events)}"
    return events if guards == "true" else f"{events} when {guards}"


def format_guards(segments: Sequence[Transition]) -> str:
    """Return the conjunction of the guards of some segments, cut at `MAX_GUARD_LENGTH`."""
    guards = [str(segment.when) for segment in segments]
    if len(guards) > 1:
        guards = [_parenthesize(guard) for guard in guards]
    text = " and ".join(guards) or "true"
    return text if len(text) <= MAX_GUARD_LENGTH else text[: MAX_GUARD_LENGTH - 3] + "..."


def _parenthesize(guard: str) -> str:
    """Return a guard in parentheses if it binds weaker than `and`."""
    binds_weaker = " or " in guard or " if " in guard
    return f"({guard})" if binds_weaker else guard


def format_lines(transition: CompoundTransition) -> str:
    """Return the line numbers of the segments of a transition: "line 3", "lines 3, 7" or "no line"."""
    lines = [str(segment.line) for segment in transition.segments if segment.line is not None]
    distinct_lines = list(dict.fromkeys(lines))
    if not distinct_lines:
        return "no line"
    noun = "line" if len(distinct_lines) == 1 else "lines"
    return f"{noun} {', '.join(distinct_lines)}"


def format_transition(transition: CompoundTransition) -> str:
    """Return the trigger of a transition in backquotes, with its lines."""
    return f"`{format_trigger(transition)}` ({format_lines(transition)})"
