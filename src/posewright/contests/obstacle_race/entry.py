"""The entry check: what a robot measures and weighs against the contest's limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.contests.obstacle_race.rules import Rules
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.errors import InputError


@dataclass(frozen=True, slots=True)
class Breach:
    """One limit a robot does not keep.

    Attributes:
        what: `height`, `mass` or `foot length`.
        value: the robot's.
        limit: the contest's.
        unit: of both.
    """

    what: str
    value: float
    limit: float
    unit: str

    def __str__(self) -> str:
        return f"{self.what} {self.value:g} {self.unit} is above the limit of {self.limit:g} {self.unit}"


def check_entry(
    *, height_m: float, mass_kg: float, foot_m: float, rules: Rules | None = None
) -> tuple[Breach, ...]:
    """Return the limits a robot does not keep; none of them means that it may enter.

    Args:
        height_m: stretched [m].
        mass_kg: with its battery [kg].
        foot_m: the longer edge of a foot [m].
        rules: whose limits; CEABOT 2013 where none are given.

    Raises:
        InputError: a fact is not a number above 0.
    """
    limits = (rules or shipped_rules()).entry
    facts = (
        Breach("height", height_m, limits.height_limit_m, "m"),
        Breach("mass", mass_kg, limits.mass_limit_kg, "kg"),
        Breach("foot length", foot_m, limits.foot_limit_m, "m"),
    )
    for fact in facts:
        if not (math.isfinite(fact.value) and fact.value > 0.0):
            raise InputError(f"a {fact.what} of {fact.value:g} {fact.unit}", hint="a number above 0")
    return tuple(fact for fact in facts if fact.value > fact.limit)
