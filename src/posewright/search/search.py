"""The search itself: CMA-ES over the unit cube, quiet, and without a trace in numpy's random state.

N. Hansen, A. Ostermeier, "Completely derandomized self-adaptation in evolution strategies", Evolutionary
Computation 9(2), 2001; the package `cma` is its author's own.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError, MissingExtraError
from posewright.search.attempt import Attempt, Ending, Generation, Tuned, better, summarise
from posewright.search.executors import executor_for, in_order, packed
from posewright.search.journal import Keeper
from posewright.search.plan import Dimension, Evaluation, Plan, Problem, judged, plan_for

_JUST_UNDER_HALF = 0.5 - 1e-6
"""A whole number is searched up to half a step beyond its bounds: they are met as often as others."""

_NARROWEST = 1e-9
"""The search has converged when the candidates lie so close together, as a share of the range."""


class Search:
    """CMA-ES over a plan's dimensions: ask for a generation, tell its scores, ask for the next.

    A dimension is searched in the unit interval, a whole one in steps of one with cma's own handling of
    whole numbers, which keeps them from freezing; both begin equally wide, measured in their ranges. The
    bounds are cma's too: what it draws is bent back smoothly into the box.

    What it asks for depends on the plan and on what it was told, and on nothing else.
    """

    def __init__(self, plan: Plan) -> None:
        self._dimensions = plan.dimensions
        self._asked: list[Floats] = []
        legacy = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(plan.seed)))
        self._chance = legacy.get_state()
        axes = [_Axis(dimension) for dimension in plan.dimensions]
        if len(axes) == 1:  # cma searches no single dimension; this second one means nothing
            axes.append(_Axis(Dimension("idle", 0.0, 1.0, 0.5)))
        with self._alone():
            cma = _cma()
            self._strategy = cma.CMAEvolutionStrategy(
                [axis.start for axis in axes], plan.spread, _options(axes, plan.population)
            )

    def ask(self) -> list[dict[str, float]]:
        """Return the candidates of the next generation."""
        with self._alone():
            self._asked = self._strategy.ask()
        return [self._values(point) for point in self._asked]

    def tell(self, scores: Sequence[float]) -> None:
        """Say how good the candidates are that were asked for last; infinity where that is not known.

        A candidate that could not be judged counts as worse than all that were. A generation without any
        that was judged teaches nothing: the next one is drawn from the same place.
        """
        ranked = _with_numbers_only(scores)
        if ranked is not None:
            with self._alone():
                self._strategy.tell(self._asked, ranked)

    def has_converged(self) -> bool:
        """Say whether going on would lead nowhere, in the eyes of cma; to be asked once a generation."""
        with self._alone():
            return self._strategy.countiter > 0 and bool(self._strategy.stop())

    def _values(self, point: Floats) -> dict[str, float]:
        return {
            dimension.name: _Axis(dimension).value(float(coordinate))
            for dimension, coordinate in zip(self._dimensions, point, strict=False)
        }

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let cma have numpy's global random state to itself, and its warnings too."""
        outside = np.random.get_state()  # noqa: NPY002 -- cma draws from here, whatever one hands it
        np.random.set_state(self._chance)  # noqa: NPY002
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
            self._chance = np.random.get_state()  # noqa: NPY002
        finally:
            np.random.set_state(outside)  # noqa: NPY002


class _Axis:
    """How a dimension lies in the space that cma searches."""

    def __init__(self, dimension: Dimension) -> None:
        self._dimension = dimension
        self.is_whole = dimension.is_whole
        if dimension.is_whole:
            self.start, self.width = dimension.start, dimension.width
            self.low, self.high = dimension.low - _JUST_UNDER_HALF, dimension.high + _JUST_UNDER_HALF
        else:
            self.start, self.width = (dimension.start - dimension.low) / dimension.width, 1.0
            self.low, self.high = 0.0, 1.0

    def value(self, coordinate: float) -> float:
        """Return the dimension's value at a coordinate, never outside its range by a rounding."""
        one = self._dimension
        value = round(coordinate) if one.is_whole else one.low + coordinate * one.width
        return min(max(value, one.low), one.high)


def _options(axes: Sequence[_Axis], population: int) -> dict[str, object]:
    return {
        "popsize": population,
        "bounds": [[axis.low for axis in axes], [axis.high for axis in axes]],
        "CMA_stds": [axis.width for axis in axes],
        "integer_variables": [i for i, axis in enumerate(axes) if axis.is_whole],
        "seed": math.nan,  # the random state is ours to set
        "verbose": -9,
        "verb_log": 0,
        "verb_disp": 0,
        "signals_filename": "",  # cma would look for orders in the working folder
        # how long to search is for the caller to say; how wide scores differ, only the problem knows
        "maxiter": math.inf,
        "tolfun": 0,
        "tolfunhist": 0,
        "tolflatfitness": math.inf,
        "tolx": _NARROWEST,
    }


def _with_numbers_only(scores: Sequence[float]) -> list[float] | None:
    """Return scores that rank alike, a number for infinity; None where none of them is a number."""
    numbers = [score for score in scores if math.isfinite(score)]
    if not numbers:
        return None
    worst, best = max(numbers), min(numbers)
    # only the ranks count to cma, but its histories must not overflow
    beyond = min(worst + max(worst - best, abs(worst), 1.0), sys.float_info.max)
    return [score if math.isfinite(score) else beyond for score in scores]


def _cma() -> ModuleType:
    try:
        import cma
    except ImportError as error:
        raise MissingExtraError.for_extra("tuning", "tune") from error
    module: ModuleType = cma
    return module


