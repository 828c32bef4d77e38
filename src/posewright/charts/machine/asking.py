"""Conditions that are asked after a tick: of its inputs and events, and of everything as it then stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from posewright.charts.expression import Binary, Expression, Name, Operator, Tree, rewritten
from posewright.charts.machine.machine import Machine, every_actions
from posewright.charts.machine.timing import Clock
from posewright.charts.model import DONE, Chart, Raise, every_action

INSIDE = "in."
CAME = "came."
"""What precedes the name of an event that was raised in the tick."""


class Asked:
    """Conditions made ready to be asked after a tick.

    Attributes:
        conditions: over inputs, events that came from outside, registers, `in.S` and `came.E`.
    """

    def __init__(self, machine: Machine, conditions: Sequence[Expression]) -> None:
        self.machine = machine
        self.conditions = tuple(lowered(machine, one) for one in conditions)

    @cached_property
    def names(self) -> frozenset[str]:
        """All that the conditions read."""
        return frozenset[str]().union(*(one.names for one in self.conditions))

    @cached_property
    def inside(self) -> Mapping[str, int]:
        """The names `in.S` that are read, and the node of each."""
        return {
            name: self.machine.number_of[name[len(INSIDE) :]]
            for name in sorted(self.names)
            if name.startswith(INSIDE)
        }

    @cached_property
    def came(self) -> Mapping[str, str]:
        """The names `came.E` that are read, and the event of each."""
        return {name: name[len(CAME) :] for name in sorted(self.names) if name.startswith(CAME)}

    def standing(self, active: Collection[int], raised: Collection[str]) -> dict[str, bool]:
        """Return what these names are after a tick."""
        found = {name: number in active for name, number in self.inside.items()}
        return found | {name: event in raised for name, event in self.came.items()}


def lowered(machine: Machine, condition: Expression) -> Expression:
    """Return a condition that reads `in.S` for a state and `came.E` for an event that was raised inside."""
    chart = machine.chart
    raised = _raised(machine)

    def put_in(node: Tree) -> Tree | None:
        if not isinstance(node, Name) or node.name not in raised:
            return None
        came = Name(CAME + node.name, node.at)
        return Binary(Operator.OR, node, came, node.at) if node.name in chart.events else came

    found = Clock(chart, "").lowered(condition)
    return found.with_tree(rewritten(found.tree, put_in))


def _raised(machine: Machine) -> frozenset[str]:
    """Return the events that may be raised inside, and those that can come from nowhere else."""
    actions: Iterable[object] = (
        action for actions in every_actions(machine) for action in every_action(actions)
    )
    return frozenset(one.event for one in actions if isinstance(one, Raise)) | _inner(machine.chart)


def _inner(chart: Chart) -> frozenset[str]:
    return frozenset(chart.local_events) | {DONE + name for name in chart.state_names}
