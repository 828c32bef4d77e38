"""Walk a gait on a simulated body, made step by step as on a robot, and measure it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from posewright.arenas import Arena
from posewright.bodies import NOMINAL, BodySpec, DomainParameters, Plant, require_single_body
from posewright.control import Block
from posewright.controllers import GaitProgram
from posewright.errors import BodyError, InputError
from posewright.evaluation.walking.report import WalkResult, evaluate_walk
from posewright.evaluation.walking.walk import EXTRAS, TimedCommand, WalkSettings, stays_down_limits
from posewright.gaits import Gait, QuadrupedGait, VelocityCommand, require_command_in_range, robot_of_gait
from posewright.recordings.falls import LEVEL_UP, FallDetector
from posewright.robots import Robot
from posewright.runs.plants import PlantMaker
from posewright.runs.run import Run, run
from posewright.search.plan import require_seed

if TYPE_CHECKING:
    from posewright.simulation import World

CommandSchedule = VelocityCommand | Sequence[tuple[float, VelocityCommand]]
"""A command that holds all the time; or several, each with the time it is given, since the robot was let go
[s]."""

SECONDS = 10.0
"""A walk is measured for so long unless told otherwise [s]."""

SETTLE_S = 1.0
"""Time the robot is given to come into its walk before the measuring begins [s]."""

MOST_S = 600.0
MOST_SETTLE_S = 60.0

LIES_S = 0.5
"""A robot that has lain for so long does not get up again: the walk is over [s]."""


def walk_gait(
    gait: Gait,
    robot: Robot | str | None = None,
    *,
    command: CommandSchedule,
    seconds: float = SECONDS,
    settle_s: float = SETTLE_S,
    domain: DomainParameters | None = None,
    body_name: str | None = None,
    seed: int = 0,
    world: World | None = None,
    on_progress: Callable[[float], None] | None = None,
    clock: Callable[[], float] | None = None,
) -> WalkResult:
    """Walk a gait on a simulated body, and measure it.

    The robot is put down in the gait's standing pose. The gait makes its poses while the robot walks, a few
    frames at a time, and safety stands between the two. A robot that falls and stays down walks no further.

    Args:
        gait: what is walked.
        robot: who walks, or the name; default the gait's own.
        command: what is asked for, or what when; a change takes effect with the next step.
        seconds: for so long it is measured [s].
        settle_s: for so long it walks before; falls count from the beginning [s].
        domain: how the body differs from the robot's model; None for not at all.
        body_name: what that is called; `nominal` or `varied` by default.
        seed: of the noise of sensors, of which no gait that is made without them knows.
        world: of the same robot, to save making one; its state and its body are lost. The default welds the
            joints that carry next to nothing (`simulation.light_joints`) as the gait's pose has them.
        on_progress: is told the simulated time as it goes on [s].
        clock: a wall clock [s], for `WalkResult.wall_s`; nothing here looks at one by itself.

    Raises:
        InputError: a time or a command is out of its range, or gait and robot do not go together.
        UnreachableError: a foot cannot stand where the gait wants it to.
        BodyError: the simulation failed.
    """
    card = robot_of_gait(gait, robot)
    frames = sum(frames_of(card, seconds, settle_s))
    commands = timed_commands(command, settle_s + seconds)
    walker = QuadrupedGait(gait, card)
    for timed in commands:
        require_command_in_range(timed.command, gait.parameters, walker.timing)
    walked_domain = domain or NOMINAL
    name = body_name or ("nominal" if walked_domain.is_nominal else "varied")
    terms = WalkSettings(gait.name, name, seconds, settle_s, tuple(walker.standing_pose.tolist()))
    walk = Run(
        gait.name,
        {card.name: GaitProgram(gait, card, commands)},
        frames * card.frame_period_s,
        make_plant=walking_plant(gait, world),
        seed=require_seed(seed),
        domain=walked_domain,
        plant_watchers=[lambda plant: FallWatch(plant, card.name, on_progress)],
        wall_clock=clock,
        extras={EXTRAS: asdict(terms)},
    )
    outcome = run(walk)
    return evaluate_walk(outcome.recording, robot=card, gait=gait, wall_s=outcome.wall_s)


def walking_plant(gait: Gait, world: World | None = None) -> PlantMaker:
    """Return what makes the plant of a walk: the world given, or a `walking_world` of the robot."""

    def make(parts: Sequence[BodySpec], arena: Arena | None) -> Plant:  # noqa: ARG001 -- gaits walk on bare floors
        from posewright.simulation import SimulatedBody

        part = require_single_body(parts, "a walk")
        plant = walking_world(gait, part.robot) if world is None else world
        SimulatedBody(plant, start_pose=part.start_pose, seed=part.seed, domain=part.domain)
        return plant

    return make


def walking_world(gait: Gait, robot: Robot) -> World:
    """Return a world to walk in: nothing for the looks, and joints that carry next to nothing welded."""
    from posewright.simulation import World, light_joints

    return World(robot, visuals=False, welded=angles_in_pose(gait, robot, light_joints(robot)))


def angles_in_pose(gait: Gait, robot: Robot, joints: Sequence[str]) -> dict[str, float]:
    """Return the angles of joints in the gait's pose, within their limits [rad]: where they may be welded."""
    pose = np.clip(robot.pose(gait.pose), *robot.limits)
    return {joint: float(pose[robot.index(joint)]) for joint in joints}


