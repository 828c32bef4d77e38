"""The plan of a search: all that decides which candidates it asks for."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

from posewright.errors import InputError
from posewright.search.problem import Dimension, Problem

MAX_SEED = 2**63 - 1
"""Seeds are whole numbers that every file format at hand can carry."""


def checked_seed(seed: object, *, count: int = 1) -> int:
    """Return a seed, or raise InputError where it is none.

    Args:
        seed: what somebody handed in.
        count: of how many seeds that follow each other it is the first.
    """
    most = MAX_SEED - count + 1
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= most:
        raise InputError(f"a seed of {seed!r}", hint=f"a whole number from 0 to {most}")
    return seed


WIDEST_SPREAD = 1.0 / 3.0
"""cma lets no standard deviation exceed a third of the range."""

FEWEST = 4
"""With fewer candidates a generation teaches nearly nothing."""

MOST_CANDIDATES = 100_000


@dataclass(frozen=True)
class Plan:
    """All that decides which candidates a search asks for, given the scores of those before.

    Attributes:
        population: candidates in a generation.
        spread: how far the first candidates lie apart, as a share of each range.
        seed: of what is drawn.
    """

    fingerprint: str
    dimensions: tuple[Dimension, ...]
    population: int
    spread: float
    seed: int

    def __post_init__(self) -> None:
        names = [one.name for one in self.dimensions]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InputError(f"two dimensions are called {twice[0]!r}", hint="a name for each")
        if not names:
            raise InputError("the problem has no dimensions", hint="there must be a number to search")
        if not FEWEST <= self.population <= MOST_CANDIDATES:
            raise InputError(f"a population of {self.population}", hint=f"{FEWEST} to {MOST_CANDIDATES}")
        if not 0.0 < self.spread <= WIDEST_SPREAD:
            raise InputError(f"a spread of {self.spread:g}", hint="over 0, up to a third of the range")
        checked_seed(self.seed)

    def place(self, number: int) -> tuple[int, int]:
        """Return generation and index of attempt `number`, counted from 0: first the start, then the rest."""
        if number == 0:
            return 0, 0
        generation, index = divmod(number - 1, self.population)
        return generation + 1, index

    def end_of(self, generation: int) -> int:
        """Return how many attempts there are when a generation is done."""
        return 1 + generation * self.population


def plan_for(problem: Problem, *, population: int | None, spread: float, seed: int) -> Plan:
    """Return the plan to search a problem; the population is 4 + 3 ln n of n dimensions unless told (Hansen).

    Raises:
        InputError: a number out of its range, no dimension, or two of one name.
    """
    dimensions = tuple(problem.dimensions)
    if population is None:
        population = FEWEST + int(3.0 * math.log(max(1, len(dimensions))))
    return Plan(
        problem.fingerprint, dimensions, operator.index(population), float(spread), operator.index(seed)
    )
