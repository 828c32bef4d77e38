"""Reading the supported part of an SCXML document, with a list of what is left out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.charts.formats.scxml.reader import chart_from_root
from posewright.charts.formats.scxml.vocabulary import MARKUP_RULES, UnsupportedPart, find_unsupported
from posewright.charts.model import Chart
from posewright.display import Table, table
from posewright.documents.markup import Element, parse_markup
from posewright.errors import InputError, PosewrightError

MAX_ROUNDS = 300
"""Most parts that are left out because of what they contain; each needs the document to be read again."""

MAX_ELEMENTS_READ = 150_000
"""Most elements that are read in all rounds together, which takes a few seconds."""

_REMOVABLE = frozenset(
    {"assign", "cancel", "data", "foreach", "history", "if", "log", "raise", "send", "transition"}
)
"""Elements that can be left out on their own; what refers to them is left out in the next round."""

_NAMED_ELEMENT = re.compile(r"<([^<>\s]+)>")
_OTHER_LINE = re.compile(r"\(first in line (\d+)\)$")
"""A line in a message about something that occurs twice."""


@dataclass(frozen=True)
class ScxmlLoss:
    """A part of an SCXML document that is left out.

    Attributes:
        line: its line, from 1; None where it is not known.
        part: the element, or the attribute of an element.
        reason: why it is not read.
    """

    line: int | None
    part: str
    reason: str


@dataclass(frozen=True)
class PartialChart:
    """The chart of the supported part of an SCXML document.

    Attributes:
        chart: the chart.
        losses: what was left out, in the order of the document.
    """

    chart: Chart
    losses: tuple[ScxmlLoss, ...]

    def table(self) -> Table:
        """Return a table of the losses."""
        rows = [(loss.line or "", loss.part, loss.reason) for loss in self.losses]
        return table(("line", "left out", "why"), rows)


def parse_scxml_partially(text: str, path: Path | None = None) -> PartialChart:
    """Read what is supported of an SCXML document, and list the rest.

    First elements and attributes outside the subset are left out, then one by one the elements whose content
    cannot be read, such as a condition that calls a function.

    Args:
        text: the document.
        path: its file, for messages and for the name.

    Raises:
        FormatError: it is not XML or not SCXML, or nothing readable is left.
        InputError: the rest is no chart.
    """
    root = parse_markup(text, path, MARKUP_RULES)
    if root.name != "scxml":
        root.fail(f"<{root.name}> is not SCXML", hint="the root is <scxml>")
    losses: list[ScxmlLoss] = []
    # again and again, since leaving something out may uncover more
    while unsupported := tuple(find_unsupported(root)):
        for part in unsupported:
            losses.append(ScxmlLoss(part.element.line, part.description, part.reason))
        root = _without_unsupported(root, unsupported)
    n_elements = sum(1 for _ in root.walk())
    max_rounds = min(MAX_ROUNDS, max(1, MAX_ELEMENTS_READ // n_elements))
    for _ in range(max_rounds):
        try:
            chart_from_root(_with_positions_as_lines(root), path)
        except PosewrightError as error:
            culprit = _find_culprit(root, error)
            if culprit is None:
                chart_from_root(root, path)  # raises the error with its line
                raise
            reason = _replace_positions(error.message, root)
            losses.append(ScxmlLoss(culprit.line, f"<{culprit.name}>", reason))
            root = _without(root, culprit)
            continue
        chart = chart_from_root(root, path)
        if chart.document_markup is not None:
            for line, event in chart.document_markup.ignored_transitions:
                losses.append(
                    ScxmlLoss(line, f'<transition event="{event}">', reason="its event never occurs")
                )
        return PartialChart(chart, tuple(sorted(losses, key=lambda loss: loss.line or 0)))
    raise InputError(f"more than {max_rounds} parts cannot be read", hint="simplify the document")


def _with_positions_as_lines(root: Element) -> Element:
    """Return a document whose lines are the positions of its elements, so that errors point at one element.

    In the document itself several elements may stand in a line.
    """
    positions = itertools.count(1)

    def copy(element: Element) -> Element:
        """Return an element with the next position, and those inside it with the following ones."""
        position = next(positions)
        return replace(element, line=position, children=tuple(map(copy, element.children)))

    return copy(root)


def _replace_positions(message: str, root: Element) -> str:
    """Return the message of an error with lines of the document instead of positions of elements."""
    line_by_position = {str(i): element.line for i, element in enumerate(root.walk(), 1)}

    def format_line(match: re.Match[str]) -> str:
        """Return the reference to an element with its line; other text of this form is the user's own."""
        position = match[1]
        return f"(first in line {line_by_position.get(position, position)})"

    return _OTHER_LINE.sub(format_line, message)


def _find_culprit(root: Element, error: PosewrightError) -> Element | None:
    """Return the element to leave out because of an error; None if there is none.

    It is the element that the message names inside the one at which the error points, else that one itself,
    else the innermost around it that can be left out.

    Args:
        root: the document.
        error: the error, whose line is the position of an element.
    """
    position = None if error.where is None else error.where.line
    if position is None:
        return None
    elements_around = _find_path(root, position)
    name_in_message = _NAMED_ELEMENT.search(error.message)
    if elements_around and name_in_message is not None and name_in_message[1] in _REMOVABLE:
        for element in elements_around[-1].walk():
            if element.name == name_in_message[1]:
                return element
    return next((element for element in reversed(elements_around) if element.name in _REMOVABLE), None)


def _find_path(root: Element, position: int) -> list[Element]:
    """Return the elements from the root to the one at a position in the document, counted from 1.

    Args:
        root: the document.
        position: the position; the path is empty if there is none.
    """
    positions = itertools.count(1)

    def find(element: Element) -> list[Element]:
        """Return the path from an element to the position; empty if it is not inside."""
        if next(positions) == position:
            return [element]
        for child in element.children:
            path = find(child)
            if path:
                return [element, *path]
        return []

    return find(root)


def _without(root: Element, culprit: Element) -> Element:
    """Return a document without an element; elements in which nothing changes stay the same objects."""
    children = [_without(child, culprit) for child in root.children if child is not culprit]
    is_changed = len(children) != len(root.children) or any(map(_is_other, children, root.children))
    return replace(root, children=tuple(children)) if is_changed else root


def _is_other(first: Element, second: Element) -> bool:
    """Return whether two elements are different objects."""
    return first is not second


def _without_unsupported(root: Element, parts: Sequence[UnsupportedPart]) -> Element:
    """Return a copy of a document without some elements and attributes.

    Args:
        root: the document.
        parts: the elements and attributes to leave out.
    """
    removed_ids = {id(part.element) for part in parts if part.attribute is None}
    attributes_by_id: dict[int, set[str]] = {}
    for part in parts:
        if part.attribute is not None:
            attributes_by_id.setdefault(id(part.element), set()).add(part.attribute)

    def copy(element: Element) -> Element:
        """Return an element without the attributes and descendants to leave out."""
        removed_names = attributes_by_id.get(id(element), set())
        attributes = {name: text for name, text in element.attributes.items() if name not in removed_names}
        children = tuple(copy(child) for child in element.children if id(child) not in removed_ids)
        return replace(element, attributes=attributes, children=children)

    return copy(root)
