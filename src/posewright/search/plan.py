"""The problem of a search, and the plan that determines its candidates."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from posewright.errors import InputError

Fact: TypeAlias = float | int | str
"""A detail of an evaluation beside its score; truth values are stored as integers."""

REASON = "reason"
"""The name of the fact with the reason why a candidate could not be judged."""

NOT_JUDGED = "not_judged"
"""The name of the fact with the reason why a score is not a number, if the problem gave none."""

MAX_EXACT_INTEGER = 2**53
"""A float represents all integers up to this one."""


@dataclass(frozen=True)
class Dimension:
    """A number that is searched, and its range.

    Attributes:
        name: the name of the number.
        low: smallest value.
        high: largest value.
        start: value that is tried first.
        is_whole: whether it is an integer; then low, high and start must be integers, too.

    Raises:
        InputError: the name is empty, a number is not finite, the range is empty, or the start is outside it.
    """

    name: str
    low: float
    high: float
    start: float
    is_whole: bool = False

    def __post_init__(self) -> None:
        """Raise an InputError unless the range is finite and contains the start."""
        if not self.name:
            raise InputError("a dimension has no name", hint="name what is searched: step_height_m")
        # NumPy's numbers are converted, so that comparison and JSON work as for Python's own.
        object.__setattr__(self, "low", self._to_plain("low", self.low))
        object.__setattr__(self, "high", self._to_plain("high", self.high))
        object.__setattr__(self, "start", self._to_plain("start", self.start))
        if not self.low < self.high:
            raise InputError(
                f"dimension {self.name!r} goes from {self.low} to {self.high}",
                hint="low must be less than high; leave out what is not searched",
            )
        if not math.isfinite(self.width):
            message = f"the range of dimension {self.name!r} is too wide for a float"
            raise InputError(message, hint="expected a smaller range")
        if not self.low <= self.start <= self.high:
            message = f"dimension {self.name!r} starts at {self.start}"
            raise InputError(message, hint=f"its range is {self.low} to {self.high}")

    def _to_plain(self, bound: str, number: float) -> float:
        """Return a bound as Python's own float, or int for an integer dimension; raise InputError otherwise.

        Args:
            bound: the name of the bound, for messages: `low`, `high` or `start`.
            number: its value.
        """
        message = f"dimension {self.name!r}: {bound} is {number}"
        if not math.isfinite(number):
            raise InputError(message, hint="expected a finite number")
        if not self.is_whole:
            return float(number)
        if number != round(number) or abs(number) > MAX_EXACT_INTEGER:
            raise InputError(message, hint="expected an integer")
        return round(number)

    @property
    def width(self) -> float:
        """The length of its range."""
        return self.high - self.low


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of one candidate.

    Attributes:
        score: smaller is better. A candidate that cannot be judged (it fell, its legs do not reach) has the
            score infinity and a reason among its facts. NaN and minus infinity become infinity, with a fact
            `not_judged`.
        facts: details to store: speed, height, the reason of a failure.
    """

    score: float
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Convert the score to a float and the facts to plain data.

        NaN and minus infinity become infinity, with the original score among the facts.
        """
        original_score: object = self.score  # a problem may return any type
        if not isinstance(original_score, numbers.Real):
            hint = "expected a number; infinity if there is none"
            raise InputError(f"a score is {original_score!r}", hint=hint)
        score = float(original_score)
        facts = {str(name): _to_plain_fact(name, fact) for name, fact in self.facts.items()}
        if not self.is_judged and score != math.inf:
            facts.setdefault(NOT_JUDGED, f"the score was {score}")
            score = math.inf
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "facts", facts)

    @property
    def is_judged(self) -> bool:
        """Whether the score is finite."""
        return math.isfinite(self.score)


def _to_plain_fact(name: str, fact: object) -> Fact:
    """Return a fact as Python's own int, float or str, so that a journal restores the same value."""
    if isinstance(fact, str):
        return str(fact)
    if isinstance(fact, numbers.Integral):
        return int(fact)
    if isinstance(fact, numbers.Real):
        return float(fact)
    if type(fact).__name__ in ("bool", "bool_"):  # NumPy's truth values are not numbers to Python
        return int(bool(fact))
    raise InputError(f"the fact {name!r} is {fact!r}", hint="expected a number or a text")


