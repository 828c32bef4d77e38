"""Walks a gait on a simulated body, step by step as on a robot, and measures the walk."""

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
from posewright.gaits import Gait, VelocityCommand, robot_of_gait
from posewright.recordings.falls import LEVEL_UP, FallDetector
from posewright.robots import Robot
from posewright.runs.plants import PlantMaker
from posewright.runs.run import Run, run
from posewright.search.plan import require_seed

if TYPE_CHECKING:
    from posewright.simulation import World

CommandSchedule = VelocityCommand | Sequence[tuple[float, VelocityCommand]]
"""One command for the complete walk, or several commands, each with its time since the start [s]."""

SECONDS = 10.0
"""Default time for which a walk is measured [s]."""

SETTLE_S = 1.0
"""Default time that the robot walks before the measurement [s]."""

MAX_WALK_S = 600.0
MAX_SETTLE_S = 60.0

MAX_LYING_S = 0.5
"""A walk ends when the robot has lain for so long, as it cannot get up again [s]."""


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
    """Walk a gait on a simulated body, and measure the walk.

    The robot starts in the gait's standing pose. The gait computes its poses during the walk, a few frames at
    a time, and the safety filter acts on them as on a robot. The walk ends early if the robot falls and stays
    down.

    Args:
        gait: the gait to be walked.
        robot: the robot that walks, or its name; by default the gait's own.
        command: the velocity command, or several with their times; a change takes effect with the next step.
        seconds: time that is measured [s].
        settle_s: time that the robot walks before the measurement; falls count from the start [s].
        domain: how the body differs from the robot's model; None if it does not.
        body_name: name of the body in the report; by default `nominal` or `varied`.
        seed: the seed of the sensors' noise, which does not affect a gait without feedback.
        world: a world of the same robot to reuse; its state and its body are overwritten. By default a new
            one, in which the joints that bear almost no load (`simulation.light_joints`) are welded in the
            gait's pose.
        on_progress: called with the simulated time during the walk [s].
        clock: a wall clock [s], to measure `WalkResult.wall_s`.

    Raises:
        InputError: a time or a command is out of its range, or gait and robot do not fit.
        UnreachableError: a foot cannot reach its place in the standing pose.
        BodyError: the simulation failed.
    """
    card = robot_of_gait(gait, robot)
    n_frames = sum(count_frames(card, seconds, settle_s))
    commands = read_schedule(command, settle_s + seconds)
    generator = gait.generator(card)
    for timed_command in commands:
        generator.require_in_range(timed_command.command)
    body_domain = domain or NOMINAL
    reported_name = body_name or ("nominal" if body_domain.is_nominal else "varied")
    walk_settings = WalkSettings(
        gait.name, reported_name, seconds, settle_s, standing=tuple(generator.standing_pose.tolist())
    )
    prepared_run = Run(
        gait.name,
        {card.name: GaitProgram(gait, card, commands)},
        n_frames * card.frame_period_s,
        make_plant=walking_plant_maker(gait, world),
        seed=require_seed(seed),
        domain=body_domain,
        plant_watchers=[lambda plant: FallWatcher(plant, card.name, on_progress)],
        wall_clock=clock,
        extras={EXTRAS: asdict(walk_settings)},
    )
    outcome = run(prepared_run)
    return evaluate_walk(outcome.recording, robot=card, gait=gait, wall_s=outcome.wall_s)


