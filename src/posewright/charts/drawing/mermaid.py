"""Mermaid text of a chart, which Git hosts and many editors draw in place.

Mermaid connects only states inside the same state, and has no history states. Other transitions are drawn
between the states that contain their ends, with the real ends in brackets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from posewright.charts.drawing.building import NumberedTransition, build_diagram
from posewright.charts.drawing.diagram import (
    Diagram,
    DiagramLink,
    DiagramNode,
    Highlight,
    NodeShape,
    highlight_states,
    walk_nodes,
)
from posewright.charts.drawing.layout.edge_sides import NodeHierarchy
from posewright.charts.drawing.words import (
    LabelStyle,
    explain_signs,
    transition_signs,
    transition_text,
    uses_signs,
)
from posewright.charts.model import Chart

RESERVED = frozenset({"end", "state", "note", "direction", "class", "classdef", "default", "root", "as"})
"""Reserved words of Mermaid, which cannot be names of states."""

_ENTITIES = {ord(sign): f"#{ord(sign)};" for sign in '#;:"<>%&`{}[]\\'}


def identifier(name: str) -> str:
    """Return a valid Mermaid identifier for a state's name."""
    return name if name[0].isalpha() and name.lower() not in RESERVED else f"state_{name}"


def escape_text(text: str) -> str:
    """Return a text with Mermaid's special characters escaped."""
    return text.translate(_ENTITIES)


ACTIVE_STYLE = "fill:#ffd98a,stroke:#a05a00,stroke-width:3px"
OUTER_STYLE = "fill:#fff4dc,stroke:#a05a00"

HISTORIES = {NodeShape.HISTORY: "history", NodeShape.DEEP_HISTORY: "deep history"}


def draw_mermaid(
    chart: Chart, *, active: str | Iterable[str] | None = None, style: LabelStyle = LabelStyle.AUTO
) -> str:
    """Return a chart as a Mermaid `stateDiagram-v2`.

    Args:
        chart: the chart to be drawn.
        active: states to be highlighted: one, several, or several in one word, joined with `+`.
        style: words or signs on the arrows; signs are for flat machines.

    Raises:
        UnknownNameError: there is no state of a name in `active`.
    """
    highlighted = highlight_states(chart, active)
    with_signs = uses_signs(chart, style)

    def label_transition(numbered_transition: NumberedTransition) -> list[str]:
        """Return the lines of text on an arrow."""
        if with_signs:
            return [transition_signs(chart, numbered_transition.transition)]
        return [transition_text(numbered_transition.transition)]

    diagram = build_diagram(chart, label_transition)
    header, *body = _MermaidWriter(diagram, highlighted).lines()
    comments = [f"    %% {explain_signs(chart)}"] if with_signs else []
    return "\n".join([header, *comments, *body]) + "\n"


class _ArrowEnds(NamedTuple):
    """The nodes that a drawn arrow connects, by key."""

    start: str
    end: str


