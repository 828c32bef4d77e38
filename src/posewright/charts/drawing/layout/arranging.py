"""Items and wires put in their places: in layers, in order, moved together, with the way of every wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import combinations, pairwise

from posewright.charts.drawing.layout.ordering import Net, ObstacleKind, Ordering, Placing
from posewright.charts.drawing.layout.ranking import Arrangement, Item, Ranking, Side, Wire
from posewright.charts.drawing.layout.spacing import Spacing, solve_spacings

CLOSE = 7
"""Lines nearer to each other than this would be taken for one [px]."""


@dataclass(frozen=True)
class Jog:
    """A wire that enters the space between two layers at one v and leaves it at another."""

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


def assign(jogs: Sequence[Jog]) -> list[int]:
    """Return the lane of every jog, 0 being the first; those that would touch are in different ones."""
    before = _order(jogs)
    lanes = [0] * len(jogs)
    for i in TopologicalSorter(dict(enumerate(before))).static_order():
        lanes[i] = max((lanes[k] + 1 for k in before[i]), default=0)
    return lanes


def _order(jogs: Sequence[Jog]) -> list[set[int]]:
    """Return for each jog those that must be in an earlier lane; dear wishes come first, none in a circle."""
    wishes = []
    for i, k in combinations(range(len(jogs)), 2):
        if jogs[i].low - CLOSE < jogs[k].high and jogs[k].low - CLOSE < jogs[i].high:
            forth = _cost(jogs[i], jogs[k])
            back = _cost(jogs[k], jogs[i])
            earlier, later = (i, k) if forth <= back else (k, i)
            wishes.append((-abs(forth - back), earlier, later))
    before: list[set[int]] = [set() for _ in jogs]
    for _, earlier, later in sorted(wishes):
        if _reaches(before, earlier, later):
            before[earlier].add(later)
        else:
            before[later].add(earlier)
    return before


def _cost(one: Jog, other: Jog) -> int:
    """Return how often two jogs cross, and much more where they touch, were `one` in the earlier lane."""
    crossings = (other.low <= one.end <= other.high) + (one.low <= other.start <= one.high)
    return crossings + 50 * (abs(one.end - other.start) < CLOSE)


def _reaches(before: Sequence[set[int]], start: int, goal: int) -> bool:
    """Return whether `goal` is before `start`."""
    waiting = [start]
    seen = {start}
    while waiting:
        for other in before[waiting.pop()] - seen:
            if other == goal:
                return True
            seen.add(other)
            waiting.append(other)
    return False


BESIDE: Mapping[frozenset[ObstacleKind], int] = {
    frozenset({ObstacleKind.ITEM}): 26,
    frozenset({ObstacleKind.ITEM, ObstacleKind.LABEL}): 16,
    frozenset({ObstacleKind.ITEM, ObstacleKind.LANE}): 14,
    frozenset({ObstacleKind.LABEL}): 10,
    frozenset({ObstacleKind.LABEL, ObstacleKind.LANE}): 6,
    frozenset({ObstacleKind.LANE}): 9,
}
"""Room along r between two things that are next to each other [px]."""

AT_EDGE = 12
"""Room between a border and what is inside it [px]."""

MARGIN = 5
"""Things nearer than this across are in each other's way [px]."""


@dataclass(frozen=True)
class Obstacle:
    """Something that takes room: a rectangle, or a lane, which is as thin as a line."""

    sort: ObstacleKind
    r: int
    thick: int
    low: int
    high: int


def compact(things: Sequence[Obstacle], chains: Iterable[tuple[Sequence[int], int]]) -> list[int]:
    """Return the new r of every thing.

    Args:
        things: in their places; the first is the edge before all others, the last the edge after them.
        chains: things that a wire joins, from the lowest r to the highest, and the cost of their distances.
    """
    gaps = [_gap(things, one, other, 0) for one, other in _neighbours(things)]
    gaps += [_gap(things, a, b, cost) for chain, cost in chains for a, b in pairwise(chain)]
    gaps.append(Spacing(0, len(things) - 1, 0, 2))
    return solve_spacings(len(things), gaps)


