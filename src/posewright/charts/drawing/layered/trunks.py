"""Which wires are kept straight all along: two such wires never cross on their way."""

from __future__ import annotations

from itertools import pairwise

from posewright.charts.drawing.layered.net import Net
from posewright.charts.drawing.layered.ordering import Ordering


def trunks(net: Net, ordering: Ordering) -> list[list[int]]:
    """Return the vertices of wires between their items, of as many wires as can all be straight.

    Wires that do not cross on their way are in the same order in every layer that they share, so that a
    place across can be found for each.
    """
    inner = [chain[1:-1] for chain in net.chains.values() if len(chain) > 3]
    taken: list[list[int]] = []
    for trunk in sorted(inner, key=len, reverse=True):
        if not any(_cross(net, ordering, trunk, other) for other in taken):
            taken.append(trunk)
    return taken


def _cross(net: Net, ordering: Ordering, one: list[int], other: list[int]) -> bool:
    """Return whether two wires change sides."""
    places = {net.vertices[vertex].layer: ordering.place[vertex] for vertex in other}
    sides = [
        ordering.place[vertex] < places[net.vertices[vertex].layer]
        for vertex in one
        if net.vertices[vertex].layer in places
    ]
    return any(a != b for a, b in pairwise(sides))
