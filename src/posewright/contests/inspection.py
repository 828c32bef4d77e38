"""Robot inspection: a robot's measures compared with the limits of a contest's rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from posewright.contests.contest import NotebookTable, ScoreTable
from posewright.contests.obstacle_race.rules import Rules
from posewright.contests.obstacle_race.rules import rules as shipped_rules
from posewright.errors import InputError


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of a robot.

    Attributes:
        height_m: stretched [m].
        mass_kg: the mass with its battery [kg].
        foot_m: longer edge of its largest sole [m].
        legs: number of legs.
        methods: how each measure was obtained, as pairs of a field's name and a description.
    """

    height_m: float
    mass_kg: float
    foot_m: float
    legs: int
    methods: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison of one measure with its limit.

    Attributes:
        measure: its name.
        value: the value of the robot.
        limit: the greatest allowed value; without a unit, the only allowed one.
        unit: the unit of both; empty for a number of things.
        passed: whether the robot is within the limit.
        source: where the limit comes from.
        method: how the value was obtained.
    """

    measure: str
    value: float
    limit: float
    unit: str
    passed: bool
    source: str = ""
    method: str = ""

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        requirement = f"at most {self.limit:g}{unit}" if self.unit else f"exactly {self.limit:g}"
        return f"{self.measure} {self.value:g}{unit}: {requirement}, {'passed' if self.passed else 'failed'}"


@dataclass(frozen=True, slots=True)
class Inspection(NotebookTable):
    """The result of a robot inspection.

    Attributes:
        robot: its name.
        rules: name of the rules.
        verdicts: one for each limit.
    """

    robot: str
    rules: str
    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether the robot may enter the contest."""
        return all(verdict.passed for verdict in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return the inspection as JSON types."""
        verdicts = [
            {
                "what": verdict.measure,
                "value": verdict.value,
                "limit": verdict.limit,
                "unit": verdict.unit,
                "passed": verdict.passed,
                "source": verdict.source,
                "how": verdict.method,
            }
            for verdict in self.verdicts
        ]
        return {"robot": self.robot, "rules": self.rules, "verdicts": verdicts, "passed": self.passed}

    def table(self) -> ScoreTable:
        """Return a table with one row for each limit."""
        rows = tuple(
            (
                verdict.measure,
                f"{verdict.value:.4g} {verdict.unit}".strip(),
                f"{verdict.limit:g} {verdict.unit}".strip(),
                "passed" if verdict.passed else "FAILED",
                verdict.method,
                verdict.source,
            )
            for verdict in self.verdicts
        )
        total = ("may enter" if self.passed else "may not enter", "", "", "", "", "")
        return ScoreTable(("", "robot", "limit", "", "measured", "source"), rows, total)


def inspect_measures(robot: str, measures: Measures, rules: Rules | None = None) -> Inspection:
    """Compare a robot's measures with the limits of rules, CEABOT 2013 by default; the limit itself passes.

    Raises:
        InputError: a measure is not a number above 0.
    """
    contest_rules = rules or shipped_rules()
    limits = contest_rules.entry
    methods = dict(measures.methods)
    comparisons = (  # title, field of the measures, field of the limits, unit
        ("height", "height_m", "height_limit_m", "m"),
        ("foot length", "foot_m", "foot_limit_m", "m"),
        ("mass", "mass_kg", "mass_limit_kg", "kg"),
        ("legs", "legs", "legs", ""),
    )
    verdicts = []
    for title, field_name, limit_name, unit in comparisons:
        value = getattr(measures, field_name)
        limit = getattr(limits, limit_name)
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{robot}: a {title} of {value:g} {unit}".rstrip(), hint="a number above 0")
        passed = value <= limit if unit else value == limit
        verdicts.append(
            Verdict(
                title,
                value,
                limit,
                unit,
                passed,
                source=contest_rules.sources.get(f"entry.{limit_name}", ""),
                method=methods.get(field_name, ""),
            )
        )
    return Inspection(robot, contest_rules.name, tuple(verdicts))
