"""Positions of items and routes of wires: layers, order within layers, lanes, and compaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import combinations, pairwise
from typing import NamedTuple

from posewright.charts.drawing.layout.ordering import CrossPlacement, Net, ObstacleKind, Ordering, PortKey
from posewright.charts.drawing.layout.ranking import Arrangement, LayoutItem, LayoutWire, PortSide, Ranking
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings

MIN_LINE_DISTANCE = 7
"""Least distance at which two lines can be distinguished [px]."""

TOUCH_COST = 50
"""Cost of two wires that touch, relative to a crossing."""


@dataclass(frozen=True)
class Jog:
    """The line along a gap between two layers on which a wire changes its v, from `start_v` to `end_v`."""

    wire_key: int
    start_v: int
    end_v: int

    @property
    def low_v(self) -> int:
        """Its lowest v."""
        return min(self.start_v, self.end_v)

    @property
    def high_v(self) -> int:
        """Its highest v."""
        return max(self.start_v, self.end_v)


def assign_lanes(jogs: Sequence[Jog]) -> list[int]:
    """Return the lane of every jog, from 0; jogs that would touch get different lanes.

    Lanes are the lines in a gap between two layers on which jogs can run; lane 0 is the nearest to the layer
    with the jogs' starts.
    """
    predecessors = _order_jogs(jogs)
    lanes = [0] * len(jogs)
    for i in TopologicalSorter(dict(enumerate(predecessors))).static_order():
        lanes[i] = max((lanes[predecessor] + 1 for predecessor in predecessors[i]), default=0)
    return lanes


def _order_jogs(jogs: Sequence[Jog]) -> list[set[int]]:
    """Return for each jog the jogs that must be in earlier lanes, by index.

    A jog is the piece of a wire that runs along a lane. Two jogs that would touch in one lane get different
    lanes, in the order of less cost. The pairs for which the order matters most are decided first; a later
    pair whose preferred order would close a cycle gets the other order.
    """
    preferences = []
    for i, k in combinations(range(len(jogs)), 2):
        if _would_touch(jogs[i], jogs[k]):
            cost = _lane_cost(earlier=jogs[i], later=jogs[k])
            swapped_cost = _lane_cost(earlier=jogs[k], later=jogs[i])
            earlier, later = (i, k) if cost <= swapped_cost else (k, i)
            saving = abs(cost - swapped_cost)
            preferences.append((-saving, earlier, later))  # sorted by falling saving
    predecessors: list[set[int]] = [set() for _ in jogs]
    for _, earlier, later in sorted(preferences):
        if _is_predecessor(later, earlier, predecessors):
            predecessors[earlier].add(later)
        else:
            predecessors[later].add(earlier)
    return predecessors


def _would_touch(jog: Jog, other: Jog) -> bool:
    """Return whether two jogs could not be told apart in one lane."""
    return jog.low_v - MIN_LINE_DISTANCE < other.high_v and other.low_v - MIN_LINE_DISTANCE < jog.high_v


def _lane_cost(earlier: Jog, later: Jog) -> int:
    """Return the cost of two jogs in this order of lanes: crossings, and a penalty if the wires touch.

    A jog is the piece of a wire along a lane, from `start_v` to `end_v` on the axis v. The wire of the
    earlier jog goes on from its `end_v` across the later lane; that of the later jog comes to its `start_v`
    across the earlier lane.
    """
    crosses_later = later.low_v <= earlier.end_v <= later.high_v
    crosses_earlier = earlier.low_v <= later.start_v <= earlier.high_v
    touches = abs(earlier.end_v - later.start_v) < MIN_LINE_DISTANCE
    return crosses_later + crosses_earlier + (TOUCH_COST if touches else 0)


def _is_predecessor(candidate: int, jog: int, predecessors: Sequence[set[int]]) -> bool:
    """Return whether a jog is a predecessor of another, directly or through others."""
    stack = [jog]
    visited = {jog}
    while stack:
        for predecessor in predecessors[stack.pop()] - visited:
            if predecessor == candidate:
                return True
            visited.add(predecessor)
            stack.append(predecessor)
    return False


NEIGHBOUR_GAPS: Mapping[frozenset[ObstacleKind], int] = {
    frozenset({ObstacleKind.ITEM}): 26,
    frozenset({ObstacleKind.ITEM, ObstacleKind.LABEL}): 16,
    frozenset({ObstacleKind.ITEM, ObstacleKind.LANE}): 14,
    frozenset({ObstacleKind.LABEL}): 10,
    frozenset({ObstacleKind.LABEL, ObstacleKind.LANE}): 6,
    frozenset({ObstacleKind.LANE}): 9,
}
"""Room along r between neighbouring obstacles by their kinds [px]."""

TOTAL_THICKNESS_WEIGHT = 2
"""Cost per pixel of the whole drawing along r, relative to a wire's length."""

