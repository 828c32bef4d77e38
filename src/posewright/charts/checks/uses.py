"""Expressions where they stand: in which states, in which line, and what their value is given to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from posewright.charts.expression import Expression
from posewright.charts.machine import Machine, Node
from posewright.charts.model import Actions, Assign, Branch, every_action


@dataclass(frozen=True, eq=False)
class Use:
    """An expression where it stands.

    Attributes:
        variable: that its value is given to; None where it is a condition.
    """

    expression: Expression
    node: Node
    line: int | None
    variable: str | None = None


def uses_in(machine: Machine) -> Iterator[Use]:
    """Yield all that a step may compute; what several states share, once for each."""
    for node in machine.nodes:
        line = node.state.line if node.state is not None else None
        for counter in node.counters:
            if counter.condition is not None:
                yield Use(counter.condition, node, line)
        for way in node.ways:
            for guard, segment in zip(way.guards, way.segments, strict=True):
                yield Use(guard, node, segment.line)
            yield from _of_actions(way.do, node, way.line)
        for actions in node.actions:
            yield from _of_actions(actions, node, line)


def _of_actions(actions: Actions, node: Node, line: int | None) -> Iterator[Use]:
    for action in every_action(actions):
        at = action.line or line
        if isinstance(action, Assign):
            for name, value in action.values.items():
                yield Use(value, node, value.source.where.line or at, name)
        elif isinstance(action, Branch):  # what is inside comes by itself
            yield Use(action.when, node, action.when.source.where.line or at)
