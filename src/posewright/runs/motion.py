"""Plays a motion in a simulation with gravity, and reports what it does to the robot."""

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

MAX_TIME_S = 3600.0


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
    """Play a motion in a simulation with gravity, and return what it does to the robot.

    The robot is placed on a bare floor in the motion's first pose, stands for a moment, plays the motion as a
    motion player would, and holds the last pose for a moment. Commands stay within the joints' mechanical
    limits, but their speed is not limited: in a motion that is too fast, joints lag behind. A motion that
    repeats for ever is played three times. The same motion gives exactly the same recording.

    Args:
        motion: the motion to be played.
        robot: the robot that plays it, or its name; by default the motion's own.
        pose: name of the pose of the joints that the motion does not move; by default `stand`.
        attitude: roll and pitch of the base at the start [rad], such as (0, pi/2) for lying face down; by
            default that in the motion, else upright on its feet.
        friction: the friction of the floor with everything that touches it; by default that of the robot's
            model.
        settle_s: time in the first pose before the motion [s].
        hold_s: time in the last pose after the motion [s].
        longest_s: the motion is cut after this time [s].
        rules: thresholds of the evaluation, such as for falls and lagging joints.
        watchers: receive every block; a watcher may raise an exception to stop.

    Raises:
        InputError: the motion is for another robot, the robot has no model, or a number is out of range.
        UnknownNameError: no robot or pose has this name.
        BodyError: the simulation failed.
    """
    card = robot_of_motion(motion, robot)
    _require_valid_numbers({"settle_s": settle_s, "hold_s": hold_s, "longest_s": longest_s}, friction)
    program = MotionProgram(motion, card, pose, settle_s, hold_s, longest_s)
    commands = program.commands
    attitudes = None if commands.attitudes is None else commands.attitudes.tolist()
    extras = {EXTRAS: {"name": motion.name, "is_whole": commands.is_complete, "attitudes": attitudes}}
    prepared_run = Run(
        motion.name,
        {card.name: program},
        program.duration_s,
        make_plant=lambda _bodies, _arena: place_on_floor(card, commands, attitude, friction).world,
        safety={card.name: Safety(card, hardware=True)},
        watchers=watchers,
        extras=extras,
    )
    return evaluate_motion(run(prepared_run).recording, robot=card, rules=rules)


def place_on_floor(
    robot: Robot, commands: MotionCommands, attitude: Attitude | None, friction: float | None
) -> SimulatedBody:
    """Return a simulated robot at rest on the floor in its first pose, in a world that reports contacts.

    Args:
        robot: the robot to be placed.
        commands: the commands of the motion; they give the first pose.
        attitude: roll and pitch of the base [rad]; None for that in the motion, or, without one, for any in
            which the robot rests.
        friction: the friction of the floor; None for that of the model.
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


def _require_valid_numbers(times: dict[str, float], friction: float | None) -> None:
    """Raise an InputError if a time, by its name, or the friction is out of range."""
    for name, seconds in times.items():
        if not 0.0 <= seconds <= MAX_TIME_S:
            raise InputError(f"{name} is {seconds}", hint=f"0 to {MAX_TIME_S:g} seconds")
    if friction is not None and not (math.isfinite(friction) and friction > 0.0):
        raise InputError(
            f"the friction is {friction}",
            hint="use a number above 0, such as 0.2 (polished floor) or 1 (carpet)",
        )
