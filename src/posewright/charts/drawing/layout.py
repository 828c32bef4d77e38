"""Where everything goes: states on an ellipse, arrows as curves, each label on its own arrow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from posewright.charts.drawing.geometry import Box, Curve, Point, between, bowed, loop
from posewright.charts.drawing.labels import Edge
from posewright.charts.model import Chart, Kind

NODE_FONT, LABEL_FONT = 15.0, 12.0
"""Heights of letters [px]."""

LETTER = 0.62
"""Width of a letter, by its height: that of a fixed-width font, so that no text runs over its box."""

LINE = 1.3
"""Height of a line, by the height of its letters."""

PORT_GAP = 17.0
"""Least distance between two arrows where they meet a state [px]."""

STRETCH = 1.3
"""Width of the ellipse, by its height."""

MARGIN = 24.0
GROWTH = 1.1
MAX_TRIES = 14


@dataclass(frozen=True)
class Arrow:
    """An edge with its curve and the box of its label."""

    edge: Edge
    curve: Curve
    label: Box


@dataclass(frozen=True)
class Layout:
    """A laid out chart.

    Attributes:
        start: the line from the initial dot to the initial state.
    """

    nodes: Mapping[str, Box]
    arrows: tuple[Arrow, ...]
    start: Curve

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curves of all arrows but the initial one."""
        return tuple(arrow.curve for arrow in self.arrows)

    def bounds(self) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of all there is [px]."""
        boxes = [*self.nodes.values(), *(arrow.label for arrow in self.arrows)]
        points = [point for curve in (*self.curves, self.start) for point in curve.points()]
        for box in boxes:
            points += [(box.x + side * box.width / 2, box.y + side * box.height / 2) for side in (-1, 1)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        return min(xs) - MARGIN, min(ys) - MARGIN, max(xs) + MARGIN, max(ys) + MARGIN


def node_lines(chart: Chart, name: str) -> list[str]:
    """Return what is written in a state's box: its name, its least time, a Moore state's outputs."""
    state = chart.state(name)
    lines = [name]
    if state.min_s:
        lines.append(f"at least {state.min_s:g} s")
    if chart.kind is Kind.MOORE and state.do:
        lines.append(", ".join(f"{output} = {value}" for output, value in state.do.items()))
    return lines


def lay_out(chart: Chart, edges: Sequence[Edge]) -> Layout:
    """Return a layout without overlapping labels; the ellipse grows until there is room."""
    order = _circular_order(chart, edges)
    sizes = {name: _node_size(chart, name) for name in chart.state_names}
    radius = 60.0 + 45.0 * len(order) * (len(order) > 1)
    best: tuple[float, Layout] | None = None
    for _ in range(MAX_TRIES):
        layout = _attempt(chart, edges, order, sizes, radius)
        clash = _clash(layout)
        if best is None or clash < best[0]:
            best = (clash, layout)
        if clash == 0:
            break
        radius *= GROWTH
    return best[1] if best else layout


def _node_size(chart: Chart, name: str) -> tuple[float, float]:
    lines = node_lines(chart, name)
    small = [len(line) * LETTER * LABEL_FONT for line in lines[1:]]
    width = max([len(name) * LETTER * NODE_FONT, *small]) + 28
    return max(width, 84.0), 46.0 + (len(lines) - 1) * LINE * LABEL_FONT


def _circular_order(chart: Chart, edges: Sequence[Edge]) -> list[str]:
    """Return the states in an order round the ellipse in which few arrows cross; the initial one first."""
    first = chart.initial[0].state
    order = [first, *(name for name in chart.state_names if name != first)]
    pairs = {frozenset((edge.start, edge.end)) for edge in edges if edge.start != edge.end}
    cost = _tangle(order, pairs)
    improved = True
    while improved:
        improved = False
        for i, j in combinations(range(1, len(order)), 2):
            swapped = order[:]
            swapped[i], swapped[j] = swapped[j], swapped[i]
            if (other := _tangle(swapped, pairs)) < cost:
                order, cost, improved = swapped, other, True
    return order


def _tangle(order: Sequence[str], pairs: set[frozenset[str]]) -> float:
    """Return crossings, and a little for long arrows."""
    place = {name: i for i, name in enumerate(order)}
    spans = [tuple(sorted(place[name] for name in pair)) for pair in pairs]
    crossings = sum(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(spans, 2))
    return crossings + 0.1 * sum(min(b - a, len(order) - b + a) for a, b in spans)


def _attempt(
    chart: Chart,
    edges: Sequence[Edge],
    order: Sequence[str],
    sizes: Mapping[str, tuple[float, float]],
    radius: float,
) -> Layout:
    nodes = _nodes(order, sizes, radius)
    outward = {
        name: math.atan2(box.y, box.x) if len(order) > 1 else -math.pi / 2 for name, box in nodes.items()
    }
    pairs = {(edge.start, edge.end) for edge in edges}
    curves = [_curve(edge, nodes, outward[edge.start], (edge.end, edge.start) in pairs) for edge in edges]
    curves = _apart(edges, curves, nodes)
    start = _start(nodes[chart.initial[0].state], curves, nodes)
    labels = _labels(edges, curves, [*nodes.values()], start)
    arrows = (Arrow(*parts) for parts in zip(edges, curves, labels, strict=True))
    return Layout(nodes, tuple(arrows), start)


def _nodes(order: Sequence[str], sizes: Mapping[str, tuple[float, float]], radius: float) -> dict[str, Box]:
    count = len(order)
    if count == 1:
        return {order[0]: Box(0, 0, *sizes[order[0]])}
    first = -math.pi / 2 - (math.pi / count if count % 2 == 0 else 0)
    if count == 2:
        first = math.pi
    turns = [first + 2 * math.pi * i / count for i in range(count)]
    return {
        name: Box(STRETCH * radius * math.cos(turn), radius * math.sin(turn), *sizes[name])
        for name, turn in zip(order, turns, strict=True)
    }


def _curve(edge: Edge, nodes: Mapping[str, Box], outward: float, both_ways: bool) -> Curve:
    first, last = nodes[edge.start].grown(3), nodes[edge.end].grown(3)
    here = (first.x, first.y)
    if edge.start == edge.end:
        flat = abs(math.cos(outward))
        reach = 95.0 + flat * first.width / 2
        return loop(here, outward, reach).outside(first, last)
    return bowed(here, (last.x, last.y), 0.13 if both_ways else 0.05).outside(first, last)


def _apart(edges: Sequence[Edge], curves: Sequence[Curve], nodes: Mapping[str, Box]) -> list[Curve]:
    """Return the curves with their ends pushed apart where several meet a state at nearly one point."""
    ends: dict[tuple[int, bool], Point] = {}
    for name, node in nodes.items():
        box = node.grown(3)
        ways = {(i, False): box.around(c.a) for i, c in enumerate(curves) if edges[i].start == name}
        ways |= {(i, True): box.around(c.d) for i, c in enumerate(curves) if edges[i].end == name}
        order = sorted(ways, key=lambda key: ways[key])
        for _ in range(30):
            for one, other in pairwise(order):
                short = min(PORT_GAP, 2 * (box.width + box.height) / len(order)) - (ways[other] - ways[one])
                if short > 0:
                    ways[one] -= short / 2
                    ways[other] += short / 2
        ends |= {key: box.edge_point(way) for key, way in ways.items()}
    return [curve.moved(ends[i, False], ends[i, True]) for i, curve in enumerate(curves)]


def _start(node: Box, curves: Sequence[Curve], nodes: Mapping[str, Box]) -> Curve:
    """Return the initial arrow, from the side of its state that is the freest."""
    taken = [point for curve in curves for point in curve.points()]
    boxes = [box for box in nodes.values() if box is not node]

    def crowd(direction: int) -> float:
        line = _initial(node, direction)
        near = [box.grown(10).holds(line.a) for box in boxes]
        end = line.a
        return sum(near) * 100 + sum(1000 / (20 + math.dist(end, point) ** 2) for point in taken)

    return _initial(node, min(range(16), key=crowd))


def _initial(node: Box, direction: int) -> Curve:
    turn = direction * math.pi / 8
    far = node.width / 2 + node.height / 2 + 60
    centre = (node.x, node.y)
    line = bowed((node.x + far * math.cos(turn), node.y + far * math.sin(turn)), centre, 0.0)
    line = line.outside(Box(math.inf, 0, 0, 0), node.grown(3))
    length = math.dist(line.a, line.d)
    return line.part(1 - 42 / length, 1.0) if length > 42 else line


def label_size(edge: Edge) -> tuple[float, float]:
    """Return width and height of an edge's label [px]."""
    widest = max(len(line) for line in edge.lines)
    return widest * LETTER * LABEL_FONT + 8, len(edge.lines) * LINE * LABEL_FONT + 4