EDGE_GAP = 12
"""Room between a border and what is inside it [px]."""

NEAR_DISTANCE = 5
"""Obstacles nearer than this along v must keep a distance along r [px]."""


@dataclass(frozen=True)
class Obstacle:
    """A rectangle, or a jog in its lane, which has no thickness.

    Attributes:
        kind: the kind of the obstacle.
        low_r: its lowest r, the axis across the layers.
        thickness: its size along r.
        low_v: its lowest v, the axis along the layers.
        high_v: its highest v.
    """

    kind: ObstacleKind
    low_r: int
    thickness: int
    low_v: int
    high_v: int

    @property
    def high_r(self) -> int:
        """Its highest r."""
        return self.low_r + self.thickness


class WeightedChain(NamedTuple):
    """Obstacles along a wire, or along a part of it.

    Attributes:
        obstacles: their indices, by rising r.
        weight: cost of each unit of their distances.
    """

    obstacles: Sequence[int]
    weight: int


def compact_layout(obstacles: Sequence[Obstacle], chains: Iterable[WeightedChain]) -> list[int]:
    """Return a new lowest r for every obstacle, which makes the drawing compact; their order does not change.

    r is the position in the direction of the arrows, across the layers.

    Args:
        obstacles: the first is the edge before all others, the last the edge after them.
        chains: the obstacles along each wire, which should be near each other.
    """
    # obstacles that face each other keep their distance, at no cost
    spacings = [
        _gap_spacing(obstacles, first_index=first, second_index=second, weight=0)
        for first, second in _visible_pairs(obstacles)
    ]
    # those along a wire have a cost that grows with their distance
    spacings += [
        _gap_spacing(obstacles, first_index=first, second_index=second, weight=chain.weight)
        for chain in chains
        for first, second in pairwise(chain.obstacles)
    ]
    spacings.append(Spacing(lower=0, upper=len(obstacles) - 1, weight=TOTAL_THICKNESS_WEIGHT))
    return solve_spacings(len(obstacles), spacings)


def _gap_spacing(obstacles: Sequence[Obstacle], first_index: int, second_index: int, weight: int) -> Spacing:
    """Return the constraint that keeps two obstacles apart along r, by no more than they are now.

    r is the position in the direction of the arrows, across the layers.

    Args:
        obstacles: all obstacles.
        first_index: index of the one with the lower r.
        second_index: index of the other.
        weight: cost of each unit of their distance.
    """
    first = obstacles[first_index]
    second = obstacles[second_index]
    kinds = frozenset({first.kind, second.kind})
    preferred_gap = EDGE_GAP if ObstacleKind.EDGE in kinds else NEIGHBOUR_GAPS[kinds]
    gap = min(preferred_gap, second.low_r - first.high_r)
    return Spacing(lower=first_index, upper=second_index, min_distance=first.thickness + gap, weight=weight)


class _SkylinePart(NamedTuple):
    """A range of v, and the index of the obstacle with the highest r in it so far."""

    low_v: int
    high_v: int
    obstacle_index: int


