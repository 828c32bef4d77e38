"""The search with CMA-ES over the unit cube; it prints nothing and keeps NumPy's global random state.

N. Hansen, A. Ostermeier, "Completely derandomized self-adaptation in evolution strategies", Evolutionary
Computation 9(2), 2001; the package `cma` is its author's.
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
from posewright.search.executors import map_in_order, open_executor, pickle_task
from posewright.search.journal import JournalWriter
from posewright.search.plan import Dimension, Evaluation, Plan, Problem, evaluate, make_plan
from posewright.search.result import (
    Attempt,
    EndReason,
    Generation,
    TuningResult,
    better_of,
    summarise_generation,
)

_ALMOST_HALF = 0.5 - 1e-6
"""An integer is searched half a step beyond its bounds, so that these are as frequent as other values."""

_MIN_SPREAD = 1e-9
"""The search has converged if the candidates' spread is smaller, as a fraction of the range."""


class CmaSearch:
    """CMA-ES over the dimensions of a plan: `ask` for a generation, `tell` its scores, and so on.

    A dimension is searched in the unit interval, and an integer dimension in steps of one with cma's handling
    of integers, which prevents stagnation; both start with the same spread relative to their ranges. cma
    handles the bounds: it folds candidates outside smoothly back into the box.

    The candidates depend on the plan and on the scores only.

    Args:
        plan: the plan of the search.

    Raises:
        MissingExtraError: cma is not installed.
    """

    def __init__(self, plan: Plan) -> None:
        """Start CMA-ES at the start of the plan's dimensions, with random numbers of its seed."""
        self._dimensions = plan.dimensions
        self._points: list[Floats] = []  # of the last generation, in cma's space
        generator = np.random.RandomState(np.random.MT19937(np.random.SeedSequence(plan.seed)))
        self._random_state = generator.get_state()  # cma's own; see _private_random_state
        axes = [_Axis(dimension) for dimension in plan.dimensions]
        if len(axes) == 1:  # cma needs two dimensions; the second one has no effect
            axes.append(_Axis(Dimension("idle", low=0.0, high=1.0, start=0.5)))
        with self._private_random_state():
            cma = _import_cma()
            self._strategy = cma.CMAEvolutionStrategy(
                [axis.start for axis in axes], plan.spread, _cma_options(axes, plan.population)
            )

    def ask(self) -> list[dict[str, float]]:
        """Return the candidates of the next generation."""
        with self._private_random_state():
            self._points = self._strategy.ask()
        return [self._to_values(point) for point in self._points]

    def tell(self, scores: Sequence[float]) -> None:
        """Set the scores of the last generation; infinity for candidates that could not be judged.

        Such a candidate counts as worse than all others. A generation without any judged candidate is
        ignored: the next one is drawn from the same distribution.
        """
        finite_scores = _replace_infinities(scores)
        if finite_scores is not None:
            with self._private_random_state():
                self._strategy.tell(self._points, finite_scores)

    def has_converged(self) -> bool:
        """Whether cma expects no further improvement; call it once per generation."""
        with self._private_random_state():
            return self._strategy.countiter > 0 and bool(self._strategy.stop())

    def _to_values(self, point: Floats) -> dict[str, float]:
        """Return the values of a point in cma's space, by name."""
        values: dict[str, float] = {}
        for dimension, coordinate in zip(self._dimensions, point, strict=False):
            values[dimension.name] = _Axis(dimension).to_value(float(coordinate))
        return values

    @contextlib.contextmanager
    def _private_random_state(self) -> Iterator[None]:
        """Give cma, which only uses NumPy's global random state, a state of its own; silence its warnings."""
        outer_state = np.random.get_state()  # noqa: NPY002 -- see above
        np.random.set_state(self._random_state)  # noqa: NPY002
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                yield
            self._random_state = np.random.get_state()  # noqa: NPY002
        finally:
            np.random.set_state(outer_state)  # noqa: NPY002


class _Axis:
    """The axis of a dimension in cma's space.

    Attributes:
        is_whole: whether the dimension is an integer, which is searched in steps of one; any other is
            searched from 0 to 1.
        start: the coordinate of the dimension's start.
        width: the width of the range of coordinates, without what an integer's is extended by.
        low: the smallest coordinate.
        high: the largest coordinate.
    """

    def __init__(self, dimension: Dimension) -> None:
        """Choose the coordinates in which the search samples: whole values themselves, others scaled to 0..1.

        The range of an integer is half a step wider at both ends, so that rounding a sample makes its least
        and greatest value as likely as the others.

        Args:
            dimension: a number that is searched, with its range and the value that is tried first.
        """
        self._dimension = dimension
        self.is_whole = dimension.is_whole
        if dimension.is_whole:
            self.start = dimension.start
            self.width = dimension.width
            self.low = dimension.low - _ALMOST_HALF
            self.high = dimension.high + _ALMOST_HALF
        else:
            self.start = (dimension.start - dimension.low) / dimension.width
            self.width = 1.0
            self.low = 0.0
            self.high = 1.0

    def to_value(self, coordinate: float) -> float:
        """Return the dimension's value at a coordinate, clipped to the range because of rounding."""
        dimension = self._dimension
        value = round(coordinate) if self.is_whole else dimension.low + coordinate * dimension.width
        return min(max(value, dimension.low), dimension.high)


