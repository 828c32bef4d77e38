"""Names that an expression may call or read, and what is said of those it may not."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import NoReturn

from posewright.charts.expression.scope import Scope
from posewright.charts.expression.source import Source
from posewright.charts.expression.tree import Name, Timing

FUNCTIONS = {
    "abs": "one value",
    "min": "two values or more",
    "max": "two values or more",
    "single": "one value",
}
"""What they take; truth tables of the chart come in addition."""

TIMINGS = {timing.value: timing for timing in Timing}
AS_IN = {
    "after": "after(0.5 s)",
    "before": "before(2 s)",
    "every": "every(1 s)",
    "held": "held(near, 0.3 s)",
}
"""How questions of time are written."""


def unknown_name(name: Name, scope: Scope, source: Source) -> NoReturn:
    """Raise the ExpressionError for a name that stands for no value."""
    word = name.name
    if word in TIMINGS:
        source.fail(name.at, f"`{word}` needs a time", hint=f"as in {AS_IN[word]}")
    if word in FUNCTIONS or word in scope.functions:
        source.fail(name.at, f"`{word}` is a function", hint=f"call it, as in {word}(...)")
    hint = f"ask for a state with in({word})" if word in scope.states else nearest(word, scope.names)
    source.fail(name.at, f"no input, output or constant is called {word!r}", hint=hint)


def nearest(name: str, known: Sequence[str]) -> str:
    """Return the names that may have been meant."""
    near = difflib.get_close_matches(name, known, n=2)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there is {', '.join(known[:12]) or 'no name at all'}"
