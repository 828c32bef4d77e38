"""The field of a contest: the rules name it, its own document says what it is like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posewright.arenas import Arena, arena
from posewright.contests.rules import Rules
from posewright.errors import InputError

_MEASURES = ("size_m", "lines", "box_size_m")
"""What a judge reads of a field, as `Arena.to_dict` names it."""


def field_of(rules: Rules) -> Arena:
    """Return the field that the rules name, without boxes.

    Raises:
        UnknownNameError: none ships under that name.
    """
    return arena(rules.arena)


def check_field(rules: Rules, told: Mapping[str, Any]) -> None:
    """Refuse a field that is not the one the rules name, or is measured otherwise.

    Args:
        rules: of the contest.
        told: a field as `Arena.to_dict` gives it; where it says nothing, nothing is wrong.

    Raises:
        InputError: naming what differs.
    """
    name = told.get("name", rules.arena)
    if name != rules.arena:
        raise InputError(f"the arena is {name!r}", hint=f"{rules.name} is run on {rules.arena!r}")
    right = field_of(rules).to_dict()
    for measure in _MEASURES:
        if measure in told and told[measure] != right[measure]:
            hint = f"{right[measure]} in the document of {rules.arena}"
            raise InputError(f"the arena's {measure} is {told[measure]}", hint=hint)
