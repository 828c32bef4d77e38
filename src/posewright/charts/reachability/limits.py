"""How far an exploration goes. Counted, never timed: the same chart always gets the same answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of an exploration; one that comes upon them is not complete, and says so.

    Attributes:
        states: of the chart.
        doubtful_states: the same, once it is known that not all inputs were followed anyway.
        cases: ways in which ticks go, of all situations together.
        cases_of_one: the same, of one situation.
    """

    states: int = 250_000
    doubtful_states: int = 3_000
    cases: int = 100_000
    cases_of_one: int = 10_000


USUAL = Limits()
"""Enough for the charts that people write."""
