"""Positions on a line with minimum distances and short arrows: a small linear program.

It gives the best layers of a drawing, and on a second graph the best positions inside them.

Source:
    Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993), sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

MAX_PLACE = 10**6
"""Upper bound of all positions; no drawing comes near it."""

ROUNDING = 1e-6
"""Tolerance of the solver's whole numbers."""


@dataclass(frozen=True)
class Spacing:
    """A constraint between two variables, given by their numbers.

    Attributes:
        tail: the lower variable.
        head: the upper variable.
        min_distance: `head` is at least this much above `tail`; negative if it may be below.
        weight: cost of each unit of their distance.
    """

    tail: int
    head: int
    min_distance: int
    weight: int


def solve_spacings(count: int, spacings: Iterable[Spacing]) -> list[int]:
    """Return integer positions of variables 0..count-1 that meet all spacings at the least cost.

    The lowest position is 0. Spacings may form a cycle if its least distances add up to zero or less.

    Raises:
        ArithmeticError: the solver found no whole-numbered solution, which these constraints always have.
    """
    return list(_solve_places(count, tuple(spacings)))


@lru_cache(maxsize=1024)  # the search for a layout often repeats the same problem
def _solve_places(count: int, spacings: tuple[Spacing, ...]) -> tuple[int, ...]:
    """Return the whole-number places that satisfy all spacings at the least weighted distance."""
    from scipy.optimize import linprog  # imported here, as it is slow and only drawings need it

    if not spacings:
        return (0,) * count
    tail = np.array([spacing.tail for spacing in spacings])
    head = np.array([spacing.head for spacing in spacings])
    min_distance = np.array([spacing.min_distance for spacing in spacings])
    weight = np.array([spacing.weight for spacing in spacings])
    # weights are whole numbers, so this only prefers the lowest among solutions of equal cost
    cost = np.full(count, 1 / (count + 1))
    np.add.at(cost, head, weight)
    np.add.at(cost, tail, -weight)
    # each row has one 1 and one -1, so the matrix is totally unimodular, and corners are whole numbers
    matrix = np.zeros((len(spacings), count))
    rows = np.arange(len(spacings))
    matrix[rows, tail] += 1
    matrix[rows, head] -= 1
    result = linprog(cost, A_ub=matrix, b_ub=-min_distance, bounds=(0, MAX_PLACE), method="highs-ds")
    if result.x is None:
        raise ArithmeticError(f"the places of {count} items cannot be solved: {result.message}")
    places = np.rint(result.x)
    if np.abs(places - result.x).max() > ROUNDING:
        raise ArithmeticError(f"the places of {count} items are no whole numbers")
    return tuple(int(place) for place in places - places.min())
