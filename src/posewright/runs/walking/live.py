"""Walk a gait on a simulated body while somebody steers it, and measure the walk when it is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from posewright.bodies import BodyState, Decision, JointCommands, JointStates
from posewright.control import Block, Clock
from posewright.evaluation.walking.report import WalkResult, evaluate_walk
from posewright.evaluation.walking.walk import WalkTerms
from posewright.gaits import Gait, QuadrupedGait, VelocityCommand
from posewright.robots import Robot
from posewright.runs.driving import recorded
from posewright.runs.walking.walk import MOST_S, SETTLE_S, Onlooker, walk_header, walking_world

if TYPE_CHECKING:
    from posewright.simulation import World

STEER_FRAMES = 4
"""The steering is looked at once in so many frames, 32 ms of an AIBO; a step takes longer."""


class Steered:
    """Walks a gait by the command that `steering` returns; it takes effect with the next step.

    A command that is out of the gait's range is followed more slowly in the same direction.
    """

    def __init__(self, gait: QuadrupedGait, steering: Callable[[], VelocityCommand]) -> None:
        self._gait, self._steering = gait, steering
        self._given: VelocityCommand | None = None

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- open loop
        """Return the next few frames of the walk."""
        command, decision = self._gait.clipped(self._steering()), None
        if command != self._given:
            self._gait.request(command)
            self._given, decision = command, Decision(outputs=command.by_name, playing=self._gait.gait.name)
        return JointCommands(self._gait.frames(min(n, STEER_FRAMES)), decision=decision)


@dataclass(frozen=True)
class _Shown:
    """Shows somebody what the joints did, who may end the walk."""

    watch_states: Callable[[JointStates], bool]

    def watch(self, block: Block) -> bool:
        return self.watch_states(block.states)


def walk_live(
    gait: Gait,
    robot: Robot,
    *,
    steering: Callable[[], VelocityCommand],
    watch: Callable[[JointStates], bool],
    clock: Clock | None = None,
    world: World | None = None,
) -> WalkResult:
    """Walk a gait on a simulated body until somebody ends it, or the robot lies, or for ten minutes.

    Args:
        gait: what is walked.
        robot: who walks.
        steering: returns what is asked for now.
        watch: is shown what the joints did and where the base is; it returns True to end the walk.
        clock: paces the walk; simulated time by default.
        world: as for `walk_gait`.

    Raises:
        InputError: gait and robot do not go together.
        UnreachableError: a foot cannot stand where the gait wants it to.
        BodyError: the simulation failed.
    """
    from posewright.simulation import SimulatedBody

    walker = QuadrupedGait(gait, robot)
    plant = walking_world(gait, robot) if world is None else world
    body = SimulatedBody(plant, start_pose=walker.standing_pose)
    terms = WalkTerms(gait.name, "nominal", MOST_S, SETTLE_S, tuple(walker.standing_pose.tolist()))
    header = walk_header(gait, body, terms, seed=0)
    recording = recorded(
        plant,
        {robot.name: Steered(walker, steering)},
        header,
        until_s=MOST_S,
        watchers=[_Shown(watch), Onlooker(body, header, None)],
        clock=clock,
    )
    return evaluate_walk(recording, robot=robot, gait=gait)
