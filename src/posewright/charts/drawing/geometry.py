"""Boxes and curves on the page; lengths in px, x to the right, y down."""

from __future__ import annotations

import math
from dataclasses import dataclass

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle by its centre and size."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, other: Box) -> float:
        """Return the area that two boxes share."""
        wide = (self.width + other.width) / 2 - abs(self.x - other.x)
        high = (self.height + other.height) / 2 - abs(self.y - other.y)
        return wide * high if wide > 0 and high > 0 else 0.0

    def holds(self, point: Point) -> bool:
        """Return whether a point lies inside."""
        return abs(point[0] - self.x) <= self.width / 2 and abs(point[1] - self.y) <= self.height / 2

    def around(self, point: Point) -> float:
        """Return how far along its edge, clockwise from the top left, the edge point next to `point` is."""
        w, h = self.width, self.height
        x = min(max(point[0] - self.x + w / 2, 0.0), w)
        y = min(max(point[1] - self.y + h / 2, 0.0), h)
        sides = {y: x, w - x: w + y, h - y: w + h + (w - x), x: 2 * w + h + (h - y)}
        return sides[min(sides)]

    def edge_point(self, way: float) -> Point:
        """Return the point so far along its edge, clockwise from the top left."""
        w, h = self.width, self.height
        left, top, way = self.x - w / 2, self.y - h / 2, way % (2 * (w + h))
        if way <= w:
            return left + way, top
        if way <= w + h:
            return left + w, top + way - w
        if way <= 2 * w + h:
            return left + w - (way - w - h), top + h
        return left, top + h - (way - 2 * w - h)

    def grown(self, margin: float) -> Box:
        """Return the box with a margin around it."""
        return Box(self.x, self.y, self.width + 2 * margin, self.height + 2 * margin)


@dataclass(frozen=True)
class Curve:
    """A cubic Bezier curve."""

    a: Point
    b: Point
    c: Point
    d: Point

    def at(self, t: float) -> Point:
        """Return the point at `t` in 0..1."""
        s = 1 - t
        weights = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
        x, y = (
            sum(w * p[i] for w, p in zip(weights, (self.a, self.b, self.c, self.d), strict=True))
            for i in (0, 1)
        )
        return x, y

    def points(self, count: int = 40) -> list[Point]:
        """Return points along the curve, both ends included."""
        return [self.at(i / count) for i in range(count + 1)]

    def part(self, start: float, end: float) -> Curve:
        """Return the piece of the curve between two values of `t`."""
        right = self._split(start)[1]
        return right._split((end - start) / (1 - start))[0]

    def _split(self, t: float) -> tuple[Curve, Curve]:
        ab, bc, cd = between(self.a, self.b, t), between(self.b, self.c, t), between(self.c, self.d, t)
        abc, bcd = between(ab, bc, t), between(bc, cd, t)
        middle = between(abc, bcd, t)
        return Curve(self.a, ab, abc, middle), Curve(middle, bcd, cd, self.d)

    def moved(self, start: Point, end: Point) -> Curve:
        """Return the curve with other ends, keeping its shape in between."""
        return Curve(start, _shifted(self.b, self.a, start), _shifted(self.c, self.d, end), end)

    def outside(self, first: Box, last: Box) -> Curve:
        """Return the piece between leaving the one box and entering the other."""
        steps = [i / 200 for i in range(201)]
        start = next((t for t in steps if not first.holds(self.at(t))), 0.0)
        end = next((t for t in reversed(steps) if not last.holds(self.at(t))), 1.0)
        return self.part(start, end) if start < end else self


def between(a: Point, b: Point, t: float) -> Point:
    """Return the point on the way from `a` to `b`."""
    return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t


def bowed(a: Point, b: Point, bow: float) -> Curve:
    """Return a curve from `a` to `b` that swings out by `bow` of their distance to the left of the way."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    side = (dy * bow * 4 / 3, -dx * bow * 4 / 3)
    one, two = between(a, b, 0.3), between(a, b, 0.7)
    return Curve(a, (one[0] + side[0], one[1] + side[1]), (two[0] + side[0], two[1] + side[1]), b)


def loop(centre: Point, direction: float, reach: float) -> Curve:
    """Return a loop that leaves a point in a direction [rad] and comes back to it."""
    one, two = (
        (centre[0] + reach * math.cos(direction + turn), centre[1] + reach * math.sin(direction + turn))
        for turn in (-0.48, 0.48)
    )
    return Curve(centre, one, two, centre)


def _shifted(point: Point, old: Point, new: Point) -> Point:
    return point[0] + new[0] - old[0], point[1] + new[1] - old[1]