def _visible_pairs(obstacles: Sequence[Obstacle]) -> Iterable[tuple[int, int]]:
    """Yield the indices of obstacles that face each other along r, with no obstacle between them.

    r is the position in the direction of the arrows, v the position across it. The obstacles are visited by
    rising r. The skyline has, for every range of v, the last obstacle that was visited there.
    """
    order = sorted(range(len(obstacles)), key=lambda i: (obstacles[i].low_r, obstacles[i].high_r))
    skyline: list[_SkylinePart] = []
    for index in order:
        obstacle = obstacles[index]
        for part in skyline:
            begins_near = obstacle.low_v - NEAR_DISTANCE < part.high_v
            ends_near = part.low_v < obstacle.high_v + NEAR_DISTANCE
            is_behind = obstacles[part.obstacle_index].high_r <= obstacle.low_r
            if begins_near and ends_near and is_behind:
                yield part.obstacle_index, index
        uncovered = [remainder for part in skyline for remainder in _uncovered_parts(part, obstacle)]
        skyline = [*uncovered, _SkylinePart(obstacle.low_v, obstacle.high_v, index)]


def _uncovered_parts(part: _SkylinePart, obstacle: Obstacle) -> Iterable[_SkylinePart]:
    """Yield what an obstacle leaves of a part of the skyline: nothing, one piece, or two.

    The part and the obstacle are ranges on the axis v; what both have in common is covered.
    """
    if part.high_v <= obstacle.low_v or obstacle.high_v <= part.low_v:
        yield part
        return
    if part.low_v < obstacle.low_v:
        yield part._replace(high_v=obstacle.low_v)
    if obstacle.high_v < part.high_v:
        yield part._replace(low_v=obstacle.high_v)


LANE_DISTANCE = 9
ROOM_BESIDE_LANES = 30
"""Distance of neighbouring lanes, and room before the first and after the last, before compaction [px]."""


