"""The graph of vertices by layer, their order within each layer, and their positions along it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, pairwise

from posewright.charts.drawing.layout.ranking import LayoutItem, LayoutWire, PortSide, Ranking
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings

LABEL_GAP = 6
BEND_GAP = 10
"""Room between labels, and between lines that run side by side [px]."""


class ObstacleKind(Enum):
    """Kinds of obstacles."""

    ITEM = "item"
    LABEL = "label"
    LANE = "lane"
    EDGE = "edge"


@dataclass(frozen=True)
class Vertex:
    """An item, the label of a wire, or (of no kind) the point where a wire passes a layer."""

    layer: int
    item: LayoutItem
    kind: ObstacleKind | None = None

    @property
    def thickness(self) -> int:
        """Thickness, with what is drawn beside it [px]."""
        return max(self.item.thickness, self.item.min_thickness)


@dataclass(frozen=True)
class WireSegment:
    """A piece of a wire, from vertex `low` to vertex `high` in the next layer."""

    wire: int
    low: int
    high: int


class Net:
    """The vertices of every layer and the segments between the layers.

    Attributes:
        chains: the vertices along each wire, by rising layer.
        index: the vertex of each item.
        lower_segments: for each vertex, the segments from the layer before it.
        upper_segments: for each vertex, the segments to the layer after it.
    """

    def __init__(self, items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> None:
        self.vertices: list[Vertex] = []
        self.segments: list[WireSegment] = []
        self.chains: dict[int, list[int]] = {}
        self.index: dict[str, int] = {}
        self.lowest_layer = min(ranking.layers.values(), default=0)
        self.n_layers = max(ranking.layers.values(), default=0) - self.lowest_layer + 1
        for item in items:
            self.index[item.key] = self._add_vertex(
                Vertex(ranking.layers[item.key] - self.lowest_layer, item, ObstacleKind.ITEM)
            )
        for wire in sorted(wires, key=lambda wire: abs(self._layer_span(wire, ranking))):
            self._add_chain(wire, wire.key in ranking.back_wires)
        self.segments.sort(key=lambda segment: segment.wire)
        self.lower_segments: list[list[WireSegment]] = [[] for _ in self.vertices]
        self.upper_segments: list[list[WireSegment]] = [[] for _ in self.vertices]
        for segment in self.segments:
            self.upper_segments[segment.low].append(segment)
            self.lower_segments[segment.high].append(segment)

    def layers(self) -> list[list[int]]:
        """Return the vertices of every layer, in the order in which they were made."""
        layers: list[list[int]] = [[] for _ in range(self.n_layers)]
        for i, vertex in enumerate(self.vertices):
            layers[vertex.layer].append(i)
        return layers

    def fixed_port(self, vertex: int, segment: WireSegment) -> int | None:
        """Return where on a vertex a segment must end [px], None if that is free."""
        item = self.vertices[vertex].item
        return item.breadth // 2 if item.is_point or item.pin is not None else item.ports.get(segment.wire)

    def zone(self, vertex: int, side: PortSide) -> tuple[int, int]:
        """Return the part of a vertex's side for freely placed wires [px]."""
        item = self.vertices[vertex].item
        return item.zones.get(side, (0, item.breadth))

    def _add_vertex(self, vertex: Vertex) -> int:
        self.vertices.append(vertex)
        return len(self.vertices) - 1

    def _layer_span(self, wire: LayoutWire, ranking: Ranking) -> int:
        return ranking.layers[wire.end] - ranking.layers[wire.start]

    def _add_chain(self, wire: LayoutWire, is_reversed: bool) -> None:
        """Add a wire's chain: its ends, and a vertex in each layer between them (a bend or the label)."""
        ends = self.index[wire.start], self.index[wire.end]
        first, last = ends[::-1] if is_reversed else ends
        layers = range(self.vertices[first].layer + 1, self.vertices[last].layer)
        label_layer = self._label_layer(layers[::-1] if is_reversed else layers) if wire.label else None
        chain = [first]
        for layer in layers:
            if wire.label and layer == label_layer:
                label_thickness, label_breadth = wire.label
                item = LayoutItem(
                    "", thickness=label_thickness, breadth=label_breadth, is_point=True, gap=LABEL_GAP
                )
                chain.append(self._add_vertex(Vertex(layer, item, ObstacleKind.LABEL)))
            else:
                chain.append(self._add_vertex(Vertex(layer, LayoutItem("", is_point=True, gap=BEND_GAP))))
        chain.append(last)
        self.segments += [WireSegment(wire.key, low, high) for low, high in pairwise(chain)]
        self.chains[wire.key] = chain

    def _label_layer(self, layers: range) -> int:
        """Return the first layer for labels, which is the nearest to the wire's start."""
        return next((layer for layer in layers if (layer + self.lowest_layer) % 2), layers[0])


SWEEPS = 16
PATIENCE = 4
"""Greatest number of sweeps over the layers, forward and backward in turn: in all, and without success."""


