"""What is searched, named numbers in a box, and the plan that decides which candidates are asked for."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from posewright.errors import InputError

Fact: TypeAlias = float | int | str
"""What an evaluation may note beside its score; a truth value is a whole number."""

REASON = "reason"
"""The fact that says why a candidate could not be judged, where the problem noticed."""

NOT_JUDGED = "not_judged"
"""The fact that says why a score is no number, where the problem itself did not notice."""

LARGEST_WHOLE = 2**53
"""Up to here a float holds every whole number."""


@dataclass(frozen=True)
class Dimension:
    """One number of the search, and where it may lie.

    Attributes:
        low: the least it may be.
        high: the most it may be.
        start: where the search begins; it is tried first, as it is.
        is_whole: whether it is a whole number; then low, high and start must be whole too.

    Raises:
        InputError: no name, a number that is not finite, an empty range, or a start outside it.
    """

    name: str
    low: float
    high: float
    start: float
    is_whole: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a dimension has no name", hint="name what is searched: step_height_m")
        # numpy's numbers too: what is kept, compared and written is a plain one
        for bound in ("low", "high", "start"):
            object.__setattr__(self, bound, self._plain(bound, getattr(self, bound)))
        if not self.low < self.high:
            raise InputError(
                f"dimension {self.name!r} goes from {self.low} to {self.high}",
                hint="low must be less than high; what is not searched is no dimension",
            )
        if not math.isfinite(self.width):
            raise InputError(
                f"dimension {self.name!r} is wider than a number can say", hint="a smaller range"
            )
        if not self.low <= self.start <= self.high:
            raise InputError(
                f"dimension {self.name!r} starts at {self.start}",
                hint=f"its range is {self.low} to {self.high}",
            )

    def _plain(self, bound: str, number: float) -> float:
        if not math.isfinite(number):
            raise InputError(f"dimension {self.name!r}: {bound} is {number}", hint="a finite number")
        if not self.is_whole:
            return float(number)
        if number != round(number) or abs(number) > LARGEST_WHOLE:
            raise InputError(f"dimension {self.name!r}: {bound} is {number}", hint="a whole number")
        return round(number)

    @property
    def width(self) -> float:
        """The length of its range."""
        return self.high - self.low


@dataclass(frozen=True)
class Evaluation:
    """How good one candidate is.

    Attributes:
        score: smaller is better. A candidate that cannot be judged (it fell, its legs do not reach) has
            the score infinity and a reason among its facts. NaN and minus infinity are read as infinity,
            with a fact `not_judged` that says so.
        facts: what else is worth keeping: speed, height, the reason of a failure. Numbers and texts.
    """

    score: float
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given: object = self.score
        if not isinstance(given, numbers.Real):
            raise InputError(f"a score is {given!r}", hint="a number; infinity where there is none")
        score = float(given)
        facts = {str(name): _plain_fact(name, fact) for name, fact in self.facts.items()}
        if not self.is_judged and score != math.inf:
            facts.setdefault(NOT_JUDGED, f"the score was {score}")
            score = math.inf
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "facts", facts)

    @property
    def is_judged(self) -> bool:
        """Whether the score is a number, and so says something."""
        return math.isfinite(self.score)


def _plain_fact(name: str, fact: object) -> Fact:
    """Return a fact as Python's own int, float or str, so that a journal gives back what was noted."""
    if isinstance(fact, str):
        return str(fact)
    if isinstance(fact, numbers.Integral):
        return int(fact)
    if isinstance(fact, numbers.Real):
        return float(fact)
    if type(fact).__name__ in ("bool", "bool_"):  # numpy's truth values are no numbers to Python
        return int(bool(fact))
    raise InputError(f"the fact {name!r} is {fact!r}", hint="a number or a text")


class Problem(Protocol):
    """What is searched. It must be picklable where more than one worker evaluates it.

    The same values must give the same evaluation, or a resumed search is not the one that was stopped: a
    problem with chance in it draws from a seed of its own.
    """

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The numbers that are searched, in order."""

    @property
    def fingerprint(self) -> str:
        """A text that differs when an evaluation would: a journal goes on only with its own problem."""

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        """Say how good these values are; one for each dimension, a whole number where it is one."""


def judged(problem: Problem, values: Mapping[str, float]) -> Evaluation:
    """Return a problem's evaluation of a candidate, and nothing else it might return."""
    result: object = problem.evaluate(dict(values))
    if not isinstance(result, Evaluation):
        raise InputError(f"the problem's evaluate returned {result!r}", hint="an Evaluation")
    return result


MAX_SEED = 2**63 - 1
"""Seeds are whole numbers that every file format at hand can carry."""


def checked_seed(seed: object, *, count: int = 1) -> int:
    """Return a seed, the first of so many that follow each other, or raise InputError where it is none."""
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
