"""Links of a scene as SVG: lines with round corners that leave room for what is written on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from posewright.charts.drawing.diagram import Hook
from posewright.charts.drawing.geometry import Box, Point, between
from posewright.charts.drawing.layout import LABEL_FONT
from posewright.charts.drawing.marks import Marks, mark_of
from posewright.charts.drawing.nested.metrics import ROW
from posewright.charts.drawing.nested.scene import Track
from posewright.charts.drawing.pen import path, text

CORNER = 7.0
"""Radius of a corner [px]."""

HOOK_OUT, HOOK_ALONG = 8.0, 11.0
"""How far a hook reaches out of a border, and along it [px]."""


def draw_link(track: Track, marks: Marks) -> str:
    """Return a link with what is written on it."""
    mark = mark_of(marks, track.link.ways)
    look = f" {mark.look}" if mark else ""
    pieces = _pieces(_hooked(track), track.label)
    parts = [path(f"line{look}", _rounded(piece)) for piece in pieces[:-1]]
    parts.append(path(f"arrow{look}", _rounded(pieces[-1])))
    return "".join([*parts, *_words(track, marks)])


def _words(track: Track, marks: Marks) -> list[str]:
    box = track.label
    if box is None:
        return []
    lines = [line for line in track.link.lines if line.text]
    first = box.y - (len(lines) - 1) * ROW / 2 + LABEL_FONT * 0.36
    look, x = "label", box.x
    if any(line.text.startswith(" ") for line in lines):
        look, x = "label left", box.x - box.width / 2 + 5
    found = [mark_of(marks, line.ways) for line in lines]
    return [
        text(f"{look} {mark.look}" if mark else look, x, first + i * ROW, line.text)
        for i, (line, mark) in enumerate(zip(lines, found, strict=True))
    ]


def _hooked(track: Track) -> list[Point]:
    """Return the way with a hook where it first leaves the state that it is inside of."""
    points = list(track.points)
    if track.link.hook is Hook.START:
        return [*_hook(points[0], points[1]), *points]
    if track.link.hook is Hook.END:
        return [*points, *_hook(points[-1], points[-2])[::-1]]
    return points


def _hook(end: Point, inside: Point) -> list[Point]:
    """Return the corners of a hook, from the border to `end`."""
    length = math.dist(end, inside) or 1.0
    along = (end[0] - inside[0]) / length, (end[1] - inside[1]) / length
    out = end[0] + along[0] * HOOK_OUT, end[1] + along[1] * HOOK_OUT
    aside = -abs(along[1]) * HOOK_ALONG, -abs(along[0]) * HOOK_ALONG
    return [(end[0] + aside[0], end[1] + aside[1]), (out[0] + aside[0], out[1] + aside[1]), out]


def _pieces(points: Sequence[Point], label: Box | None) -> list[list[Point]]:
    """Return the way in front of a label and the way behind it."""
    if label is None:
        return [list(points)]
    box = label.grown(-1)
    before: list[Point] = []
    after: list[Point] = []
    for a, b in pairwise(points):
        cut = _cut(a, b, box)
        if cut is None:
            (after if after else before).extend([a, b])
            continue
        before += [a, cut[0]] if not after else []
        after = [cut[1], b]
    if not after:
        return [list(points)]
    return [_distinct(before), _distinct(after)]


def _cut(a: Point, b: Point, box: Box) -> tuple[Point, Point] | None:
    """Return where a straight piece enters a box and where it leaves it."""
    length = math.dist(a, b)
    inside = [i for i in range(int(length) + 1) if box.holds(between(a, b, i / max(length, 1.0)))]
    if not inside:
        return None
    return between(a, b, inside[0] / max(length, 1.0)), between(a, b, min(inside[-1] / max(length, 1.0), 1.0))


def _distinct(points: Sequence[Point]) -> list[Point]:
    return [point for i, point in enumerate(points) if not i or point != points[i - 1]]


def _rounded(points: Sequence[Point]) -> str:
    """Return a way with its corners rounded."""
    parts = [f"M{points[0][0]:.1f},{points[0][1]:.1f}"]
    for a, b, c in zip(points, points[1:], points[2:], strict=False):
        before, after = math.dist(a, b) or 1.0, math.dist(b, c) or 1.0
        radius = min(CORNER, before / 2, after / 2)
        one, two = between(b, a, radius / before), between(b, c, radius / after)
        parts.append(f"L{one[0]:.1f},{one[1]:.1f} Q{b[0]:.1f},{b[1]:.1f} {two[0]:.1f},{two[1]:.1f}")
    return " ".join([*parts, f"L{points[-1][0]:.1f},{points[-1][1]:.1f}"])
