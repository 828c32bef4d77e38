"""Ranking: who takes which place by raw points, and what places earn."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from posewright.contests.rules import Rules
from posewright.contests.rules import rules as shipped_rules
from posewright.errors import InputError


@dataclass(frozen=True, slots=True)
class Standing:
    """One entry's place.

    Attributes:
        place: counted from 1; equal raw points share a place and the next ones are skipped.
        name: of the entry.
        raw_points: by which it is placed.
        place_points: what the place earns; an assumption: those who share a place earn it in full.
    """

    place: int
    name: str
    raw_points: float
    place_points: float


def rank(raw_points: Mapping[str, float], rules: Rules | None = None) -> tuple[Standing, ...]:
    """Return the entries from the first place to the last.

    Args:
        raw_points: by name of the entry: a leg's raw points, or a result's `raw_total`.
        rules: what places earn; CEABOT 2013 where none are given.

    Raises:
        InputError: there is an entry without a finite number of points.
    """
    for name, points in raw_points.items():
        if not math.isfinite(points):
            raise InputError(f"{name} has {points} points", hint="a finite number")
    earned = (rules or shipped_rules()).scoring.place_points
    ordered = sorted(raw_points.items(), key=lambda entry: (-entry[1], entry[0]))
    standings: list[Standing] = []
    for index, (name, points) in enumerate(ordered):
        tied = bool(standings) and standings[-1].raw_points == points
        place = standings[-1].place if tied else index + 1
        worth = earned[place - 1] if place <= len(earned) else 0.0
        standings.append(Standing(place, name, points, worth))
    return tuple(standings)
