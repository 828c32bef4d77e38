"""States, transitions and targets as the plain data of a chart's document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posewright.charts.formats.action_writing import actions_data, values_data
from posewright.charts.formats.scalars import scalar
from posewright.charts.model import ALWAYS, ELSE, Memory, State, Target, Transition
from posewright.documents import one_line

MEMORIES = {Memory.SHALLOW: "history", Memory.DEEP: "deep_history"}
NOTHING: tuple[Any, ...] = (None, "", {}, [])
SHORT = 90
"""Characters of a transition that stands on one line."""


def without_gaps(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that say something."""
    return {key: value for key, value in data.items() if value not in NOTHING}


def state_data(state: State) -> dict[str, Any] | list[dict[str, Any]]:
    """Return a state: a list where it has transitions only, else a mapping."""
    transitions = [_transition(transition, in_state=True) for transition in state.transitions]
    data = without_gaps(
        {
            "description": state.description,
            "min_s": state.min_s or None,
            "priority": state.priority and state.priority.value,
            "otherwise": state.otherwise and state.otherwise.value,
            "transitions": transitions,
            "do": values_data(state.do),
            "entry": actions_data(state.entry),
            "during": actions_data(state.during),
            "exit": actions_data(state.exit),
            "final": state.final or None,
            "initial": targets_data(state.initial),
        }
    )
    if state.states:
        inside = {child.name: state_data(child) for child in state.states}
        data["regions" if state.parallel else "states"] = inside
    return (
        one_line(data) if data == {"final": True} else transitions if data.keys() <= {"transitions"} else data
    )


def segments_data(segments: tuple[Transition, ...]) -> list[dict[str, Any]]:
    """Return the ways on from a junction."""
    return [_transition(segment, in_state=False) for segment in segments]


def _transition(transition: Transition, *, in_state: bool) -> dict[str, Any]:
    caused = transition.on or transition.after_s or transition.leads_on
    obvious = transition.when == ALWAYS and (not in_state or bool(caused))
    data = without_gaps(
        {
            "description": transition.description,
            "on": transition.on[0] if len(transition.on) == 1 else list(transition.on),
            "when": ELSE if transition.is_else else None if obvious else scalar(transition.when),
            "after_s": transition.after_s or None,
            "do": actions_data(transition.do),
            "go": targets_data(transition.go),
            "local": transition.local or None,
            "then": segments_data(transition.then),
            "junction": transition.junction,
        }
    )
    if not data.keys() & {"do", "go", "then", "junction"}:
        data["do"] = one_line({})
    return one_line(data) if "then" not in data and len(str(data)) <= SHORT else data


def targets_data(targets: tuple[Target, ...]) -> Any:
    """Return the states to go to: a name, a history, or a list; nothing where there are none."""
    found = [_target(target) for target in targets]
    return found[0] if len(found) == 1 else found


def _target(target: Target) -> str | dict[str, Any]:
    if target.memory is None:
        return target.state
    data: dict[str, Any] = {MEMORIES[target.memory]: target.state}
    if target.default:
        data["default"] = target.default[0] if len(target.default) == 1 else list(target.default)
    return one_line(data)
