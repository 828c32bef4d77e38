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
"""Least distance at which two lines can be told apart [px]."""


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
    before = _lane_order(jogs)
    lanes = [0] * len(jogs)
    for i in TopologicalSorter(dict(enumerate(before))).static_order():
        lanes[i] = max((lanes[k] + 1 for k in before[i]), default=0)
    return lanes


def _lane_order(jogs: Sequence[Jog]) -> list[set[int]]:
    """Return for each jog those in earlier lanes, without cycles; costly pairs are decided first."""
    wishes = []
    for i, k in combinations(range(len(jogs)), 2):
        if jogs[i].low - MIN_LINE_DISTANCE < jogs[k].high and jogs[k].low - MIN_LINE_DISTANCE < jogs[i].high:
            forth = _lane_cost(jogs[i], jogs[k])
            back = _lane_cost(jogs[k], jogs[i])
            earlier, later = (i, k) if forth <= back else (k, i)
            wishes.append((-abs(forth - back), earlier, later))
    before: list[set[int]] = [set() for _ in jogs]
    for _, earlier, later in sorted(wishes):
        if _is_before(before, earlier, later):
            before[earlier].add(later)
        else:
            before[later].add(earlier)
    return before


def _lane_cost(first: Jog, second: Jog) -> int:
    """Return the cost of the first jog in the earlier lane: crossings, and a penalty if the two touch."""
    crossings = (second.low <= first.end <= second.high) + (first.low <= second.start <= first.high)
    return crossings + 50 * (abs(first.end - second.start) < MIN_LINE_DISTANCE)


