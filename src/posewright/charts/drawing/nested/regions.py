"""The regions of a parallel state: beside one another across the way of the arrows, divided by lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from posewright.charts.drawing.layered.graph import Side
from posewright.charts.drawing.nested.blocks import Block, Point, Rect, Route, merged
from posewright.charts.drawing.nested.family import Span
from posewright.charts.drawing.nested.framing import OWN_STEP, Framing, border_end, to_border
from posewright.charts.drawing.nested.metrics import SIDE_ROOM, TITLE_BASE

APART = 8
"""Room between a link and the title that it passes [px]."""


def stack(
    frame: Framing, blocks: Mapping[str, Block], spans: Sequence[Span], labels: Mapping[int, Point]
) -> Block:
    """Return regions in a frame.

    Args:
        frame: of the parallel state.
        blocks: the regions.
        spans: the links that run through the state.
        labels: size of what is written on links, by link.
    """
    return _Stack(frame, blocks, spans, labels).solve()


class _Stack:
    def __init__(
        self, frame: Framing, blocks: Mapping[str, Block], spans: Sequence[Span], labels: Mapping[int, Point]
    ) -> None:
        self.frame, self.spans, self.labels = frame, spans, labels
        head = frame.head
        self.r, v = (0, max(head[1], frame.beside)) if frame.sideways else (head[0], 0)
        self.starts: dict[str, int] = {}
        for key, block in blocks.items():
            self.starts[key] = v
            v += block.size[1]
        self.broad = v
        self.deep = max(block.size[0] for block in blocks.values())
        self.blocks = {key: block.moved((self.r, self.starts[key])) for key, block in blocks.items()}
        self.met: dict[tuple[str, Side], int] = {}

    def solve(self) -> Block:
        whole = merged(self.blocks.values())
        lanes, thick = self._lanes()
        fronts = {
            span.link: self._in_front(span, lanes[span.link]) for span in self.spans if span.link in lanes
        }
        routes, ports = {**whole.routes, **fronts}, {}
        for one in self.frame.ported:
            link = one.span.link
            routes[link] = to_border(self._piece(one.span, one.side), one, thick)
            ports[link] = border_end(routes[link], one)[1]
        passing = [ports[one.span.link] for one in self.frame.ported if one.side is Side.FRONT]
        labels = {link: (lane, self._free(link, lane, fronts, passing)) for link, lane in lanes.items()}
        return self._whole(
            replace(whole, routes=routes, labels={**whole.labels, **labels}, ports=ports), thick
        )

    def _lanes(self) -> tuple[dict[int, int], int]:
        """Return where in front of the regions each link between two of them runs, and where all end."""
        lanes: dict[int, int] = {}
        lane = self.r + self.deep
        for span in self.spans:
            if span.start and span.end:
                size = self.labels[span.link][0]
                lanes[span.link] = lane + OWN_STEP + size // 2
                lane += 2 * OWN_STEP + size
        return lanes, max(lane, self.frame.head[0] if self.frame.sideways else 0)

    def _free(self, link: int, lane: int, fronts: Mapping[int, Route], passing: Sequence[int]) -> int:
        """Return where on its lane the label of a link is best: where no other line is."""
        ends = [v for r, v in fronts[link] if r == lane]
        low, high = min(ends), max(ends)
        others = [v for key, route in fronts.items() if key != link for r, v in route if r > lane]
        places = [low, *sorted(v for v in (*others, *passing) if low < v < high), high]
        half = self.labels[link][1] / 2
        middle = (low + high) / 2

        def badness(gap: tuple[int, int]) -> tuple[float, float]:
            centre = (gap[0] + gap[1]) / 2
            return max(half - (gap[1] - gap[0]) / 2, 0.0), abs(centre - middle)

        best = min(pairwise(places), key=badness)
        return (best[0] + best[1]) // 2

    def _whole(self, inside: Block, thick: int) -> Block:
        head, zones = (SIDE_ROOM, TITLE_BASE), self._zones(inside.ports)
        broad = self.broad
        if not self.frame.sideways:
            head = TITLE_BASE, zones[Side.BACK][0] + SIDE_ROOM
            broad = max(broad, *(high for _, high in zones.values()))
        keys = list(self.starts)
        ends = [*(self.starts[key] for key in keys[1:]), broad]
        rects = {
            key: Rect((self.r, self.starts[key]), (thick - self.r, end - self.starts[key]))
            for key, end in zip(keys, ends, strict=True)
        }
        dividers = [((self.r, self.starts[key]), (thick, self.starts[key])) for key in keys[1:]]
        if thick > self.r + self.deep and any(span.start and span.end for span in self.spans):
            dividers.append(((self.r + self.deep, self.starts[keys[0]]), (self.r + self.deep, broad)))
        return replace(
            inside,
            size=(thick, broad),
            rects={**rects, **inside.rects},
            heads={**inside.heads, self.frame.key: head},
            dividers=(*inside.dividers, *dividers),
            zones={side: zones[side] for side in Side if side in self.frame.crossed},
        )

    def _zones(self, ports: Mapping[int, int]) -> dict[Side, tuple[int, int]]:
        """Return where links may meet the frame, and, on the side with the title, where the title is."""
        if self.frame.sideways:
            title = next(iter(self.starts.values()))
            return {Side.BACK: (0, title), Side.FRONT: (0, title)}
        taken = {
            side: [ports[one.span.link] for one in self.frame.ported if side in {one.outside, one.side}]
            for side in Side
        }
        first = max(self.frame.head[1], self.frame.beside)
        return {
            Side.BACK: _gap(taken[Side.BACK], first),
            Side.FRONT: _gap(taken[Side.FRONT], self.frame.beside),
        }

    def _piece(self, span: Span, side: Side) -> Route:
        """Return the piece of a link inside a region, or the point of the region's border where it ends."""
        key = span.start or span.end or ""
        route = self.blocks[key].routes.get(span.link)
        return route or ((self.r + (self.deep if side is Side.FRONT else 0), self._meeting(key, side)),)

    def _meeting(self, key: str, side: Side) -> int:
        """Return where the next link that ends at a region's border meets it."""
        low, _ = self.blocks[key].zones.get(side, (0, 0))
        count = self.met[key, side] = self.met.get((key, side), 0) + 1
        return self.starts[key] + low + count * OWN_STEP

    def _in_front(self, span: Span, lane: int) -> Route:
        """Return the way from a region to another, in front of both."""
        ends = Span(span.link, span.start, None, True), Span(span.link, None, span.end, True)
        first, last = (self._piece(end, Side.FRONT) for end in ends)
        return (*first, (lane, first[-1][1]), (lane, last[0][1]), *last)


def _gap(taken: Sequence[int], room: int) -> tuple[int, int]:
    """Return the first stretch of at least `room` without any of the places that are taken."""
    low = 0
    for place in sorted(taken):
        if place - APART - low >= room:
            break
        low = place + APART
    return low, low + room
