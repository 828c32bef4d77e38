"""What a search leaves: attempts, the generations they make up, and the best of them."""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from posewright.search.plan import Dimension, Evaluation, Fact


@dataclass(frozen=True)
class Attempt:
    """One candidate and what became of it.

    Attributes:
        values: the candidate, by the names of the dimensions.
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
    """One generation, for live progress and for pictures.

    Attributes:
        number: 0 is the start alone.
        best_score: of this generation; infinity where nothing in it could be judged.
        best_so_far: the best score of this and all earlier generations.
        best: the values that got it.
        spread: how far its candidates lie apart: their standard deviation as a share of each dimension's
            range, the mean over the dimensions.
        judged: how many of its candidates could be judged.
        evaluations: how many there are so far, this generation's among them.
        recalled: how many of this generation's came out of the journal instead of being evaluated now.
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


class Ending(Enum):
    """Why a search ended."""

    COMPLETE = "complete"
    """All generations that were asked for are done."""
    CONVERGED = "converged"
    """Its candidates no longer differ, or have not become better for long: going on leads nowhere."""
    STOPPED = "stopped"
    """Whoever watched it said stop."""


@dataclass(frozen=True)
class Tuned:
    """What a search found.

    Attributes:
        best: the best values; the first ones, where several are as good.
        score: their score; infinity where nothing could be judged.
    """

    best: Mapping[str, float]
    score: float
    facts: Mapping[str, Fact]
    evaluations: int
    generations: tuple[Generation, ...]
    ending: Ending


def better(one: Attempt | None, other: Attempt) -> Attempt:
    """Return the one with the smaller score, the first of two that are as good."""
    return one if one is not None and one.score <= other.score else other


def summarise(
    own: Sequence[Attempt], dimensions: Sequence[Dimension], *, best: Attempt, before: int, recalled: int = 0
) -> Generation:
    """Return what is to be known of a generation, `best` being the best of it and of all before."""
    scores = [attempt.score for attempt in own]
    return Generation(
        number=own[0].generation,
        best_score=min(scores),
        median_score=_median(scores),
        best_so_far=best.score,
        best=best.values,
        spread=_spread(own, dimensions),
        judged=sum(attempt.evaluation.is_judged for attempt in own),
        evaluations=before + len(own),
        recalled=recalled,
    )


def generations_of(attempts: Sequence[Attempt], dimensions: Sequence[Dimension]) -> Iterator[Generation]:
    """Yield the generations that attempts in order make up; the last one may be unfinished."""
    best: Attempt | None = None
    before = 0
    for _, group in itertools.groupby(attempts, key=lambda attempt: attempt.generation):
        own = list(group)
        best = functools.reduce(better, own, best)
        assert best is not None  # noqa: S101 -- a group is never empty
        yield summarise(own, dimensions, best=best, before=before, recalled=len(own))
        before += len(own)


def _median(scores: Sequence[float]) -> float:
    """Return the median; between a number and infinity it is infinity."""
    middle = statistics.median_low(scores), statistics.median_high(scores)
    return middle[0] / 2.0 + middle[1] / 2.0 if math.isfinite(middle[1]) else math.inf


def _spread(attempts: Sequence[Attempt], dimensions: Sequence[Dimension]) -> float:
    shares = [
        statistics.pstdev([(attempt.values[one.name] - one.low) / one.width for attempt in attempts])
        for one in dimensions
    ]
    return statistics.fmean(shares)
