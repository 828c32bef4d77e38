"""The supported vocabulary of SCXML documents, and the extensions in a namespace of our own.

Anything that is not in the tables below is an error, or left out on request; docs/scxml.md describes the
subset.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from posewright.charts.formats.native_nodes import LineMapping
from posewright.documents.markup import Element, MarkupRules, parse_markup
from posewright.errors import FormatError, Where

SCXML_NAMESPACE = "http://www.w3.org/2005/07/scxml"
EXTENSION_NAMESPACE = "urn:posewright:chart"
EXTENSION_PREFIX = "pw"
"""Prefix of the namespace `EXTENSION_NAMESPACE` in written documents; it has what SCXML cannot express."""

MARKUP_RULES = MarkupRules(
    max_bytes=1_000_000,
    max_elements=20_000,
    max_levels=100,
    prefixes={SCXML_NAMESPACE: "", EXTENSION_NAMESPACE: EXTENSION_PREFIX},
)
"""A chart of hundreds of states stays far below these bounds."""


def extension_name(name: str) -> str:
    """Return the name of an extension attribute or element, with the prefix of our XML namespace.

    No extension attribute has the name of an SCXML attribute of the same element, since some readers ignore
    prefixes.
    """
    return f"{EXTENSION_PREFIX}:{name}"


AT_ONCE_ATTRIBUTE = extension_name("at_once")
"""Marks an <assign> that is simultaneous with the one before it."""

MOORE_ATTRIBUTE = extension_name("moore")
"""Marks the <onentry> that sets the outputs of a Moore state."""

DEFAULT_ATTRIBUTE = extension_name("default")
"""Marks outputs that a Moore state does not set, and histories whose default is the initial state."""

SEGMENT_ELEMENT = extension_name("way")
"""The element of a transition that starts at a junction."""

JUNCTION_TARGET_ELEMENT = extension_name("to")
"""The child of a transition that leads to a named junction."""

INITIAL_STATES = "whole"
"""Value of `pw:default` at a history that enters the initial states while it is empty."""

UNSET = "unset"
"""Value of `pw:initial` at a variable without a declared initial value."""

LAYOUT_NAMESPACES = frozenset({"http://www.qt.io/2015/02/scxml-ext", "http://www.qt.io/2016/08/scxml-ext"})
"""Namespaces of editors, with places in a drawing; their elements mean nothing, also among actions."""

STATES = ("state", "parallel", "final")
"""Elements that are states."""

_ACTIONS = frozenset({"raise", "assign", "if", "log", "send", "cancel", "foreach"})
_IF_CHILDREN = _ACTIONS | {"elseif", "else"}
_JUNCTIONS = frozenset({"pw:way", "pw:to"})
_STATE_CHILDREN = frozenset({"onentry", "onexit", "transition", "datamodel", "pw:during"})
_ACTION_PARENTS = frozenset({"onentry", "onexit", "transition", "if", "foreach", "pw:during", "pw:way"})
"""Elements with executable content, in which no unknown element is ignored."""

CHILDREN: dict[str, frozenset[str]] = {
    "scxml": frozenset({*STATES, "datamodel", "pw:junction", "pw:function", "pw:promise", "pw:table"}),
    "state": _STATE_CHILDREN | {*STATES, "initial", "history"},
    "parallel": _STATE_CHILDREN | {"state", "parallel", "history"},
    "final": frozenset({"onentry", "onexit", "pw:during"}),
    "initial": frozenset({"transition"}),
    "history": frozenset({"transition"}),
    "datamodel": frozenset({"data"}),
    "onentry": _ACTIONS,
    "onexit": _ACTIONS,
    "transition": _ACTIONS | _JUNCTIONS,
    "if": _IF_CHILDREN,
    "foreach": _ACTIONS - {"foreach"},
    "pw:during": _ACTIONS,
    "pw:way": _ACTIONS | _JUNCTIONS,
    "pw:junction": frozenset({"pw:way"}),
    "pw:function": frozenset({"pw:takes", "pw:row"}),
    "pw:table": frozenset({"pw:column", "pw:code"}),
}

ATTRIBUTES: dict[str, frozenset[str]] = {
    "scxml": frozenset({"initial", "name", "version", "datamodel", "binding"}),
    "state": frozenset({"id", "initial"}),
    "parallel": frozenset({"id"}),
    "final": frozenset({"id"}),
    "transition": frozenset({"event", "cond", "target", "type"}),
    "pw:way": frozenset({"event", "cond", "target", "type"}),
    "history": frozenset({"id", "type"}),
    "data": frozenset({"id", "expr"}),
    "raise": frozenset({"event"}),
    "assign": frozenset({"location", "expr"}),
    "if": frozenset({"cond"}),
    "elseif": frozenset({"cond"}),
    "log": frozenset({"label", "expr"}),
    "send": frozenset({"event", "eventexpr", "delay", "delayexpr", "id", "target", "type"}),
    "cancel": frozenset({"sendid", "sendidexpr"}),
    "foreach": frozenset({"array", "item", "index"}),
}

_SUGGESTION = "did you mean "

MAX_COUNTS = {"state": 2000, "data": 500, "send": 200, "foreach": 50, "history": 500, "pw:promise": 1000}
"""How many elements of each of these names a document may have."""

REASONS = {
    "invoke": "a chart starts no other process",
    "finalize": "a chart starts no other process",
    "script": "no document can run code",
    "donedata": "events carry no data",
    "param": "events carry no data",
    "content": "events carry no data",
    "src": "nothing is fetched: write the value in `expr`",
    "targetexpr": "a chart sends to itself alone",
    "typeexpr": "a chart sends to itself alone",
    "idlocation": "give the <send> an `id`",
    "namelist": "events carry no data",
}


def read_elements(text: str, path: Path | None = None) -> Element:
    """Return the root element of an SCXML document, all of which is in the supported subset.

    Args:
        text: the document.
        path: its file, for messages.

    Raises:
        FormatError: it is not XML or not SCXML, or is outside the subset.
    """
    root = parse_markup(text, path, MARKUP_RULES)
    if root.name != "scxml":
        raise FormatError(f"<{root.name}> is not SCXML", where=Where(path, 1), hint="the root is <scxml>")
    _require_subset(root)
    return root


def build_mapping(element: Element, /, **entries: object) -> LineMapping:
    """Return a mapping of a native document that has the line of an element; entries of None are left out."""
    return LineMapping(entries, element.line)


def tag(
    name: str, attributes: Mapping[str, str | None] | None = None, children: Iterable[Element] = ()
) -> Element:
    """Return a new element of a document; attributes that are None are left out."""
    stated_attributes = {key: text for key, text in (attributes or {}).items() if text is not None}
    return Element(name, stated_attributes, tuple(children))


@dataclass(frozen=True, eq=False)
class UnsupportedPart:
    """An element, or an attribute of an element, that is outside the subset.

    Attributes:
        element: the element.
        attribute: the name of the attribute; None if the element itself is not supported.
        message: what is not supported.
        reason: why, or what is allowed there.
    """

    element: Element
    attribute: str | None
    message: str
    reason: str

    @property
    def is_misspelt(self) -> bool:
        """Whether it resembles something that is allowed there."""
        return self.reason.startswith(_SUGGESTION)

    @property
    def description(self) -> str:
        """The element or the attribute as it is written."""
        name = self.element.name.rpartition("}")[2]
        return f"<{name}>" if self.attribute is None else f"{self.attribute} of <{name}>"


def find_unsupported(root: Element) -> Iterator[UnsupportedPart]:
    """Yield what is outside the subset, in the order of the document; not what is inside such elements."""
    pending = [root]
    while pending:
        element = pending.pop()
        is_of_other_namespace = element.name.startswith("{")  # such as an editor's layout, which is ignored
        if is_of_other_namespace:
            continue
        yield from _unsupported_attributes(element)
        unsupported_children = tuple(_unsupported_children(element))
        yield from unsupported_children
        removed_ids = {id(part.element) for part in unsupported_children}
        pending += [child for child in reversed(element.children) if id(child) not in removed_ids]


def _require_subset(root: Element) -> None:
    """Raise a FormatError for the first element or attribute outside the subset, or for too many elements."""
    n_by_name: dict[str, int] = {}
    for element in root.walk():
        n_by_name[element.name] = n_by_name.get(element.name, 0) + 1
        if element.name in MAX_COUNTS and n_by_name[element.name] > MAX_COUNTS[element.name]:
            element.fail(f"too many <{element.name}>", hint=f"at most {MAX_COUNTS[element.name]}")
    unsupported = tuple(find_unsupported(root))
    if unsupported:
        first = unsupported[0]
        n_others = len(unsupported) - 1
        others = f", and {n_others} more of the kind" if n_others else ""
        hint = f"{first.reason}{others}"
        if n_others or not first.is_misspelt:
            hint += "; chart convert --accept-loss lists what is lost and reads the rest"
        first.element.fail(first.message, hint=hint)


def _unsupported_children(element: Element) -> Iterator[UnsupportedPart]:
    """Yield the children of an element that are not allowed in it.

    Children of other namespaces are ignored, except among actions, where they may be actions of another tool.
    """
    allowed = CHILDREN.get(element.name, frozenset())
    for child in element.children:
        # the name of an element of another namespace is {namespace}name
        namespace = child.name[1:].partition("}")[0] if child.name.startswith("{") else ""
        is_ignored = bool(namespace) and (
            namespace in LAYOUT_NAMESPACES or element.name not in _ACTION_PARENTS
        )
        if child.name in allowed or is_ignored:
            continue
        if child.name in CHILDREN or child.name in ATTRIBUTES:
            message = f"<{child.name}> does not belong in <{element.name}>"
            yield UnsupportedPart(child, None, message, reason=_alternatives(allowed))
            continue
        reason = REASONS.get(child.name) or _suggest(child.name, allowed)
        message = f"<{child.name}> is not in the supported subset of SCXML"
        yield UnsupportedPart(child, None, message, reason)


def _unsupported_attributes(element: Element) -> Iterator[UnsupportedPart]:
    """Yield the attributes of an element that are not supported; those of our extensions all are."""
    allowed = ATTRIBUTES.get(element.name, frozenset())
    prefix = f"{EXTENSION_PREFIX}:"
    for name in element.attributes:
        if name in allowed or name.startswith(prefix) or element.name.startswith(prefix):
            continue
        message = f"{name!r} of <{element.name}> is not in the supported subset of SCXML"
        yield UnsupportedPart(element, name, message, reason=REASONS.get(name) or _suggest(name, allowed))


def _suggest(name: str, allowed: frozenset[str]) -> str:
    """Return a hint for a name that is not allowed: the allowed name that resembles it, else all of them."""
    matches = difflib.get_close_matches(name, sorted(allowed), n=1)
    return f"{_SUGGESTION}{matches[0]!r}?" if matches else _alternatives(allowed)


def _alternatives(allowed: frozenset[str]) -> str:
    """Return a hint with all allowed names, without those of our extensions."""
    names = sorted(name for name in allowed if not name.startswith(EXTENSION_PREFIX))
    return f"allowed are {', '.join(names)}" if names else "nothing is allowed here"
