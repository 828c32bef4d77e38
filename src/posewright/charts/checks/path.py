"""What a tick had to be given to come to a certain place: conditions on its inputs alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from posewright.charts.checks.conditions import holding, is_value
from posewright.charts.checks.recorder import Asked, TickTrace
from posewright.charts.expression import Expression
from posewright.charts.types import Value


class Inputs:
    """The inputs of a chart, and which of them and of the registers an expression reads.

    Args:
        names: of the inputs.
    """

    def __init__(self, names: Collection[str]) -> None:
        self.names = frozenset(names)
        self.known: dict[int, tuple[Expression, frozenset[str], tuple[str, ...]]] = {}

    def of(self, expression: Expression) -> tuple[frozenset[str], tuple[str, ...]]:
        """Return the inputs and the registers that an expression reads."""
        if id(expression) not in self.known:
            registers = tuple(sorted(expression.names - self.names))
            self.known[id(expression)] = expression, expression.names & self.names, registers
        _, inputs, registers = self.known[id(expression)]
        return inputs, registers

    def path_to(self, tick: TickTrace, passed: int, names: frozenset[str]) -> tuple[Asked, ...]:
        """Return what had to come out as it did for a tick to go the same way up to a place.

        Args:
            tick: that was taken.
            passed: how many expressions it had computed when it came to the place.
            names: what is read there: what a variable was set to matters where it is read afterwards.

        What has to do with other inputs only than those of `names` is left out: the tick has met it.
        """
        written = {write.passed: write.name for write in tick.writes if write.passed < passed}
        relevant, found = set(names), list[Asked]()
        for place in range(passed - 1, -1, -1):
            asked = tick.asked[place]
            if place in written:
                if written[place] not in relevant:
                    continue
                relevant.discard(written[place])
            inputs, registers = self.of(asked.expression)
            relevant.update(registers)
            if inputs:
                found.append(asked)
        return tuple(self.connected(found, names)) if found else ()

    def connected(self, path: Sequence[Asked], names: frozenset[str]) -> list[Asked]:
        """Return what shares an input with `names`, or with something else that does."""
        reached, rest, kept = set(names), list(path), list[Asked]()
        while True:
            near = [one for one in rest if not self.of(one.expression)[0].isdisjoint(reached)]
            if not near:
                return kept
            kept += near
            rest = [one for one in rest if one not in near]
            reached = reached.union(*(self.of(one.expression)[0] for one in near))

    def key(self, path: Sequence[Asked]) -> tuple[object, ...]:
        """Return what tells a path from others."""
        return tuple([(id(one.expression), one.value, self.at(one)) for one in path])

    def at(self, asked: Asked) -> tuple[Value, ...]:
        """Return what the registers stood at that an expression reads."""
        return tuple([asked.held[name] for name in self.of(asked.expression)[1]])

    def conditions(self, path: Sequence[Asked]) -> tuple[Expression, ...]:
        """Return a path as conditions on inputs."""
        found = []
        for one in path:
            registers = self.of(one.expression)[1]
            fixed = holding(one.expression, {name: one.held[name] for name in registers})
            found.append(is_value(fixed, one.value))
        return tuple(found)