class Ordering:
    """Orders the vertices of each layer by the mean position of their neighbours (barycentre method)."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.layers = net.layers()
        self.index_in_layer = [0] * len(net.vertices)
        self.port_shares = {
            (vertex, segment.wire): self._port_share(vertex, segment)
            for segment in net.segments
            for vertex in (segment.low, segment.high)
        }
        self.lower_neighbours = [
            [(s.low, self.port_shares[s.low, s.wire]) for s in segments] for segments in net.lower_segments
        ]
        self.upper_neighbours = [
            [(s.high, self.port_shares[s.high, s.wire]) for s in segments] for segments in net.upper_segments
        ]
        self._update_indices()

    def _port_share(self, vertex: int, segment: WireSegment) -> float:
        """Return where on its vertex a segment ends, as a share of its breadth."""
        port = self.net.fixed_port(vertex, segment)
        breadth = self.net.vertices[vertex].item.breadth
        if port is None:
            port = sum(self.net.zone(vertex, PortSide.FRONT if segment.low == vertex else PortSide.BACK)) // 2
        return 0.5 if breadth <= 0 else min(max(port / breadth, 0.0), 0.99)

    def _update_indices(self) -> None:
        """Store the index of every vertex in its layer."""
        for layer in self.layers:
            for i, vertex in enumerate(layer):
                self.index_in_layer[vertex] = i

    def position(self, vertex: int, segment: WireSegment) -> float:
        """Return the position along the layer where a segment meets a vertex."""
        return self.index_in_layer[vertex] + self.port_shares[vertex, segment.wire]

    def solve(self) -> tuple[list[list[int]], int]:
        """Return the best order of the layers found, and its number of crossings."""
        crossings, layers = self._reduce_crossings(from_reversed_layers=False)
        if crossings:
            crossings, layers = min(
                (crossings, layers),
                self._reduce_crossings(from_reversed_layers=True),
                key=lambda pair: pair[0],
            )
        self.layers = layers
        self._update_indices()
        return self.layers, crossings

    def _reduce_crossings(self, *, from_reversed_layers: bool) -> tuple[int, list[list[int]]]:
        """Return the fewest crossings reached by sorting the layers in turn, and their order then."""
        self.layers = [layer[:: -1 if from_reversed_layers else 1] for layer in self.net.layers()]
        self._move_first_items_to_front()
        best = (self.crossings(), [layer[:] for layer in self.layers])
        sweeps_without_success = 0
        for sweep in range(SWEEPS):
            self._sort_layers(forward=sweep % 2 == 0)
            crossings = self.crossings()
            sweeps_without_success += 1
            if crossings < best[0]:
                best = (crossings, [layer[:] for layer in self.layers])
                sweeps_without_success = 0
            if sweeps_without_success > PATIENCE or not best[0]:
                break
        return best

    def _move_first_items_to_front(self) -> None:
        """Move the items that must be first in their layer to its front."""
        for layer in self.layers:
            layer.sort(key=lambda vertex: not self._is_first(vertex))
        self._update_indices()

    def _is_first(self, vertex: int) -> bool:
        return self.net.vertices[vertex].item.is_first

    def _sort_layers(self, *, forward: bool) -> None:
        """Sort each layer by the mean position of the neighbours in the layer before it (or after it)."""
        order = range(1, len(self.layers)) if forward else range(len(self.layers) - 2, -1, -1)
        for i in order:
            layer = self.layers[i]
            means = {vertex: self._mean_position(vertex, forward) for vertex in layer}
            connected = [v for v in layer if means[v] is not None]
            connected.sort(key=lambda v: means[v] or 0.0)
            sorted_vertices = iter(connected)
            self.layers[i] = [v if means[v] is None else next(sorted_vertices) for v in layer]
            self.layers[i].sort(key=lambda vertex: not self._is_first(vertex))
            for k, vertex in enumerate(self.layers[i]):
                self.index_in_layer[vertex] = k

    def _mean_position(self, vertex: int, forward: bool) -> float | None:
        """Return the mean position of a vertex's neighbours in the layer before (`forward`) or after it."""
        positions = [
            self.index_in_layer[neighbour] + share
            for neighbour, share in (self.lower_neighbours if forward else self.upper_neighbours)[vertex]
        ]
        return sum(positions) / len(positions) if positions else None

    def crossings(self) -> int:
        """Return the number of crossings of wires."""
        groups: list[list[tuple[float, float]]] = [[] for _ in self.layers]
        for segment in self.net.segments:
            pair = self.position(segment.low, segment), self.position(segment.high, segment)
            groups[self.net.vertices[segment.low].layer].append(pair)
        return sum(
            first[1] > second[1] for group in groups for first, second in combinations(sorted(group), 2)
        )


STRAIGHT = 8
"""Cost of a bend relative to that of a port away from its preferred position."""


