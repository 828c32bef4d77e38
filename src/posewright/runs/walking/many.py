"""A gait walked on many bodies, none quite like the model: how many stay upright, and how bad it gets."""

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
    frames_of,
    timed_commands,
    walk_gait,
    walking_world,
)
from posewright.search.executors import map_in_order, open_executor
from posewright.search.plan import require_seed

if TYPE_CHECKING:
    from posewright.simulation import World

MOST_BODIES = 10000

_COMMANDED = ("commanded_forward_m_s", "commanded_left_m_s", "commanded_turn_rad_s")

Drawn = tuple[int, DomainParameters]
"""The seed of a body, and the body."""


@dataclass(frozen=True, eq=False)
class WalkedBody:
    """One body of many, and what the gait made of it.

    Attributes:
        domain: how it differs from the robot's model.
        report: every figure; None where the simulation failed, as `failure` says.
        simulated_s: how long it walked, settling included; before a failure, to the end of the last block
            of 64 frames [s].
        welded: joints that were welded in the gait's pose, as they carry next to nothing.
    """

    seed: int
    domain: DomainParameters
    report: GaitReport | None
    simulated_s: float
    welded: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def falls(self) -> int:
        """How often it fell; a body that the simulation fails on has fallen: nobody saw it walk on."""
        return 1 if self.report is None else len(self.report.falls)

    @property
    def is_upright(self) -> bool:
        """Whether it never fell, and was seen to the end."""
        return self.falls == 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, fit for JSON; every figure is None where the simulation failed."""
        figures = dict.fromkeys(FIGURE_NAMES) if self.report is None else self.report.to_dict()
        return {
            "seed": self.seed,
            "failure": self.failure,
            **figures,
            "falls": self.falls,
            "variation": figure_data(self.domain),
            "simulated_s": figure_data(self.simulated_s),
        }


@dataclass(frozen=True, eq=False)
class WalkTask:
    """The walk that every body is asked for, as by `walk_gait`; it can be handed to another process."""

    gait: Gait
    robot: Robot
    command: CommandSchedule
    seconds: float
    settle_s: float

    def __reduce__(self) -> tuple[type[WalkTask], tuple[object, ...]]:
        """Return how a copy in another process is made; it makes a world of its own."""
        return WalkTask, (self.gait, self.robot, self.command, self.seconds, self.settle_s)

    def walked(self, drawn: Drawn) -> WalkedBody:
        """Walk one body and say what became of it, be it that the simulation failed on it."""
        seed, domain = drawn
        world = self._world
        times_s = [0.0]
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
                on_progress=times_s.append,
            ).report
        except BodyError as error:  # of this body alone: the others walk on
            failure = error.message
        return WalkedBody(seed, domain, report, times_s[-1], world.instance().welded_joints, failure)

    @cached_property
    def _world(self) -> World:
        return walking_world(self.gait, self.robot)


@dataclass(frozen=True, eq=False)
class ManyReport:
    """A gait on many bodies, the first of which has the seed; the others have the seeds that follow.

    Attributes:
        command_mean: what each was asked for on the mean over the time it was to be measured, forward [m/s],
            left [m/s] and turn [rad/s].
        wall_s: how long all took; 0 where no clock was handed in [s].
        body: `random` of the ranges that ship, `varied` of others.
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
        told = f"{self.upright} of {len(self.bodies)} bodies upright"
        return f"<ManyReport of {self.gait.name} on {self.robot.name}: {told}>"

    @property
    def reports(self) -> tuple[GaitReport, ...]:
        """The figures of all bodies that have some."""
        return tuple(body.report for body in self.bodies if body.report is not None)

    @property
    def upright(self) -> int:
        """How many never fell."""
        return sum(body.is_upright for body in self.bodies)

    @property
    def failed(self) -> tuple[WalkedBody, ...]:
        """The bodies on which the simulation failed; they count as fallen."""
        return tuple(body for body in self.bodies if body.failure is not None)

    @property
    def welded(self) -> tuple[str, ...]:
        """The joints that were welded in the gait's pose, as they carry next to nothing."""
        return self.bodies[0].welded

    @property
    def worst(self) -> dict[str, float | None]:
        """The worst value of each figure, of a speed the one farthest from what was commanded."""
        worst = {figure.name: figure.worst(self.reports) for figure in FIGURES}
        return {**worst, FALLS: max(body.falls for body in self.bodies)}

    @property
    def median(self) -> dict[str, float | None]:
        """The median of each figure."""
        middle = {figure.name: figure.median(self.reports) for figure in FIGURES}
        return {**middle, FALLS: float(median(body.falls for body in self.bodies))}

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time of all bodies over wall time, making the worlds included; None without a clock."""
        simulated = sum(body.simulated_s for body in self.bodies)
        return simulated / self.wall_s if self.wall_s > 0.0 else None

    def commanded(self, name: str) -> float:
        """Return what was asked for on the mean over the whole time, by a report's own name for it.

        A report has it up to the fall of its own body.
        """
        return dict(zip(_COMMANDED, self.command_mean, strict=True))[name]

    def lines(self) -> Lines:
        """Yield how the gait fares on the bodies: worst and median, and each body in a row."""
        yield self._figure_table()
        rows = (
            (body.seed, *(missing_cells() if body.report is None else compared_cells(body.report)))
            for body in self.bodies
        )
        yield figure_table("", ("seed", *compared_columns()), rows)
        for body in self.bodies:
            for mishap in _mishaps(body):
                yield Styled(f"seed {body.seed} {mishap}: {body.domain}", ALARM_STYLE)
        simulated = math.fsum(body.simulated_s for body in self.bodies)
        yield from simulation_lines(self.welded, simulated, self.wall_s, self.real_time_factor)

    def _figure_table(self) -> Table:
        failed = f", {len(self.failed)} failed" if self.failed else ""
        upright = f"{self.upright} of {len(self.bodies)} bodies upright"
        title = f"{self.gait.name} on {self.robot.name}: {upright}{failed}"
        rows = []
        for figure in FIGURES:
            asked = None if figure.commanded is None else self.commanded(figure.commanded)
            beside = limit_text(figure) if asked is None else f"{figure.text(asked)} commanded"
            middle = figure.text(self.median[figure.name])
            rows.append(
                (figure.label, figure_cell(figure, self.worst[figure.name]), middle, figure.unit, beside)
            )
        return figure_table(title, ("figure", "worst", "median", "unit", REFERENCE_COLUMN), rows)

    def to_dict(self, body: str | None = None) -> dict[str, Any]:
        """Return plain data, fit for JSON; `body` is the name by which the bodies were asked for."""
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
            "held_joints": list(self.welded),
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
    """Walk a gait on many bodies drawn at random, and measure each.

    Body k is the one of seed + k, and the same one whatever their number and the number of workers; so are
    the figures, to the last bit. A body on which the simulation fails counts as one that fell, and
    `WalkedBody.failure` says why; the others walk on.

    Args:
        gait: what is walked.
        robot: who walks, or the name; default the gait's own.
        command: as of `walk_gait`.
        bodies: how many.
        seed: of the first.
        seconds: for so long each is measured [s].
        settle_s: for so long each walks before [s].
        ranges: how far bodies differ; the ones that ship by default.
        workers: processes that walk side by side; 1 for this one alone.
        on_progress: is told of each body when it is done, in their order.
        clock: a wall clock [s], for `ManyReport.wall_s`.

    Raises:
        InputError: a number is out of its range; else as `walk_gait`.
        UnreachableError: as `walk_gait`.
        UnavailableError: a worker process ended by itself.
    """
    _expect_bodies(bodies)
    require_seed(seed, count=bodies)
    robot = robot_of_gait(gait, robot)
    asked = _command_mean(robot, command, seconds, settle_s)
    spread = domain_randomization() if ranges is None else ranges
    drawn = [(one, draw_domain(spread, one)) for one in range(seed, seed + bodies)]
    task = WalkTask(gait, robot, command, seconds, settle_s)
    began = clock() if clock else 0.0
    done: list[WalkedBody] = []
    with open_executor(workers, bodies) as executor:
        for body in map_in_order(task.walked, drawn, executor):
            done.append(body)
            if on_progress is not None:
                on_progress(body)
    wall_s = clock() - began if clock else 0.0
    own = "random" if spread == domain_randomization() else "varied"
    return ManyReport(gait, robot, seed, seconds, settle_s, tuple(done), asked, wall_s, own)


def _command_mean(robot: Robot, command: CommandSchedule, seconds: float, settle_s: float) -> Velocity:
    """Return what every body is asked for on the mean, whatever becomes of it."""
    begin, frames = frames_of(robot, seconds, settle_s)
    commands = timed_commands(command, settle_s + seconds)
    return mean_command(commands, robot.frame_period_s, begin, begin + frames)


def _expect_bodies(bodies: object) -> None:
    if isinstance(bodies, bool) or not isinstance(bodies, int) or not 1 <= bodies <= MOST_BODIES:
        raise InputError(f"{bodies!r} bodies", hint=f"a whole number from 1 to {MOST_BODIES}")


def _mishaps(body: WalkedBody) -> list[str]:
    if body.report is None:
        return [f"failed, {(body.failure or '').rstrip('.')}"]
    return [f"falls {fall.side} at {fall.time_s:.2f} s" for fall in body.report.falls]
