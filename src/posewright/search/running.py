"""Tuning: ask the search, evaluate, write down, tell the search; and the same again out of a journal."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from posewright.errors import InputError
from posewright.search.attempt import Attempt, Ending, Generation, Tuned, better, summarise
from posewright.search.executors import executor_for, in_order, packed
from posewright.search.journal import Keeper
from posewright.search.plan import Evaluation, Plan, Problem, judged, plan_for
from posewright.search.search import Search, same_candidate

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
        self._do_start()
        while True:
            if watch is not None and not watch(self._generations[-1]):
                ending = Ending.STOPPED
            elif self._search.has_converged():
                ending = Ending.CONVERGED
            if ending is not Ending.COMPLETE or len(self._generations) > generations:
                return self._tuned(ending)
            self._do_generation()

    def _do_start(self) -> None:
        self._evaluated([{one.name: one.start for one in self._plan.dimensions}])

    def _do_generation(self) -> None:
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
