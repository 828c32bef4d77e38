"""Walk a gait on a simulated body while somebody steers it, and measure the walk when it is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from posewright.bodies import Clock, JointStates
from posewright.control import Block
from posewright.controllers import GaitProgram
from posewright.evaluation.walking.report import WalkResult, evaluate_walk
from posewright.evaluation.walking.walk import EXTRAS, WalkSettings
from posewright.gaits import Gait, VelocityCommand
from posewright.robots import Robot
from posewright.runs.run import Run, run
from posewright.runs.walking.walk import MOST_S, SETTLE_S, FallWatch, walking_plant

if TYPE_CHECKING:
    from posewright.simulation import World


@dataclass(frozen=True)
class _StatesWatcher:
    """Hands what the joints did to a function that may end the walk."""

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
    program = GaitProgram(gait, robot, steering=steering)
    terms = WalkSettings(gait.name, "nominal", MOST_S, SETTLE_S, tuple(program.start_pose.tolist()))
    walk = Run(
        gait.name,
        {robot.name: program},
        MOST_S,
        make_plant=walking_plant(gait, world),
        watchers=[_StatesWatcher(watch)],
        plant_watchers=[lambda plant: FallWatch(plant, robot.name, None)],
        pace=clock,
        extras={EXTRAS: asdict(terms)},
    )
    return evaluate_walk(run(walk).recording, robot=robot, gait=gait)
