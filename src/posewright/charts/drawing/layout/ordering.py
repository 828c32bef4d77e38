"""The graph of vertices by layer, their order within each layer, and their positions along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations, pairwise
from typing import NamedTuple

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
    """An item, the label of a wire, or the point where a wire passes a layer.

    Attributes:
        layer: index of its layer.
        item: the item itself, or an unnamed one of the size of the label or point.
        kind: kind of the obstacle that it is; None for a point, which is no obstacle.
    """

    layer: int
    item: LayoutItem
    kind: ObstacleKind | None = None

    @property
    def thickness(self) -> int:
        """Thickness, with what is drawn beside it [px]."""
        return max(self.item.thickness, self.item.min_thickness)


@dataclass(frozen=True)
class WireSegment:
    """A piece of a wire between two vertices (by index) in neighbouring layers."""

    wire_key: int
    lower_vertex: int
    upper_vertex: int


class PortKey(NamedTuple):
    """A port, where a wire meets a vertex: index of the vertex and key of the wire."""

    vertex: int
    wire: int


class Net:
    """The vertices of every layer and the segments between the layers.

    A vertex is named by its index in `vertices`.

    Attributes:
        vertices: all vertices: the items, then the bends and labels of wires.
        segments: all segments, sorted by wire.
        chain_by_wire: the vertices along each wire, by rising layer, with those of both ends.
        vertex_by_key: the vertex of each item, by the item's key.
        lowest_layer: the layer in the ranking that is layer 0 here.
        n_layers: number of layers.
        lower_segments: for each vertex, the segments from the layer before it.
        upper_segments: for each vertex, the segments to the layer after it.
    """

    def __init__(self, items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> None:
        """Add a vertex for each item, then the vertices and segments along each wire, short wires first."""
        self.vertices: list[Vertex] = []
        self.segments: list[WireSegment] = []
        self.chain_by_wire: dict[int, list[int]] = {}
        self.vertex_by_key: dict[str, int] = {}
        self.lowest_layer = min(ranking.layers.values(), default=0)
        self.n_layers = max(ranking.layers.values(), default=0) - self.lowest_layer + 1
        for item in items:
            layer = ranking.layers[item.key] - self.lowest_layer
            self.vertex_by_key[item.key] = self._add_vertex(Vertex(layer, item, ObstacleKind.ITEM))
        wires_by_length = sorted(wires, key=lambda wire: abs(self._layer_span(wire, ranking)))
        for wire in wires_by_length:
            self._add_chain(wire, is_reversed=wire.key in ranking.back_wires)
        self.segments.sort(key=lambda segment: segment.wire_key)
        # one list for each vertex
        self.lower_segments: list[list[WireSegment]] = [[] for _ in self.vertices]
        self.upper_segments: list[list[WireSegment]] = [[] for _ in self.vertices]
        for segment in self.segments:
            self.upper_segments[segment.lower_vertex].append(segment)
            self.lower_segments[segment.upper_vertex].append(segment)

    def layers(self) -> list[list[int]]:
        """Return the vertices of every layer, in the order in which they were made."""
        layers: list[list[int]] = [[] for _ in range(self.n_layers)]
        for i, vertex in enumerate(self.vertices):
            layers[vertex.layer].append(i)
        return layers

    def fixed_port(self, vertex: int, segment: WireSegment) -> int | None:
        """Return where on a vertex a segment must end, from its lowest v [px]; None if that is free."""
        item = self.vertices[vertex].item
        if item.is_point or item.pinned_side is not None:
            return item.breadth // 2
        return item.port_positions.get(segment.wire_key)

    def find_free_zone(self, vertex: int, side: PortSide) -> tuple[int, int]:
        """Return the part of a vertex's side for freely placed wires: its ends, from the lowest v [px]."""
        item = self.vertices[vertex].item
        return item.free_zones.get(side, (0, item.breadth))

    def _add_vertex(self, vertex: Vertex) -> int:
        """Add a vertex and return its index."""
        self.vertices.append(vertex)
        return len(self.vertices) - 1

    def _layer_span(self, wire: LayoutWire, ranking: Ranking) -> int:
        """Return by how many layers a wire leads forward; negative if it leads back."""
        return ranking.layers[wire.end] - ranking.layers[wire.start]

    def _add_chain(self, wire: LayoutWire, is_reversed: bool) -> None:
        """Add a wire's vertices and segments: a vertex in each layer between its ends, a bend or the label.

        The chain of a wire is the list of its vertices from the lower layer to the higher, whatever the
        direction of the arrow.

        Args:
            wire: the wire.
            is_reversed: it leads backwards, so that its end is in the lower layer.
        """
        lower_end = self.vertex_by_key[wire.end if is_reversed else wire.start]
        upper_end = self.vertex_by_key[wire.start if is_reversed else wire.end]
        layers = range(self.vertices[lower_end].layer + 1, self.vertices[upper_end].layer)
        label_layer = (
            self._choose_label_layer(layers[::-1] if is_reversed else layers) if wire.label_size else None
        )
        chain = [lower_end]
        for layer in layers:
            if wire.label_size and layer == label_layer:
                thickness, breadth = wire.label_size
                label = LayoutItem("", thickness, breadth, is_point=True, gap=LABEL_GAP)
                chain.append(self._add_vertex(Vertex(layer, label, ObstacleKind.LABEL)))
            else:
                bend = LayoutItem("", is_point=True, gap=BEND_GAP)
                chain.append(self._add_vertex(Vertex(layer, bend)))
        chain.append(upper_end)
        self.segments += [WireSegment(wire.key, low, high) for low, high in pairwise(chain)]
        self.chain_by_wire[wire.key] = chain

    def _choose_label_layer(self, layers: range) -> int:
        """Return the layer for a wire's label: the first odd one, where no items are, else the first.

        Args:
            layers: the layers between the wire's ends, from its start.
        """
        return next((layer for layer in layers if (layer + self.lowest_layer) % 2 == 1), layers[0])


