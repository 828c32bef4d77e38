"""The task of many bodies: the same walk for each, one after the other in one world."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from posewright.bodies import DomainParameters
from posewright.errors import BodyError
from posewright.evaluation.walking.command_schedule import CommandSchedule
from posewright.experiments.walking.stage import walking_world
from posewright.experiments.walking.trial import walk_gait
from posewright.experiments.walking.walked_body import WalkedBody
from posewright.gaits import Gait
from posewright.robots import Robot

if TYPE_CHECKING:
    from posewright.simulation import World

Drawn = tuple[int, DomainParameters]
"""The seed of a body, and the body."""


@dataclass(frozen=True, eq=False)
class WalkTask:
    """The walk that every body is asked for; it can be handed to another process.

    Attributes:
        gait: what is walked.
        robot: who walks.
        command: as of `walk_gait`.
        seconds: for so long each is measured [s].
        settle_s: for so long each walks before [s].
    """

    gait: Gait
    robot: Robot
    command: CommandSchedule
    seconds: float
    settle_s: float

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process is made of; it makes a world of its own."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def walked(self, drawn: Drawn) -> WalkedBody:
        """Walk one body and say what became of it, be it that the simulation failed on it.

        Raises:
            InputError, UnreachableError: as `walk_gait`: of what all bodies are asked for.
        """
        seed, variation = drawn
        world, times_s = self._world, [0.0]
        report, failure = None, None
        try:
            trial = walk_gait(
                self.gait,
                self.robot,
                self.command,
                seconds=self.seconds,
                settle_s=self.settle_s,
                variation=variation,
                seed=seed,
                world=world,
                tell=times_s.append,
            )
            report = trial.report
        except BodyError as error:  # of this body alone: the others walk on
            failure = error.message
        return WalkedBody(seed, variation, report, times_s[-1], world.instance().welded_joints, failure)

    @cached_property
    def _world(self) -> World:
        return walking_world(self.gait, self.robot)
