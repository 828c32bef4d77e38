"""Mermaid text of a chart, which Git hosts and many editors draw in place.

Mermaid joins states inside one and the same state only, and knows no history. What leads further is drawn
between the states that it does know to join, and says in brackets where it really begins or ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.charts.drawing.building import NumberedTransition, build
from posewright.charts.drawing.diagram import (
    Diagram,
    DiagramNode,
    Highlight,
    Link,
    Shape,
    highlight,
    walk_nodes,
)
from posewright.charts.drawing.layout.edge_sides import Family
from posewright.charts.drawing.words import Style, signs_explained, signs_of, transition_text, uses_signs
from posewright.charts.model import Chart

RESERVED = frozenset({"end", "state", "note", "direction", "class", "classdef", "default", "root", "as"})
"""Words that Mermaid would not take for a state's name."""

_ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '#;:"<>%&`{}[]\\'}


def identifier(name: str) -> str:
    """Return a state's name as Mermaid takes it."""
    return name if name[0].isalpha() and name.lower() not in RESERVED else f"state_{name}"


def escaped(text: str) -> str:
    """Return a text in which no letter means anything to Mermaid."""
    return text.translate(_ENTITIES)


ACTIVE = "fill:#ffd98a,stroke:#a05a00,stroke-width:3px"
OUTER = "fill:#fff4dc,stroke:#a05a00"

HISTORIES = {Shape.HISTORY: "history", Shape.DEEP_HISTORY: "deep history"}


def draw_mermaid(
    chart: Chart, *, active: str | Iterable[str] | None = None, style: Style = Style.AUTO
) -> str:
    """Return a chart as a Mermaid `stateDiagram-v2`.

    Args:
        chart: what to draw.
        active: states to be highlighted: one, several, or several in one word, joined with `+`.
        style: words or signs on the arrows; signs are for flat machines.

    Raises:
        UnknownNameError: there is no state called as one of `active`.
    """
    lit = highlight(chart, active)
    signs = uses_signs(chart, style)

    def say(one: NumberedTransition) -> list[str]:
        return [signs_of(chart, one.transition) if signs else transition_text(one.transition)]

    lines = _Writing(build(chart, say), lit).lines()
    comments = [f"    %% {signs_explained(chart)}"] if signs else []
    return "\n".join([next(lines), *comments, *lines]) + "\n"


