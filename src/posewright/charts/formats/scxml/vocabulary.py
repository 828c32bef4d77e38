"""SCXML's vocabulary and ours: what there may be in a document.

What is not in the tables below is refused by name: docs/scxml.md says the same in words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

from posewright.charts.formats.native_nodes import Entries
from posewright.documents.markup import Element, MarkupRules, parse_markup
from posewright.errors import FormatError, Where

SCXML = "http://www.w3.org/2005/07/scxml"
OWN = "urn:posewright:chart"
PREFIX = "pw"
"""What our vocabulary, `OWN`, is called in the documents that we write: it has what SCXML has no word for."""

MARKUP_RULES = MarkupRules(
    max_bytes=1_000_000, max_elements=20_000, max_levels=100, prefixes={SCXML: "", OWN: PREFIX}
)
"""A chart of hundreds of states stays far below these bounds."""


def own(name: str) -> str:
    """Return the key of one of our attributes, as `Element.attributes` has it.

    None is called like an attribute that SCXML gives the same element: there are readers that take off
    prefixes before they look.
    """
    return f"{PREFIX}:{name}"


AT_ONCE = own("at_once")
"""Marks an <assign> that is set at once with the one before it."""

MOORE, DEFAULT = own("moore"), own("default")
"""Mark the outputs of a Moore state, set as it is entered, and those that it leaves as they began."""

WHOLE = "whole"
"""What `pw:default` says of a history that leads, at first, to its state as a whole."""

UNSET = "unset"
"""What `pw:initial` says of a variable that holds nothing in particular at first."""

STATES = ("state", "parallel", "final")
"""Elements that are states."""

_DONE = frozenset({"raise", "assign", "if", "log", "send", "cancel", "foreach"})
_INSIDE_IF = _DONE | {"elseif", "else"}
_OWN_WAYS = frozenset({"pw:way", "pw:to"})
_OF_STATES = frozenset({"onentry", "onexit", "transition", "datamodel", "pw:during"})
_ACTING = frozenset({"onentry", "onexit", "transition", "if", "foreach", "pw:during", "pw:way"})
"""Elements that hold executable content, in which nothing may be passed over."""

CHILDREN: dict[str, frozenset[str]] = {
    "scxml": frozenset({*STATES, "datamodel", "pw:junction", "pw:function", "pw:promise", "pw:table"}),
    "state": _OF_STATES | {*STATES, "initial", "history"},
    "parallel": _OF_STATES | {"state", "parallel", "history"},
    "final": frozenset({"onentry", "onexit", "pw:during"}),
    "initial": frozenset({"transition"}),
    "history": frozenset({"transition"}),
    "datamodel": frozenset({"data"}),
    "onentry": _DONE,
    "onexit": _DONE,
    "transition": _DONE | _OWN_WAYS,
    "if": _INSIDE_IF,
    "foreach": _DONE - {"foreach"},
    "pw:during": _DONE,
    "pw:way": _DONE | _OWN_WAYS,
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

MOST = {"state": 2000, "data": 500, "send": 200, "foreach": 50, "history": 500, "pw:promise": 1000}
"""How many elements of a sort there may be: more than any person keeps in view."""

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
    """Return the root of an SCXML document; `path` is only used in messages.

    Raises:
        FormatError: it is no XML or no SCXML, or has something that is outside the subset.
    """
    root = parse_markup(text, path, MARKUP_RULES)
    if root.name != "scxml":
        raise FormatError(f"<{root.name}> is no SCXML", where=Where(path, 1), hint="the root is <scxml>")
    _require_subset(root)
    return root


def mapping_at(element: Element, /, **entries: object) -> Entries:
    """Return a mapping of a native document that stands where an element does; None is left out."""
    return Entries(entries, element.line)


def tag(
    name: str, attributes: Mapping[str, str | None] | None = None, children: Iterable[Element] = ()
) -> Element:
    """Return an element to be written; an attribute that is None is left out."""
    stated = {key: text for key, text in (attributes or {}).items() if text is not None}
    return Element(name, stated, tuple(children))


def _require_subset(root: Element) -> None:
    """Refuse what is not read: by its name, with its line and with what there is instead."""
    counted: dict[str, int] = {}
    for element in root.walk():
        counted[element.name] = counted.get(element.name, 0) + 1
        if element.name in MOST and counted[element.name] > MOST[element.name]:
            element.fail(f"too many <{element.name}>", hint=f"at most {MOST[element.name]}")
        if not element.name.startswith("{"):
            _require_attributes(element)
            _require_children(element)


def _require_children(element: Element) -> None:
    allowed = CHILDREN.get(element.name, frozenset())
    for child in element.children:
        if child.name in allowed or (child.name.startswith("{") and element.name not in _ACTING):
            continue
        if child.name in CHILDREN or child.name in ATTRIBUTES:
            child.fail(f"<{child.name}> does not belong in <{element.name}>", hint=_instead(allowed))
        reason = REASONS.get(child.name) or _nearest(child.name, allowed)
        child.fail(f"<{child.name}> is outside the subset of SCXML", hint=reason)


def _require_attributes(element: Element) -> None:
    allowed = ATTRIBUTES.get(element.name, frozenset())
    for name in element.attributes:
        if name in allowed or name.startswith(f"{PREFIX}:") or element.name.startswith(f"{PREFIX}:"):
            continue
        where = f"{name!r} of <{element.name}> is outside the subset of SCXML"
        element.fail(where, hint=REASONS.get(name) or _nearest(name, allowed))


def _nearest(name: str, allowed: frozenset[str]) -> str:
    near = difflib.get_close_matches(name, sorted(allowed), n=1)
    return f"did you mean {near[0]!r}?" if near else _instead(allowed)


def _instead(allowed: frozenset[str]) -> str:
    shown = sorted(name for name in allowed if not name.startswith(PREFIX))
    return f"there may be {', '.join(shown)}" if shown else "nothing may be there"
