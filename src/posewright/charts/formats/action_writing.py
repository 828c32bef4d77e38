"""Actions as the plain data of a chart's document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.formats.scalars import scalar
from posewright.charts.model import Action, Actions, Assign, Raise
from posewright.charts.types import Value
from posewright.documents import one_line


def actions_data(actions: Actions) -> Any:
    """Return actions: a mapping where there is one, else a list."""
    found = [_action(action) for action in actions]
    return found[0] if len(found) == 1 else found


def values_data(values: Mapping[str, Expression]) -> dict[str, Value]:
    """Return what outputs and locals are set to."""
    return one_line({name: scalar(value) for name, value in values.items()})


def _action(action: Action) -> dict[str, Any]:
    if isinstance(action, Assign):
        return values_data(action.values)
    if isinstance(action, Raise):
        return one_line({"raise": action.event})
    data: dict[str, Any] = {"if": scalar(action.when), "do": actions_data(action.then)}
    if action.otherwise:
        data["else"] = actions_data(action.otherwise)
    return one_line(data)
