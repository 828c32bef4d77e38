"""Reduction of inputs to short ones that still show a difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posewright.codegen.unit import Records

MAX_RUNS = 1500
"""Runs that are spent on the reduction; with an emulated board each takes milliseconds."""


def shrink(inputs: Records, still_fails: Callable[[Records], bool], max_runs: int = MAX_RUNS) -> Records:
    """Return fewer and simpler inputs that still show a difference.

    Ticks are left out, many at once and then one by one (Zeller's delta debugging), and values become 0 or
    those of the previous tick.

    Args:
        inputs: the ticks from a reset on.
        still_fails: returns whether inputs still show the difference.
        max_runs: greatest number of calls of `still_fails`.
    """
    shrinker = _Shrinker(inputs, still_fails, max_runs)
    while True:
        n_ticks = len(shrinker.inputs)
        shrinker.leave_out_ticks()
        shrinker.simplify_values()
        if shrinker.runs_left <= 0 or len(shrinker.inputs) == n_ticks:
            return shrinker.inputs


class _Shrinker:
    """Reduces inputs that show a difference.

    Args:
        inputs: the ticks from a reset on.
        still_fails: returns whether inputs still show the difference.
        max_runs: greatest number of calls of `still_fails`.

    Attributes:
        inputs: the shortest inputs found so far.
        still_fails: as above.
        runs_left: number of calls of `still_fails` that are left.
    """

    def __init__(self, inputs: Records, still_fails: Callable[[Records], bool], max_runs: int) -> None:
        self.inputs = inputs.copy()
        self.still_fails = still_fails
        self.runs_left = max_runs

    def _keep_if_still_failing(self, candidate: Records) -> bool:
        """Replace the inputs by a candidate if it shows the difference; return whether it does."""
        if self.runs_left <= 0:
            return False
        self.runs_left -= 1
        if not self.still_fails(candidate):
            return False
        self.inputs = candidate
        return True

    def leave_out_ticks(self) -> None:
        """Leave out blocks of ticks that are not needed: first half of all, at last single ones.

        Blocks are tried from the end, since later ticks depend on earlier ones.
        """
        block_size = max(len(self.inputs) // 2, 1)
        while block_size:
            begin = max(len(self.inputs) - block_size, 0)
            while begin >= 0 and len(self.inputs) > 1:
                remaining = np.r_[0:begin, begin + block_size : len(self.inputs)]
                self._keep_if_still_failing(self.inputs[remaining])
                begin = min(begin, len(self.inputs)) - block_size
            block_size //= 2

    def simplify_values(self) -> None:
        """Replace each value by 0 or by that of the previous tick, where this still shows the difference."""
        for name in self.inputs.dtype.names or ():
            for tick in range(len(self.inputs)):
                value = self.inputs[name][tick]
                simpler_values = [np.zeros_like(value)]
                if tick:
                    simpler_values.append(self.inputs[name][tick - 1])
                for simpler_value in simpler_values:
                    if simpler_value.tobytes() == value.tobytes():
                        break  # it is as simple as this already
                    candidate = self.inputs.copy()
                    candidate[name][tick] = simpler_value
                    if self._keep_if_still_failing(candidate):
                        break
