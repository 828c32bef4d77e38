"""Promises: what must hold at every tick of every run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from posewright.charts.formats.fields import LONGEST_S, condition_in, keyed, quantity_in
from posewright.charts.formats.known import Known
from posewright.charts.model import Promise, PropertyKind, one_line
from posewright.charts.types import conversion, exactly
from posewright.documents import Node

VOWS = ("never", "always", "leads_to")
PROMISE_KEYS = (*VOWS, "when", "within", "name")
PROMISE_HINT = "write {never: x}, {always: x} or {when: x, leads_to: y, within: 2 s}"
MAX_PROMISES = 1000


def read_promises(fields: Mapping[str, Node], known: Known) -> tuple[Promise, ...]:
    """Return the promises of a chart; one without a name is called by its sort and its place.

    Raises:
        DocumentError: one of them promises nothing, or two have the same name.
        ExpressionError: a condition does not read.
    """
    if "promises" not in fields:
        return ()
    found: dict[str, Promise] = {}
    for item in fields["promises"].items():
        promise = _promise(item, len(found) + 1, known)
        if promise.name in found:
            item.fail(f"a promise {promise.name!r} is there twice", hint="rename one")
        found[promise.name] = promise
    return tuple(found.values())


def _promise(node: Node, number: int, known: Known) -> Promise:
    fields = keyed(node, PROMISE_KEYS)
    vows = [key for key in VOWS if key in fields]
    if len(vows) != 1:
        node.fail(
            "it promises nothing" if not vows else f"both {vows[0]!r} and {vows[1]!r}", hint=PROMISE_HINT
        )
    (vow,) = vows
    leads = vow == "leads_to"
    needed: Collection[str] = ("when", "leads_to", "within") if leads else (vow,)
    fields = node.fields(required=needed, optional=("name",))
    key = "when" if leads else vow
    return Promise(
        name=(one_line(fields["name"]) if "name" in fields else "")
        or default_name(PropertyKind(vow), number),
        vow=PropertyKind(vow),
        when=condition_in(node, key, fields[key], known.promise_scope),
        goal=condition_in(node, vow, fields[vow], known.promise_scope) if leads else None,
        within_s=_within(fields["within"], known) if leads else 0.0,
        line=node.line,
    )


def default_name(vow: PropertyKind, number: int) -> str:
    """Return what a promise without a name is called: `number` counts all promises from 1."""
    return f"{vow.value} {number}"


def _within(node: Node, known: Known) -> float:
    """Read a time: a number of seconds, a number with a unit of time, or a constant."""
    number, unit = _time(node, known)
    seconds = number if unit is None else in_seconds(number, unit)
    if seconds is None:
        node.fail(f"{unit} is no unit of time", hint="write it like 2 s or 500 ms")
    if not 0.0 <= seconds <= LONGEST_S:
        node.fail(f"{seconds:g} s is out of range", hint=f"the range is 0..{LONGEST_S:g} s")
    return seconds


def _time(node: Node, known: Known) -> tuple[float, str | None]:
    declared = known.declared
    if not isinstance(node.value, str):
        return node.number(), None
    if node.value in declared.constants:
        value = declared.constants[node.value]
        if isinstance(value, bool | str):
            node.fail(f"{node.value!r} is no time", hint="write it like 2 s or 500 ms")
        return value, declared.units.get(node.value)
    return quantity_in(node)


def in_seconds(number: float, unit: str) -> float | None:
    """Return a time in seconds, None where the unit is not one of time."""
    factor = conversion(unit, "s")
    return None if factor is None else float(exactly(number) * factor)
