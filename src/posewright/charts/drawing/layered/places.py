"""Where across its layer everything is, such that wires run straight where they can."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from posewright.charts.drawing.layered.graph import Side
from posewright.charts.drawing.layered.net import Net, Segment, Vertex
from posewright.charts.drawing.layered.ordering import Ordering
from posewright.charts.drawing.layered.simplex import Gap, shortest
from posewright.charts.drawing.layered.trunks import trunks

STRAIGHT = 8
"""How much dearer a bend is than a port that is not where it would look best."""


@dataclass(frozen=True)
class Places:
    """The lowest v of every vertex, and the v at which every wire passes it, by vertex and wire [px]."""

    lowest: list[int]
    ports: dict[tuple[int, int], int]


def place(net: Net, layers: list[list[int]], ordering: Ordering) -> Places:
    """Return where everything is; the numbers are the best there are for this order."""
    return _Placing(net, layers, ordering).solve()


class _Placing:
    """Writes all that is wanted as gaps between numbers: of vertices, of ports, and of helpers."""

    def __init__(self, net: Net, layers: list[list[int]], ordering: Ordering) -> None:
        self.net, self.ordering = net, ordering
        self.gaps: list[Gap] = []
        self.count = len(net.vertices)
        self.base = {vertex: (vertex, 0) for vertex in range(self.count)}
        for trunk in trunks(net, ordering):
            self.base |= {vertex: (trunk[0], -(net.vertices[vertex].broad // 2)) for vertex in trunk}
        self.fixed: dict[tuple[int, int], int] = {}
        self.free: dict[tuple[int, int], int] = {}
        for layer in layers:
            for one, other in pairwise(layer):
                self._gap(one, other, _apart(net.vertices[one], net.vertices[other]))
        for vertex in range(len(net.vertices)):
            self._ports(vertex, net.down[vertex], Side.BACK)
            self._ports(vertex, net.up[vertex], Side.FRONT)
        for segment in net.segments:
            if self.base[segment.low][0] != self.base[segment.high][0]:
                weight = STRAIGHT * self._stiff(segment.low) * self._stiff(segment.high)
                self._near(self._end(segment.low, segment), self._end(segment.high, segment), weight)

    def solve(self) -> Places:
        numbers = shortest(self.count, self.gaps)
        across = [numbers[base] + more for base, more in self.base.values()]
        lowest = min((n - _before(v) for n, v in zip(across, self.net.vertices, strict=True)), default=0)
        ports = {key: numbers[free] - lowest for key, free in self.free.items()}
        ports |= {key: across[key[0]] + port - lowest for key, port in self.fixed.items()}
        return Places([number - lowest for number in across], ports)

    def _gap(self, one: int, other: int, least: int) -> None:
        """Ask that a vertex is at least so far above another."""
        (low, more), (high, less) = self.base[one], self.base[other]
        self.gaps.append(Gap(low, high, least + more - less, 0))

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def _ports(self, vertex: int, segments: list[Segment], side: Side) -> None:
        free = []
        for segment in segments:
            port = self.net.fixed_port(vertex, segment)
            if port is None:
                free.append(segment)
            else:
                self.fixed[vertex, segment.wire] = port
        free.sort(key=lambda segment: self._far_end(segment, side))
        self._spread(vertex, free, side)

    def _far_end(self, segment: Segment, side: Side) -> float:
        return self.ordering.at(segment.low if side is Side.BACK else segment.high, segment)

    def _spread(self, vertex: int, segments: list[Segment], side: Side) -> None:
        """Let wires find their place on a side: in order, apart, and rather in the middle."""
        low, high = self.net.zone(vertex, side)
        item = self.net.vertices[vertex].item
        step = min(item.port_gap if item else 0, (high - low) // (len(segments) + 1))
        edge = min(item.port_edge if item else 0, (high - low - step * (len(segments) - 1)) // 2)
        last = None
        for segment, best in zip(segments, _even(low, high, len(segments), step), strict=True):
            port = self.free[vertex, segment.wire] = self._new()
            self.gaps.append(Gap(vertex, port, low + edge, 0))
            self.gaps.append(Gap(port, vertex, edge - high, 0))
            self._near((port, 0), (vertex, best), 1)
            if last is not None:
                self.gaps.append(Gap(last, port, step, 0))
            last = port

    def _end(self, vertex: int, segment: Segment) -> tuple[int, int]:
        """Return the number of a segment's end, and what is to be added to it."""
        key = vertex, segment.wire
        if key in self.free:
            return self.free[key], 0
        base, more = self.base[vertex]
        return base, more + self.fixed[key]

    def _near(self, one: tuple[int, int], other: tuple[int, int], weight: int) -> None:
        """Wish two numbers to be equal: a helper is below both, and its distance to both costs."""
        helper = self._new()
        for number, more in (one, other):
            self.gaps.append(Gap(helper, number, -more, weight))

    def _stiff(self, vertex: int) -> int:
        """Return how dear a bend is there: a wire bends at an item rather than on its way."""
        return 1 if self.net.vertices[vertex].item else 3


def _even(low: int, high: int, count: int, step: int) -> Iterator[int]:
    for i in range(count):
        yield (low + high) // 2 + round((i - (count - 1) / 2) * step)


def _apart(one: Vertex, other: Vertex) -> int:
    return one.broad + _after(one) + (one.gap + other.gap) // 2 + _before(other)


def _before(vertex: Vertex) -> int:
    return vertex.item.before if vertex.item else 0


def _after(vertex: Vertex) -> int:
    return vertex.item.after if vertex.item else 0
