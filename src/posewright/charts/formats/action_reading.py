"""Actions: a mapping sets all at once; a list is done one after the other."""

from __future__ import annotations

from typing import NoReturn

from posewright.charts.expression import Expression, Scope
from posewright.charts.formats.fields import condition_in, expression_in, keyed
from posewright.charts.formats.known import Known
from posewright.charts.model import DONE, Action, Actions, Assign, Branch, Raise
from posewright.documents import Node
from posewright.errors import UnknownNameError

ACTION_HINT = "an action is {output: value}, {raise: event} or {if: condition, do: ..., else: ...}"


def read_actions(node: Node | None, known: Known) -> Actions:
    """Return the actions of an entry; none where it is not there.

    Raises:
        DocumentError: an action is none, or sets what it must not.
        UnknownNameError: no such output, local or event.
        ExpressionError: a value does not read, or is of another type.
    """
    if node is None or node.value is None:
        return ()
    if isinstance(node.value, list):
        return tuple(_action(item, known) for item in node.items() if item.value != {})
    return (_action(node, known),) if node.value != {} else ()


def _action(node: Node, known: Known) -> Action:
    if not isinstance(node.value, dict):
        node.fail("expected an action", hint=ACTION_HINT)
    fields = node.fields()
    if "if" in fields:
        return _branch(node, known)
    if "raise" in fields:
        if len(fields) > 1:
            node.fail("'raise' stands alone", hint="write a list: [{x: 1}, {raise: event}]")
        return _raise(fields["raise"], known)
    return Assign(read_values(node, known, known.scope), line=node.line)


def _branch(node: Node, known: Known) -> Branch:
    fields = keyed(node, ("else",), required=("if", "do"))
    return Branch(
        when=condition_in(node, "if", fields["if"], known.scope),
        then=read_actions(fields["do"], known),
        otherwise=read_actions(fields.get("else"), known),
        line=node.line,
    )


def _raise(node: Node, known: Known) -> Raise:
    name, events = node.text(), known.declared.every_event
    if name in events:
        return Raise(name, line=node.line)
    if name.startswith(DONE):
        node.fail(f"{name!r} comes by itself", hint="it is raised when a final state is entered")
    raise UnknownNameError.among("event", name, events, where=node.where)


def read_values(node: Node, known: Known, scope: Scope) -> dict[str, Expression]:
    """Return what a mapping sets outputs and locals to."""
    variables = known.declared.variables
    found: dict[str, Expression] = {}
    for name, entry in keyed(node, None).items():
        if name not in variables:
            _refuse_setting(name, entry, known)
        found[name] = expression_in(node, name, entry, scope, variables[name])
    return found


def _refuse_setting(name: str, node: Node, known: Known) -> NoReturn:
    declared = known.declared
    if name in declared.inputs:
        node.fail(f"{name!r} is an input", hint="inputs come from outside: set an output or a local")
    if name in declared.constants:
        node.fail(f"{name!r} is a constant", hint="what changes is a local: declare it under `locals`")
    if name in declared.every_event:
        node.fail(f"{name!r} is an event", hint=f"write {{raise: {name}}}")
    sort = "output or local" if declared.locals else "output"
    raise UnknownNameError.among(sort, name, declared.variables, where=node.where)
