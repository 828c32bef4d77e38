"""From the outside in: the layer of every node, and the side of every box on which a link crosses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.drawing.diagram import Shape
from posewright.charts.drawing.layered.graph import Item, Pin, Ranking, Side, Wire
from posewright.charts.drawing.layered.ranking import Order, rank
from posewright.charts.drawing.nested.family import Family, Span
from posewright.charts.drawing.nested.metrics import label_size

PINS = {Side.BACK: Pin.FIRST, Side.FRONT: Pin.LAST}


@dataclass(frozen=True)
class Own:
    """How many links end at the border of a node itself, behind and in front."""

    back: int = 0
    front: int = 0

    @property
    def most(self) -> int:
        """The number on the busier side."""
        return max(self.back, self.front)


@dataclass(frozen=True)
class Way:
    """How the inside of a node is laid out.

    Attributes:
        sideways: whether arrows mostly go to the right, not down.
        order: how to find out which of them lead back.
    """

    sideways: bool
    order: Order


Ways = Mapping[str, Way]
"""How every node with an inside is laid out."""


class Siding:
    """Layers and sides of a whole diagram.

    Attributes:
        sideways: for every node with an inside, whether arrows in it mostly go to the right, not down.
        axis: the same of what a node stands in.
        sides: on which side of a child a link leaves or enters it, by child and link.
        wires, rankings: of every node with an inside that is not parallel.
    """

    def __init__(self, family: Family, ways: Ways) -> None:
        self.family, self.ways = family, ways
        self.sideways = {key: way.sideways for key, way in ways.items()}
        self.axis: dict[str, bool] = {family.root: self.sideways[family.root]}
        self.sides: dict[tuple[str, int], Side] = {}
        self.rankings: dict[str, Ranking] = {}
        self.wires: dict[str, list[Wire]] = {}
        self._visit(family.root)

    def side(self, key: str, span: Span) -> Side:
        """Return at which end of its inside a link meets or crosses the border of a node."""
        if not span.inner and self.sideways[key] == self.axis[key]:
            return self.sides[key, span.link]
        return Side.BACK if span.start is None else Side.FRONT

    def own(self, key: str) -> Own:
        """Return how many links end at the border of a node, seen from outside."""
        if key == self.family.root:
            return Own()
        sides = [self.sides[key, link] for link in self.family.ends[key] if (key, link) in self.sides]
        return Own(sides.count(Side.BACK), sides.count(Side.FRONT))

    def ports(self, key: str) -> Iterator[tuple[Span, Side]]:
        """Yield the links that end at a node's border from inside, or cross it."""
        for span in self.family.spans[key]:
            if span.start is None or span.end is None:
                yield span, self.side(key, span)

    def _visit(self, key: str) -> None:
        node = self.family.nodes[key]
        if node.parallel:
            self._pass_on(key)
        else:
            self._rank(key)
        for child in node.inside:
            self.axis[child.key] = self.sideways[key]
            if child.inside:
                self._visit(child.key)

    def _rank(self, key: str) -> None:
        node, spans = self.family.nodes[key], self.family.spans[key]
        wires = self.wires[key] = [self._wire(key, span) for span in spans]
        items = [Item(child.key) for child in node.inside]
        items += [Item(port(span.link), pin=PINS[side]) for span, side in self.ports(key)]
        ranking = self.rankings[key] = rank(items, wires, self.ways[key].order)
        for span, wire in zip(spans, wires, strict=True):
            for end in (span.start, span.end):
                if end is not None:
                    self.sides[end, span.link] = ranking.side(wire, end)

    def _pass_on(self, key: str) -> None:
        """Let links leave a region on the side on which they leave the whole; between regions in front."""
        for span in self.family.spans[key]:
            for end in (span.start, span.end):
                if end is not None:
                    self.sides[end, span.link] = self.side(key, span)

    def _wire(self, key: str, span: Span) -> Wire:
        link = self.family.links[span.link]
        dot = span.start == link.start and self.family.nodes[link.start].shape is Shape.INITIAL
        label = label_size(link.lines) if span.inner else None
        if label and not self.sideways[key]:
            label = label[::-1]
        return Wire(span.link, span.start or port(span.link), span.end or port(span.link), label, dot)


def port(link: int) -> str:
    """Return the key of the place where a link meets a border."""
    return f"port {link}"
