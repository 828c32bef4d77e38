"""The results of a search: attempts, the generations that they form, and the best values."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from posewright.arrays import standard_deviation
from posewright.search.plan import Dimension, Evaluation, Fact


@dataclass(frozen=True)
class Attempt:
    """An evaluated candidate.

    Attributes:
        generation: the number of the generation, from 0, which is the start alone.
        index: within the generation, from 0.
        values: the values by name of their dimension.
        evaluation: the evaluation of the values.
    """

    generation: int
    index: int
    values: Mapping[str, float]
    evaluation: Evaluation

    @property
    def score(self) -> float:
        """The score of the candidate; smaller is better."""
        return self.evaluation.score


@dataclass(frozen=True)
class Generation:
    """A summary of one generation.

    Attributes:
        number: the number of the generation, from 0, which is the start alone.
        best_score: the best score of this generation; infinity if no candidate could be judged.
        median_score: the median score of this generation; infinity if that candidate could not be judged.
        best_so_far: best score of this and all earlier generations.
        best: the values with that score.
        spread: mean over the dimensions of the candidates' standard deviation, as a fraction of the range.
        judged: number of its candidates that could be judged.
        evaluations: number of evaluations so far, including this generation.
        recalled: number of its evaluations that were read from the journal.
    """

    number: int
    best_score: float
    median_score: float
    best_so_far: float
    best: Mapping[str, float]
    spread: float
    judged: int
    evaluations: int
    recalled: int = field(default=0, compare=False)


class EndReason(Enum):
    """Why a search ended."""

    COMPLETE = "complete"
    """All requested generations are done."""
    CONVERGED = "converged"
    """The candidates no longer differ, or have not improved for long."""
    STOPPED = "stopped"
    """The `watch` function returned false."""


@dataclass(frozen=True)
class TuningResult:
    """The result of a search.

    Attributes:
        best: the best values; the first ones of several with the same score.
        score: the score of the best values; infinity if no candidate could be judged.
        facts: the facts about the best values.
        evaluations: number of evaluations.
        generations: the generations in order.
        ending: why the search ended.
    """

    best: Mapping[str, float]
    score: float
    facts: Mapping[str, Fact]
    evaluations: int
    generations: tuple[Generation, ...]
    ending: EndReason


def better_of(first: Attempt | None, second: Attempt) -> Attempt:
    """Return the attempt with the smaller score; the first if they are equal."""
    return first if first is not None and first.score <= second.score else second


def summarise_generation(
    attempts: Sequence[Attempt],
    dimensions: Sequence[Dimension],
    *,
    best: Attempt,
    n_before: int,
    n_recalled: int = 0,
) -> Generation:
    """Return the summary of a generation.

    Args:
        attempts: the attempts of the generation.
        dimensions: the dimensions of the search.
        best: the best attempt of this and all earlier generations.
        n_before: number of evaluations before this generation.
        n_recalled: number of attempts that were read from the journal.
    """
    scores = [attempt.score for attempt in attempts]
    return Generation(
        number=attempts[0].generation,
        best_score=min(scores),
        median_score=_median(scores),
        best_so_far=best.score,
        best=best.values,
        spread=_mean_spread(attempts, dimensions),
        judged=sum(attempt.evaluation.is_judged for attempt in attempts),
        evaluations=n_before + len(attempts),
        recalled=n_recalled,
    )


def group_generations(attempts: Sequence[Attempt], dimensions: Sequence[Dimension]) -> Iterator[Generation]:
    """Yield the generations of attempts that are in order; the last one may be unfinished."""
    best: Attempt | None = None
    n_before = 0
    for _, group in itertools.groupby(attempts, key=lambda attempt: attempt.generation):
        generation = list(group)
        best = functools.reduce(better_of, generation, best)
        assert best is not None  # noqa: S101 -- a group is never empty
        yield summarise_generation(
            generation, dimensions, best=best, n_before=n_before, n_recalled=len(generation)
        )
        n_before += len(generation)


def _median(scores: Sequence[float]) -> float:
    """Return the median; infinity if the upper of the middle scores is infinite."""
    low = statistics.median_low(scores)
    high = statistics.median_high(scores)
    return low / 2.0 + high / 2.0 if math.isfinite(high) else math.inf  # low + high might overflow


def _mean_spread(attempts: Sequence[Attempt], dimensions: Sequence[Dimension]) -> float:
    """Return the mean over the dimensions of the standard deviation, as a fraction of the range."""
    deviations: list[float] = []
    for dimension in dimensions:
        fractions = [
            (attempt.values[dimension.name] - dimension.low) / dimension.width for attempt in attempts
        ]
        deviations.append(standard_deviation(fractions, is_sample=False))
    return statistics.fmean(deviations)