class _MermaidWriter:
    """Writes a diagram as Mermaid text.

    Attributes:
        diagram: the diagram.
        highlight: the active states, which are highlighted.
        hierarchy: the nodes with their parents.
        nodes: all nodes by key.
        identifiers: the Mermaid identifier of every node, by the node's key.
        arrow_labels: for every node, the labels of the arrows drawn directly inside it, by their ends.
    """

    def __init__(self, diagram: Diagram, highlight: Highlight) -> None:
        """Give every node an identifier, and collect the arrows inside each."""
        self.diagram = diagram
        self.highlight = highlight
        self.hierarchy = NodeHierarchy(diagram)
        self.nodes = self.hierarchy.nodes
        keys = [node.key for node in walk_nodes(diagram.root)]
        self.identifiers = {node_key: self._identifier_of(node_key, i) for i, node_key in enumerate(keys)}
        self.arrow_labels: dict[str, dict[_ArrowEnds, list[str]]] = {node_key: {} for node_key in keys}
        for link in diagram.links:
            self._add_arrow(link)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text: states, arrows, and the classes that highlight active states."""
        root = self.diagram.root
        yield "stateDiagram-v2"
        if root.parallel:
            yield from self._composite_lines(root, "    ")
            yield from self._arrow_lines(root, "    ")
        else:
            yield from self._content_lines(root, "    ")
        state_keys = [
            node.key for node in walk_nodes(root) if node.shape in {NodeShape.STATE, NodeShape.FINAL}
        ]
        for class_name, style, highlighted_keys in (
            ("active", ACTIVE_STYLE, self.highlight.innermost_states),
            ("outer", OUTER_STYLE, self.highlight.outer_states),
        ):
            identifiers = [
                self.identifiers[node_key] for node_key in state_keys if node_key in highlighted_keys
            ]
            if identifiers:
                yield f"    classDef {class_name} {style}"
                yield f"    class {','.join(identifiers)} {class_name}"

    def _identifier_of(self, node_key: str, index: int) -> str:
        """Return the identifier of a node: its name if it is a state or a named junction, else a number."""
        node = self.nodes[node_key]
        is_state = " " not in node_key
        is_named_junction = node.shape is NodeShape.JUNCTION and bool(node.title)
        return identifier(node.title) if is_state or is_named_junction else f"sign_{index}"

    # Links, between states that Mermaid can connect.

    def _add_arrow(self, link: DiagramLink) -> None:
        """Add a link as an arrow inside the state that contains both its ends.

        Its true ends are written after the label if Mermaid cannot connect them. The link from a history to
        its default is left out, as Mermaid has no histories.
        """
        if self.nodes[link.start].shape in HISTORIES:
            return
        container, drawn_ends = self._find_drawn_ends(link)
        labels = [line.text_with_priority for line in link.label_lines if line.text_with_priority]
        true_ends_text = self._describe_true_ends(link, drawn_ends)
        if true_ends_text:
            labels = [f"{label} {true_ends_text}" for label in labels] or [true_ends_text]
        self.arrow_labels[container].setdefault(drawn_ends, []).extend(labels)

    def _find_drawn_ends(self, link: DiagramLink) -> tuple[str, _ArrowEnds]:
        """Return the node inside which a link is drawn, and the nodes that it connects there, all by key.

        It is the innermost node that contains both ends. If Mermaid cannot draw the link inside it (between
        regions, or to the node itself), the link is drawn around it, from the node to itself.
        """
        # the root has no ancestors, and contains every end
        candidates = self.hierarchy.ancestors(link.start) or [link.start]
        container = next(node_key for node_key in candidates if self._contains(node_key, link.end))
        start = self.hierarchy.child(container, link.start) or container
        end = self.hierarchy.child(container, link.end) or container
        cannot_connect = self.nodes[container].parallel or container in {start, end}
        if cannot_connect:
            outer = self.hierarchy.parent_of.get(container, container)  # the root has no parent
            return outer, _ArrowEnds(container, container)
        return container, _ArrowEnds(start, end)

    def _contains(self, outer: str, node_key: str) -> bool:
        """Return whether a node is another node or inside it."""
        return node_key == outer or self.hierarchy.child(outer, node_key) is not None

    def _describe_true_ends(self, link: DiagramLink, drawn_ends: _ArrowEnds) -> str:
        """Return the true ends of a link that is drawn between other nodes, as text: `(from a to b)`.

        Empty if the ends are the true ones, or have no title.
        """
        parts = []
        start_node = self.nodes[link.start]
        end_node = self.nodes[link.end]
        if drawn_ends.start != link.start and start_node.title:
            parts.append(f"from {start_node.title}")
        if end_node.shape in HISTORIES:
            parts.append(f"to the {HISTORIES[end_node.shape]}")
        elif drawn_ends.end != link.end and end_node.title:
            parts.append(f"to {end_node.title}")
        return f"({' '.join(parts)})" if parts else ""

    # States.

    def _content_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        """Yield the lines of the states inside a node and of the arrows between them."""
        for child in node.children:
            yield from self._state_lines(child, indent)
        yield from self._arrow_lines(node, indent)

    def _arrow_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        """Yield the lines of the arrows inside a node, with their labels."""
        for ends, labels in self.arrow_labels[node.key].items():
            text = "<br/>".join(escape_text(label) for label in labels)
            start = self._end_text(ends.start)
            end = self._end_text(ends.end)
            yield f"{indent}{start} --> {end}{f' : {text}' if text else ''}"

    def _end_text(self, node_key: str) -> str:
        """Return how Mermaid writes an end of an arrow: an identifier, or `[*]` for an initial dot."""
        return "[*]" if self.nodes[node_key].shape is NodeShape.INITIAL else self.identifiers[node_key]

    def _state_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        """Yield the lines that declare a node and the nodes inside it.

        Initial dots and histories are not declared, as Mermaid has no such states.
        """
        name = self.identifiers[node.key]
        if node.shape is NodeShape.JUNCTION:
            yield f"{indent}state {name} <<choice>>"
        elif node.shape is NodeShape.FORK:
            yield f"{indent}state {name} <<fork>>"
        elif node.shape is NodeShape.STAY:
            yield f'{indent}state "({node.title})" as {name}'
        elif node.children:
            yield from self._composite_lines(node, indent)
        elif node.shape in {NodeShape.STATE, NodeShape.REGION, NodeShape.FINAL}:
            yield from self._leaf_lines(node, indent)

    def _leaf_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        """Yield the lines of a state without states inside, with its note."""
        name = self.identifiers[node.key]
        text = escape_text(node.title)
        yield f'{indent}state "{text}" as {name}' if text != name else f"{indent}{name}"
        yield from self._note_lines(node, indent)
        if node.shape is NodeShape.FINAL:
            yield f"{indent}{name} --> [*]"

    def _composite_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        """Yield the lines of a state with states inside."""
        name = self.identifiers[node.key]
        text = escape_text(node.title)
        deeper = f"{indent}    "
        yield f'{indent}state "{text}" as {name} {{' if text != name else f"{indent}state {name} {{"
        if node.parallel:
            for i, region in enumerate(node.children):
                if i > 0:
                    yield f"{deeper}--"  # separates regions
                yield from self._region_lines(region, deeper)
        else:
            yield from self._content_lines(node, deeper)
        yield f"{indent}}}"
        yield from self._note_lines(node, indent)

    def _region_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        """Yield the lines of a region, under a comment with its name."""
        yield f"{indent}%% {node.title}"
        if not node.children:
            yield from self._leaf_lines(node, indent)
        elif node.parallel:
            yield from self._composite_lines(node, indent)
        else:
            yield from self._content_lines(node, indent)

    def _note_lines(self, node: DiagramNode, indent: str) -> Iterator[str]:
        if node.lines:
            yield f"{indent}note right of {self.identifiers[node.key]}"
            yield from (f"{indent}    {escape_text(line.text.strip())}" for line in node.lines)
            yield f"{indent}end note"