def _gap(things: Sequence[Obstacle], one: int, other: int, weight: int) -> Spacing:
    first = things[one]
    second = things[other]
    sorts = frozenset({first.sort, second.sort})
    wanted = AT_EDGE if ObstacleKind.EDGE in sorts else BESIDE[sorts]
    found = second.r - first.r - first.thick
    return Spacing(one, other, first.thick + min(found, wanted), weight)


def _neighbours(things: Sequence[Obstacle]) -> Iterable[tuple[int, int]]:
    """Yield things that see each other along r: those further away are kept apart by those between."""
    order = sorted(range(len(things)), key=lambda i: (things[i].r, things[i].r + things[i].thick))
    skyline: list[tuple[int, int, int]] = []
    for i in order:
        thing = things[i]
        low = thing.low - MARGIN
        high = thing.high + MARGIN
        for a, b, other in skyline:
            if a < high and low < b and things[other].r + things[other].thick <= thing.r:
                yield other, i
        rest = [part for line in skyline for part in _without(line, thing.low, thing.high)]
        skyline = [*rest, (thing.low, thing.high, i)]


def _without(line: tuple[int, int, int], low: int, high: int) -> Iterable[tuple[int, int, int]]:
    """Yield what of a stretch of the skyline is not hidden."""
    a, b, thing = line
    if b <= low or high <= a:
        yield line
        return
    if a < low:
        yield a, low, thing
    if high < b:
        yield high, b, thing


LANE = 9
ROOM = 30
"""Room between lanes, and beside them, before everything is moved together [px]."""


def arrange(items: Sequence[Item], wires: Sequence[Wire], ranking: Ranking) -> Arrangement:
    """Return items and wires in their places, given the layers of the items."""
    return _Arranging(items, wires, ranking).solve()


