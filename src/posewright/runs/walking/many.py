"""Walks a gait on many bodies that differ from the model, and reports falls, worst and median figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from posewright.bodies import DomainParameters, DomainRandomization, domain_randomization, draw_domain
from posewright.display import Lines, Styled, Table
from posewright.errors import BodyError, InputError
from posewright.evaluation.walking.figures import (
    ALARM_STYLE,
    FALLS,
    FIGURES,
    REFERENCE_COLUMN,
    compared_cells,
    compared_columns,
    figure_cell,
    figure_table,
    limit_text,
    missing_cells,
    simulation_lines,
)
from posewright.evaluation.walking.report import FIGURE_NAMES, GaitReport, figure_data
from posewright.evaluation.walking.walk import Velocity, mean_command
from posewright.gaits import Gait, robot_of_gait
from posewright.robots import Robot
from posewright.runs.walking.walk import (
    SECONDS,
    SETTLE_S,
    CommandSchedule,
    count_frames,
    make_walking_world,
    read_schedule,
    walk_gait,
)
from posewright.search.executors import map_in_order, open_executor
from posewright.search.plan import require_seed

if TYPE_CHECKING:
    from posewright.simulation import World

MAX_BODIES = 10000

_COMMANDED = ("commanded_forward_m_s", "commanded_left_m_s", "commanded_turn_rad_s")

SeededDomain = tuple[int, DomainParameters]
"""A seed, and the domain parameters of the body drawn by it."""


@dataclass(frozen=True, eq=False)
class WalkedBody:
    """The result of a gait on one of many bodies.

    Attributes:
        seed: the seed by which the body was drawn.
        domain: how it differs from the robot's model.
        report: every figure; None if the simulation failed.
        simulated_s: time that it walked, including settling; up to the last complete block of 64 frames if
            the simulation failed [s].
        welded_joints: names of the joints that were fixed in the gait's pose, as they bear almost no load.
        failure: why the simulation failed; None if it did not.
    """

    seed: int
    domain: DomainParameters
    report: GaitReport | None
    simulated_s: float
    welded_joints: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def falls(self) -> int:
        """The number of falls; a failed simulation counts as one."""
        return 1 if self.report is None else len(self.report.falls)

    @property
    def is_upright(self) -> bool:
        """Whether it walked to the end without a fall."""
        return self.falls == 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON; every figure is None if the simulation failed."""
        figures = dict.fromkeys(FIGURE_NAMES) if self.report is None else self.report.to_dict()
        return {
            "seed": self.seed,
            "failure": self.failure,
            **figures,
            "falls": self.falls,
            "variation": figure_data(self.domain.summary()),
            "simulated_s": figure_data(self.simulated_s),
        }


@dataclass(frozen=True, eq=False)
class WalkTask:
    """The walk that every body performs, with the arguments of `walk_gait`; it can be pickled."""

    gait: Gait
    robot: Robot
    command: CommandSchedule
    seconds: float
    settle_s: float

    def __reduce__(self) -> tuple[type[WalkTask], tuple[object, ...]]:
        """Pickle the arguments only; a copy in another process makes its own world."""
        return WalkTask, (self.gait, self.robot, self.command, self.seconds, self.settle_s)

    def walk(self, seeded_domain: SeededDomain) -> WalkedBody:
        """Simulate the walk of one body and return the result, also if the simulation fails.

        Args:
            seeded_domain: the seed of the run, and how the body differs from the robot's model.
        """
        seed, domain = seeded_domain
        world = self._world
        progress_times_s = [0.0]  # the last is the time simulated so far, also after a failure
        report = None
        failure = None
        try:
            report = walk_gait(
                self.gait,
                self.robot,
                command=self.command,
                seconds=self.seconds,
                settle_s=self.settle_s,
                domain=domain,
                seed=seed,
                world=world,
                on_progress=progress_times_s.append,
            ).report
        except BodyError as error:  # the other bodies are not affected
            failure = error.message
        return WalkedBody(
            seed,
            domain,
            report,
            simulated_s=progress_times_s[-1],
            welded_joints=world.instance().welded_joints,
            failure=failure,
        )

    @cached_property
    def _world(self) -> World:
        return make_walking_world(self.gait, self.robot)


