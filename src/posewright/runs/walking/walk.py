"""Walk a gait on a simulated body, made step by step as on a robot, and measure it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import NOMINAL, DomainParameters
from posewright.control import Block
from posewright.controllers import GaitController
from posewright.errors import InputError
from posewright.evaluation.walking.report import WalkResult, evaluate_walk
from posewright.evaluation.walking.walk import EXTRAS, Timed, WalkTerms, stays_down_limits
from posewright.gaits import Gait, QuadrupedGait, VelocityCommand, gait_text, refuse_out_of_range, robot_of
from posewright.gaits.quadruped.reading import SUFFIX
from posewright.recordings import Header, RobotHeader
from posewright.recordings.falls import SKY, FallDetector
from posewright.robots import Robot
from posewright.runs.driving import recorded
from posewright.search.plan import checked_seed
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.simulation import SimulatedBody, World

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
    from posewright.simulation import SimulatedBody

    frames = sum(frames_of(robot := robot_of(gait, robot), seconds, settle_s))
    checked_seed(seed)
    commands, walker = timed_commands(command, settle_s + seconds), QuadrupedGait(gait, robot)
    for timed in commands:
        refuse_out_of_range(timed.command, gait.parameters, walker.timing)
    stage = walking_world(gait, robot) if world is None else world
    body = SimulatedBody(stage, start_pose=walker.standing_pose, seed=seed, domain=domain)
    name = body_name or ("nominal" if (domain or NOMINAL).is_nominal else "varied")
    terms = WalkTerms(gait.name, name, seconds, settle_s, tuple(walker.standing_pose.tolist()))
    header = walk_header(gait, body, terms, seed)
    began = clock() if clock else 0.0
    recording = recorded(
        stage,
        {robot.name: GaitController(walker, commands, robot.frame_period_s)},
        header,
        until_s=frames * robot.frame_period_s,
        watchers=[Onlooker(body, header, on_progress)],
    )
    wall_s = clock() - began if clock else 0.0
    return evaluate_walk(recording, robot=robot, gait=gait, wall_s=wall_s)


def walking_world(gait: Gait, robot: Robot) -> World:
    """Return a world to walk in: nothing for the looks, and joints that carry next to nothing welded."""
    from posewright.simulation import World, light_joints

    return World(robot, visuals=False, welded=angles_in_pose(gait, robot, light_joints(robot)))


def angles_in_pose(gait: Gait, robot: Robot, joints: Sequence[str]) -> dict[str, float]:
    """Return the angles of joints in the gait's pose, within their limits [rad]: where they may be welded."""
    pose = np.clip(robot.pose(gait.pose), *robot.limits)
    return {joint: float(pose[robot.index(joint)]) for joint in joints}


def walk_header(gait: Gait, body: SimulatedBody, terms: WalkTerms, seed: int) -> Header:
    """Return the header of a walk's recording, from which alone the walk can be measured."""
    card = body.robot
    return Header(
        robots={card.name: RobotHeader.of(body, f"gait {gait.name}")},
        seed=seed,
        version=__version__,
        documents={f"{gait.name}{SUFFIX}": gait_text(gait)},
        extras={EXTRAS: asdict(terms)},
    )


class Onlooker:
    """Tells how far a walk is, and ends it when the robot has lain for long."""

    def __init__(
        self, body: SimulatedBody, header: Header, on_progress: Callable[[float], None] | None
    ) -> None:
        start: Floats = body.instance.base[np.newaxis]
        gravity = np.asarray(header.robots[body.robot.name].facts["gravity"])
        limits = stays_down_limits(body.robot.frame_period_s, LIES_S)
        self._falls = FallDetector(
            limits, up=-gravity / np.linalg.norm(gravity) if gravity[:2].any() else SKY
        )
        self._falls.down(start)
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


def timed_commands(schedule: object, ends_s: float) -> tuple[Timed, ...]:
    """Return the commands of a `CommandSchedule`, each with its time; whatever else is refused."""
    if isinstance(schedule, VelocityCommand):
        return (Timed(0.0, schedule),)
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


def _timed(one: object) -> Timed:
    time_s, command = one if isinstance(one, Sequence) and len(one) == len(Timed._fields) else (None, None)
    if not _is_number(time_s) or not isinstance(command, VelocityCommand):
        raise InputError(f"{one!r} in a schedule", hint="a time [s] and a VelocityCommand")
    return Timed(float(time_s), command)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _expect_seconds(name: str, value: float, least: float, most: float) -> None:
    if not (math.isfinite(value) and least <= value <= most):
        raise InputError(f"{name} is {value}", hint=f"from {least:g} to {most:g} s")