MAX_SWEEPS = 16
MAX_VAIN_SWEEPS = 4
"""Greatest number of sweeps over the layers, forward and backward in turn: in all, and without success."""


MAX_PORT_SHARE = 0.99
"""Greatest share of a vertex's breadth at which a port is: less than 1, where the next vertex begins."""


class SegmentEnd(NamedTuple):
    """The end of a segment: its vertex, and where on the vertex it is, as a share of the breadth."""

    vertex: int
    breadth_share: float


class Ordering:
    """Orders the vertices of each layer by the mean position of their neighbours (barycentre method).

    Attributes:
        net: the vertices and segments.
        layers: the vertices of every layer, in their present order.
        index_in_layer: the index of every vertex in its layer, in that order.
        port_shares: where on its vertex each port is, as a share of the breadth.
        lower_neighbours: for each vertex, the far ends of its segments to the layer before it.
        upper_neighbours: for each vertex, the far ends of its segments to the layer after it.
    """

    def __init__(self, net: Net) -> None:
        """Start with the vertices in the order of the net, and compute where segments meet them.

        A port is the point where a wire meets a vertex. A segment leads from its lower vertex to its
        upper one, in the next layer.
        """
        self.net = net
        self.layers = net.layers()
        self.index_in_layer = [0] * len(net.vertices)
        self.port_shares = {
            PortKey(vertex, segment.wire_key): self._port_share(vertex, segment)
            for segment in net.segments
            for vertex in (segment.lower_vertex, segment.upper_vertex)
        }
        self.lower_neighbours = [
            [self._segment_end(segment.lower_vertex, segment) for segment in segments]
            for segments in net.lower_segments
        ]
        self.upper_neighbours = [
            [self._segment_end(segment.upper_vertex, segment) for segment in segments]
            for segments in net.upper_segments
        ]
        self._update_indices()

    def _segment_end(self, vertex: int, segment: WireSegment) -> SegmentEnd:
        """Return one end of a segment, with the place on the vertex at which the wire meets it."""
        return SegmentEnd(vertex, self.port_shares[PortKey(vertex, segment.wire_key)])

    def _port_share(self, vertex: int, segment: WireSegment) -> float:
        """Return where on its vertex a segment ends, as a share of the vertex's breadth (below 1).

        Some wires meet a vertex at a fixed port. Any other is taken to end in the middle of the zone, the
        part of the side that is free for wires.
        """
        breadth = self.net.vertices[vertex].item.breadth
        if breadth <= 0:
            return 0.5
        port = self.net.fixed_port(vertex, segment)
        if port is None:
            side = PortSide.FRONT if segment.lower_vertex == vertex else PortSide.BACK
            low, high = self.net.find_free_zone(vertex, side)
            port = (low + high) // 2
        return min(max(port / breadth, 0.0), MAX_PORT_SHARE)

    def _update_indices(self) -> None:
        """Recompute the index of every vertex in its layer from `layers`."""
        for layer in self.layers:
            for i, vertex in enumerate(layer):
                self.index_in_layer[vertex] = i

    def position(self, vertex: int, segment: WireSegment) -> float:
        """Return where along the layer a segment meets a vertex: the vertex's index plus the port's share."""
        return self.index_in_layer[vertex] + self.port_shares[PortKey(vertex, segment.wire_key)]

    def solve(self) -> tuple[list[list[int]], int]:
        """Return the layers with their vertices in the best order found, and its number of crossings.

        It starts from the order in which the vertices were made and, if crossings remain, from its reverse.
        """
        crossings, layers = self._reduce_crossings(from_reversed_layers=False)
        if crossings > 0:
            new_crossings, new_layers = self._reduce_crossings(from_reversed_layers=True)
            if new_crossings < crossings:
                crossings = new_crossings
                layers = new_layers
        self.layers = layers
        self._update_indices()
        return self.layers, crossings

    def _reduce_crossings(self, *, from_reversed_layers: bool) -> tuple[int, list[list[int]]]:
        """Return the fewest crossings reached by sorting the layers in turn, and the layers' order then.

        It changes `layers` and `index_in_layer`, which need not end with the best order.
        """
        self.layers = self.net.layers()
        if from_reversed_layers:
            self.layers = [layer[::-1] for layer in self.layers]
        self._move_first_items_to_front()
        fewest_crossings = self.count_crossings()
        best_layers = [layer[:] for layer in self.layers]
        sweeps_without_success = 0
        for sweep in range(MAX_SWEEPS):
            self._sort_layers(forward=sweep % 2 == 0)
            crossings = self.count_crossings()
            sweeps_without_success += 1
            if crossings < fewest_crossings:
                fewest_crossings = crossings
                best_layers = [layer[:] for layer in self.layers]
                sweeps_without_success = 0
            if sweeps_without_success > MAX_VAIN_SWEEPS or fewest_crossings == 0:
                break
        return fewest_crossings, best_layers

    def _move_first_items_to_front(self) -> None:
        """Move the items that must be first in their layer to its front."""
        for layer in self.layers:
            layer.sort(key=lambda vertex: not self._is_first(vertex))  # False comes before True
        self._update_indices()

    def _is_first(self, vertex: int) -> bool:
        """Return whether a vertex must be the first of its layer."""
        return self.net.vertices[vertex].item.is_first

    def _sort_layers(self, *, forward: bool) -> None:
        """Sort each layer by the mean position of the neighbours in the layer before it.

        Vertices without such neighbours keep their places; items that must be first stay first.

        Args:
            forward: from the second layer to the last; if False from the last but one to the first, by the
                neighbours in the layer after it.
        """
        n_layers = len(self.layers)
        layer_indices = range(1, n_layers) if forward else reversed(range(n_layers - 1))
        for layer_index in layer_indices:
            layer = self.layers[layer_index]
            means = {vertex: self._mean_position(vertex, forward) for vertex in layer}
            connected = [vertex for vertex in layer if means[vertex] is not None]
            connected.sort(key=lambda vertex: means[vertex] or 0.0)
            sorted_vertices = iter(connected)
            new_layer = [vertex if means[vertex] is None else next(sorted_vertices) for vertex in layer]
            new_layer.sort(key=lambda vertex: not self._is_first(vertex))  # False comes before True
            self.layers[layer_index] = new_layer
            for index, vertex in enumerate(new_layer):
                self.index_in_layer[vertex] = index

    def _mean_position(self, vertex: int, forward: bool) -> float | None:
        """Return the mean position of a vertex's neighbours in the layer before (`forward`) or after it.

        A position is the neighbour's index in its layer plus the place where the wire meets it, as a share of
        its breadth. None if the vertex has no neighbours there.
        """
        neighbours = self.lower_neighbours[vertex] if forward else self.upper_neighbours[vertex]
        positions = [self.index_in_layer[end.vertex] + end.breadth_share for end in neighbours]
        return sum(positions) / len(positions) if positions else None

    def count_crossings(self) -> int:
        """Return the number of crossings of wires.

        Two segments between the same layers cross if their ends are in opposite orders.
        """
        end_positions: list[list[tuple[float, float]]] = [[] for _ in self.layers]
        for segment in self.net.segments:
            low_position = self.position(segment.lower_vertex, segment)
            high_position = self.position(segment.upper_vertex, segment)
            layer = self.net.vertices[segment.lower_vertex].layer
            end_positions[layer].append((low_position, high_position))
        n_crossings = 0
        for pairs in end_positions:
            for (_, first_high), (_, second_high) in combinations(sorted(pairs), 2):
                n_crossings += first_high > second_high
        return n_crossings