@dataclass(frozen=True, eq=False)
class ManyReport:
    """The results of a gait on many bodies.

    Attributes:
        gait: the gait that was walked.
        robot: the robot that walked.
        seed: the seed of the first body; each next body has the next seed.
        seconds: time that was measured [s].
        settle_s: time before the measurement [s].
        bodies: the results, in the order of the seeds.
        command_mean: mean command over the time of the measurement: forward [m/s], left [m/s], turn [rad/s].
        wall_s: wall time of all walks; 0 without a clock [s].
        body: `random` for the ranges that ship, `varied` for others.
    """

    gait: Gait
    robot: Robot
    seed: int
    seconds: float
    settle_s: float
    bodies: tuple[WalkedBody, ...]
    command_mean: Velocity
    wall_s: float = 0.0
    body: str = "random"

    def __repr__(self) -> str:
        return f"<{self.title}>"

    @property
    def title(self) -> str:
        """The gait, the robot and the number of upright bodies, as a title."""
        summary = f"{self.upright} of {len(self.bodies)} bodies upright"
        return f"ManyReport of {self.gait.name} on {self.robot.name}: {summary}"

    @property
    def reports(self) -> tuple[GaitReport, ...]:
        """The reports of all bodies on which the simulation did not fail."""
        return tuple(body.report for body in self.bodies if body.report is not None)

    @property
    def upright(self) -> int:
        """The number of bodies that never fell."""
        return sum(body.is_upright for body in self.bodies)

    @property
    def failed(self) -> tuple[WalkedBody, ...]:
        """The bodies on which the simulation failed; they count as fallen."""
        return tuple(body for body in self.bodies if body.failure is not None)

    @property
    def welded_joints(self) -> tuple[str, ...]:
        """The names of the joints that were fixed in the gait's pose, as they bear almost no load."""
        return self.bodies[0].welded_joints

    @property
    def worst(self) -> dict[str, float | None]:
        """The worst value of each figure; for a velocity the value farthest from the command."""
        worst = {figure.name: figure.worst(self.reports) for figure in FIGURES}
        return {**worst, FALLS: max(body.falls for body in self.bodies)}

    @property
    def median(self) -> dict[str, float | None]:
        """The median of each figure."""
        medians = {figure.name: figure.median(self.reports) for figure in FIGURES}
        return {**medians, FALLS: float(median(body.falls for body in self.bodies))}

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time of all bodies divided by wall time, which includes setup; None without a clock."""
        simulated_s = sum(body.simulated_s for body in self.bodies)
        return simulated_s / self.wall_s if self.wall_s > 0.0 else None

    def commanded(self, name: str) -> float:
        """Return a component of the mean command by the name that it has in a body's report.

        The report of a body that falls covers only the time up to the fall; this is over the complete walk.
        """
        return dict(zip(_COMMANDED, self.command_mean, strict=True))[name]

    def lines(self) -> Lines:
        """Yield the report for people: worst and median figures, the bodies, falls and failures."""
        yield self._figure_table()
        rows = (
            (body.seed, *(missing_cells() if body.report is None else compared_cells(body.report)))
            for body in self.bodies
        )
        yield figure_table("", ("seed", *compared_columns()), rows)
        for body in self.bodies:
            for incident in _describe_incidents(body):
                yield Styled(f"seed {body.seed} {incident}: {body.domain}", ALARM_STYLE)
        simulated_s = math.fsum(body.simulated_s for body in self.bodies)
        yield from simulation_lines(self.welded_joints, simulated_s, self.wall_s, self.real_time_factor)

    def _figure_table(self) -> Table:
        """Return the table of worst and median figures, with the command or the limit of each."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        upright = f"{self.upright} of {len(self.bodies)} bodies upright"
        title = f"{self.gait.name} on {self.robot.name}: {upright}{failed}"
        rows = []
        for figure in FIGURES:
            if figure.commanded is None:
                reference = limit_text(figure)
            else:
                reference = f"{figure.text(self.commanded(figure.commanded))} commanded"
            worst = figure_cell(figure, self.worst[figure.name])
            rows.append((figure.label, worst, figure.text(self.median[figure.name]), figure.unit, reference))
        return figure_table(title, ("figure", "worst", "median", "unit", REFERENCE_COLUMN), rows)

    def to_dict(self, body: str | None = None) -> dict[str, Any]:
        """Return plain data, fit for JSON; `body` replaces the name of the bodies."""
        return {
            "gait": self.gait.name,
            "robot": self.robot.name,
            "body": self.body if body is None else body,
            "seed": self.seed,
            "seconds": self.seconds,
            "settle_s": self.settle_s,
            **{name: figure_data(self.commanded(name)) for name in _COMMANDED},
            "n_bodies": len(self.bodies),
            "upright": self.upright,
            "falls": sum(body.falls for body in self.bodies),
            "fallen_seeds": [body.seed for body in self.bodies if not body.is_upright],
            "failures": [{"seed": body.seed, "reason": body.failure} for body in self.failed],
            "worst": figure_data(self.worst),
            "median": figure_data(self.median),
            "bodies": [body.to_dict() for body in self.bodies],
            "held_joints": list(self.welded_joints),
            "wall_s": self.wall_s or None,
            "real_time_factor": self.real_time_factor,
        }


