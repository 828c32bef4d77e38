"""Branches: what an `a if c else b` would come to the other way, which says whether `c` decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from posewright.errors import ExpressionError

Env = Mapping[str, Any]
Compute = Callable[[Env], Any]


class Branches:
    """The values of a chain of choices that gives true or false; computing them notes nothing.

    Args:
        cases: condition and value of each.
        rest: the value where no condition holds.
    """

    def __init__(self, cases: Sequence[tuple[Compute, Compute]], rest: Compute) -> None:
        self.cases = cases
        self.rest = rest

    def turned(self, number: int, env: Env, *, held: bool) -> bool | None:
        """Return the value if a condition, none before it holding, were not as it is.

        None where that cannot be computed: a tick that fails is no outcome.

        Args:
            number: of the condition.
            env: the value of every name.
            held: what the condition is.
        """
        try:
            return bool(self._after(number, env) if held else self.cases[number][1](env))
        except ExpressionError:
            return None

    def _after(self, number: int, env: Env) -> Any:
        for condition, then in self.cases[number + 1 :]:
            if condition(env):
                return then(env)
        return self.rest(env)
