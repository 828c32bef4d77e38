"""Items and wires put in their places: in layers, in order, and with the way of every wire."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from posewright.charts.drawing.layered.compaction import Sort, Thing, compact
from posewright.charts.drawing.layered.graph import Arrangement, Item, Pin, Ranking, Wire
from posewright.charts.drawing.layered.net import Net
from posewright.charts.drawing.layered.ordering import Ordering
from posewright.charts.drawing.layered.places import place
from posewright.charts.drawing.layered.tracks import Jog, assign

LANE, ROOM = 9, 30
"""Room between lanes, and beside them, before everything is moved together [px]."""


def arrange(items: Sequence[Item], wires: Sequence[Wire], ranking: Ranking) -> Arrangement:
    """Return items and wires in their places, given the layers of the items."""
    return _Arranging(items, wires, ranking).solve()


class _Arranging:
    def __init__(self, items: Sequence[Item], wires: Sequence[Wire], ranking: Ranking) -> None:
        self.items, self.wires, self.ranking = items, wires, ranking
        self.net = Net(items, wires, ranking)
        ordering = Ordering(self.net)
        self.layers, self.crossings = ordering.solve()
        self.found = place(self.net, self.layers, ordering)
        self.thick = [max((self.net.vertices[v].thick for v in layer), default=0) for layer in self.layers]
        self.things: list[Thing] = []
        self.of_vertex: dict[int, int] = {}
        self.of_lane: dict[tuple[int, int], int] = {}

    def solve(self) -> Arrangement:
        end = self._advance()
        broad = max((self._high(v) for v in range(len(self.net.vertices))), default=0)
        self.things.insert(0, Thing(Sort.EDGE, 0, 0, 0, broad))
        self.things.append(Thing(Sort.EDGE, end, 0, 0, broad))
        self.r = compact(self.things, [chain for wire in self.wires for chain in self._chains(wire)])
        index = self.net.index
        return Arrangement(
            self.r[-1],
            broad,
            {item.key: (self._r(index[item.key]), self.found.lowest[index[item.key]]) for item in self.items},
            {wire.key: self._route(wire) for wire in self.wires},
            {wire.key: self._label(wire) for wire in self.wires if wire.label},
            self.crossings,
        )

    def at(self, vertex: int, wire: int) -> int:
        """Return the v at which a wire meets a vertex."""
        return self.found.ports[vertex, wire]

    def _high(self, vertex: int) -> int:
        """Return the highest v of a vertex, with what is drawn beside it."""
        found = self.net.vertices[vertex]
        return self.found.lowest[vertex] + found.broad + (found.item.after if found.item else 0)

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
        pin = found.item.pin if found.item else None
        if (found.item is None and found.label is None) or (found.item and pin and not found.item.thick):
            return
        free = thick - found.thick
        r = start + (0 if pin is Pin.FIRST else free // 2)
        low = self.found.lowest[vertex] - (found.item.before if found.item else 0)
        self.of_vertex[vertex] = len(self.things)
        sort = Sort.ITEM if found.item else Sort.LABEL
        self.things.append(Thing(sort, r, found.thick, low, self._high(vertex)))

    def _lanes(self, layer: int, r: int) -> int:
        """Give every wire its lane behind a layer that ends at `r`; return the room they need."""
        jogs = []
        for segment in self.net.segments:
            if self.net.vertices[segment.low].layer == layer:
                start, end = self.at(segment.low, segment.wire), self.at(segment.high, segment.wire)
                if start != end:
                    jogs.append(Jog(segment.wire, start, end))
        lanes = assign(jogs)
        for jog, lane in zip(jogs, lanes, strict=True):
            self.of_lane[layer, jog.wire] = len(self.things)
            self.things.append(Thing(Sort.LANE, r + ROOM + lane * LANE, 0, jog.low, jog.high))
        return 2 * ROOM + max(lanes, default=0) * LANE

    # Everything in its last place.

    def _thing(self, vertex: int) -> int:
        """Return the index of what stands for a vertex: places at a border are parts of the edges."""
        if vertex in self.of_vertex:
            return self.of_vertex[vertex] + 1
        item = self.net.vertices[vertex].item
        return 0 if item and item.pin is Pin.FIRST else len(self.things) - 1

    def _chain(self, wire: Wire) -> list[int]:
        """Return the things that a wire joins."""
        chain = self.net.chains[wire.key]
        found = [self._thing(chain[0])]
        for low, high in pairwise(chain):
            lane = self.of_lane.get((self.net.vertices[low].layer, wire.key))
            found += [] if lane is None else [lane + 1]
            vertex = self.net.vertices[high]
            found += [self._thing(high)] if vertex.item or vertex.label else []
        return found

    def _chains(self, wire: Wire) -> Iterator[tuple[Sequence[int], int]]:
        """Yield the things that a wire joins, with what its length costs: a label is near its start."""
        chain = self._chain(wire)
        yield chain, 1
        if wire.label:
            label = next(i for i, thing in enumerate(chain) if self.things[thing].sort is Sort.LABEL)
            yield (chain[label:] if wire.key in self.ranking.turned else chain[: label + 1]), 1

    def _r(self, vertex: int) -> int:
        """Return the lowest r of a vertex, in the middle of what is drawn beside it."""
        found = self.net.vertices[vertex]
        own = found.item.thick if found.item else found.thick
        room = self.things[self._thing(vertex)].thick
        return self.r[self._thing(vertex)] + max(room - own, 0) // 2

    def _route(self, wire: Wire) -> tuple[tuple[int, int], ...]:
        chain = self.net.chains[wire.key]
        first, last = chain[0], chain[-1]
        item = self.net.vertices[first].item
        points = [(self._r(first) + (item.thick if item else 0), self.at(first, wire.key))]
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
        vertex = next(v for v in self.net.chains[wire.key] if self.net.vertices[v].label)
        return self._r(vertex) + self.net.vertices[vertex].thick // 2, self.at(vertex, wire.key)
