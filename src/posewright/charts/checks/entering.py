"""Which states a way enters, wherever the chart stands when it is taken."""

from __future__ import annotations

from posewright.charts.machine import CompoundTransition, Entering, Machine


def entered_by(machine: Machine, way: CompoundTransition, *, remembered: bool = False) -> set[int]:
    """Return the numbers of the states that a way enters.

    Args:
        machine: whose way it is.
        way: one with goals, or without.
        remembered: with all that a history may lead back to; else as if nothing was remembered.
    """
    entering = Entering(machine.nodes, dict.fromkeys(machine.history, ()))
    entering.goals(way.goals, way.domain or 0)
    if not remembered:
        return entering.found
    back = (machine.nodes[goal.node].within for goal in way.goals if goal.memory is not None)
    return entering.found.union(*back)