class FallWatch:
    """Reports how far a walk is, and ends it when the robot has lain for long."""

    def __init__(self, plant: Plant, robot: str, on_progress: Callable[[float], None] | None) -> None:
        body = plant.bodies[robot]
        truth = body.observe().truth
        if truth is None:
            raise BodyError(f"{robot} does not know where it is", hint="a walk is measured in simulation")
        gravity = np.asarray(body.facts()["gravity"])
        upward = -gravity / np.linalg.norm(gravity) if gravity[:2].any() else LEVEL_UP
        self._falls = FallDetector(stays_down_limits(body.robot.frame_period_s, LIES_S), up=upward)
        self._falls.down(truth.base)
        self._on_progress = on_progress

    def watch(self, block: Block) -> bool:
        """Look where the robot is; return whether it stays down."""
        states = block.states
        if self._on_progress is not None:
            self._on_progress(float(states.times[-1]))
        return states.truth is not None and self._falls.advance(states.times, states.truth.base) is not None


def frames_of(robot: Robot, seconds: float, settle_s: float) -> tuple[int, int]:
    """Return for how many frames a robot settles into a walk, and for how many more it is measured."""
    period_s = robot.frame_period_s
    _expect_seconds("seconds", seconds, period_s, MOST_S)
    _expect_seconds("settle_s", settle_s, 0.0, MOST_SETTLE_S)
    return round(settle_s / period_s), round(seconds / period_s)


def timed_commands(schedule: object, ends_s: float) -> tuple[TimedCommand, ...]:
    """Return the commands of a `CommandSchedule`, each with its time; whatever else is refused."""
    if isinstance(schedule, VelocityCommand):
        return (TimedCommand(0.0, schedule),)
    if not isinstance(schedule, Sequence):
        raise InputError(f"{schedule!r} for a command", hint="a VelocityCommand, or several with times")
    commands = tuple(_timed(one) for one in schedule)
    if not commands or commands[0].time_s != 0.0:
        raise InputError("a schedule without a command at the beginning", hint="the first command at 0 s")
    for before, after in pairwise(timed.time_s for timed in commands):
        if not before < after < ends_s:
            raise InputError(
                f"a command at {after:g} s, after one at {before:g} s",
                hint=f"times that rise, within the {ends_s:g} s of the walk",
            )
    return commands


def _timed(one: object) -> TimedCommand:
    time_s, command = (
        one if isinstance(one, Sequence) and len(one) == len(TimedCommand._fields) else (None, None)
    )
    if not _is_number(time_s) or not isinstance(command, VelocityCommand):
        raise InputError(f"{one!r} in a schedule", hint="a time [s] and a VelocityCommand")
    return TimedCommand(float(time_s), command)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _expect_seconds(name: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise InputError(f"{name} is {value}", hint=f"from {least:g} to {most:g} s")
