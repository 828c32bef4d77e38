"""How far an exploration goes. All is counted: the same chart always gets the same answer on every machine.

The one limit that is a time, `Limits.is_over`, is for whoever has a person waiting; it is far off in charts
that people write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

SMALL = 64
"""Values of a number that are tried one and all, whatever is asked."""

LARGE = 2**16
"""Values of a number that are tried one and all where a comparison is not of lines."""

NEAR = 3
"""Neighbours of a kink in a line that are looked at each for itself, for rounding blurs it."""

BLURRED = 8
"""Neighbours of a crossing of two terms that both round, looked at each for itself."""

MAX_ROUNDS = 12
"""Mistakes in a guessed set of values that are put right before the guess is given up."""

MAX_NEIGHBOURS = 1000
"""Neighbours of such a mistake that are looked at one by one."""

FEW = 8
"""Values of an input up to which each is followed on a path of its own, where several inputs are compared."""

MAX_BESIDE = 16
"""Combinations of short inputs followed one by one beside a long one that is split."""

MAX_PICKED = 64
"""Combinations of inputs followed one by one where a register keeps what was computed from them."""

MAX_TRIED = 400
"""Combinations of values that are tried before a solver is asked."""

MAX_SPANS = 100
"""Spans of a set of values that are told to a solver; of more, it is told the ends."""

MAX_CELLS = 200
"""Cells of one register beyond which it is kept as it is."""

MANY_MICROSTEPS = 8
"""Microsteps of a tick after which it is looked at whether it goes round in a circle."""

WORK_FOR_STEP = 10
"""Expressions that are computed in the time of one step of the solver, of 10 to 200 us."""

WORK_FOR_VALUE = 0.1
"""Of that, as much as trying one value of a number where it is bisected."""

WORK_FOR_NODE = 5
"""Expressions that are computed while one node and what follows on it are noted."""


def never() -> bool:
    """Return that the time is not over."""
    return False


@dataclass(frozen=True)
class Limits:
    """Bounds of an exploration; one that comes upon them is not complete, and says so.

    Attributes:
        states: nodes of the graph.
        doubtful_states: the same, once it is known that not all inputs were followed anyway.
        cases: ways in which ticks go, of all states together.
        cases_of_one: the same, of one state.
        work: expressions computed, and whatever else takes time, counted as so many: some 10 s in all.
        is_over: whether the time is over that whoever asked wants to wait.
    """

    states: int = 600_000
    doubtful_states: int = 3_000
    cases: int = 100_000
    cases_of_one: int = 10_000
    work: int = 2_500_000
    is_over: Callable[[], bool] = field(default=never, compare=False)


USUAL = Limits()
"""Enough for the charts that people write."""


class WorkBudget:
    """Work that may be done; several explorations may share it.

    Attributes:
        spent: work that was done.
        over: in words, why no more may be done; empty while some may.
    """

    def __init__(self, limits: Limits = USUAL) -> None:
        self.limits = limits
        self.spent = 0.0
        self.over = ""

    def spend(self, work: float) -> str:
        """Count work that was done, and return why no more may be done; empty while some may."""
        self.spent += work
        if not self.over and self.spent > self.limits.work:
            self.over = "more work than is allowed"
        if not self.over and self.limits.is_over():
            self.over = "the time is over"
        return self.over