def _labels(edges: Sequence[Edge], curves: Sequence[Curve], nodes: Sequence[Box], start: Curve) -> list[Box]:
    """Return a box on every curve, chosen so that it hides as little as possible."""
    trails = [curve.points(60) for curve in curves]
    choices = [_places(edge, curve) for edge, curve in zip(edges, curves, strict=True)]
    chosen = [options[0] for options in choices]
    blocks = [*(box.grown(4) for box in nodes), Box(*start.at(0.5), 46, 46)]
    for _ in range(4):
        for i, options in enumerate(choices):
            others = [box for j, box in enumerate(chosen) if j != i]
            crossing = [point for j, trail in enumerate(trails) if j != i for point in trail]
            costs = [_cost(box, others, blocks, crossing) + 3 * k for k, box in enumerate(options)]
            chosen[i] = options[costs.index(min(costs))]
    return chosen


def _places(edge: Edge, curve: Curve) -> list[Box]:
    """Return where a label may go: on its curve, or, for a loop, at the tip of it."""
    width, height = label_size(edge)
    if edge.start != edge.end:
        return [Box(*curve.at(0.5 + step), width, height) for step in _SHIFTS]
    (tip_x, tip_y), foot = curve.at(0.5), between(curve.a, curve.d, 0.5)
    away = math.atan2(tip_y - foot[1], tip_x - foot[0])
    turns = [away + turn for turn in (0.0, -0.4, 0.4, -0.8, 0.8, -1.2, 1.2)]
    return [_beside((tip_x, tip_y), turn, width, height) for turn in turns]


