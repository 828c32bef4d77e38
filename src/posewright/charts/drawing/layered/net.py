"""Items and wires cut at every layer: what is put in order and in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from posewright.charts.drawing.layered.graph import Item, Ranking, Side, Wire

LABEL_GAP, BEND_GAP = 6, 10
"""Room between labels, and between lines that run side by side [px]."""


@dataclass(frozen=True)
class Vertex:
    """An item, the label of a wire, or the place where a wire passes a layer."""

    layer: int
    item: Item | None = None
    label: tuple[int, int] | None = None

    @property
    def thick(self) -> int:
        """Thickness, with what is drawn beside it [px]."""
        if self.item is not None:
            return max(self.item.thick, self.item.reach)
        return self.label[0] if self.label else 0

    @property
    def broad(self) -> int:
        """Breadth [px]."""
        if self.item is not None:
            return self.item.broad
        return self.label[1] if self.label else 0

    @property
    def gap(self) -> int:
        """Room to the next one [px]."""
        if self.item is not None:
            return self.item.gap
        return LABEL_GAP if self.label else BEND_GAP


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
            self.index[item.key] = self._add(Vertex(ranking.layers[item.key] - self.lowest, item))
        self.thickness = [0] * self.count
        self.breadth = [0] * self.count
        self._note(self.vertices)
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
        item, broad = self.vertices[vertex].item, self.vertices[vertex].broad
        if item is None or item.point or item.pin is not None:
            return broad // 2
        return item.ports.get(segment.wire)

    def zone(self, vertex: int, side: Side) -> tuple[int, int]:
        """Return which part of a vertex's side is for wires that find their own place [px]."""
        item, whole = self.vertices[vertex].item, (0, self.vertices[vertex].broad)
        return whole if item is None else item.zones.get(side, whole)

    def _add(self, vertex: Vertex) -> int:
        self.vertices.append(vertex)
        return len(self.vertices) - 1

    def _note(self, vertices: Sequence[Vertex]) -> None:
        for vertex in vertices:
            self.thickness[vertex.layer] = max(self.thickness[vertex.layer], vertex.thick)
            self.breadth[vertex.layer] += vertex.broad + vertex.gap

    def _span(self, wire: Wire, ranking: Ranking) -> int:
        return ranking.layers[wire.end] - ranking.layers[wire.start]

    def _chain(self, wire: Wire, turned: bool) -> None:
        ends = self.index[wire.start], self.index[wire.end]
        first, last = ends[::-1] if turned else ends
        layers = range(self.vertices[first].layer + 1, self.vertices[last].layer)
        written = self._label_layer(wire.label, layers, turned) if wire.label else None
        chain = [first]
        for layer in layers:
            vertex = Vertex(layer, label=wire.label if layer == written else None)
            self._note([vertex])
            chain.append(self._add(vertex))
        chain.append(last)
        self.segments += [Segment(wire.key, low, high) for low, high in pairwise(chain)]
        self.chains[wire.key] = chain

    def _label_layer(self, label: tuple[int, int], layers: range, turned: bool) -> int:
        """Return the layer in which a label costs the least room, rather near the wire's start."""
        near = layers[::-1] if turned else layers
        full = max(self.breadth)

        def cost(layer: int) -> float:
            parity = 1000 * ((layer + self.lowest) % 2 == 0)
            wider = max(0, label[0] - self.thickness[layer])
            fuller = max(0, self.breadth[layer] + label[1] - full)
            return parity + wider + fuller + 12 * near.index(layer) + 0.1 * self.breadth[layer]

        return min(near, key=cost)
