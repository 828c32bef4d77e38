"""Try a motion under gravity: what an editor without physics never showed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from posewright.control import Safety, Watcher
from posewright.controllers import MotionProgram
from posewright.controllers.motion_player import HOLD_S, LONGEST_S, SETTLE_S, MotionCommands
from posewright.errors import InputError
from posewright.evaluation.motion.played_motion import EXTRAS
from posewright.evaluation.motion.report import MotionResult, evaluate_motion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.formats import robot_of_motion
from posewright.motions import Motion
from posewright.robots import Robot
from posewright.runs.run import Run, run

if TYPE_CHECKING:
    from posewright.simulation import SimulatedBody

Attitude = tuple[float, float]
"""Roll and pitch of the base [rad]."""

MOST_S = 3600.0


def try_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    pose: str | None = None,
    attitude: Attitude | None = None,
    friction: float | None = None,
    settle_s: float = SETTLE_S,
    hold_s: float = HOLD_S,
    longest_s: float = LONGEST_S,
    rules: PhysicsRules | None = None,
    watchers: Sequence[Watcher] = (),
) -> MotionResult:
    """Play a motion under gravity, from its own first pose on a bare floor; say what it does to the robot.

    The robot is put down in the first pose, stands for a moment, is commanded as a player would command it,
    and holds the last pose for a moment. Commands stay within the stops of the mechanism, but nothing slows
    them down: a motion that is too fast shows as joints that lag. A motion that repeats for ever is played
    three times. The same motion gives the same recording, to the last bit.

    Args:
        motion: what is tried.
        robot: on what, or its name; default the motion's own.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        attitude: roll and pitch of the base the robot is put down with [rad], such as (0, pi/2) on its face;
            default what the motion's author says, else as it stands on its feet.
        friction: of the floor with whatever touches it; default what the robot's model says.
        settle_s: how long it stands before [s].
        hold_s: how long it holds the last pose [s].
        longest_s: what lies later in the motion is not played [s].
        rules: what counts as fallen, late, ...
        watchers: each sees every block; whoever has no use for the rest raises, which ends it.

    Raises:
        InputError: the motion is another robot's, the robot has no model, or a number makes no sense.
        UnknownNameError: the robot is not known, or has no such pose.
        BodyError: the simulation failed.
    """
    card = robot_of_motion(motion, robot)
    _check_numbers({"settle_s": settle_s, "hold_s": hold_s, "longest_s": longest_s}, friction)
    program = MotionProgram(motion, card, pose, settle_s, hold_s, longest_s)
    commands = program.commands
    attitudes = None if commands.attitudes is None else commands.attitudes.tolist()
    extras = {EXTRAS: {"name": motion.name, "is_whole": commands.is_complete, "attitudes": attitudes}}
    trial = Run(
        motion.name,
        {card.name: program},
        program.duration_s,
        make_plant=lambda _parts, _arena: put_down(card, commands, attitude, friction).world,
        safety={card.name: Safety(card, hardware=True)},
        watchers=watchers,
        extras=extras,
    )
    return evaluate_motion(run(trial).recording, robot=card, rules=rules)


def put_down(
    robot: Robot, commands: MotionCommands, attitude: Attitude | None, friction: float | None
) -> SimulatedBody:
    """Return the robot in its first pose, at rest on the floor, in a world that sees contacts.

    Without an attitude, roll and pitch of its base [rad], it is its author's, else it stands, kneels or lies.
    """
    from posewright.simulation import SimulatedBody, World
    from posewright.simulation.domain import set_friction
    from posewright.simulation.placement import Lean

    world = World(robot, contacts=True)
    if friction is not None:
        set_friction(world.model, friction)
    body = SimulatedBody(world, start_pose=commands.first_pose)
    if attitude is None and commands.attitudes is not None:
        roll, pitch = commands.attitudes[0].tolist()
        attitude = roll, pitch
    if attitude is not None:
        body.put_down(commands.first_pose, Lean(*attitude))
    return body


def _check_numbers(times: dict[str, float], friction: float | None) -> None:
    for what, seconds in times.items():
        if not 0.0 <= seconds <= MOST_S:
            raise InputError(f"{what} is {seconds}", hint=f"0 to {MOST_S:g} seconds")
    if friction is not None and not (math.isfinite(friction) and friction > 0.0):
        raise InputError(f"the friction is {friction}", hint="above 0: 0.2 is a polished floor, 1 a carpet")