def same_candidate(
    asked: Mapping[str, float], recorded: Mapping[str, float], dimensions: Sequence[Dimension]
) -> bool:
    """Say whether a recorded candidate is the one asked for, but for the rounding of another processor."""
    return all(
        abs(asked[one.name] - recorded[one.name]) <= (0.0 if one.is_whole else _NARROWEST * one.width)
        for one in dimensions
    )


Evaluate: TypeAlias = Callable[[Sequence[Mapping[str, float]]], Iterator[Evaluation]]
Watch: TypeAlias = Callable[[Generation], bool]
After: TypeAlias = Callable[[Attempt], None]


def tune(
    problem: Problem,
    *,
    generations: int,
    population: int | None = None,
    spread: float = 0.3,
    seed: int = 0,
    journal: str | Path | None = None,
    workers: int = 1,
    watch: Watch | None = None,
    after: After | None = None,
) -> Tuned:
    """Search a problem's box for the values with the least score, with CMA-ES.

    The start is evaluated first, as generation 0, so that the result is never worse than it. Which
    candidates follow depends on problem, seed, population and spread alone: not on `workers`, and not on
    how often the search was stopped and taken up again.

    Args:
        problem: what to search.
        generations: how many to draw after the start; the search ends before that when it has converged.
        population: candidates in a generation; default 4 + 3 ln n of n dimensions.
        spread: how far the first candidates lie apart: a standard deviation as a share of each range, at
            most a third.
        seed: of what is drawn.
        journal: where every attempt is written down. A journal that is there is gone on with: what it
            holds is not evaluated again. It may hold more generations than are asked for.
        workers: how many processes evaluate; with one it is this process.
        watch: is shown every generation when it is done, recalled ones too; the search ends after one for
            which it returns false.
        after: is shown every attempt that was evaluated now, in order, when it is written down.

    Raises:
        InputError: a number out of its range, or the journal of another search, which stays as it is.
        FormatError: what stands at `journal` is no journal, or is damaged.
        OutputError: the journal cannot be written, or another process is writing it.
        UnavailableError: a worker process ended by itself.
        MissingExtraError: cma is not installed.
        Exception: whatever the problem raises; the attempts before it are in the journal.
    """
    if generations < 1:
        raise InputError(f"{generations} generations", hint="at least 1")
    plan = plan_for(problem, population=population, spread=spread, seed=seed)
    search = Search(plan)
    with contextlib.ExitStack() as held:
        task = functools.partial(judged, problem)
        executor = held.enter_context(executor_for(workers, plan.population))
        if executor is not None:
            packed(task)  # what cannot travel is refused before anything is written
        keeper = None if journal is None else held.enter_context(Keeper(Path(journal), plan))
        run = _Run(plan, search, lambda candidates: in_order(task, candidates, executor), keeper, after)
        return run.until(generations, watch)


class _Run:
    """One search on its way."""

    def __init__(
        self, plan: Plan, search: Search, evaluate: Evaluate, keeper: Keeper | None, after: After | None
    ) -> None:
        self._plan, self._search, self._evaluate = plan, search, evaluate
        self._keeper, self._after = keeper, after
        self._best: Attempt | None = None
        self._generations: list[Generation] = []

    def until(self, generations: int, watch: Watch | None) -> Tuned:
        """Run up to so many generations."""
        ending = Ending.COMPLETE
        self._evaluated([{one.name: one.start for one in self._plan.dimensions}])
        while True:
            if watch is not None and not watch(self._generations[-1]):
                ending = Ending.STOPPED
            elif self._search.has_converged():
                ending = Ending.CONVERGED
            if ending is not Ending.COMPLETE or len(self._generations) > generations:
                return self._tuned(ending)
            self._search.tell([attempt.score for attempt in self._evaluated(self._search.ask())])

    def _evaluated(self, candidates: Sequence[Mapping[str, float]]) -> list[Attempt]:
        """Return the attempts that candidates become, out of the journal as far as it goes."""
        before = self._generations[-1].evaluations if self._generations else 0
        attempts = list(self._recalled(candidates, before))
        recalled = len(attempts)
        if recalled < len(candidates):
            attempts += self._evaluated_now(candidates[recalled:], before + recalled)
        self._best = functools.reduce(better, attempts, self._best)
        assert self._best is not None  # noqa: S101 -- there is always a candidate
        self._generations.append(
            summarise(attempts, self._plan.dimensions, best=self._best, before=before, recalled=recalled)
        )
        return attempts

    def _recalled(self, candidates: Sequence[Mapping[str, float]], before: int) -> Iterator[Attempt]:
        if self._keeper is None:
            return
        recorded = self._keeper.recorded[before : before + len(candidates)]
        for number, (asked, attempt) in enumerate(zip(candidates, recorded, strict=False), start=before):
            if not same_candidate(asked, attempt.values, self._plan.dimensions):
                raise self._keeper.other_candidate(number)
            yield attempt

    def _evaluated_now(self, candidates: Sequence[Mapping[str, float]], number: int) -> Iterator[Attempt]:
        for k, evaluation in enumerate(self._evaluate(candidates)):
            attempt = Attempt(*self._plan.place(number + k), candidates[k], evaluation)
            if self._keeper is not None:
                self._keeper.add(attempt)
            if self._after is not None:
                self._after(attempt)
            yield attempt
        if self._keeper is not None:
            self._keeper.sync()

    def _tuned(self, ending: Ending) -> Tuned:
        assert self._best is not None  # noqa: S101 -- the start is always evaluated
        return Tuned(
            best=self._best.values,
            score=self._best.score,
            facts=self._best.evaluation.facts,
            evaluations=self._generations[-1].evaluations,
            generations=tuple(self._generations),
            ending=ending,
        )