def walk_many(
    gait: Gait,
    robot: Robot | str | None = None,
    *,
    command: CommandSchedule,
    bodies: int = 20,
    seed: int = 0,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
    ranges: DomainRandomization | None = None,
    workers: int = 1,
    on_progress: Callable[[WalkedBody], None] | None = None,
    clock: Callable[[], float] | None = None,
) -> ManyReport:
    """Walk a gait on many randomly drawn bodies, and measure each walk.

    Body k is drawn by seed + k. Neither it nor its figures depend on the number of bodies or of workers. A
    body on which the simulation fails counts as fallen; `WalkedBody.failure` has the reason.

    Args:
        gait: the gait to be walked.
        robot: the robot that walks, or its name; by default the gait's own.
        command: as for `walk_gait`.
        bodies: their number.
        seed: the seed of the first body.
        seconds: time that is measured [s].
        settle_s: time that each body walks before the measurement [s].
        ranges: the ranges from which the bodies are drawn; by default those that ship.
        workers: number of processes; 1 runs in this process.
        on_progress: called with the result of each body, in their order.
        clock: a wall clock [s], to measure `ManyReport.wall_s`.

    Raises:
        InputError: a number is out of its range; and as `walk_gait`.
        UnreachableError: as `walk_gait`.
        UnavailableError: a worker process ended unexpectedly.
    """
    _require_body_count(bodies)
    require_seed(seed, count=bodies)
    robot = robot_of_gait(gait, robot)
    command_mean = _mean_over_measurement(robot, command, seconds, settle_s)
    default_ranges = domain_randomization()
    randomization = default_ranges if ranges is None else ranges
    domains = [
        (seed_of_body, draw_domain(randomization, seed_of_body))
        for seed_of_body in range(seed, seed + bodies)
    ]
    task = WalkTask(gait, robot, command, seconds, settle_s)
    start_s = clock() if clock else 0.0
    results: list[WalkedBody] = []
    with open_executor(workers, bodies) as executor:
        for result in map_in_order(task.walk, domains, executor):
            results.append(result)
            if on_progress is not None:
                on_progress(result)
    wall_s = clock() - start_s if clock else 0.0
    name = "random" if randomization == default_ranges else "varied"
    return ManyReport(
        gait,
        robot,
        seed,
        seconds,
        settle_s,
        bodies=tuple(results),
        command_mean=command_mean,
        wall_s=wall_s,
        body=name,
    )


def _mean_over_measurement(
    robot: Robot, command: CommandSchedule, seconds: float, settle_s: float
) -> Velocity:
    """Return the mean command over the time of the measurement, whether or not a body falls."""
    begin, n_frames = count_frames(robot, seconds, settle_s)
    commands = read_schedule(command, settle_s + seconds)
    return mean_command(commands, robot.frame_period_s, begin, end=begin + n_frames)


def _require_body_count(bodies: object) -> None:
    if isinstance(bodies, bool) or not isinstance(bodies, int) or not 1 <= bodies <= MAX_BODIES:
        raise InputError(f"the number of bodies is {bodies!r}", hint=f"a whole number from 1 to {MAX_BODIES}")


def _describe_incidents(body: WalkedBody) -> list[str]:
    """Return a phrase for the failure, or for each fall, of a body."""
    if body.report is None:
        return [f"failed, {(body.failure or '').rstrip('.')}"]
    return [f"falls {fall.side} at {fall.time_s:.2f} s" for fall in body.report.falls]
