"""Transitions and guards as the messages of findings quote them."""

from __future__ import annotations

from collections.abc import Sequence

from posewright.charts.machine import CompoundTransition
from posewright.charts.model import ALWAYS, Transition

MAX_QUOTED = 100
"""Characters of a guard that a message quotes."""


def guard_text(way: CompoundTransition) -> str:
    """Return when a way is taken, as it is written: its events, its guards."""
    guard = quoted([segment for segment in way.segments if segment.when != ALWAYS])
    if not way.events:
        return guard
    on = f"on {' or '.join(way.events)}"
    return on if guard == "true" else f"{on} when {guard}"


def quoted(segments: Sequence[Transition]) -> str:
    """Return the guards of segments as a message quotes them."""
    texts = [str(segment.when) for segment in segments]
    if len(texts) > 1:
        texts = [f"({text})" if " or " in text or " if " in text else text for text in texts]
    text = " and ".join(texts) or "true"
    return text if len(text) <= MAX_QUOTED else text[: MAX_QUOTED - 3] + "..."


def lines_text(way: CompoundTransition) -> str:
    """Return the lines of a way's segments."""
    lines = list(dict.fromkeys(str(one.line) for one in way.segments if one.line is not None))
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}" if lines else "no line"


def transition_text(way: CompoundTransition) -> str:
    """Return a way as messages show it."""
    return f"`{guard_text(way)}` ({lines_text(way)})"
