"""Positions of items and routes of wires: layers, order within layers, lanes, and compaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import combinations, pairwise

from posewright.charts.drawing.layout.ordering import CrossPlacement, Net, ObstacleKind, Ordering
from posewright.charts.drawing.layout.ranking import Arrangement, LayoutItem, LayoutWire, PortSide, Ranking
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings

MIN_LINE_DISTANCE = 7
"""Least distance at which two lines can be distinguished [px]."""


@dataclass(frozen=True)
class Jog:
    """A wire that changes its v in the gap between two layers."""

    wire: int
    start: int
    end: int

    @property
    def low(self) -> int:
        """Its lowest v."""
        return min(self.start, self.end)

    @property
    def high(self) -> int:
        """Its highest v."""
        return max(self.start, self.end)


def assign_lanes(jogs: Sequence[Jog]) -> list[int]:
    """Return the lane of every jog, from 0; jogs that would touch get different lanes."""
    predecessors = _lane_order(jogs)
    lanes = [0] * len(jogs)
    for i in TopologicalSorter(dict(enumerate(predecessors))).static_order():
        lanes[i] = max((lanes[k] + 1 for k in predecessors[i]), default=0)
    return lanes


def _lane_order(jogs: Sequence[Jog]) -> list[set[int]]:
    """Return for each jog those in earlier lanes, without cycles; costly pairs are decided first."""
    preferences = []
    for i, k in combinations(range(len(jogs)), 2):
        if jogs[i].low - MIN_LINE_DISTANCE < jogs[k].high and jogs[k].low - MIN_LINE_DISTANCE < jogs[i].high:
            cost = _lane_cost(jogs[i], jogs[k])
            swapped_cost = _lane_cost(jogs[k], jogs[i])
            earlier, later = (i, k) if cost <= swapped_cost else (k, i)
            preferences.append((-abs(cost - swapped_cost), earlier, later))
    predecessors: list[set[int]] = [set() for _ in jogs]
    for _, earlier, later in sorted(preferences):
        if _is_before(predecessors, earlier, later):
            predecessors[earlier].add(later)
        else:
            predecessors[later].add(earlier)
    return predecessors


def _lane_cost(first: Jog, second: Jog) -> int:
    """Return the cost of the first jog in the earlier lane: crossings, and a penalty if the two touch."""
    crossings = (second.low <= first.end <= second.high) + (first.low <= second.start <= first.high)
    return crossings + 50 * (abs(first.end - second.start) < MIN_LINE_DISTANCE)


def _is_before(predecessors: Sequence[set[int]], start: int, goal: int) -> bool:
    """Return whether `goal` is before `start`, directly or not."""
    stack = [start]
    visited = {start}
    while stack:
        for predecessor in predecessors[stack.pop()] - visited:
            if predecessor == goal:
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

EDGE_GAP = 12
"""Room between a border and what is inside it [px]."""

MARGIN = 5
"""Obstacles nearer than this along v must keep a distance along r [px]."""


@dataclass(frozen=True)
class Obstacle:
    """A rectangle, or a lane, which has no thickness.

    Attributes:
        kind: the kind of the obstacle.
        r: its lowest r.
        thickness: its size along r.
        low: its lowest v.
        high: its highest v.
    """

    kind: ObstacleKind
    r: int
    thickness: int
    low: int
    high: int


def compact_layout(obstacles: Sequence[Obstacle], chains: Iterable[tuple[Sequence[int], int]]) -> list[int]:
    """Return new positions along r that make the drawing compact.

    Args:
        obstacles: the first is the edge before all others, the last the edge after them.
        chains: indices of the obstacles along a wire, by rising r, and the cost of their distances.
    """
    spacings = [
        _gap_spacing(obstacles, first_index=first, second_index=second, weight=0)
        for first, second in _visible_pairs(obstacles)
    ]
    spacings += [
        _gap_spacing(obstacles, first_index=first, second_index=second, weight=cost)
        for chain, cost in chains
        for first, second in pairwise(chain)
    ]
    spacings.append(Spacing(0, head=len(obstacles) - 1, min_distance=0, weight=2))
    return solve_spacings(len(obstacles), spacings)


def _gap_spacing(obstacles: Sequence[Obstacle], first_index: int, second_index: int, weight: int) -> Spacing:
    """Return the constraint that keeps two obstacles apart along r, by no more than they are now."""
    first = obstacles[first_index]
    second = obstacles[second_index]
    kinds = frozenset({first.kind, second.kind})
    gap = EDGE_GAP if ObstacleKind.EDGE in kinds else NEIGHBOUR_GAPS[kinds]
    present_gap = second.r - first.r - first.thickness
    return Spacing(
        first_index, head=second_index, min_distance=first.thickness + min(present_gap, gap), weight=weight
    )


def _visible_pairs(obstacles: Sequence[Obstacle]) -> Iterable[tuple[int, int]]:
    """Yield pairs of obstacles that are adjacent along r; others are distinguished by those between."""
    order = sorted(
        range(len(obstacles)), key=lambda i: (obstacles[i].r, obstacles[i].r + obstacles[i].thickness)
    )
    skyline: list[tuple[int, int, int]] = []  # lowest v, highest v, and the last obstacle seen there
    for i in order:
        obstacle = obstacles[i]
        low = obstacle.low - MARGIN
        high = obstacle.high + MARGIN
        for part_low, part_high, nearer in skyline:
            nearer_end = obstacles[nearer].r + obstacles[nearer].thickness
            if part_low < high and low < part_high and nearer_end <= obstacle.r:
                yield nearer, i
        remaining = [part for line in skyline for part in _visible_parts(line, obstacle.low, obstacle.high)]
        skyline = [*remaining, (obstacle.low, obstacle.high, i)]


def _visible_parts(line: tuple[int, int, int], low: int, high: int) -> Iterable[tuple[int, int, int]]:
    """Yield the parts of a skyline segment outside `low`..`high`."""
    part_low, part_high, obstacle = line
    if part_high <= low or high <= part_low:
        yield line
        return
    if part_low < low:
        yield part_low, low, obstacle
    if high < part_high:
        yield high, part_high, obstacle


LANE = 9
ROOM = 30
"""Room between lanes, and beside them, before compaction [px]."""


def arrange_items(items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> Arrangement:
    """Return the positions of items and the routes of wires, given the layers of the items."""
    return _LayerArranger(items, wires, ranking).solve()


class _LayerArranger:
    """Arranges items in layers, then compacts them along r.

    Attributes:
        lowest_v: the lowest v of every vertex.
        ports: the v of every wire, by vertex and wire.
        layer_thickness: the thickness of every layer.
        obstacle_of_vertex: index of a vertex's obstacle, before the edges are added.
        obstacle_of_lane: index of a jog's obstacle, by layer and wire.
        obstacle_r: the lowest r of every obstacle after compaction.
    """

    def __init__(self, items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> None:
        self.items = items
        self.wires = wires
        self.ranking = ranking
        self.net = Net(items, wires, ranking)
        ordering = Ordering(self.net)
        self.layers, self.crossings = ordering.solve()
        self.lowest_v, self.ports = CrossPlacement(self.net, self.layers, ordering).solve()
        self.layer_thickness = [
            max((self.net.vertices[v].thickness for v in layer), default=0) for layer in self.layers
        ]
        self.obstacles: list[Obstacle] = []
        self.obstacle_of_vertex: dict[int, int] = {}
        self.obstacle_of_lane: dict[tuple[int, int], int] = {}

    def solve(self) -> Arrangement:
        """Return the compacted positions, routes and label positions."""
        end_r = self._place_layers()
        breadth = max((self._highest_v(v) for v in range(len(self.net.vertices))), default=0)
        self.obstacles.insert(0, Obstacle(ObstacleKind.EDGE, r=0, thickness=0, low=0, high=breadth))
        self.obstacles.append(Obstacle(ObstacleKind.EDGE, end_r, thickness=0, low=0, high=breadth))
        chains = [chain for wire in self.wires for chain in self._weighted_chains(wire)]
        self.obstacle_r = compact_layout(self.obstacles, chains)
        places = {}
        for item in self.items:
            vertex = self.net.index[item.key]
            places[item.key] = (self._lowest_r(vertex), self.lowest_v[vertex])
        return Arrangement(
            thickness=self.obstacle_r[-1],
            breadth=breadth,
            places=places,
            routes={wire.key: self._wire_route(wire) for wire in self.wires},
            labels={wire.key: self._label_position(wire) for wire in self.wires if wire.label},
            crossings=self.crossings,
        )

    def port_v(self, vertex: int, wire: int) -> int:
        """Return the v at which a wire meets a vertex [px]."""
        return self.ports[vertex, wire]

    def _highest_v(self, vertex: int) -> int:
        """Return the highest v of a vertex, with what is drawn beside it."""
        item = self.net.vertices[vertex].item
        return self.lowest_v[vertex] + item.breadth + item.after

    # Positions before compaction.

    def _place_layers(self) -> int:
        """Add the obstacles of all layers and lanes; return the r at their end."""
        r = 0
        for i, thickness in enumerate(self.layer_thickness):
            for vertex in self.layers[i]:
                self._add_obstacle(vertex, r, thickness)
            r += thickness
            if i + 1 < len(self.layers):
                r += self._add_lanes(i, r)
        return r

    def _add_obstacle(self, vertex: int, start: int, thickness: int) -> None:
        """Add the rectangle that a vertex occupies in a layer which starts at `start`, if it occupies any."""
        vertex_data = self.net.vertices[vertex]
        if vertex_data.kind is None or (vertex_data.item.pin and not vertex_data.item.thickness):
            return
        r = start + (0 if vertex_data.item.pin is PortSide.BACK else (thickness - vertex_data.thickness) // 2)
        low = self.lowest_v[vertex] - vertex_data.item.before
        self.obstacle_of_vertex[vertex] = len(self.obstacles)
        self.obstacles.append(
            Obstacle(vertex_data.kind, r, vertex_data.thickness, low, high=self._highest_v(vertex))
        )

    def _add_lanes(self, layer: int, r: int) -> int:
        """Add the lanes behind a layer that ends at `r`; return the room they need."""
        jogs = []
        for segment in self.net.segments:
            if self.net.vertices[segment.low].layer == layer:
                start = self.port_v(segment.low, segment.wire)
                end = self.port_v(segment.high, segment.wire)
                if start != end:
                    jogs.append(Jog(segment.wire, start, end))
        lanes = assign_lanes(jogs)
        for jog, lane in zip(jogs, lanes, strict=True):
            self.obstacle_of_lane[layer, jog.wire] = len(self.obstacles)
            self.obstacles.append(
                Obstacle(ObstacleKind.LANE, r=r + ROOM + lane * LANE, thickness=0, low=jog.low, high=jog.high)
            )
        return 2 * ROOM + max(lanes, default=0) * LANE

    # Positions after compaction.

    def _obstacle_index(self, vertex: int) -> int:
        """Return the index of a vertex's obstacle; those at a border belong to the edges."""
        if vertex in self.obstacle_of_vertex:
            return self.obstacle_of_vertex[vertex] + 1
        return 0 if self.net.vertices[vertex].item.pin is PortSide.BACK else len(self.obstacles) - 1

    def _obstacle_chain(self, wire: LayoutWire) -> list[int]:
        """Return the indices of the obstacles along a wire."""
        chain = self.net.chains[wire.key]
        indices = [self._obstacle_index(chain[0])]
        for low, high in pairwise(chain):
            lane = self.obstacle_of_lane.get((self.net.vertices[low].layer, wire.key))
            indices += [] if lane is None else [lane + 1]
            indices += [self._obstacle_index(high)] if self.net.vertices[high].kind else []
        return indices

    def _weighted_chains(self, wire: LayoutWire) -> Iterator[tuple[Sequence[int], int]]:
        """Yield the obstacles along a wire with their weight, and those up to its label, to keep it near."""
        chain = self._obstacle_chain(wire)
        yield chain, 1
        if wire.label:
            label = next(
                i for i, index in enumerate(chain) if self.obstacles[index].kind is ObstacleKind.LABEL
            )
            yield (chain[label:] if wire.key in self.ranking.back_wires else chain[: label + 1]), 1

    def _lowest_r(self, vertex: int) -> int:
        """Return the lowest r of a vertex's body, centred in its obstacle."""
        room = self.obstacles[self._obstacle_index(vertex)].thickness
        return (
            self.obstacle_r[self._obstacle_index(vertex)]
            + max(room - self.net.vertices[vertex].item.thickness, 0) // 2
        )

    def _wire_route(self, wire: LayoutWire) -> tuple[tuple[int, int], ...]:
        """Return the corners of a wire's route in its own direction, jogs included."""
        chain = self.net.chains[wire.key]
        first = chain[0]
        last = chain[-1]
        points = [
            (self._lowest_r(first) + self.net.vertices[first].item.thickness, self.port_v(first, wire.key))
        ]
        for low, high in pairwise(chain):
            lane = self.obstacle_of_lane.get((self.net.vertices[low].layer, wire.key))
            if lane is not None:
                points += [
                    (self.obstacle_r[lane + 1], self.port_v(low, wire.key)),
                    (self.obstacle_r[lane + 1], self.port_v(high, wire.key)),
                ]
        points.append((self._lowest_r(last), self.port_v(last, wire.key)))
        return tuple(points[::-1] if wire.key in self.ranking.back_wires else points)

    def _label_position(self, wire: LayoutWire) -> tuple[int, int]:
        """Return the middle of a wire's label, as r and v."""
        labels = (v for v in self.net.chains[wire.key] if self.net.vertices[v].kind is ObstacleKind.LABEL)
        vertex = next(labels)
        return self._lowest_r(vertex) + self.net.vertices[vertex].thickness // 2, self.port_v(
            vertex, wire.key
        )
