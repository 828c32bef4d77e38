"""Items and wires cut at every layer, the order within each layer, and where across it everything is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, pairwise

from posewright.charts.drawing.layout.ranking import Item, Ranking, Side, Wire
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings

LABEL_GAP = 6
BEND_GAP = 10
"""Room between labels, and between lines that run side by side [px]."""


class ObstacleKind(Enum):
    """What takes room."""

    ITEM = "item"
    LABEL = "label"
    LANE = "lane"
    EDGE = "edge"


@dataclass(frozen=True)
class Vertex:
    """An item, the label of a wire, or (of no kind) the place where a wire passes a layer."""

    layer: int
    body: Item
    kind: ObstacleKind | None = None

    @property
    def thick(self) -> int:
        """Thickness, with what is drawn beside it [px]."""
        return max(self.body.thick, self.body.reach)


@dataclass(frozen=True)
class Segment:
    """A piece of a wire between neighbouring layers."""

    wire: int
    low: int
    high: int


class Net:
    """The vertices of every layer and the segments between the layers."""

    def __init__(self, items: Sequence[Item], wires: Sequence[Wire], ranking: Ranking) -> None:
        self.vertices: list[Vertex] = []
        self.segments: list[Segment] = []
        self.chains: dict[int, list[int]] = {}
        self.index: dict[str, int] = {}
        self.lowest = min(ranking.layers.values(), default=0)
        self.count = max(ranking.layers.values(), default=0) - self.lowest + 1
        for item in items:
            self.index[item.key] = self._add(
                Vertex(ranking.layers[item.key] - self.lowest, item, ObstacleKind.ITEM)
            )
        for wire in sorted(wires, key=lambda wire: abs(self._span(wire, ranking))):
            self._chain(wire, wire.key in ranking.turned)
        self.segments.sort(key=lambda segment: segment.wire)
        self.down: list[list[Segment]] = [[] for _ in self.vertices]
        self.up: list[list[Segment]] = [[] for _ in self.vertices]
        for segment in self.segments:
            self.up[segment.low].append(segment)
            self.down[segment.high].append(segment)

    def layers(self) -> list[list[int]]:
        """Return the vertices of every layer, in the order in which they were made."""
        layers: list[list[int]] = [[] for _ in range(self.count)]
        for i, vertex in enumerate(self.vertices):
            layers[vertex.layer].append(i)
        return layers

    def fixed_port(self, vertex: int, segment: Segment) -> int | None:
        """Return where on a vertex a segment must end [px], None where that is free."""
        body = self.vertices[vertex].body
        return body.broad // 2 if body.point or body.pin is not None else body.ports.get(segment.wire)

    def zone(self, vertex: int, side: Side) -> tuple[int, int]:
        """Return which part of a vertex's side is for wires that find their own place [px]."""
        body = self.vertices[vertex].body
        return body.zones.get(side, (0, body.broad))

    def _add(self, vertex: Vertex) -> int:
        self.vertices.append(vertex)
        return len(self.vertices) - 1

    def _span(self, wire: Wire, ranking: Ranking) -> int:
        return ranking.layers[wire.end] - ranking.layers[wire.start]

    def _chain(self, wire: Wire, turned: bool) -> None:
        ends = self.index[wire.start], self.index[wire.end]
        first, last = ends[::-1] if turned else ends
        layers = range(self.vertices[first].layer + 1, self.vertices[last].layer)
        written = self._label_layer(layers[::-1] if turned else layers) if wire.label else None
        chain = [first]
        for layer in layers:
            if wire.label and layer == written:
                body = Item("", *wire.label, point=True, gap=LABEL_GAP)
                chain.append(self._add(Vertex(layer, body, ObstacleKind.LABEL)))
            else:
                chain.append(self._add(Vertex(layer, Item("", point=True, gap=BEND_GAP))))
        chain.append(last)
        self.segments += [Segment(wire.key, low, high) for low, high in pairwise(chain)]
        self.chains[wire.key] = chain

    def _label_layer(self, near: range) -> int:
        """Return the first layer between those of items, for it is as near to the wire's start as can be."""
        return next((layer for layer in near if (layer + self.lowest) % 2), near[0])


SWEEPS = 16
PATIENCE = 4
"""Times that the layers are gone through, forth and back in turn; and how many of them without success."""