def _beside(point: Point, direction: float, width: float, height: float) -> Box:
    """Return the box that lies in a direction [rad] from a point and just does not hold it."""
    along, across = math.cos(direction), math.sin(direction)
    far = min(width / 2 / max(abs(along), 1e-9), height / 2 / max(abs(across), 1e-9)) + 3
    return Box(point[0] + far * along, point[1] + far * across, width, height)


_SHIFTS = (0.0, -0.06, 0.06, -0.12, 0.12, -0.18, 0.18, -0.24, 0.24, -0.3, 0.3)
"""Places along a curve, the middle first."""


def _cost(box: Box, others: Sequence[Box], blocks: Sequence[Box], crossing: Sequence[Point]) -> float:
    area = sum(box.grown(3).overlap(other) for other in others) + sum(box.overlap(block) for block in blocks)
    return 2 * area + 12 * sum(box.holds(point) for point in crossing)


def _clash(layout: Layout) -> float:
    """Return how much the labels hide of each other and of the states, and states of each other."""
    labels = [arrow.label for arrow in layout.arrows]
    nodes = [box.grown(2) for box in layout.nodes.values()]
    together = sum(a.overlap(b) for a, b in combinations(labels, 2))
    apart = sum(label.overlap(node) for label in labels for node in nodes)
    return together + apart + sum(a.overlap(b) for a, b in combinations(nodes, 2))
