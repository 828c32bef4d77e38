"""Limits of an exploration. They are counts, so that the same chart gets the same answer on every machine.

The one limit in time, `ExplorationLimits.is_time_over`, is for callers that a user waits for; charts that
people write stay far below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

MAX_ENUMERATED = 64
"""Values of a number up to which every one is tried, whatever the condition."""

MAX_ENUMERATED_NONLINEAR = 2**16
"""Values of a number up to which every one is tried where a comparison is not piecewise linear."""

KINK_NEIGHBOURS = 3
"""Neighbours of a kink in a piecewise linear term that are each tried, because rounding blurs the kink."""

CROSSING_NEIGHBOURS = 8
"""Neighbours of a crossing of two terms that both round; each is tried."""

MAX_CORRECTIONS = 12
"""Errors in a guessed set of values that are corrected before the guess is given up."""

MAX_CORRECTED_NEIGHBOURS = 1000
"""Neighbours of such an error, on each side, that are tried one by one."""

MAX_BRANCHED_VALUES = 8
"""Values of an input up to which each gets a path of its own, where several inputs are compared."""

MAX_BRANCHED_COMBINATIONS = 16
"""Combinations of small inputs up to which each gets a path, beside a large input that is split."""

MAX_STORED_COMBINATIONS = 64
"""Combinations of inputs up to which each gets a path, where a register stores a value computed from them."""

MAX_SAMPLES = 400
"""Combinations of values that are tried before the solver is used."""

MAX_SPANS = 100
"""Spans of a set up to which the solver is given all of them; beyond, it is given the bounds of the set."""

MAX_CELLS = 200
"""Cells of one register beyond which its exact values are kept."""

LOOP_CHECK_AFTER = 8
"""Microsteps of a tick after which it is checked for a loop."""

WORK_PER_SOLVER_STEP = 10
"""Expressions that are evaluated in the time of one step of the solver, of 10 to 200 us."""

WORK_PER_VALUE = 0.1
"""Work of trying one value of a number in a bisection, in evaluated expressions."""

WORK_PER_NODE = 5
"""Work of adding one node with its successors to the graph, in evaluated expressions."""


def never() -> bool:
    """Return False: there is no time limit."""
    return False


@dataclass(frozen=True)
class ExplorationLimits:
    """Limits of an exploration; one that reaches them is incomplete and reports it.

    Attributes:
        max_states: nodes of the graph.
        max_states_if_incomplete: nodes of the graph once some inputs could not be explored.
        max_cases: steps from all states together.
        max_cases_per_state: steps from one state.
        max_work: evaluated expressions and other work converted to that; some 10 s in all.
        is_time_over: returns whether the time limit of the caller was reached.
    """

    max_states: int = 600_000
    max_states_if_incomplete: int = 3_000
    max_cases: int = 100_000
    max_cases_per_state: int = 10_000
    max_work: int = 2_500_000
    is_time_over: Callable[[], bool] = field(default=never, compare=False)


DEFAULT_LIMITS = ExplorationLimits()
"""Enough for the charts that people write."""


class WorkBudget:
    """Work that may be done; several explorations may share it.

    Attributes:
        work_done: the work done so far.
        stop_reason: why no more work may be done; empty while some may.
    """

    def __init__(self, limits: ExplorationLimits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.work_done = 0.0
        self.stop_reason = ""

    def add_work(self, work: float) -> str:
        """Add work that was done, in evaluated expressions.

        Returns:
            Why no more work may be done; empty while some may.
        """
        self.work_done += work
        if not self.stop_reason and self.work_done > self.limits.max_work:
            self.stop_reason = "more work than is allowed"
        if not self.stop_reason and self.limits.is_time_over():
            self.stop_reason = "the time limit was reached"
        return self.stop_reason
