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

MAX_POSITION = 10**6
"""Upper bound of all positions; no drawing comes near it."""

ROUNDING = 1e-6
"""Tolerance of the solver's whole numbers."""


@dataclass(frozen=True)
class Spacing:
    """A constraint between the positions of two variables, and the cost of their distance.

    Attributes:
        lower: index of the lower variable.
        upper: index of the upper variable.
        min_distance: `upper` is at least this much above `lower`; negative if it may be below.
        weight: cost of each unit of their distance; 0 for a mere constraint.
    """

    lower: int
    upper: int
    min_distance: int = 0
    weight: int = 0


def solve_spacings(n_variables: int, spacings: Iterable[Spacing]) -> list[int]:
    """Return the integer position of every variable, so that all spacings are met at the least total cost.

    The lowest position is 0. Spacings may form a cycle if its least distances add up to zero or less.

    Raises:
        ArithmeticError: the solver found no whole-numbered solution, which these constraints always have.
    """
    return list(_solve_positions(n_variables, tuple(spacings)))


@lru_cache(maxsize=1024)  # the search for a layout often repeats the same problem
def _solve_positions(n_variables: int, spacings: tuple[Spacing, ...]) -> tuple[int, ...]:
    """Return the positions that `solve_spacings` promises, by linear programming.

    The program minimizes `cost @ positions`, where `positions[lower] - positions[upper] <= -min_distance` for
    every spacing.
    """
    from scipy.optimize import linprog  # imported here, as it is slow and only drawings need it

    if not spacings:
        return (0,) * n_variables
    lower = np.array([spacing.lower for spacing in spacings])
    upper = np.array([spacing.upper for spacing in spacings])
    min_distance = np.array([spacing.min_distance for spacing in spacings])
    weight = np.array([spacing.weight for spacing in spacings])
    # weights are whole numbers, so this only prefers the lowest among solutions of equal cost
    cost = np.full(n_variables, 1 / (n_variables + 1))
    np.add.at(cost, upper, weight)
    np.add.at(cost, lower, -weight)
    # each row has one 1 and one -1, so the matrix is totally unimodular, and corners are whole numbers
    matrix = np.zeros((len(spacings), n_variables))
    rows = np.arange(len(spacings))
    matrix[rows, lower] += 1
    matrix[rows, upper] -= 1
    result = linprog(cost, A_ub=matrix, b_ub=-min_distance, bounds=(0, MAX_POSITION), method="highs-ds")
    if result.x is None:
        raise ArithmeticError(f"the places of {n_variables} items cannot be solved: {result.message}")
    positions = np.rint(result.x)
    if np.abs(positions - result.x).max() > ROUNDING:
        raise ArithmeticError(f"the places of {n_variables} items are no whole numbers")
    return tuple(int(position) for position in positions - positions.min())
