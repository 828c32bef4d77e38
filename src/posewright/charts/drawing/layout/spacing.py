"""Places on a line that keep demanded distances and make arrows short: a small linear program.

It gives the best layers of a drawing, and on a second graph the best places inside them.

Source:
    Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993), sections 2 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

LARGEST = 10**6
"""Bound of every place; no drawing comes near it."""

ROUNDING = 1e-6
"""How far the solver's answer may be from a whole number."""


@dataclass(frozen=True)
class Spacing:
    """A demand: the place of `head` is at least `least` above that of `tail`; more costs `weight` each."""

    tail: int
    head: int
    least: int
    weight: int


def solve_spacings(count: int, spacings: Iterable[Spacing]) -> list[int]:
    """Return whole numbers for 0..count-1 that meet every spacing at the least cost; the lowest is 0.

    Spacings may form a circle whose least distances add up to zero or less.

    Raises:
        ArithmeticError: the solver found no whole-numbered solution, which these constraints always have.
    """
    return list(_places(count, tuple(spacings)))


@lru_cache(maxsize=1024)  # the search for a layout asks the same again and again
def _places(count: int, spacings: tuple[Spacing, ...]) -> tuple[int, ...]:
    from scipy.optimize import linprog  # here: only drawings need it, and it takes a while to import

    if not spacings:
        return (0,) * count
    tail = np.array([spacing.tail for spacing in spacings])
    head = np.array([spacing.head for spacing in spacings])
    least = np.array([spacing.least for spacing in spacings])
    weight = np.array([spacing.weight for spacing in spacings])
    # Weights are whole numbers, so this decides only between solutions of equal cost: the lowest wins.
    cost = np.full(count, 1 / (count + 1))
    np.add.at(cost, head, weight)
    np.add.at(cost, tail, -weight)
    # Each row has one 1 and one -1, so the matrix is totally unimodular: corners are whole numbers.
    matrix = np.zeros((len(spacings), count))
    each = np.arange(len(spacings))
    matrix[each, tail] += 1
    matrix[each, head] -= 1
    result = linprog(cost, A_ub=matrix, b_ub=-least, bounds=(0, LARGEST), method="highs-ds")
    if result.x is None:
        raise ArithmeticError(f"the places of {count} items cannot be solved: {result.message}")
    places = np.rint(result.x)
    if np.abs(places - result.x).max() > ROUNDING:
        raise ArithmeticError(f"the places of {count} items are no whole numbers")
    return tuple(int(place) for place in places - places.min())
