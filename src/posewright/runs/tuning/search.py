"""Tuning a gait: its numbers are searched for the walk with the least score, in simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.errors import BodyError, InputError, UnreachableError
from posewright.gaits import CommandTour, Gait, VelocityCommand, require_command_in_range, timing_of
from posewright.kinematics import legs_by_foot
from posewright.robots import Robot
from posewright.runs.tuning.reading import read_tune
from posewright.runs.tuning.score import judged
from posewright.runs.tuning.task import GaitTask, TunedWalk, Walked
from posewright.runs.walking.walk import walk_gait
from posewright.search import REASON, Attempt, Dimension, Evaluation, Generation, TuningResult, tune

if TYPE_CHECKING:
    from posewright.simulation import World

NEAR_M = 0.001  # a foot that comes so near is where it is told to be: a servo's lag is more [m]


def refuse_out_of_reach(gait: Gait, robot: Robot, command: VelocityCommand) -> None:
    """Raise an UnreachableError where a foot stays away from a point of its way, steady or coming to it.

    A gait goes on where a point is out of reach, with the nearest the leg can do; a search must not take
    that for a walk.
    """
    coming, steady = CommandTour(gait, robot).go(command)
    for foot, leg in legs_by_foot(robot).items():
        away = leg.distances_to_ground(np.concatenate([coming.points[foot], steady.points[foot]])).max()
        if away > NEAR_M:
            what = f"{foot} stays {away * 1000.0:.1f} mm away from a point of its way"
            hint = "shorter strokes, or equilibrium points nearer to the shoulders"
            raise UnreachableError(what, hint=hint)


class GaitProblem:
    """A gait's task as a problem that can be tuned, here or in another process.

    A process makes one world and walks every candidate in it.

    Attributes:
        task: what is searched.
    """

    def __init__(self, task: GaitTask) -> None:
        self.task = task
        self._stage: World | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process is made of; it makes a world of its own."""
        return {"task": self.task, "_stage": None}

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """What is searched."""
        return self.task.dimensions

    @property
    def fingerprint(self) -> str:
        """A text that differs when an evaluation would."""
        return self.task.fingerprint

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        """Walk a candidate and say how good it is.

        Its score is infinity, with the reason among its facts, where its numbers do not go together, where
        a walk is more than it can be asked for, where a foot does not reach, and where the simulation fails.

        Raises:
            InputError: the robot cannot be simulated at all.
        """
        world = self._world()
        try:
            gait = self.task.candidate(values)
            for walk in self.task.walks:
                self._refuse_impossible(gait, walk)
            walks = [self._walked(gait, walk, world) for walk in self.task.walks]
        except (InputError, BodyError) as error:
            return Evaluation(math.inf, {REASON: error.message})
        return judged(walks, self.task.terms, self.task.bodies)

    def _world(self) -> World:
        if self._stage is None:
            from posewright.simulation import World

            self._stage = World(self.task.robot, visuals=False, welded=self.task.held_angles)
        return self._stage

    def _refuse_impossible(self, gait: Gait, walk: TunedWalk) -> None:
        """Raise an InputError where no body need try it: to find that out takes less than to walk."""
        timing = timing_of(gait.parameters, self.task.robot.frame_period_s)
        command = walk.command(gait.parameters, timing)
        require_command_in_range(command, gait.parameters, timing)
        refuse_out_of_reach(gait, self.task.robot, command)

    def _walked(self, gait: Gait, walk: TunedWalk, world: World) -> list[Walked]:
        robot = self.task.robot
        command = walk.command(gait.parameters, timing_of(gait.parameters, robot.frame_period_s))
        reports = (
            walk_gait(
                gait,
                robot,
                command=command,
                seconds=walk.seconds,
                settle_s=walk.settle_s,
                domain=variation,
                world=world,
            ).report
            for variation in self.task.bodies.variations
        )
        return [Walked(walk, report) for report in reports]


@dataclass(frozen=True, eq=False)
class TunedGait:
    """What tuning a gait found.

    Attributes:
        task: that was searched.
        tuned: what the search found.
        gait: the best candidate, with a `source` that says how it was found; None where none could be judged.
        whole: the best candidate judged again with no joint held still; as in the search where none was.
    """

    task: GaitTask
    tuned: TuningResult
    gait: Gait | None
    whole: Evaluation

    @property
    def values(self) -> dict[str, float]:
        """The best values of what was searched, as they were tried."""
        return self.task.tried(self.tuned.best)


def tune_gait(
    task: GaitTask | str | Path,
    *,
    generations: int | None = None,
    population: int | None = None,
    seed: int = 0,
    workers: int = 1,
    journal: str | Path | None = None,
    watch: Callable[[Generation], bool] | None = None,
    after: Callable[[Attempt], None] | None = None,
) -> TunedGait:
    """Search the numbers of a gait for the walk with the least score.

    Args:
        task: what to search, or the name or path of its document.
        generations: how many; what the document says by default.
        population: candidates in each; what the document says by default.
        seed: of what is drawn.
        workers: how many processes walk; it changes nothing but the time it takes.
        journal: where every candidate is written down; one that is there is gone on with.
        watch: is shown every generation; the search ends after one for which it returns false.
        after: is shown every candidate that was walked now.

    Raises:
        DocumentError: the document is not what it should be.
        InputError: a number is out of its range, or the journal is another search's.
        FormatError, OutputError, UnavailableError, MissingExtraError: as `tuning.tune`.
    """
    searched = task if isinstance(task, GaitTask) else read_tune(task)
    plan = searched.search
    tuned = tune(
        GaitProblem(searched),
        generations=plan.generations if generations is None else generations,
        population=plan.population if population is None else population,
        spread=plan.spread,
        seed=seed,
        journal=journal,
        workers=workers,
        watch=watch,
        after=after,
    )
    return _found(searched, tuned, seed)


def _found(task: GaitTask, tuned: TuningResult, seed: int) -> TunedGait:
    if not math.isfinite(tuned.score):
        return TunedGait(task, tuned, None, Evaluation(tuned.score, tuned.facts))
    gait = replace(
        task.candidate(tuned.best),
        name=task.name,
        description=task.description or task.gait.description,
        source=_source(task, tuned, seed),
        path=None,
    )
    as_searched = Evaluation(tuned.score, tuned.facts)
    whole = GaitProblem(task.unheld).evaluate(tuned.best) if task.held else as_searched
    return TunedGait(task, tuned, gait, whole)


def _source(task: GaitTask, tuned: TuningResult, seed: int) -> str:
    """Return how a gait was found; no date: the same search finds the same gait."""
    generations = len(tuned.generations) - 1
    return (
        f"found by posewright tune {task.name} ({task.digest}) from gait {task.gait.name}: seed {seed}, "
        f"generations {generations}, evaluations {tuned.evaluations}, score {tuned.score:.6g}"
    )