class _Writing:
    def __init__(self, diagram: Diagram, active: Highlight) -> None:
        self.diagram = diagram
        self.active = active
        self.family = Family(diagram)
        self.nodes = self.family.nodes
        keys = [node.key for node in walk_nodes(diagram.root)]
        self.ids = {key: self._id(key, i) for i, key in enumerate(keys)}
        self.arrows: dict[str, dict[tuple[str, str], list[str]]] = {key: {} for key in keys}
        for link in diagram.links:
            self._lift(link)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text."""
        root = self.diagram.root
        yield "stateDiagram-v2"
        if root.parallel:
            yield from self._composite(root, "    ")
            yield from self._arrows(root, "    ")
        else:
            yield from self._inside(root, "    ")
        states = [node.key for node in walk_nodes(root) if node.shape in {Shape.STATE, Shape.FINAL}]
        for name, look, keys in (
            ("active", ACTIVE, self.active.inner),
            ("outer", OUTER, self.active.outer),
        ):
            found = [self.ids[key] for key in states if key in keys]
            if found:
                yield f"    classDef {name} {look}"
                yield f"    class {','.join(found)} {name}"

    def _id(self, key: str, number: int) -> str:
        node = self.nodes[key]
        named = " " not in key or (node.shape is Shape.JUNCTION and node.title)
        return identifier(node.title) if named else f"sign_{number}"

    # Links, between states that Mermaid can join.

    def _lift(self, link: Link) -> None:
        """Note a link where both its ends are inside one state, with its real ends in brackets."""
        if self.nodes[link.start].shape in HISTORIES:
            return
        home, start, end = self._ends(link)
        words = [line.ranked for line in link.lines if line.ranked]
        more = self._brackets(link, start, end)
        if more:
            words = [f"{word} {more}" for word in words] or [more]
        self.arrows[home].setdefault((start, end), []).extend(words)

    def _ends(self, link: Link) -> tuple[str, str, str]:
        """Return where a link is drawn, and between what."""
        around = [link.start, *self.family.around(link.start)]
        home = next(key for key in around[1:] or around if self._holds(key, link.end))
        start, end = (self.family.child(home, key) or home for key in (link.start, link.end))
        if self.nodes[home].parallel or home in {start, end}:
            outer = self.family.parent.get(home, home)
            return outer, home, home
        return home, start, end

    def _holds(self, outer: str, key: str) -> bool:
        return key == outer or self.family.child(outer, key) is not None

    def _brackets(self, link: Link, start: str, end: str) -> str:
        parts = []
        if start != link.start and self.nodes[link.start].title:
            parts.append(f"from {self.nodes[link.start].title}")
        goal = self.nodes[link.end]
        if goal.shape in HISTORIES:
            parts.append(f"to the {HISTORIES[goal.shape]}")
        elif end != link.end and goal.title:
            parts.append(f"to {goal.title}")
        return f"({' '.join(parts)})" if parts else ""

    # States.

    def _inside(self, node: DiagramNode, indent: str) -> Iterator[str]:
        for child in node.inside:
            yield from self._state(child, indent)
        yield from self._arrows(node, indent)

    def _arrows(self, node: DiagramNode, indent: str) -> Iterator[str]:
        for (start, end), words in self.arrows[node.key].items():
            label = "<br/>".join(escaped(word) for word in words)
            a, b = (
                "[*]" if self.nodes[key].shape is Shape.INITIAL else self.ids[key] for key in (start, end)
            )
            yield f"{indent}{a} --> {b}{f' : {label}' if label else ''}"

    def _state(self, node: DiagramNode, indent: str) -> Iterator[str]:
        name = self.ids[node.key]
        if node.shape is Shape.JUNCTION:
            yield f"{indent}state {name} <<choice>>"
        elif node.shape is Shape.FORK:
            yield f"{indent}state {name} <<fork>>"
        elif node.shape is Shape.STAY:
            yield f'{indent}state "({node.title})" as {name}'
        elif node.inside:
            yield from self._composite(node, indent)
        elif node.shape in {Shape.STATE, Shape.REGION, Shape.FINAL}:
            yield from self._leaf(node, indent)

    def _leaf(self, node: DiagramNode, indent: str) -> Iterator[str]:
        name = self.ids[node.key]
        text = escaped(node.title)
        yield f'{indent}state "{text}" as {name}' if text != name else f"{indent}{name}"
        yield from self._note(node, indent)
        if node.shape is Shape.FINAL:
            yield f"{indent}{name} --> [*]"

    def _composite(self, node: DiagramNode, indent: str) -> Iterator[str]:
        name = self.ids[node.key]
        text = escaped(node.title)
        deeper = f"{indent}    "
        yield f'{indent}state "{text}" as {name} {{' if text != name else f"{indent}state {name} {{"
        if node.parallel:
            for i, region in enumerate(node.inside):
                yield from [f"{indent}    --"] * (i > 0)
                yield from self._region(region, deeper)
        else:
            yield from self._inside(node, deeper)
        yield f"{indent}}}"
        yield from self._note(node, indent)

    def _region(self, node: DiagramNode, indent: str) -> Iterator[str]:
        yield f"{indent}%% {node.title}"
        if not node.inside:
            yield from self._leaf(node, indent)
        elif node.parallel:
            yield from self._composite(node, indent)
        else:
            yield from self._inside(node, indent)

    def _note(self, node: DiagramNode, indent: str) -> Iterator[str]:
        if node.lines:
            yield f"{indent}note right of {self.ids[node.key]}"
            yield from (f"{indent}    {escaped(line.text.strip())}" for line in node.lines)
            yield f"{indent}end note"
