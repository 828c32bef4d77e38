"""The trial of a gait: it walks on a simulated body, made step by step as on a robot, and is measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from posewright.bodies import NOMINAL, DomainParameters
from posewright.errors import InputError
from posewright.evaluation.walking.command_schedule import CommandSchedule, timed_commands
from posewright.evaluation.walking.falls import GaitFall, falls_of
from posewright.evaluation.walking.report import GaitReport, plain, report_of
from posewright.evaluation.walking.track import GaitTrack
from posewright.experiments.walking.stage import put_on_stage, walk
from posewright.gaits import Gait, refuse_out_of_range
from posewright.robots import Robot
from posewright.search.plan import checked_seed

if TYPE_CHECKING:
    from posewright.simulation import World

SECONDS = 10.0
"""A walk is measured for so long unless told otherwise [s]."""

SETTLE_S = 1.0
"""Time the robot is given to come into its walk before the measuring begins [s]."""

MOST_S = 600.0
MOST_SETTLE_S = 60.0


@dataclass(frozen=True, eq=False)
class GaitTrial:
    """What a gait made of a body.

    Attributes:
        gait: what walked.
        robot: who walked.
        variation: how the body differed from the robot's model.
        seed: it was walked with.
        seconds: for so long it was to be measured [s].
        settle_s: for so long it walked before [s].
        track: what happened, row by row.
        falls: when and where to the robot fell.
        report: every figure.
        wall_s: how long the walk took, gait, safety and physics; 0 where no clock was handed in [s].
    """

    gait: Gait
    robot: Robot
    variation: DomainParameters
    seed: int
    seconds: float
    settle_s: float
    track: GaitTrack
    falls: tuple[GaitFall, ...]
    report: GaitReport
    wall_s: float = 0.0

    @property
    def simulated_s(self) -> float:
        """How long the robot walked, settling included [s]."""
        return float(self.track.times[-1])

    @property
    def last_upright_row(self) -> int:
        """The last row of the track before the first fall, or of all."""
        return max(self.falls[0].row - 1, 0) if self.falls else len(self.track.base) - 1

    @property
    def real_time_factor(self) -> float | None:
        """Simulated time over wall time; None where no clock was handed in."""
        return self.simulated_s / self.wall_s if self.wall_s > 0.0 else None

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the track as plain data, fit for JSON."""
        return {
            "gait": self.gait.name,
            "robot": self.robot.name,
            "body": "nominal" if self.variation.is_nominal else "varied",
            "seed": self.seed,
            "seconds": self.seconds,
            "settle_s": self.settle_s,
            **self.report.to_dict(),
            "held_joints": list(self.track.held_joints),
            "variation": plain(asdict(self.variation)),
            "simulated_s": plain(self.simulated_s),
            "wall_s": self.wall_s or None,
            "real_time_factor": self.real_time_factor,
        }


def walk_gait(
    gait: Gait,
    robot: Robot,
    command: CommandSchedule,
    *,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
    variation: DomainParameters | None = None,
    seed: int = 0,
    world: World | None = None,
    tell: Callable[[float], None] | None = None,
    clock: Callable[[], float] | None = None,
) -> GaitTrial:
    """Walk a gait on a simulated body, and measure it.

    The robot is put down in the gait's standing pose. The gait makes its poses while the robot walks, a few
    frames at a time, and safety stands between the two. A robot that falls and stays down walks no further.

    Args:
        gait: what is walked.
        robot: who walks.
        command: what is asked for, or what when; a change takes effect with the next step.
        seconds: for so long it is measured [s].
        settle_s: for so long it walks before; falls count from the beginning [s].
        variation: how the body differs from the robot's model; None for not at all.
        seed: of the noise of sensors, of which no gait that is made without them knows.
        world: of the same robot, to save making one; its state and its body are lost. The default welds the
            joints that carry next to nothing (`simulation.light_joints`) as the gait's pose has them.
        tell: is told the simulated time as it goes on [s].
        clock: a wall clock [s], for `GaitTrial.wall_s`; nothing here looks at one by itself.

    Raises:
        InputError: a time or a command is out of its range, or gait and robot do not go together.
        UnreachableError: a foot cannot stand where the gait wants it to.
        BodyError: the simulation failed.
    """
    begin, frames = frames_of(robot, seconds, settle_s)
    checked_seed(seed)
    commands = timed_commands(command, settle_s + seconds)
    walker, body = put_on_stage(gait, robot, world=world, variation=variation, seed=seed)
    for timed in commands:
        refuse_out_of_range(timed.command, gait.parameters, walker.timing)
    now = clock or _no_clock
    began = now()
    track = walk(walker, body, commands, begin=begin, frames=frames, tell=tell)
    wall_s = now() - began
    falls = falls_of(track)
    return GaitTrial(
        gait=gait,
        robot=robot,
        variation=variation or NOMINAL,
        seed=seed,
        seconds=seconds,
        settle_s=settle_s,
        track=track,
        falls=falls,
        report=report_of(track, falls),
        wall_s=wall_s,
    )


def frames_of(robot: Robot, seconds: float, settle_s: float) -> tuple[int, int]:
    """Return for how many frames a robot settles into a walk, and for how many more it is measured.

    Raises:
        InputError: a time is out of its range.
    """
    period_s = robot.frame_period_s
    _expect_seconds("seconds", seconds, period_s, MOST_S)
    _expect_seconds("settle_s", settle_s, 0.0, MOST_SETTLE_S)
    return round(settle_s / period_s), round(seconds / period_s)


def _no_clock() -> float:
    return 0.0


def _expect_seconds(name: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise InputError(f"{name} is {value}", hint=f"from {least:g} to {most:g} s")
