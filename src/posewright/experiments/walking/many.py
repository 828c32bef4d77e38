"""A gait walked on many bodies, none quite like the model."""

from __future__ import annotations

from collections.abc import Callable

from posewright.bodies import DomainRandomization, draw_domain, domain_randomization
from posewright.errors import InputError
from posewright.evaluation.walking.command_schedule import (
    CommandSchedule,
    Triple,
    mean_command,
    timed_commands,
)
from posewright.experiments.walking.many_report import ManyReport
from posewright.experiments.walking.task import WalkTask
from posewright.experiments.walking.trial import SECONDS, SETTLE_S, frames_of
from posewright.experiments.walking.walked_body import WalkedBody
from posewright.gaits import Gait
from posewright.robots import Robot
from posewright.search.executors import executor_for, in_order
from posewright.search.plan import checked_seed

MOST_BODIES = 10000


def walk_many(
    gait: Gait,
    robot: Robot,
    command: CommandSchedule,
    *,
    bodies: int = 20,
    seed: int = 0,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
    ranges: DomainRandomization | None = None,
    workers: int = 1,
    tell: Callable[[WalkedBody], None] | None = None,
    clock: Callable[[], float] | None = None,
) -> ManyReport:
    """Walk a gait on many bodies drawn at random, and measure each.

    Body k is the one of seed + k, and the same one whatever their number and the number of workers; so are
    the figures, to the last bit. A body on which the simulation fails counts as one that fell, and
    `WalkedBody.failure` says why; the others walk on.

    Args:
        gait: what is walked.
        robot: who walks.
        command: as of `walk_gait`.
        bodies: how many.
        seed: of the first.
        seconds: for so long each is measured [s].
        settle_s: for so long each walks before [s].
        ranges: how far bodies differ; the ones that ship by default.
        workers: processes that walk side by side; 1 for this one alone.
        tell: is told of each body when it is done, in their order.
        clock: a wall clock [s], for `ManyReport.wall_s`.

    Raises:
        InputError: a number is out of its range; else as `walk_gait`.
        UnreachableError: as `walk_gait`.
        UnavailableError: a worker process ended by itself.
    """
    _expect_bodies(bodies)
    checked_seed(seed, count=bodies)
    asked = _command_mean(robot, command, seconds, settle_s)
    spread = domain_randomization() if ranges is None else ranges
    drawn = [(one, draw_domain(spread, one)) for one in range(seed, seed + bodies)]
    task = WalkTask(gait, robot, command, seconds, settle_s)
    began = clock() if clock else 0.0
    done: list[WalkedBody] = []
    with executor_for(workers, bodies) as executor:
        for body in in_order(task.walked, drawn, executor):
            done.append(body)
            if tell is not None:
                tell(body)
    wall_s = clock() - began if clock else 0.0
    own = "random" if spread == domain_randomization() else "varied"
    return ManyReport(gait, robot, seed, seconds, settle_s, tuple(done), asked, wall_s, own)


def _command_mean(robot: Robot, command: CommandSchedule, seconds: float, settle_s: float) -> Triple:
    """Return what every body is asked for on the mean, whatever becomes of it."""
    begin, frames = frames_of(robot, seconds, settle_s)
    commands = timed_commands(command, settle_s + seconds)
    return mean_command(commands, robot.frame_period_s, begin, begin + frames)


def _expect_bodies(bodies: object) -> None:
    if isinstance(bodies, bool) or not isinstance(bodies, int) or not 1 <= bodies <= MOST_BODIES:
        raise InputError(f"{bodies!r} bodies", hint=f"a whole number from 1 to {MOST_BODIES}")