def walking_plant_maker(gait: Gait, world: World | None = None) -> PlantMaker:
    """Return a function that makes the plant of a walk, in the given world or a new one."""

    def make(bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:  # noqa: ARG001 -- the floor is bare
        """Return the walking world with the body in it, at its start pose."""
        from posewright.simulation import SimulatedBody

        body = require_single_body(bodies, "a walk")
        plant = make_walking_world(gait, body.robot) if world is None else world
        plant = plant.with_plates(body.domain.plates)
        # the body adds itself to the world
        SimulatedBody(plant, start_pose=body.start_pose, seed=body.seed, domain=body.domain)
        return plant

    return make


def make_walking_world(gait: Gait, robot: Robot) -> World:
    """Return a world for walks: without visuals, and with the joints welded that bear almost no load."""
    from posewright.simulation import World, light_joints

    return World(robot, visuals=False, welded=angles_in_pose(gait, robot, light_joints(robot)))


def angles_in_pose(gait: Gait, robot: Robot, joints: Sequence[str]) -> dict[str, float]:
    """Return the angles of joints in the gait's pose, clipped to their limits [rad]."""
    pose = np.clip(robot.pose(gait.pose), *robot.limits)
    return {joint: float(pose[robot.index(joint)]) for joint in joints}


class FallWatcher:
    """A watcher that reports the time of a walk, and ends it when the robot has fallen and stays down.

    Args:
        plant: the plant with the robot, at its start.
        robot: name of the robot in the plant.
        on_progress: called with the time of the walk [s]; None for no reports.

    Raises:
        BodyError: the robot has no ground truth.
    """

    def __init__(self, plant: Plant, robot: str, on_progress: Callable[[float], None] | None) -> None:
        body = plant.bodies[robot]
        truth = body.observe().truth
        if truth is None:
            raise BodyError(f"{robot} has no ground truth", hint="a walk is measured in simulation")
        gravity = np.asarray(body.facts()["gravity"])
        up = -gravity / np.linalg.norm(gravity) if gravity[:2].any() else LEVEL_UP
        self._fall_detector = FallDetector(stays_down_limits(body.robot.frame_period_s, MAX_LYING_S), up=up)
        self._fall_detector.find_down_rows(truth.base)  # stores the height at the start
        self._on_progress = on_progress

    def watch(self, block: Block) -> bool:
        """Report the time; return whether the robot stays down."""
        states = block.states
        if self._on_progress is not None:
            self._on_progress(float(states.times[-1]))
        return (
            states.truth is not None
            and self._fall_detector.advance(states.times, states.truth.base) is not None
        )


def count_frames(robot: Robot, seconds: float, settle_s: float) -> tuple[int, int]:
    """Return the number of frames before the measurement, and the number of frames that are measured.

    Raises:
        InputError: a time is out of its range.
    """
    period_s = robot.frame_period_s
    _require_seconds("seconds", value=seconds, minimum=period_s, maximum=MAX_WALK_S)
    _require_seconds("settle_s", value=settle_s, minimum=0.0, maximum=MAX_SETTLE_S)
    return round(settle_s / period_s), round(seconds / period_s)


def read_schedule(schedule: object, end_s: float) -> tuple[TimedCommand, ...]:
    """Return the commands of a `CommandSchedule`, each with its time.

    Args:
        schedule: the schedule to be checked.
        end_s: duration of the walk, within which all commands must be [s].

    Raises:
        InputError: it is no schedule, or its times are not 0 and then rising.
    """
    if isinstance(schedule, VelocityCommand):
        return (TimedCommand(0.0, schedule),)
    if not isinstance(schedule, Sequence) or isinstance(schedule, str):
        hint = "give a VelocityCommand, or several, each with its time"
        if _is_number(schedule):
            hint = f"VelocityCommand({schedule}) goes ahead at {schedule} m/s"
        raise InputError(f"{schedule!r} is not a command", hint=hint)
    commands = tuple(_read_schedule_entry(entry) for entry in schedule)
    if not commands or commands[0].time_s != 0.0:
        raise InputError("the schedule has no command at the start", hint="the first command at 0 s")
    for previous, command in pairwise(commands):
        if not previous.time_s < command.time_s < end_s:
            raise InputError(
                f"the schedule has a command at {command.time_s:g} s after one at {previous.time_s:g} s",
                hint=f"times that rise, within the {end_s:g} s of the walk",
            )
    return commands


def _read_schedule_entry(entry: object) -> TimedCommand:
    """Return a command with its time."""
    time_s: object = None
    command: object = None
    if isinstance(entry, Sequence) and len(entry) == len(TimedCommand._fields):
        time_s, command = entry
    if not _is_number(time_s) or not isinstance(command, VelocityCommand):
        raise InputError(f"the schedule has the entry {entry!r}", hint="a time [s] and a VelocityCommand")
    return TimedCommand(float(time_s), command)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _require_seconds(name: str, value: float, minimum: float, maximum: float) -> None:
    if not (math.isfinite(value) and minimum <= value <= maximum):
        raise InputError(f"{name} is {value}", hint=f"from {minimum:g} to {maximum:g} s")