STRAIGHTNESS_WEIGHT = 8
"""Cost of a bend relative to that of a port away from its preferred position."""

BETWEEN_ITEMS_WEIGHT = 3
"""Cost of a bend at a label or between items, relative to that of a bend at an item."""


class OffsetVariable(NamedTuple):
    """A position that is a variable of the linear program plus a constant [px]."""

    variable: int
    offset: int


class CrossPlacement:
    """Computes the best positions along the layers (on the axis v), given the order in each layer.

    It builds a linear program: minimum distances between neighbours in a layer, and costs of bends and of
    ports away from their preferred positions. Its variables are the positions of vertices, of ports, and of
    auxiliary points between two of them.

    Attributes:
        net: the vertices and segments.
        ordering: gives the order of vertices in their layers.
        spacings: the minimum distances and costs.
        n_variables: number of variables so far; the first are the vertices.
        fixed_port_offsets: where wires with a fixed port meet a vertex, from its lowest v [px].
        free_port_variables: the variables of all other ports.
    """

    def __init__(self, net: Net, layers: list[list[int]], ordering: Ordering) -> None:
        """Build the linear program: its variables, the minimum distances, and the costs.

        Args:
            net: the vertices and segments.
            layers: the vertices of every layer, in order.
            ordering: gives the positions of far ends of segments, by which ports are ordered.
        """
        self.net = net
        self.ordering = ordering
        self.spacings: list[Spacing] = []
        self.n_variables = len(net.vertices)  # the first variables are the positions of the vertices
        self.fixed_port_offsets: dict[PortKey, int] = {}
        self.free_port_variables: dict[PortKey, int] = {}
        for layer in layers:
            for vertex, next_vertex in pairwise(layer):
                min_distance = self._min_distance(vertex, next_vertex)
                self.spacings.append(Spacing(lower=vertex, upper=next_vertex, min_distance=min_distance))
        for vertex in range(len(net.vertices)):
            self._place_ports(vertex, net.lower_segments[vertex], PortSide.BACK)
            self._place_ports(vertex, net.upper_segments[vertex], PortSide.FRONT)
        for segment in net.segments:
            self._penalise_bend(segment)

    def solve(self) -> tuple[list[int], dict[PortKey, int]]:
        """Solve the linear program for the positions along the layers (v).

        Returns:
            The lowest v of every vertex, and the v of every port, where a wire meets a vertex; shifted so
            that the lowest v of all, with the room before the vertices, is 0 [px].
        """
        solution = solve_spacings(self.n_variables, self.spacings)
        vertex_positions = solution[: len(self.net.vertices)]  # the first variables are the vertices
        occupied_from = [
            position - vertex.item.room_before
            for position, vertex in zip(vertex_positions, self.net.vertices, strict=True)
        ]
        lowest = min(occupied_from, default=0)
        port_positions = {
            key: solution[variable] - lowest for key, variable in self.free_port_variables.items()
        }
        for key, offset in self.fixed_port_offsets.items():
            port_positions[key] = vertex_positions[key.vertex] + offset - lowest
        return [position - lowest for position in vertex_positions], port_positions

    def _min_distance(self, vertex: int, next_vertex: int) -> int:
        """Return the least distance of the lowest v of two neighbours in a layer [px]."""
        item = self.net.vertices[vertex].item
        next_item = self.net.vertices[next_vertex].item
        gap = (item.gap + next_item.gap) // 2
        return item.breadth + item.room_after + gap + next_item.room_before

    def _add_variable(self) -> int:
        """Add a variable to the linear program and return its index."""
        self.n_variables += 1
        return self.n_variables - 1

    def _place_ports(self, vertex: int, segments: list[WireSegment], side: PortSide) -> None:
        """Record the fixed ports on one side of a vertex, and add variables for the other ports.

        A port is the point where a wire meets the vertex. Fills `fixed_port_offsets` and
        `free_port_variables`.

        Args:
            vertex: the vertex.
            segments: the segments that end on this side.
            side: the side.
        """
        free_segments = []
        for segment in segments:
            port = self.net.fixed_port(vertex, segment)
            if port is None:
                free_segments.append(segment)
            else:
                self.fixed_port_offsets[PortKey(vertex, segment.wire_key)] = port

        def far_end_position(segment: WireSegment) -> float:
            far_vertex = segment.lower_vertex if side is PortSide.BACK else segment.upper_vertex
            return self.ordering.position(far_vertex, segment)

        free_segments.sort(key=far_end_position)  # so that the wires do not cross near the vertex
        self._spread_ports(vertex, free_segments, side)

    def _spread_ports(self, vertex: int, segments: list[WireSegment], side: PortSide) -> None:
        """Add variables for the freely placed ports on a side: in order, with gaps, preferably in the middle.

        A port is the point where a wire meets a vertex; the zone is the part of the side that is free for
        ports. Fills `free_port_variables` and `spacings`.

        Args:
            vertex: the vertex.
            segments: the segments with such ports, in the order of the ports.
            side: the side of the vertex.
        """
        zone_low, zone_high = self.net.find_free_zone(vertex, side)
        item = self.net.vertices[vertex].item
        zone_breadth = zone_high - zone_low
        gap = min(item.port_gap, zone_breadth // (len(segments) + 1))
        edge = min(item.port_edge, (zone_breadth - gap * (len(segments) - 1)) // 2)
        previous_port = None
        for i, segment in enumerate(segments):
            port = self._add_variable()
            self.free_port_variables[PortKey(vertex, segment.wire_key)] = port
            # the port is in the zone, at least `edge` away from both its ends
            self.spacings.append(Spacing(lower=vertex, upper=port, min_distance=zone_low + edge))
            self.spacings.append(Spacing(lower=port, upper=vertex, min_distance=edge - zone_high))
            offset_from_middle = round((i - (len(segments) - 1) / 2) * gap)
            preferred_position = (zone_low + zone_high) // 2 + offset_from_middle
            self._attract(OffsetVariable(port, 0), OffsetVariable(vertex, preferred_position), weight=1)
            if previous_port is not None:
                self.spacings.append(Spacing(lower=previous_port, upper=port, min_distance=gap))
            previous_port = port

    def _penalise_bend(self, segment: WireSegment) -> None:
        """Add a cost for the distance between the two ends of a segment along the layers."""
        weight = (
            STRAIGHTNESS_WEIGHT
            * self._bend_weight(segment.lower_vertex)
            * self._bend_weight(segment.upper_vertex)
        )
        low_end = self._end_position(segment.lower_vertex, segment)
        high_end = self._end_position(segment.upper_vertex, segment)
        self._attract(low_end, high_end, weight)

    def _end_position(self, vertex: int, segment: WireSegment) -> OffsetVariable:
        """Return where on v a segment's end is: its port's variable, or an offset from the vertex."""
        key = PortKey(vertex, segment.wire_key)
        if key in self.free_port_variables:
            return OffsetVariable(self.free_port_variables[key], 0)
        return OffsetVariable(vertex, self.fixed_port_offsets[key])

    def _attract(self, first: OffsetVariable, second: OffsetVariable, weight: int) -> None:
        """Add a cost for the distance between two positions.

        Costs of a `Spacing` are only for distances in one direction. So an auxiliary variable must be below
        both positions, and its distance to each has the cost `weight`: it is then at the lower one.
        """
        auxiliary = self._add_variable()
        for variable, offset in (first, second):
            self.spacings.append(
                Spacing(lower=auxiliary, upper=variable, min_distance=-offset, weight=weight)
            )

    def _bend_weight(self, vertex: int) -> int:
        """Return the relative cost of a bend at a vertex: wires should bend at items, not between them."""
        return 1 if self.net.vertices[vertex].kind is ObstacleKind.ITEM else BETWEEN_ITEMS_WEIGHT