def _cma_options(axes: Sequence[_Axis], population: int) -> dict[str, object]:
    """Return the options of the library cma, with its own stopping rules switched off."""
    return {
        "popsize": population,
        "bounds": [[axis.low for axis in axes], [axis.high for axis in axes]],
        "CMA_stds": [axis.width for axis in axes],
        "integer_variables": [i for i, axis in enumerate(axes) if axis.is_whole],
        "seed": math.nan,  # we set the random state
        "verbose": -9,  # silent
        "verb_log": 0,
        "verb_disp": 0,
        "signals_filename": "",  # otherwise cma reads commands from a file in the working folder
        # the caller limits the number of generations; only the problem knows which scores are equal
        "maxiter": math.inf,
        "tolfun": 0,
        "tolfunhist": 0,
        "tolflatfitness": math.inf,
        "tolx": _MIN_SPREAD,
    }


def _replace_infinities(scores: Sequence[float]) -> list[float] | None:
    """Return finite scores of the same ranks; None if no score is finite."""
    finite_scores = [score for score in scores if math.isfinite(score)]
    if not finite_scores:
        return None
    worst = max(finite_scores)
    best = min(finite_scores)
    # only ranks matter to cma, but its histories must not overflow
    margin = max(worst - best, abs(worst), 1.0)  # large enough not to be lost to rounding
    replacement = min(worst + margin, sys.float_info.max)
    return [score if math.isfinite(score) else replacement for score in scores]


def _import_cma() -> ModuleType:
    try:
        import cma
    except ImportError as error:
        raise MissingExtraError.for_extra("tuning", "tune") from error
    module: ModuleType = cma
    return module


def is_same_candidate(
    first: Mapping[str, float], second: Mapping[str, float], dimensions: Sequence[Dimension]
) -> bool:
    """Whether two candidates are equal up to rounding differences between processors."""
    for dimension in dimensions:
        tolerance = 0.0 if dimension.is_whole else _MIN_SPREAD * dimension.width
        if abs(first[dimension.name] - second[dimension.name]) > tolerance:
            return False
    return True


EvaluateAll: TypeAlias = Callable[[Sequence[Mapping[str, float]]], Iterator[Evaluation]]
Watch: TypeAlias = Callable[[Generation], bool]
AttemptCallback: TypeAlias = Callable[[Attempt], None]


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
    after: AttemptCallback | None = None,
) -> TuningResult:
    """Search the values with the smallest score with CMA-ES.

    The start is evaluated first, as generation 0, so that the result is never worse. The candidates depend on
    problem, seed, population and spread only: not on `workers`, and not on how often the search was resumed.

    Args:
        problem: the problem to be searched.
        generations: number of generations after the start; the search ends earlier if it converges.
        population: number of candidates in a generation; 4 + 3 ln n of n dimensions by default.
        spread: standard deviation of the first candidates, as a fraction of each range, at most a third.
        seed: the seed of the random numbers.
        journal: file for every attempt. An existing journal is resumed: its attempts are not evaluated again.
            It may have more generations than requested.
        workers: number of processes that evaluate; one is this process.
        watch: called after each generation, also if it was read from the journal; the search ends if it
            returns false.
        after: called after each attempt that was evaluated now, in order, when it is in the journal.

    Raises:
        InputError: a number is out of range, or the journal, which stays as it is, is of another search.
        FormatError: the file `journal` is not a valid journal.
        OutputError: the journal cannot be written, or another process is writing it.
        UnavailableError: a worker process ended unexpectedly.
        MissingExtraError: cma is not installed.
        Exception: that the problem raised; the attempts before it are in the journal.
    """
    if generations < 1:
        raise InputError(f"{generations} generations", hint="expected at least 1")
    plan = make_plan(problem, population=population, spread=spread, seed=seed)
    search = CmaSearch(plan)
    with contextlib.ExitStack() as stack:
        task = functools.partial(evaluate, problem)
        executor = stack.enter_context(open_executor(workers, plan.population))
        if executor is not None:
            pickle_task(task)  # raises before anything is written
        writer = None if journal is None else stack.enter_context(JournalWriter(Path(journal), plan))
        run = _TuningRun(
            plan,
            search,
            evaluate_all=lambda candidates: map_in_order(task, candidates, executor),
            journal=writer,
            after=after,
        )
        return run.run(generations, watch)


