"""Tests a tuned gait, and the one that the search started at, on bodies that the search did not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from statistics import fmean

from posewright.documents.plain import PlainMapping
from posewright.errors import InputError
from posewright.gaits import Gait, VelocityCommand, velocity_limits
from posewright.runs.tuning.score import speed_along_command
from posewright.runs.tuning.task import GaitTask, TunedWalk, WalkMeasurement
from posewright.runs.walking.many import WalkedBody, WalkTask
from posewright.search import map_in_order, open_executor


@dataclass(frozen=True, eq=False)
class HeldOutWalk:
    """A walk of a gait on all held-out bodies.

    Speed and heading are those of the bodies that stayed upright; None if none did.

    Attributes:
        gait: the gait.
        walk: the walk, as in the tuning.
        command: the command that it means for this gait.
        bodies: the results.
    """

    gait: Gait
    walk: TunedWalk
    command: VelocityCommand
    bodies: tuple[WalkedBody, ...]

    @property
    def n_fallen(self) -> int:
        """Number of bodies that fell, or whose simulation failed."""
        return sum(not body.is_upright for body in self.bodies)

    @property
    def speeds_m_s(self) -> tuple[float, ...]:
        """Speed of each upright body along the command [m/s]; empty if no speed is commanded."""
        if not (self.command.forward_m_s or self.command.left_m_s):
            return ()
        return tuple(
            speed_along_command(WalkMeasurement(self.walk, body.report))
            for body in self.bodies
            if body.report is not None and body.is_upright
        )

    @property
    def heading_drifts_deg(self) -> tuple[float, ...]:
        """How far each upright body has turned from the commanded heading in the measurement [deg]."""
        return tuple(
            abs(body.report.travel.heading_drift_deg)
            for body in self.bodies
            if body.report is not None and body.is_upright
        )

    def to_dict(self) -> PlainMapping:
        """Return the command, falls, speed and heading as plain data, fit for JSON."""
        speeds = self.speeds_m_s
        drifts = self.heading_drifts_deg
        return {
            "gait": self.gait.name,
            **self.command.by_name,
            "bodies": len(self.bodies),
            "fallen": self.n_fallen,
            "mean_speed_m_s": fmean(speeds) if speeds else None,
            "min_speed_m_s": min(speeds, default=None),
            "mean_heading_drift_deg": fmean(drifts) if drifts else None,
            "max_heading_drift_deg": max(drifts, default=None),
        }


def walk_held_out_bodies(task: GaitTask, gaits: Sequence[Gait], workers: int) -> tuple[HeldOutWalk, ...]:
    """Walk gaits on the held-out bodies of a tuning, with no joint locked, and return the tests by walk.

    A walk that is out of a gait's range is left out.

    Args:
        task: the tuning.
        gaits: the gaits to compare.
        workers: number of processes.
    """
    if not task.bodies.held_out:
        return ()
    with open_executor(workers, len(task.bodies.held_out)) as executor:
        return tuple(_walk_on_held_out_bodies(task, gaits, executor))


def _walk_on_held_out_bodies(
    task: GaitTask, gaits: Sequence[Gait], executor: Executor | None
) -> Iterator[HeldOutWalk]:
    """Yield the tests of all walks, each with every gait whose range it is in."""
    for walk in task.walks:
        for gait in gaits:
            generator = gait.generator(task.robot)
            command = walk.command(velocity_limits(generator))
            try:
                generator.require_in_range(command)
            except InputError:
                continue
            walk_task = WalkTask(gait, task.robot, command, walk.seconds, walk.settle_s)
            bodies = tuple(map_in_order(walk_task.walk, task.bodies.held_out, executor))
            yield HeldOutWalk(gait, walk, command, bodies)
