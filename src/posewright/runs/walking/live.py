"""Walks a gait on a simulated body that a person steers, and measures the walk afterwards."""

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
from posewright.runs.walking.walk import MAX_WALK_S, SETTLE_S, FallWatcher, walking_plant_maker

if TYPE_CHECKING:
    from posewright.simulation import World


@dataclass(frozen=True)
class _StatesWatcher:
    """A watcher that passes the joint states to a function, which returns True to end the walk."""

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
    """Walk a gait on a simulated body until a watcher ends it, the robot stays down, or ten minutes are over.

    Args:
        gait: the gait to be walked.
        robot: the robot that walks.
        steering: returns the present command.
        watch: called with the joint states and the base pose; it returns True to end the walk.
        clock: paces the walk; by default it runs as fast as it can.
        world: as for `walk_gait`.

    Raises:
        InputError: gait and robot do not fit.
        UnreachableError: a foot cannot reach its place in the standing pose.
        BodyError: the simulation failed.
    """
    program = GaitProgram(gait, robot, steering=steering)
    walk_settings = WalkSettings(
        gait.name,
        body="nominal",
        seconds=MAX_WALK_S,
        settle_s=SETTLE_S,
        standing=tuple(program.start_pose.tolist()),
    )
    prepared_run = Run(
        gait.name,
        {robot.name: program},
        MAX_WALK_S,
        make_plant=walking_plant_maker(gait, world),
        watchers=[_StatesWatcher(watch)],
        plant_watchers=[lambda plant: FallWatcher(plant, robot.name, on_progress=None)],
        pace=clock,
        extras={EXTRAS: asdict(walk_settings)},
    )
    return evaluate_walk(run(prepared_run).recording, robot=robot, gait=gait)
