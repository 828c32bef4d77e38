"""Nodes of a scene as SVG: boxes with their text, and the signs of statecharts."""

from __future__ import annotations

from posewright.charts.drawing.diagram import Line, Node, Shape
from posewright.charts.drawing.geometry import Box
from posewright.charts.drawing.marks import Highlight, Marks, mark_of
from posewright.charts.drawing.nested.metrics import (
    CIRCLE,
    DIAMOND,
    DOT,
    ROW,
    SIDE_ROOM,
    TITLE_BASE,
    TITLE_ROW,
)
from posewright.charts.drawing.nested.scene import Scene
from posewright.charts.drawing.pen import circle, path, rect, text

BASE = 4
"""From the middle of small letters to the line on which they stand [px]."""


class NodeDrawing:
    """Draws the nodes of a scene."""

    def __init__(self, scene: Scene, active: Highlight, marks: Marks) -> None:
        self.scene, self.active, self.marks = scene, active, marks

    def draw(self, node: Node, sideways: bool) -> str:
        """Return a node without what is inside it.

        Args:
            node: what is drawn.
            sideways: whether arrows around it mostly go to the right; what is said of a sign is then
                beside or below it where they do not run.
        """
        box = self.scene.boxes[node.key]
        if node.shape in {Shape.STATE, Shape.REGION}:
            return self._state(node, box)
        if node.shape is Shape.FINAL:
            return self._final(node, box, sideways)
        return _sign(node, box, sideways)

    def _look(self, node: Node) -> str:
        """Return how a node looks beyond its shape."""
        mark = self.marks.get(node.key)
        looks = [mark.look] if mark else []
        if node.key in self.active.inner:
            looks.append("active")
        elif node.key in self.active.outer:
            looks.append("outer")
        return "".join(f" {look}" for look in looks)

    def _state(self, node: Node, box: Box) -> str:
        left, top = box.x - box.width / 2, box.y - box.height / 2
        look = self._look(node)
        shape = "area" if node.shape is Shape.REGION else "compound" if node.inside else "state"
        parts = [rect(f"{shape}{look}", box.grown(-4) if shape == "area" else box, 10)]
        if shape == "area" and (not look or node.key in self.active.outer):
            parts = []
        x, y = self.scene.heads.get(node.key, (left + SIDE_ROOM, top + TITLE_BASE))
        if shape == "state" and not node.lines:
            parts.append(text("name", box.x, box.y + 5, node.title))
        else:
            parts.append(text("region left" if shape == "area" else "name left", x, y, node.title))
        below = y - TITLE_BASE + TITLE_ROW + 0.75 * ROW + BASE
        parts += [self._line(line, x, below + i * ROW) for i, line in enumerate(node.lines)]
        return f'<g data-state="{node.key}">{"".join(parts)}</g>'

    def _line(self, line: Line, x: float, y: float) -> str:
        mark = mark_of(self.marks, line.ways)
        return text(f"label left{f' {mark.look}' if mark else ''}", x, y, line.text)

    def _final(self, node: Node, box: Box, sideways: bool) -> str:
        radius = CIRCLE / 2
        x, y = box.x - box.width / 2 + radius, box.y
        words = text("label left", x + radius + 6, y + BASE, node.title)
        if not sideways:
            x, y = box.x, box.y - box.height / 2 + radius
            words = text("label", x, y + radius + ROW - 3, node.title)
        look = self._look(node)
        shapes = circle(f"sign{look}", x, y, radius - 1) + circle("solid", x, y, radius - 5)
        return f'<g data-state="{node.key}">{shapes}{words}</g>'


def _sign(node: Node, box: Box, sideways: bool) -> str:
    if node.shape is Shape.INITIAL:
        return circle("solid", box.x, box.y, DOT / 2)
    if node.shape is Shape.FORK:
        return rect("solid", box, 1)
    if node.shape is Shape.STAY:
        return text("label", box.x, box.y + BASE, node.title)
    half = DIAMOND / 2 if node.shape is Shape.JUNCTION else CIRCLE / 2
    words = _beside(node, box, half, sideways)
    if node.shape is Shape.JUNCTION:
        corners = (
            f"M{box.x - half:.1f},{box.y:.1f} l{half:g},{-half:g} l{half:g},{half:g} l{-half:g},{half:g} z"
        )
        return path("sign", corners) + words
    letters = "H" if node.shape is Shape.HISTORY else "H*"
    return circle("sign", box.x, box.y, half - 1) + text("sign-name", box.x, box.y + 5, letters) + words


def _beside(node: Node, box: Box, half: float, sideways: bool) -> str:
    """Return what is said of a sign: below it, or to its right."""
    if not node.title:
        return ""
    if sideways:
        return text("label", box.x, box.y + half + ROW - 3, node.title)
    return text("label left", box.x + half + 6, box.y + BASE, node.title)
