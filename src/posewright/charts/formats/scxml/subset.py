"""What of SCXML is read. All else is refused by name: docs/scxml.md says the same in words."""

from __future__ import annotations

import difflib

from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.namespaces import PREFIX

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


def require_subset(root: Element) -> None:
    """Refuse a document that has an element or an attribute which is not read.

    Raises:
        FormatError: names it, with its line, and says what there is instead.
    """
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
