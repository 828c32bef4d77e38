"""The course of a search, told live: one line that changes on a terminal, else a line a generation."""

from __future__ import annotations

import contextlib
import math
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from posewright.cli import console
from posewright.cli.tune_tables import figures_line

if TYPE_CHECKING:
    from posewright.experiments.tuning.task import GaitTask
    from posewright.search import Attempt, Generation, Journal

Say = Callable[[str, bool], None]
"""Shows a line; the second says whether it is worth keeping: a generation is done."""


class Course:
    """Follows a search from outside: how far it is, the best so far, and how long it will take.

    Args:
        task: what is searched.
        generations: how many are asked for.
        population: candidates in each; None for the default of the document or of the search.
        recorded: what stands in the journal already.
        clock: a wall clock [s].

    Attributes:
        done: how many generations are done, the start not counted; None before that is.
    """

    def __init__(
        self,
        task: GaitTask,
        generations: int,
        population: int | None,
        recorded: Journal | None,
        clock: Callable[[], float],
    ) -> None:
        from posewright.experiments.tuning.search import GaitProblem
        from posewright.search.plan import plan_for

        asked = task.search.population if population is None else population
        plan = plan_for(GaitProblem(task), population=asked, spread=task.search.spread, seed=0)
        self.name = task.name
        self.done: int | None = None
        self.say: Say = _unheard
        self._generations, self._population = generations, plan.population
        self._total = plan.end_of(generations)
        attempts = () if recorded is None else recorded.attempts[: self._total]
        self._best: Attempt | None = min(attempts, key=lambda one: one.score, default=None)
        self._recorded, self._now = len(attempts), 0
        self._clock, self._began = clock, clock()

    @property
    def evaluations_to_do(self) -> int:
        """How many candidates have still to walk."""
        return self._total - self._recorded - self._now

    @property
    def wall_s(self) -> float:
        """How long it has taken so far [s]."""
        return self._clock() - self._began

    def watch(self, generation: Generation) -> bool:
        """Take note of a generation that is done, and tell of it; never ends the search."""
        self.done = generation.number
        if generation.evaluations > self._recorded:
            self.say(self._line(f"generation {self.done} of {self._generations}"), True)
        elif generation.evaluations + self._population > self._recorded:
            self.say(self._line(f"goes on after generation {self.done} of {self._generations}"), True)
        return True

    def after(self, attempt: Attempt) -> None:
        """Take note of a candidate that has walked, and tell of it."""
        self._now += 1
        if self._best is None or attempt.score < self._best.score:
            self._best = attempt
        place = f"generation {attempt.generation} of {self._generations}"
        self.say(self._line(f"{place}, {attempt.index + 1} of {self._population}"), False)

    def _line(self, place: str) -> str:
        parts = [f"{self.name}: {place}", self._told_best()]
        left_s = self._left_s()
        return "; ".join([*parts, *([] if left_s is None else [f"{duration(left_s)} left"])])

    def _told_best(self) -> str:
        best = self._best
        if best is None or not math.isfinite(best.score):
            return "none could be judged yet"
        return f"best {best.score:.4f} ({figures_line(best.evaluation.facts)})"

    def _left_s(self) -> float | None:
        if not self._now or not self.evaluations_to_do:
            return None
        return self.wall_s / self._now * self.evaluations_to_do


def _unheard(line: str, is_kept: bool) -> None:
    """Show nothing: nobody follows yet."""


def duration(seconds: float) -> str:
    """Return a time as people read it: 40 s, 3 min, 2 h 5 min."""
    if seconds < 60.0:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60.0)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@contextlib.contextmanager
def followed(course: Course) -> Iterator[None]:
    """Show the course on stderr while it lasts."""
    with console.progress(quiet=False) as display:
        line = display.add_task(f"{course.name}: setting up")

        def say(text: str, is_kept: bool) -> None:
            if not display.disable:
                display.update(line, description=text)
            elif is_kept:
                console.err.print(Text(text), soft_wrap=True, highlight=False)

        course.say = say
        yield


def how_to_go_on(tuning: str, journal: Path, course: Course) -> None:
    """Say that the search was stopped, and how to go on with it."""
    if not journal.exists():
        console.note("stopped before anything was written")
        return
    command = shlex.join(["posewright", "tune", tuning, "--resume", "--journal", str(journal)])
    console.note(f"stopped; what has walked is in {journal}. Go on with: {command}")
    if course.done:
        console.note(f"the best so far as a gait: {command} --generations {course.done} -o best.gait.yaml")
