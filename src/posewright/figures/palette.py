"""Colours of chart states: the same state, the same colour, in every picture of a trial."""

from __future__ import annotations

from collections.abc import Iterable

# Okabe and Ito's colours, told apart by colour-blind readers too, then further ones.
_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#cc79a7",
    "#009e73",
    "#d55e00",
    "#56b4e9",
    "#f0e442",
    "#6a3d9a",
    "#8c564b",
    "#444444",
)


def state_colours(states: Iterable[str]) -> dict[str, str]:
    """Return a colour for each state, in the order the states first occur."""
    return {state: _COLOURS[i % len(_COLOURS)] for i, state in enumerate(dict.fromkeys(states))}