def _is_before(before: Sequence[set[int]], start: int, goal: int) -> bool:
    """Return whether `goal` is before `start`, directly or not."""
    stack = [start]
    visited = {start}
    while stack:
        for predecessor in before[stack.pop()] - visited:
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
        kind: of the obstacle.
        r: its lowest r.
        thick: its size along r.
        low: its lowest v.
        high: its highest v.
    """

    kind: ObstacleKind
    r: int
    thick: int
    low: int
    high: int


def compact_layout(obstacles: Sequence[Obstacle], chains: Iterable[tuple[Sequence[int], int]]) -> list[int]:
    """Return new positions along r that make the drawing compact.

    Args:
        obstacles: the first is the edge before all others, the last the edge after them.
        chains: indices of the obstacles along a wire, by rising r, and the cost of their distances.
    """
    gaps = [_gap_spacing(obstacles, first, second, 0) for first, second in _visible_pairs(obstacles)]
    gaps += [_gap_spacing(obstacles, a, b, cost) for chain, cost in chains for a, b in pairwise(chain)]
    gaps.append(Spacing(0, len(obstacles) - 1, 0, 2))
    return solve_spacings(len(obstacles), gaps)


def _gap_spacing(obstacles: Sequence[Obstacle], first_index: int, second_index: int, weight: int) -> Spacing:
    first = obstacles[first_index]
    second = obstacles[second_index]
    kinds = frozenset({first.kind, second.kind})
    gap = EDGE_GAP if ObstacleKind.EDGE in kinds else NEIGHBOUR_GAPS[kinds]
    present_gap = second.r - first.r - first.thick
    return Spacing(first_index, second_index, first.thick + min(present_gap, gap), weight)


def _visible_pairs(obstacles: Sequence[Obstacle]) -> Iterable[tuple[int, int]]:
    """Yield pairs of obstacles that are adjacent along r; others are kept apart by those between."""
    order = sorted(range(len(obstacles)), key=lambda i: (obstacles[i].r, obstacles[i].r + obstacles[i].thick))
    skyline: list[tuple[int, int, int]] = []
    for i in order:
        obstacle = obstacles[i]
        low = obstacle.low - MARGIN
        high = obstacle.high + MARGIN
        for a, b, nearer in skyline:
            if a < high and low < b and obstacles[nearer].r + obstacles[nearer].thick <= obstacle.r:
                yield nearer, i
        remaining = [part for line in skyline for part in _visible_parts(line, obstacle.low, obstacle.high)]
        skyline = [*remaining, (obstacle.low, obstacle.high, i)]


def _visible_parts(line: tuple[int, int, int], low: int, high: int) -> Iterable[tuple[int, int, int]]:
    """Yield the parts of a skyline segment outside `low`..`high`."""
    a, b, obstacle = line
    if b <= low or high <= a:
        yield line
        return
    if a < low:
        yield a, low, obstacle
    if high < b:
        yield high, b, obstacle


LANE = 9
ROOM = 30
"""Room between lanes, and beside them, before compaction [px]."""


def arrange_items(items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> Arrangement:
    """Return the positions of items and the routes of wires, given the layers of the items."""
    return _LayerArranger(items, wires, ranking).solve()


class _LayerArranger:
    def __init__(self, items: Sequence[LayoutItem], wires: Sequence[LayoutWire], ranking: Ranking) -> None:
        self.items = items
        self.wires = wires
        self.ranking = ranking
        self.net = Net(items, wires, ranking)
        ordering = Ordering(self.net)
        self.layers, self.crossings = ordering.solve()
        self.lowest, self.ports = CrossPlacement(self.net, self.layers, ordering).solve()
        self.thick = [max((self.net.vertices[v].thick for v in layer), default=0) for layer in self.layers]
        self.obstacles: list[Obstacle] = []
        self.obstacle_of_vertex: dict[int, int] = {}
        self.obstacle_of_lane: dict[tuple[int, int], int] = {}

    def solve(self) -> Arrangement:
        end = self._place_layers()
        broad = max((self._highest_v(v) for v in range(len(self.net.vertices))), default=0)
        self.obstacles.insert(0, Obstacle(ObstacleKind.EDGE, 0, 0, 0, broad))
        self.obstacles.append(Obstacle(ObstacleKind.EDGE, end, 0, 0, broad))
        self.r = compact_layout(
            self.obstacles, [chain for wire in self.wires for chain in self._weighted_chains(wire)]
        )
        index = self.net.index
        return Arrangement(
            self.r[-1],
            broad,
            {
                item.key: (self._lowest_r(index[item.key]), self.lowest[index[item.key]])
                for item in self.items
            },
            {wire.key: self._wire_route(wire) for wire in self.wires},
            {wire.key: self._label_position(wire) for wire in self.wires if wire.label},
            self.crossings,
        )

    def port_v(self, vertex: int, wire: int) -> int:
        """Return the v at which a wire meets a vertex [px]."""
        return self.ports[vertex, wire]

    def _highest_v(self, vertex: int) -> int:
        """Return the highest v of a vertex, with what is drawn beside it."""
        body = self.net.vertices[vertex].body
        return self.lowest[vertex] + body.broad + body.after

    # Positions before compaction.

    def _place_layers(self) -> int:
        """Add the obstacles of all layers and lanes; return the r at their end."""
        r = 0
        for i, thick in enumerate(self.thick):
            for vertex in self.layers[i]:
                self._add_obstacle(vertex, r, thick)
            r += thick
            if i + 1 < len(self.layers):
                r += self._add_lanes(i, r)
        return r

    def _add_obstacle(self, vertex: int, start: int, thick: int) -> None:
        vertex_data = self.net.vertices[vertex]
        if vertex_data.kind is None or (vertex_data.body.pin and not vertex_data.body.thick):
            return
        r = start + (0 if vertex_data.body.pin is PortSide.BACK else (thick - vertex_data.thick) // 2)
        low = self.lowest[vertex] - vertex_data.body.before
        self.obstacle_of_vertex[vertex] = len(self.obstacles)
        self.obstacles.append(Obstacle(vertex_data.kind, r, vertex_data.thick, low, self._highest_v(vertex)))

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
            self.obstacles.append(Obstacle(ObstacleKind.LANE, r + ROOM + lane * LANE, 0, jog.low, jog.high))
        return 2 * ROOM + max(lanes, default=0) * LANE

    # Positions after compaction.

    def _obstacle_index(self, vertex: int) -> int:
        """Return the index of a vertex's obstacle; those at a border belong to the edges."""
        if vertex in self.obstacle_of_vertex:
            return self.obstacle_of_vertex[vertex] + 1
        return 0 if self.net.vertices[vertex].body.pin is PortSide.BACK else len(self.obstacles) - 1

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
        room = self.obstacles[self._obstacle_index(vertex)].thick
        return self.r[self._obstacle_index(vertex)] + max(room - self.net.vertices[vertex].body.thick, 0) // 2

    def _wire_route(self, wire: LayoutWire) -> tuple[tuple[int, int], ...]:
        chain = self.net.chains[wire.key]
        first = chain[0]
        last = chain[-1]
        points = [(self._lowest_r(first) + self.net.vertices[first].body.thick, self.port_v(first, wire.key))]
        for low, high in pairwise(chain):
            lane = self.obstacle_of_lane.get((self.net.vertices[low].layer, wire.key))
            if lane is not None:
                points += [
                    (self.r[lane + 1], self.port_v(low, wire.key)),
                    (self.r[lane + 1], self.port_v(high, wire.key)),
                ]
        points.append((self._lowest_r(last), self.port_v(last, wire.key)))
        return tuple(points[::-1] if wire.key in self.ranking.back_wires else points)

    def _label_position(self, wire: LayoutWire) -> tuple[int, int]:
        labels = (v for v in self.net.chains[wire.key] if self.net.vertices[v].kind is ObstacleKind.LABEL)
        vertex = next(labels)
        return self._lowest_r(vertex) + self.net.vertices[vertex].thick // 2, self.port_v(vertex, wire.key)