class _Arranging:
    def __init__(self, items: Sequence[Item], wires: Sequence[Wire], ranking: Ranking) -> None:
        self.items = items
        self.wires = wires
        self.ranking = ranking
        self.net = Net(items, wires, ranking)
        ordering = Ordering(self.net)
        self.layers, self.crossings = ordering.solve()
        self.lowest, self.ports = Placing(self.net, self.layers, ordering).solve()
        self.thick = [max((self.net.vertices[v].thick for v in layer), default=0) for layer in self.layers]
        self.things: list[Obstacle] = []
        self.of_vertex: dict[int, int] = {}
        self.of_lane: dict[tuple[int, int], int] = {}

    def solve(self) -> Arrangement:
        end = self._advance()
        broad = max((self._high(v) for v in range(len(self.net.vertices))), default=0)
        self.things.insert(0, Obstacle(ObstacleKind.EDGE, 0, 0, 0, broad))
        self.things.append(Obstacle(ObstacleKind.EDGE, end, 0, 0, broad))
        self.r = compact(self.things, [chain for wire in self.wires for chain in self._chains(wire)])
        index = self.net.index
        return Arrangement(
            self.r[-1],
            broad,
            {item.key: (self._r(index[item.key]), self.lowest[index[item.key]]) for item in self.items},
            {wire.key: self._route(wire) for wire in self.wires},
            {wire.key: self._label(wire) for wire in self.wires if wire.label},
            self.crossings,
        )

    def at(self, vertex: int, wire: int) -> int:
        """Return the v at which a wire meets a vertex."""
        return self.ports[vertex, wire]

    def _high(self, vertex: int) -> int:
        """Return the highest v of a vertex, with what is drawn beside it."""
        body = self.net.vertices[vertex].body
        return self.lowest[vertex] + body.broad + body.after

    # Layer after layer: where everything is before it is moved together.

    def _advance(self) -> int:
        """Note where everything is, each layer behind the lanes of the one before; return where it ends."""
        r = 0
        for i, thick in enumerate(self.thick):
            for vertex in self.layers[i]:
                self._note(vertex, r, thick)
            r += thick
            if i + 1 < len(self.layers):
                r += self._lanes(i, r)
        return r

    def _note(self, vertex: int, start: int, thick: int) -> None:
        found = self.net.vertices[vertex]
        if found.kind is None or (found.body.pin and not found.body.thick):
            return
        r = start + (0 if found.body.pin is Side.BACK else (thick - found.thick) // 2)
        low = self.lowest[vertex] - found.body.before
        self.of_vertex[vertex] = len(self.things)
        self.things.append(Obstacle(found.kind, r, found.thick, low, self._high(vertex)))

    def _lanes(self, layer: int, r: int) -> int:
        """Give every wire its lane behind a layer that ends at `r`; return the room they need."""
        jogs = []
        for segment in self.net.segments:
            if self.net.vertices[segment.low].layer == layer:
                start = self.at(segment.low, segment.wire)
                end = self.at(segment.high, segment.wire)
                if start != end:
                    jogs.append(Jog(segment.wire, start, end))
        lanes = assign(jogs)
        for jog, lane in zip(jogs, lanes, strict=True):
            self.of_lane[layer, jog.wire] = len(self.things)
            self.things.append(Obstacle(ObstacleKind.LANE, r + ROOM + lane * LANE, 0, jog.low, jog.high))
        return 2 * ROOM + max(lanes, default=0) * LANE

    # Everything in its last place.

    def _thing(self, vertex: int) -> int:
        """Return the index of what stands for a vertex: places at a border are parts of the edges."""
        if vertex in self.of_vertex:
            return self.of_vertex[vertex] + 1
        return 0 if self.net.vertices[vertex].body.pin is Side.BACK else len(self.things) - 1

    def _chain(self, wire: Wire) -> list[int]:
        """Return the things that a wire joins."""
        chain = self.net.chains[wire.key]
        found = [self._thing(chain[0])]
        for low, high in pairwise(chain):
            lane = self.of_lane.get((self.net.vertices[low].layer, wire.key))
            found += [] if lane is None else [lane + 1]
            found += [self._thing(high)] if self.net.vertices[high].kind else []
        return found

    def _chains(self, wire: Wire) -> Iterator[tuple[Sequence[int], int]]:
        """Yield the things that a wire joins, with what its length costs: a label is near its start."""
        chain = self._chain(wire)
        yield chain, 1
        if wire.label:
            label = next(i for i, thing in enumerate(chain) if self.things[thing].sort is ObstacleKind.LABEL)
            yield (chain[label:] if wire.key in self.ranking.turned else chain[: label + 1]), 1

    def _r(self, vertex: int) -> int:
        """Return the lowest r of a vertex, in the middle of what is drawn beside it."""
        room = self.things[self._thing(vertex)].thick
        return self.r[self._thing(vertex)] + max(room - self.net.vertices[vertex].body.thick, 0) // 2

    def _route(self, wire: Wire) -> tuple[tuple[int, int], ...]:
        chain = self.net.chains[wire.key]
        first = chain[0]
        last = chain[-1]
        points = [(self._r(first) + self.net.vertices[first].body.thick, self.at(first, wire.key))]
        for low, high in pairwise(chain):
            lane = self.of_lane.get((self.net.vertices[low].layer, wire.key))
            if lane is not None:
                points += [
                    (self.r[lane + 1], self.at(low, wire.key)),
                    (self.r[lane + 1], self.at(high, wire.key)),
                ]
        points.append((self._r(last), self.at(last, wire.key)))
        return tuple(points[::-1] if wire.key in self.ranking.turned else points)

    def _label(self, wire: Wire) -> tuple[int, int]:
        labels = (v for v in self.net.chains[wire.key] if self.net.vertices[v].kind is ObstacleKind.LABEL)
        vertex = next(labels)
        return self._r(vertex) + self.net.vertices[vertex].thick // 2, self.at(vertex, wire.key)
