"""Tunes gaits: searches the numbers of a gait for the walk with the smallest score, in simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from posewright.controllers import PageGait
from posewright.errors import BodyError, InputError, UnreachableError
from posewright.gaits import CommandTour, VelocityCommand, velocity_limits
from posewright.robots import Robot
from posewright.runs.tuning.reading import read_tune
from posewright.runs.tuning.robustness import HeldOutWalk, walk_held_out_bodies
from posewright.runs.tuning.score import score_candidate
from posewright.runs.tuning.task import GaitTask, TunableGait, TunedWalk, WalkMeasurement
from posewright.runs.walking.walk import walk_gait
from posewright.search import REASON, Attempt, Dimension, Evaluation, Generation, TuningResult, tune

if TYPE_CHECKING:
    from posewright.simulation import World

REACH_TOLERANCE_M = 0.001
"""A foot this close to its path follows it: the lag of a servo is larger [m]."""


def require_feet_in_reach(gait: TunableGait, robot: Robot, command: VelocityCommand) -> None:
    """Raise an UnreachableError if a foot cannot follow its path, in the steady walk or until it is steady.

    Where a point is out of reach, a gait continues with the nearest point that the leg can reach; a search
    must not accept that.
    """
    if isinstance(gait, PageGait):  # pages state joint angles
        return
    lead_in, steady_cycle = CommandTour(gait, robot).walk(command)
    for foot in steady_cycle.foot_errors_m:
        max_distance = max(lead_in.foot_errors_m[foot], steady_cycle.foot_errors_m[foot])
        if max_distance > REACH_TOLERANCE_M:
            raise UnreachableError(
                f"{foot} stays {max_distance * 1000.0:.1f} mm away from a point of its way",
                hint="shorter strokes, or feet nearer to where the legs begin",
            )


class GaitProblem:
    """The search problem of a gait's task, for this process or another one.

    Each process makes one world and evaluates all its candidates in it.

    Attributes:
        task: the task to be searched.
    """

    def __init__(self, task: GaitTask) -> None:
        self.task = task
        self._world_of_process: World | None = None

    def __reduce__(self) -> tuple[type[GaitProblem], tuple[GaitTask]]:
        """Pickle the task only; a copy in another process makes its own world."""
        return GaitProblem, (self.task,)

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """What is searched."""
        return self.task.dimensions

    @property
    def fingerprint(self) -> str:
        """A text that differs if evaluations would."""
        return self.task.fingerprint

    def evaluate(self, values: Mapping[str, float]) -> Evaluation:
        """Walk a candidate and return its evaluation.

        The score is infinity, with a reason among the facts, if the values contradict each other, if a walk
        is beyond the candidate's range, if a foot is out of reach, or if the simulation fails.

        Raises:
            InputError: the robot cannot be simulated.
        """
        world = self._world()
        try:
            gait = self.task.candidate(values)
            commands = self._possible_commands(gait)
            measurements = [
                self._measure(gait, walk, command, world)
                for walk, command in zip(self.task.walks, commands, strict=True)
            ]
        except (InputError, BodyError) as error:
            return Evaluation(math.inf, {REASON: error.message})
        return score_candidate(measurements, self.task.terms, self.task.bodies)

    def _world(self) -> World:
        """Return the world of this process; it is made on first use."""
        if self._world_of_process is None:
            from posewright.simulation import World

            self._world_of_process = World(self.task.robot, visuals=False, welded=self.task.locked_angles)
        return self._world_of_process

    def _possible_commands(self, gait: TunableGait) -> list[VelocityCommand]:
        """Return the command of each walk; raises an InputError if one cannot succeed on any body.

        This is faster than a simulation.
        """
        generator = gait.generator(self.task.robot)
        limits = velocity_limits(generator)
        commands = [walk.command(limits) for walk in self.task.walks]
        for command in commands:
            generator.require_in_range(command)
            require_feet_in_reach(gait, self.task.robot, command)
        return commands

    def _measure(
        self, gait: TunableGait, walk: TunedWalk, command: VelocityCommand, world: World
    ) -> list[WalkMeasurement]:
        """Walk a candidate on each body and return the measurements."""
        bodies = self.task.bodies
        measurements = []
        for domain, seed in zip(bodies.variations, bodies.seeds, strict=True):
            result = walk_gait(
                gait,
                self.task.robot,
                command=command,
                seconds=walk.seconds,
                settle_s=walk.settle_s,
                domain=domain,
                seed=seed,
                world=world,
            )
            measurements.append(WalkMeasurement(walk, result.report))
        return measurements


@dataclass(frozen=True, eq=False)
class TunedGait:
    """The result of tuning a gait.

    Attributes:
        task: the task that was searched.
        result: the result of the search.
        gait: the best candidate, with a `source` that states how it was found; None if no candidate could be
            judged.
        unlocked: evaluation of the best candidate with no joint locked; that of the search if none was.
        held_out_walks: its walks, and those of the gait that the search started at, on the held-out bodies.
    """

    task: GaitTask
    result: TuningResult
    gait: TunableGait | None
    unlocked: Evaluation
    held_out_walks: tuple[HeldOutWalk, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        """The best values, as they were evaluated."""
        return self.task.round_values(self.result.best)


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
    """Search the numbers of a gait for the walk with the smallest score.

    Args:
        task: the task to be searched, or the name or path of its document.
        generations: their number; by default that in the document.
        population: number of candidates in a generation; by default that in the document.
        seed: the seed of the random numbers.
        workers: number of processes that walk; it affects nothing but the duration.
        journal: file that stores every candidate; an existing journal is resumed.
        watch: called with every generation; the search ends if it returns false.
        after: called with every candidate that is evaluated now, not read from the journal.

    Raises:
        DocumentError: the document has an error.
        InputError: a number is out of range, or the journal belongs to another search.
        FormatError, OutputError, UnavailableError, MissingExtraError: as `search.tune`.
    """
    gait_task = task if isinstance(task, GaitTask) else read_tune(task)
    plan = gait_task.search
    result = tune(
        GaitProblem(gait_task),
        generations=plan.generations if generations is None else generations,
        population=plan.population if population is None else population,
        spread=plan.spread,
        seed=seed,
        journal=journal,
        workers=workers,
        watch=watch,
        after=after,
    )
    evaluation = Evaluation(result.score, result.facts)
    if not math.isfinite(result.score):
        return TunedGait(gait_task, result, gait=None, unlocked=evaluation)
    gait = gait_task.candidate(result.best).with_origin(
        name=gait_task.name,
        description=gait_task.description or gait_task.gait.description,
        source=_describe_source(gait_task, result, seed),
    )
    if gait_task.locked_joints:
        evaluation = GaitProblem(gait_task.without_locked_joints()).evaluate(result.best)
    held_out_walks = walk_held_out_bodies(gait_task, (gait_task.gait, gait), workers)
    return TunedGait(gait_task, result, gait, unlocked=evaluation, held_out_walks=held_out_walks)


def _describe_source(task: GaitTask, result: TuningResult, seed: int) -> str:
    """Return how a gait was found, without the date: the same search gives the same gait."""
    generations = len(result.generations) - 1
    return (
        f"found by posewright tune {task.name} ({task.digest}) from gait {task.gait.name}: seed {seed}, "
        f"generations {generations}, evaluations {result.evaluations}, score {result.score:.6g}"
    )