class Problem(Protocol):
    """A search problem; it must be picklable if there are several workers.

    The same values must give the same evaluation, so that a search can be resumed: a problem with randomness
    must use its own seed.
    """

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """The numbers that are searched, in order."""

    @property
    def fingerprint(self) -> str:
        """A text that differs if evaluations would: a journal is only resumed for its own problem."""

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        """Evaluate values, one for each dimension; those of integer dimensions are integers."""


def evaluate(problem: Problem, values: Mapping[str, float]) -> Evaluation:
    """Return a problem's evaluation of values.

    Raises:
        InputError: the problem returned something else than an Evaluation.
    """
    evaluation: object = problem.evaluate(dict(values))
    if not isinstance(evaluation, Evaluation):
        message = f"the problem's evaluate returned {evaluation!r}"
        raise InputError(message, hint="expected an Evaluation")
    return evaluation


MAX_SEED = 2**63 - 1
"""The largest seed that all file formats in use can store."""


def require_seed(seed: object, *, count: int = 1) -> int:
    """Return a seed that is an integer from 0 to the largest one.

    Args:
        seed: the seed to be checked; the first of several consecutive ones.
        count: number of consecutive seeds.

    Raises:
        InputError: it is not such an integer.
    """
    max_seed = MAX_SEED - count + 1
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= max_seed:
        raise InputError(f"the seed is {seed!r}", hint=f"expected an integer from 0 to {max_seed}")
    return seed


MAX_SPREAD = 1.0 / 3.0
"""The largest standard deviation that cma allows, as a fraction of the range."""

MIN_POPULATION = 4
"""A smaller generation gives CMA-ES nearly no information."""

MAX_POPULATION = 100_000


@dataclass(frozen=True)
class Plan:
    """All that determines the candidates of a search, given the scores of earlier ones.

    Attributes:
        fingerprint: the fingerprint of the problem.
        dimensions: the dimensions of the problem.
        population: number of candidates in a generation.
        spread: standard deviation of the first candidates, as a fraction of each range.
        seed: the seed of the random numbers.

    Raises:
        InputError: two dimensions have one name, there is none, or a number is out of range.
    """

    fingerprint: str
    dimensions: tuple[Dimension, ...]
    population: int
    spread: float
    seed: int

    def __post_init__(self) -> None:
        names = [dimension.name for dimension in self.dimensions]
        repeated_names = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated_names:
            raise InputError(
                f"two dimensions are called {repeated_names[0]!r}", hint="give each its own name"
            )
        if not names:
            raise InputError("the problem has no dimensions", hint="expected at least one number to search")
        if not MIN_POPULATION <= self.population <= MAX_POPULATION:
            hint = f"expected {MIN_POPULATION} to {MAX_POPULATION}"
            raise InputError(f"the population is {self.population}", hint=hint)
        if not 0.0 < self.spread <= MAX_SPREAD:
            hint = "expected more than 0, up to a third of the range"
            raise InputError(f"the spread is {self.spread:g}", hint=hint)
        require_seed(self.seed)

    def locate(self, number: int) -> tuple[int, int]:
        """Return generation and index of an attempt by its number from 0; the first one is the start."""
        if number == 0:
            return 0, 0
        generation, index = divmod(number - 1, self.population)
        return generation + 1, index

    def count_attempts_until(self, generation: int) -> int:
        """Return the number of attempts up to the end of a generation, from the start, generation 0."""
        return 1 + generation * self.population


def make_plan(problem: Problem, *, population: int | None, spread: float, seed: int) -> Plan:
    """Return the plan to search a problem.

    Args:
        problem: the problem to be searched.
        population: number of candidates in a generation; None for 4 + 3 ln n of n dimensions (Hansen).
        spread: standard deviation of the first candidates, as a fraction of each range.
        seed: the seed of the random numbers.

    Raises:
        InputError: a number is out of range, there is no dimension, or two have one name.
    """
    dimensions = tuple(problem.dimensions)
    if population is None:
        population = MIN_POPULATION + int(3.0 * math.log(max(1, len(dimensions))))
    return Plan(
        problem.fingerprint,
        dimensions,
        population=operator.index(population),
        spread=float(spread),
        seed=operator.index(seed),
    )
