"""A machine with a fault in it, as a generator with a mistake would have made it."""

from __future__ import annotations

from dataclasses import replace

from posewright.charts.machine import Machine


def swapped(machine: Machine, state: str, one: int, other: int) -> Machine:
    """Return the machine with two ways out of a state asked in each other's place and leading there."""
    node = machine.node(state)
    ways = [*node.transitions]
    first, second = ways[one], ways[other]
    ways[one] = replace(second, index=one)
    ways[other] = replace(first, index=other)
    nodes = [*machine.nodes]
    nodes[node.index] = replace(node, transitions=tuple(ways))
    return replace(machine, nodes=tuple(nodes))


def crossed(machine: Machine, state: str, one: int, other: int) -> Machine:
    """Return the machine in which two ways out of a state lead to each other's goals."""
    node = machine.node(state)
    ways = [*node.transitions]
    first, second = ways[one], ways[other]
    ways[one] = replace(first, targets=second.targets, domain=second.domain, do=second.do)
    ways[other] = replace(second, targets=first.targets, domain=first.domain, do=first.do)
    nodes = [*machine.nodes]
    nodes[node.index] = replace(node, transitions=tuple(ways))
    return replace(machine, nodes=tuple(nodes))
