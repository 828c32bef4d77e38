"""The order of the vertices within each layer, such that few wires cross."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence

from posewright.charts.drawing.layered.graph import Side
from posewright.charts.drawing.layered.net import Net, Segment

SWEEPS, PATIENCE = 16, 4
"""Times that the layers are gone through, forth and back in turn; and how many of them without success."""


class Ordering:
    """Orders layers by the mean place of their neighbours, then by exchanging neighbours."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.layers = net.layers()
        self.place = [0] * len(net.vertices)
        self.slots = {
            (vertex, segment.wire): self._slot(vertex, segment)
            for segment in net.segments
            for vertex in (segment.low, segment.high)
        }
        self.before = [[(s.low, self.slots[s.low, s.wire]) for s in segments] for segments in net.down]
        self.behind = [[(s.high, self.slots[s.high, s.wire]) for s in segments] for segments in net.up]
        self._number()

    def _slot(self, vertex: int, segment: Segment) -> float:
        """Return how far across its vertex a segment ends, 0..1."""
        port, broad = self.net.fixed_port(vertex, segment), self.net.vertices[vertex].broad
        if port is None:
            port = sum(self.net.zone(vertex, Side.FRONT if segment.low == vertex else Side.BACK)) // 2
        return 0.5 if broad <= 0 else min(max(port / broad, 0.0), 0.99)

    def _number(self) -> None:
        for layer in self.layers:
            for i, vertex in enumerate(layer):
                self.place[vertex] = i

    def at(self, vertex: int, segment: Segment) -> float:
        """Return where a segment meets a vertex, as a number along the layer."""
        return self.place[vertex] + self.slots[vertex, segment.wire]

    def solve(self) -> tuple[list[list[int]], int]:
        """Return the best layers found, and how often wires cross in them."""
        crossings, layers = self._descend(mirrored=False)
        if crossings:
            crossings, layers = min(
                (crossings, layers), self._descend(mirrored=True), key=lambda pair: pair[0]
            )
        self.layers = layers
        self._number()
        return self.layers, crossings

    def _descend(self, *, mirrored: bool) -> tuple[int, list[list[int]]]:
        """Return the fewest crossings found from one start, and the layers that have them."""
        self.layers = [layer[:: -1 if mirrored else 1] for layer in self.net.layers()]
        self._lead()
        best, since = (self.crossings(), [layer[:] for layer in self.layers]), 0
        for sweep in range(SWEEPS):
            self._sweep(forth=sweep % 2 == 0)
            self._exchange()
            crossings, since = self.crossings(), since + 1
            if crossings < best[0]:
                best, since = (crossings, [layer[:] for layer in self.layers]), 0
            if since > PATIENCE or not best[0]:
                break
        return best

    def _lead(self) -> None:
        for layer in self.layers:
            layer.sort(key=lambda vertex: not self._leads(vertex))
        self._number()

    def _leads(self, vertex: int) -> bool:
        item = self.net.vertices[vertex].item
        return item is not None and item.leads

    def _sweep(self, *, forth: bool) -> None:
        order = range(1, len(self.layers)) if forth else range(len(self.layers) - 2, -1, -1)
        for i in order:
            layer = self.layers[i]
            wanted = {vertex: self._mean(vertex, forth) for vertex in layer}
            moving = iter(sorted((v for v in layer if wanted[v] is not None), key=lambda v: wanted[v] or 0.0))
            self.layers[i] = [v if wanted[v] is None else next(moving) for v in layer]
            self.layers[i].sort(key=lambda vertex: not self._leads(vertex))
            for k, vertex in enumerate(self.layers[i]):
                self.place[vertex] = k

    def _mean(self, vertex: int, forth: bool) -> float | None:
        ends = self._ends(vertex, forth)
        return sum(ends) / len(ends) if ends else None

    def _ends(self, vertex: int, below: bool) -> list[float]:
        """Return where the segments of a vertex end in the layer before it, or in the one after it."""
        place = self.place
        return [place[other] + slot for other, slot in (self.before if below else self.behind)[vertex]]

    def _exchange(self) -> None:
        """Exchange neighbours as long as that saves a crossing."""
        for _ in range(6):
            improved = [self._exchange_in(layer) for layer in self.layers]
            if not any(improved):
                return

    def _exchange_in(self, layer: list[int]) -> bool:
        improved = False
        for i in range(len(layer) - 1):
            one, other = layer[i], layer[i + 1]
            if self._leads(one):
                continue
            if self._between(other, one) < self._between(one, other):
                layer[i], layer[i + 1] = other, one
                self.place[one], self.place[other] = i + 1, i
                improved = True
        return improved

    def _between(self, first: int, second: int) -> int:
        """Return how often the wires of two neighbours cross, were they in this order."""
        total = 0
        for below in (True, False):
            ahead = self._ends(first, below)
            total += sum(a > b for b in self._ends(second, below) for a in ahead)
        return total

    def crossings(self) -> int:
        """Return how often wires cross."""
        groups: list[list[tuple[float, float]]] = [[] for _ in self.layers]
        for segment in self.net.segments:
            pair = self.at(segment.low, segment), self.at(segment.high, segment)
            groups[self.net.vertices[segment.low].layer].append(pair)
        return sum(_inversions(group) for group in groups)


def _inversions(pairs: Sequence[tuple[float, float]]) -> int:
    total = 0
    seen: list[float] = []
    for _, end in sorted(pairs):
        total += len(seen) - bisect_right(seen, end)
        insort(seen, end)
    return total