class Ordering:
    """Orders layers by the mean place of their neighbours."""

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
        port = self.net.fixed_port(vertex, segment)
        broad = self.net.vertices[vertex].body.broad
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
        best = (self.crossings(), [layer[:] for layer in self.layers])
        since = 0
        for sweep in range(SWEEPS):
            self._sweep(forth=sweep % 2 == 0)
            crossings = self.crossings()
            since = since + 1
            if crossings < best[0]:
                best = (crossings, [layer[:] for layer in self.layers])
                since = 0
            if since > PATIENCE or not best[0]:
                break
        return best

    def _lead(self) -> None:
        for layer in self.layers:
            layer.sort(key=lambda vertex: not self._leads(vertex))
        self._number()

    def _leads(self, vertex: int) -> bool:
        return self.net.vertices[vertex].body.leads

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
        """Return the mean place of a vertex's neighbours in the layer before it, or in the one after it."""
        ends = [self.place[other] + slot for other, slot in (self.before if forth else self.behind)[vertex]]
        return sum(ends) / len(ends) if ends else None

    def crossings(self) -> int:
        """Return how often wires cross."""
        groups: list[list[tuple[float, float]]] = [[] for _ in self.layers]
        for segment in self.net.segments:
            pair = self.at(segment.low, segment), self.at(segment.high, segment)
            groups[self.net.vertices[segment.low].layer].append(pair)
        return sum(one[1] > other[1] for group in groups for one, other in combinations(sorted(group), 2))


STRAIGHT = 8
"""How much dearer a bend is than a port that is not where it would look best."""


class Placing:
    """Writes all that is wanted as gaps between numbers: of vertices, of ports, and of helpers.

    The numbers found are the best there are for an order.
    """

    def __init__(self, net: Net, layers: list[list[int]], ordering: Ordering) -> None:
        self.net = net
        self.ordering = ordering
        self.gaps: list[Spacing] = []
        self.count = len(net.vertices)
        self.fixed: dict[tuple[int, int], int] = {}
        self.free: dict[tuple[int, int], int] = {}
        for layer in layers:
            for one, other in pairwise(layer):
                a = net.vertices[one].body
                b = net.vertices[other].body
                apart = a.broad + a.after + (a.gap + b.gap) // 2 + b.before
                self.gaps.append(Spacing(one, other, apart, 0))
        for vertex in range(len(net.vertices)):
            self._ports(vertex, net.down[vertex], Side.BACK)
            self._ports(vertex, net.up[vertex], Side.FRONT)
        for segment in net.segments:
            weight = STRAIGHT * self._stiff(segment.low) * self._stiff(segment.high)
            self._near(self._end(segment.low, segment), self._end(segment.high, segment), weight)

    def solve(self) -> tuple[list[int], dict[tuple[int, int], int]]:
        """Return the lowest v of every vertex, and the v of every wire by vertex and wire [px]."""
        numbers = solve_spacings(self.count, self.gaps)
        across = numbers[: len(self.net.vertices)]
        lowest = min((n - v.body.before for n, v in zip(across, self.net.vertices, strict=True)), default=0)
        ports = {key: numbers[free] - lowest for key, free in self.free.items()}
        ports |= {key: across[key[0]] + port - lowest for key, port in self.fixed.items()}
        return [number - lowest for number in across], ports

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
        body = self.net.vertices[vertex].body
        step = min(body.port_gap, (high - low) // (len(segments) + 1))
        edge = min(body.port_edge, (high - low - step * (len(segments) - 1)) // 2)
        last = None
        for segment, best in zip(segments, _even(low, high, len(segments), step), strict=True):
            port = self.free[vertex, segment.wire] = self._new()
            self.gaps.append(Spacing(vertex, port, low + edge, 0))
            self.gaps.append(Spacing(port, vertex, edge - high, 0))
            self._near((port, 0), (vertex, best), 1)
            if last is not None:
                self.gaps.append(Spacing(last, port, step, 0))
            last = port

    def _end(self, vertex: int, segment: Segment) -> tuple[int, int]:
        """Return the number of a segment's end, and what is to be added to it."""
        key = vertex, segment.wire
        if key in self.free:
            return self.free[key], 0
        return vertex, self.fixed[key]

    def _near(self, one: tuple[int, int], other: tuple[int, int], weight: int) -> None:
        """Wish two numbers to be equal: a helper is below both, and its distance to both costs."""
        helper = self._new()
        for number, more in (one, other):
            self.gaps.append(Spacing(helper, number, -more, weight))

    def _stiff(self, vertex: int) -> int:
        """Return how dear a bend is there: a wire bends at an item rather than on its way."""
        return 1 if self.net.vertices[vertex].kind is ObstacleKind.ITEM else 3


def _even(low: int, high: int, count: int, step: int) -> Iterator[int]:
    for i in range(count):
        yield (low + high) // 2 + round((i - (count - 1) / 2) * step)
