"""The shortest inputs that show a difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posewright.codegen.unit import Records

MAX_TRIES = 1500
"""Runs that are spent on making a difference smaller: with an emulated board each takes milliseconds."""


def shortest(inputs: Records, shows: Callable[[Records], bool], tries: int = MAX_TRIES) -> Records:
    """Return inputs, few and plain, that still show what `inputs` show.

    Ticks are left out, many at once and then one by one (Zeller's delta debugging), and values become 0 or
    what they were the tick before.

    Args:
        inputs: of the ticks from a reset on.
        shows: whether inputs show it.
        tries: how often `shows` is asked, at most.
    """
    shrinking = _Shrinking(inputs, shows, tries)
    while True:
        before = shrinking.inputs
        shrinking.leave_out()
        shrinking.make_plain()
        if shrinking.tries <= 0 or len(shrinking.inputs) == len(before):
            return shrinking.inputs


class _Shrinking:
    def __init__(self, inputs: Records, shows: Callable[[Records], bool], tries: int) -> None:
        self.inputs = inputs.copy()
        self.shows = shows
        self.tries = tries

    def take(self, other: Records) -> bool:
        """Return whether other inputs show it too; then they are taken."""
        if self.tries <= 0:
            return False
        self.tries -= 1
        if not self.shows(other):
            return False
        self.inputs = other
        return True

    def leave_out(self) -> None:
        """Leave out ticks, from many at once to one."""
        many = max(len(self.inputs) // 2, 1)
        while many:
            begin = max(len(self.inputs) - many, 0)  # from the end: what came last hangs on what was before
            while begin >= 0 and len(self.inputs) > 1:
                kept = np.r_[0:begin, begin + many : len(self.inputs)]
                self.take(self.inputs[kept])
                begin = min(begin, len(self.inputs)) - many
            many //= 2

    def make_plain(self) -> None:
        """Let every value be 0, or what it was the tick before."""
        for name in self.inputs.dtype.names or ():
            for tick in range(len(self.inputs)):
                value = self.inputs[name][tick]
                plain = [np.zeros_like(value), *([self.inputs[name][tick - 1]] if tick else [])]
                for other in plain:
                    if other.tobytes() == value.tobytes():
                        break
                    changed = self.inputs.copy()
                    changed[name][tick] = other
                    if self.take(changed):
                        break