def arrange_items(items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> Arrangement:
    """Return the positions of items and the routes of wires, given the layers of the items."""
    return _LayerArranger(items, wires, ranking).solve()


class _JogKey(NamedTuple):
    """A jog: the layer before it and its wire."""

    layer: int
    wire: int


class _LayerArranger:
    """Arranges items in layers, then compacts them along r (the axis across the layers).

    Attributes:
        net: the graph of vertices (items, labels, bends) and segments between the layers.
        layers: the vertices of every layer, in order.
        n_crossings: number of crossings of wires.
        lowest_v: the lowest v of every vertex.
        port_v: the v at which a wire meets a vertex.
        layer_thickness: the thickness of every layer.
        obstacles: the rectangles and jogs that must stay apart; the first and the last are the edges of the
            drawing, which are added after all others.
        obstacle_index_by_vertex: index of a vertex's obstacle, before the edges are added.
        obstacle_index_by_jog: index of a jog's obstacle, by layer and wire, before the edges are added.
        obstacle_r: the lowest r of every obstacle after compaction.
    """

    def __init__(self, items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> None:
        """Order the vertices in their layers, and place them along the layers (on the axis v).

        A vertex is an item, the label of a wire, or the point where a wire passes a layer.
        """
        self.items = items
        self.wires = wires
        self.ranking = ranking
        self.net = Net(items, wires, ranking)
        ordering = Ordering(self.net)
        self.layers, self.n_crossings = ordering.solve()
        self.lowest_v, self.port_v = CrossPlacement(self.net, self.layers, ordering).solve()
        self.layer_thickness = [
            max((self.net.vertices[v].thickness for v in layer), default=0) for layer in self.layers
        ]
        self.obstacles: list[Obstacle] = []
        self.obstacle_index_by_vertex: dict[int, int] = {}
        self.obstacle_index_by_jog: dict[_JogKey, int] = {}

    def solve(self) -> Arrangement:
        """Return the compacted positions, routes and label positions.

        Positions are (r, v): in the direction of the arrows, and across it. The v are known already; the r
        result from compaction, which moves obstacles together.
        """
        end_r = self._place_layers()
        breadth = max((self._highest_v(v) for v in range(len(self.net.vertices))), default=0)
        self.obstacles.insert(0, Obstacle(ObstacleKind.EDGE, low_r=0, thickness=0, low_v=0, high_v=breadth))
        self.obstacles.append(Obstacle(ObstacleKind.EDGE, end_r, thickness=0, low_v=0, high_v=breadth))
        chains = [chain for wire in self.wires for chain in self._weighted_chains(wire)]
        self.obstacle_r = compact_layout(self.obstacles, chains)
        item_positions = {}
        for item in self.items:
            vertex = self.net.vertex_by_key[item.key]
            item_positions[item.key] = (self._lowest_r(vertex), self.lowest_v[vertex])
        return Arrangement(
            thickness=self.obstacle_r[-1],
            breadth=breadth,
            item_positions=item_positions,
            routes={wire.key: self._wire_route(wire) for wire in self.wires},
            label_positions={wire.key: self._label_position(wire) for wire in self.wires if wire.label_size},
            n_crossings=self.n_crossings,
        )

    def _highest_v(self, vertex: int) -> int:
        """Return the highest v of a vertex, with the room after it."""
        item = self.net.vertices[vertex].item
        return self.lowest_v[vertex] + item.breadth + item.room_after

    # Positions before compaction.

    def _place_layers(self) -> int:
        """Add the obstacles of all layers and of the lanes between them, before compaction.

        Returns:
            The r at their end: the position in the direction of the arrows [px].
        """
        r = 0
        for layer_index, thickness in enumerate(self.layer_thickness):
            for vertex in self.layers[layer_index]:
                self._add_vertex_obstacle(vertex, r, thickness)
            r += thickness
            is_last_layer = layer_index + 1 == len(self.layers)
            if not is_last_layer:
                r += self._add_jog_obstacles(layer_index, r)
        return r

    def _add_vertex_obstacle(self, vertex_index: int, layer_r: int, layer_thickness: int) -> None:
        """Add the rectangle that a vertex occupies in its layer to the obstacles, before compaction.

        r is the position across the layers, v that along them. Bends and the ends of links at a border occupy
        none. A title pinned to the back is at the start of its layer, all else in the middle.

        Args:
            vertex_index: the vertex.
            layer_r: lowest r of its layer.
            layer_thickness: thickness of its layer [px].
        """
        vertex = self.net.vertices[vertex_index]
        item = vertex.item
        if vertex.kind is None or (item.pinned_side and item.thickness == 0):
            return
        is_at_back = item.pinned_side is PortSide.BACK
        low_r = layer_r + (0 if is_at_back else (layer_thickness - vertex.thickness) // 2)
        low_v = self.lowest_v[vertex_index] - item.room_before
        high_v = self._highest_v(vertex_index)
        self.obstacle_index_by_vertex[vertex_index] = len(self.obstacles)
        self.obstacles.append(Obstacle(vertex.kind, low_r, vertex.thickness, low_v, high_v))

    def _add_jog_obstacles(self, layer: int, layer_end_r: int) -> int:
        """Assign lanes to the jogs behind a layer, and add their obstacles.

        Between this layer and the next, a wire runs straight unless its v changes; then it has a jog, a piece
        along a lane, which is an obstacle for items.

        Returns:
            The room between this layer and the next that the lanes need, along r [px].
        """
        jogs = []
        for segment in self.net.segments:
            if self.net.vertices[segment.lower_vertex].layer == layer:
                start_v = self.port_v[PortKey(segment.lower_vertex, segment.wire_key)]
                end_v = self.port_v[PortKey(segment.upper_vertex, segment.wire_key)]
                if start_v != end_v:
                    jogs.append(Jog(segment.wire_key, start_v, end_v))
        lanes = assign_lanes(jogs)
        for jog, lane in zip(jogs, lanes, strict=True):
            self.obstacle_index_by_jog[_JogKey(layer, jog.wire_key)] = len(self.obstacles)
            low_r = layer_end_r + ROOM_BESIDE_LANES + lane * LANE_DISTANCE
            self.obstacles.append(Obstacle(ObstacleKind.LANE, low_r, 0, jog.low_v, jog.high_v))
        return 2 * ROOM_BESIDE_LANES + max(lanes, default=0) * LANE_DISTANCE

    # Positions after compaction.

    def _obstacle_index(self, vertex: int) -> int:
        """Return the index of a vertex's obstacle; a vertex without one is at a border, which is an edge."""
        if vertex in self.obstacle_index_by_vertex:
            return self.obstacle_index_by_vertex[vertex] + 1  # as the back edge was inserted at index 0
        is_at_back = self.net.vertices[vertex].item.pinned_side is PortSide.BACK
        return 0 if is_at_back else len(self.obstacles) - 1

    def _jog_index(self, lower_vertex: int, wire: int) -> int | None:
        """Return the index of the obstacle of a wire's jog behind a vertex; None if it runs straight on."""
        index = self.obstacle_index_by_jog.get(_JogKey(self.net.vertices[lower_vertex].layer, wire))
        return None if index is None else index + 1  # as the back edge was inserted at index 0

    def _obstacle_chain(self, wire: LayoutWire) -> list[int]:
        """Return the indices of the obstacles along a wire, by rising r."""
        vertices = self.net.chain_by_wire[wire.key]
        indices = [self._obstacle_index(vertices[0])]
        for vertex, next_vertex in pairwise(vertices):
            jog_index = self._jog_index(vertex, wire.key)
            if jog_index is not None:
                indices.append(jog_index)
            if self.net.vertices[next_vertex].kind is not None:
                indices.append(self._obstacle_index(next_vertex))
        return indices

    def _weighted_chains(self, wire: LayoutWire) -> Iterator[WeightedChain]:
        """Yield the chain of a wire's obstacles, and again its part from the wire's start to the label.

        So distances before the label cost twice as much as those after it, and the label is near the start.
        """
        obstacles = self._obstacle_chain(wire)
        yield WeightedChain(obstacles, weight=1)
        if wire.label_size:
            kinds = [self.obstacles[index].kind for index in obstacles]
            label_index = kinds.index(ObstacleKind.LABEL)
            leads_back = wire.key in self.ranking.back_wires  # then the wire's start is the last obstacle
            from_start_to_label = obstacles[label_index:] if leads_back else obstacles[: label_index + 1]
            yield WeightedChain(from_start_to_label, weight=1)

    def _lowest_r(self, vertex: int) -> int:
        """Return the lowest r of a vertex after compaction, when it is in the middle of its obstacle."""
        index = self._obstacle_index(vertex)
        free_room = self.obstacles[index].thickness - self.net.vertices[vertex].item.thickness
        return self.obstacle_r[index] + max(free_room, 0) // 2

    def _wire_route(self, wire: LayoutWire) -> tuple[tuple[int, int], ...]:
        """Return the corners of a wire's route from its start to its end, with two for each jog.

        A jog is a line between two layers along which the wire changes its v. A corner is a pair (r, v): its
        positions across the layers and along them.
        """
        vertices = self.net.chain_by_wire[wire.key]
        first = vertices[0]
        last = vertices[-1]
        first_end_r = self._lowest_r(first) + self.net.vertices[first].item.thickness
        points = [(first_end_r, self.port_v[PortKey(first, wire.key)])]
        for vertex, next_vertex in pairwise(vertices):
            jog_index = self._jog_index(vertex, wire.key)
            if jog_index is not None:
                jog_r = self.obstacle_r[jog_index]
                points.append((jog_r, self.port_v[PortKey(vertex, wire.key)]))
                points.append((jog_r, self.port_v[PortKey(next_vertex, wire.key)]))
        points.append((self._lowest_r(last), self.port_v[PortKey(last, wire.key)]))
        # the vertices are in the order of the layers, which is that of the wire unless it leads back
        leads_back = wire.key in self.ranking.back_wires
        return tuple(points[::-1] if leads_back else points)

    def _label_position(self, wire: LayoutWire) -> tuple[int, int]:
        """Return the middle (r, v) of a wire's label."""
        vertices = self.net.chain_by_wire[wire.key]
        label = next(v for v in vertices if self.net.vertices[v].kind is ObstacleKind.LABEL)
        middle_r = self._lowest_r(label) + self.net.vertices[label].thickness // 2
        return middle_r, self.port_v[PortKey(label, wire.key)]