class _TuningRun:
    """The state of one search.

    Args:
        plan: the plan of the search.
        search: proposes the candidates.
        evaluate_all: evaluates candidates in order.
        journal: the journal of the search, or None.
        after: called after each attempt that was evaluated now.
    """

    def __init__(
        self,
        plan: Plan,
        search: CmaSearch,
        evaluate_all: EvaluateAll,
        journal: JournalWriter | None,
        after: AttemptCallback | None,
    ) -> None:
        """Begin with no generation; see the class for the arguments."""
        self._plan = plan
        self._search = search
        self._evaluate_all = evaluate_all
        self._journal = journal
        self._on_attempt_evaluated = after
        self._best: Attempt | None = None
        self._generations: list[Generation] = []

    def run(self, n_generations: int, watch: Watch | None) -> TuningResult:
        """Evaluate the start and up to a number of generations, and return the result.

        `watch` is called after each; the search ends if it returns false.
        """
        end_reason: EndReason | None = None
        start = {dimension.name: dimension.start for dimension in self._plan.dimensions}
        self._evaluate_generation([start])
        while True:
            if watch is not None and not watch(self._generations[-1]):
                end_reason = EndReason.STOPPED
            elif self._search.has_converged():
                end_reason = EndReason.CONVERGED
            elif len(self._generations) > n_generations:  # the start is one more
                end_reason = EndReason.COMPLETE
            if end_reason is not None:
                return self._result(end_reason)
            attempts = self._evaluate_generation(self._search.ask())
            self._search.tell([attempt.score for attempt in attempts])

    def _evaluate_generation(self, candidates: Sequence[Mapping[str, float]]) -> list[Attempt]:
        """Return the attempts of a generation's candidates, from the journal as far as it has them."""
        n_before = self._generations[-1].evaluations if self._generations else 0
        attempts = list(self._recall(candidates, n_before))
        n_recalled = len(attempts)
        if n_recalled < len(candidates):
            attempts += self._evaluate(candidates[n_recalled:], n_before + n_recalled)
        self._best = functools.reduce(better_of, attempts, self._best)
        assert self._best is not None  # noqa: S101 -- there is always a candidate
        self._generations.append(
            summarise_generation(
                attempts,
                self._plan.dimensions,
                best=self._best,
                n_before=n_before,
                n_recalled=n_recalled,
            )
        )
        return attempts

    def _recall(self, candidates: Sequence[Mapping[str, float]], first_number: int) -> Iterator[Attempt]:
        """Yield the attempts that the journal has of candidates; fewer if it ends before.

        Args:
            candidates: successive candidates of the search.
            first_number: the number of the first one's attempt.

        Raises:
            FormatError: the journal has another candidate.
        """
        if self._journal is None:
            return
        recorded = self._journal.recorded[first_number : first_number + len(candidates)]
        for i, (candidate, attempt) in enumerate(zip(candidates, recorded, strict=False)):
            if not is_same_candidate(candidate, attempt.values, self._plan.dimensions):
                raise self._journal.candidate_error(first_number + i)
            yield attempt

    def _evaluate(self, candidates: Sequence[Mapping[str, float]], first_number: int) -> Iterator[Attempt]:
        """Evaluate candidates, add the attempts to the journal, and yield them.

        Args:
            candidates: successive candidates of the search.
            first_number: the number of the first one's attempt.
        """
        for i, evaluation in enumerate(self._evaluate_all(candidates)):
            generation, index = self._plan.locate(first_number + i)
            attempt = Attempt(generation, index, values=candidates[i], evaluation=evaluation)
            if self._journal is not None:
                self._journal.add(attempt)
            if self._on_attempt_evaluated is not None:
                self._on_attempt_evaluated(attempt)
            yield attempt
        if self._journal is not None:
            self._journal.sync()

    def _result(self, end_reason: EndReason) -> TuningResult:
        """Return the best attempt and all generations, with the reason for the end."""
        assert self._best is not None  # noqa: S101 -- the start is always evaluated
        return TuningResult(
            best=self._best.values,
            score=self._best.score,
            facts=self._best.evaluation.facts,
            evaluations=self._generations[-1].evaluations,
            generations=tuple(self._generations),
            ending=end_reason,
        )
