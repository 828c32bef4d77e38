"""Robot inspection: what a robot measures and weighs against the contest's limits, each with its verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from posewright.contests.contest import ScoreTable, Tabled
from posewright.contests.obstacle_race.rules import Rules
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.errors import InputError


@dataclass(frozen=True, slots=True)
class Measures:
    """What a robot measures: stretched, with its battery, the longer edge of its largest sole.

    `how` says of each of these, by its name here, how it was found.
    """

    height_m: float
    mass_kg: float
    foot_m: float
    legs: int
    how: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a robot keeps one limit: no more than that; of what has no unit, just so many."""

    what: str
    value: float
    limit: float
    unit: str
    passed: bool
    source: str = ""
    how: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        limit = f"{self.limit:g}{unit}"
        wanted = f"just {limit}" if not self.unit else f"at most {limit}"
        return f"{self.what} {self.value:g}{unit}: {wanted}, {'kept' if self.passed else 'not kept'}"


@dataclass(frozen=True, slots=True)
class Inspection(Tabled):
    """What an inspection found, by the rules of that name; one verdict a limit."""

    robot: str
    rules: str
    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether the robot may enter."""
        return all(verdict.passed for verdict in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, fit for JSON."""
        return {**asdict(self), "verdicts": [asdict(one) for one in self.verdicts], "passed": self.passed}

    def table(self) -> ScoreTable:
        """Return a row a limit."""
        rows = tuple(
            (
                one.what,
                f"{one.value:.4g} {one.unit}".strip(),
                f"{one.limit:g} {one.unit}".strip(),
                "kept" if one.passed else "NOT KEPT",
                one.how,
                one.source,
            )
            for one in self.verdicts
        )
        total = ("may enter" if self.passed else "may not enter", "", "", "", "", "")
        return ScoreTable(("", "robot", "limit", "", "measured", "source"), rows, total)


def inspect_measures(robot: str, measures: Measures, rules: Rules | None = None) -> Inspection:
    """Return which limits a robot keeps, of CEABOT 2013 where no rules are given; a limit itself is allowed.

    Raises:
        InputError: a measure is not a number above 0.
    """
    by = rules or shipped_rules()
    limits, how = by.entry, dict(measures.how)
    asked = (
        ("height", "height_m", measures.height_m, limits.height_limit_m, "m", "height_limit_m"),
        ("foot length", "foot_m", measures.foot_m, limits.foot_limit_m, "m", "foot_limit_m"),
        ("mass", "mass_kg", measures.mass_kg, limits.mass_limit_kg, "kg", "mass_limit_kg"),
        ("legs", "legs", measures.legs, limits.legs, "", "legs"),
    )
    verdicts = []
    for what, name, value, limit, unit, key in asked:
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{robot}: a {what} of {value:g} {unit}".rstrip(), hint="a number above 0")
        passed = value <= limit if unit else value == limit
        source = by.sources.get(f"entry.{key}", "")
        verdicts.append(Verdict(what, value, limit, unit, passed, source, how.get(name, "")))
    return Inspection(robot, by.name, tuple(verdicts))