class CrossPlacement:
    """Finds the optimal positions along the layers for a given order.

    The variables are the positions of vertices, of ports, and of auxiliary points between two of them.

    Attributes:
        spacings: the constraints and costs.
        fixed_ports: where wires with a fixed port meet a vertex, from its lowest v, by vertex and wire [px].
        free_ports: the variables of the other ports, by vertex and wire.
    """

    def __init__(self, net: Net, layers: list[list[int]], ordering: Ordering) -> None:
        self.net = net
        self.ordering = ordering
        self.spacings: list[Spacing] = []
        self.n_variables = len(net.vertices)
        self.fixed_ports: dict[tuple[int, int], int] = {}
        self.free_ports: dict[tuple[int, int], int] = {}
        for layer in layers:
            for left, right in pairwise(layer):
                item = net.vertices[left].item
                next_item = net.vertices[right].item
                gap = (item.gap + next_item.gap) // 2
                distance = item.breadth + item.after + gap + next_item.before
                self.spacings.append(Spacing(left, right, distance, weight=0))
        for vertex in range(len(net.vertices)):
            self._place_ports(vertex, net.lower_segments[vertex], PortSide.BACK)
            self._place_ports(vertex, net.upper_segments[vertex], PortSide.FRONT)
        for segment in net.segments:
            weight = STRAIGHT * self._stiffness(segment.low) * self._stiffness(segment.high)
            self._attract(
                self._end_variable(segment.low, segment), self._end_variable(segment.high, segment), weight
            )

    def solve(self) -> tuple[list[int], dict[tuple[int, int], int]]:
        """Return the lowest v of every vertex, and the v of every wire by vertex and wire [px]."""
        numbers = solve_spacings(self.n_variables, self.spacings)
        positions = numbers[: len(self.net.vertices)]
        lowest = min(
            (
                position - vertex.item.before
                for position, vertex in zip(positions, self.net.vertices, strict=True)
            ),
            default=0,
        )
        ports = {key: numbers[variable] - lowest for key, variable in self.free_ports.items()}
        ports |= {key: positions[key[0]] + port - lowest for key, port in self.fixed_ports.items()}
        return [position - lowest for position in positions], ports

    def _add_variable(self) -> int:
        self.n_variables += 1
        return self.n_variables - 1

    def _place_ports(self, vertex: int, segments: list[WireSegment], side: PortSide) -> None:
        """Place the ports of wires on one side of a vertex: those with a fixed port, then the others."""
        free = []
        for segment in segments:
            port = self.net.fixed_port(vertex, segment)
            if port is None:
                free.append(segment)
            else:
                self.fixed_ports[vertex, segment.wire] = port
        free.sort(key=lambda segment: self._far_end(segment, side))
        self._spread_ports(vertex, free, side)

    def _far_end(self, segment: WireSegment, side: PortSide) -> float:
        return self.ordering.position(segment.low if side is PortSide.BACK else segment.high, segment)

    def _spread_ports(self, vertex: int, segments: list[WireSegment], side: PortSide) -> None:
        """Add variables for freely placed wires on a side: in order, with gaps, preferably in the middle."""
        low, high = self.net.zone(vertex, side)
        item = self.net.vertices[vertex].item
        step = min(item.port_gap, (high - low) // (len(segments) + 1))
        edge = min(item.port_edge, (high - low - step * (len(segments) - 1)) // 2)
        last = None
        for segment, best in zip(
            segments, _evenly_spaced(low, high, count=len(segments), step=step), strict=True
        ):
            port = self.free_ports[vertex, segment.wire] = self._add_variable()
            self.spacings.append(Spacing(vertex, head=port, min_distance=low + edge, weight=0))
            self.spacings.append(Spacing(port, head=vertex, min_distance=edge - high, weight=0))
            self._attract((port, 0), (vertex, best), weight=1)
            if last is not None:
                self.spacings.append(Spacing(last, head=port, min_distance=step, weight=0))
            last = port

    def _end_variable(self, vertex: int, segment: WireSegment) -> tuple[int, int]:
        """Return the variable of a segment's end, and an offset from it."""
        key = vertex, segment.wire
        if key in self.free_ports:
            return self.free_ports[key], 0
        return vertex, self.fixed_ports[key]

    def _attract(self, first: tuple[int, int], second: tuple[int, int], weight: int) -> None:
        """Penalise the distance of two variables.

        An auxiliary variable is below both, and its distance to each has a cost.
        """
        auxiliary = self._add_variable()
        for number, offset in (first, second):
            self.spacings.append(Spacing(auxiliary, head=number, min_distance=-offset, weight=weight))

    def _stiffness(self, vertex: int) -> int:
        """Return the weight of a bend at a vertex: wires bend at items rather than between them."""
        return 1 if self.net.vertices[vertex].kind is ObstacleKind.ITEM else 3


def _evenly_spaced(low: int, high: int, count: int, step: int) -> Iterator[int]:
    for i in range(count):
        yield (low + high) // 2 + round((i - (count - 1) / 2) * step)
