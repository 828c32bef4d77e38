"""Play a motion, or walk a gait, on any body: simulated, on its bus, or across a network."""

from __future__ import annotations

from typing import Unpack

from posewright.controllers import GaitProgram, MotionProgram
from posewright.controllers.motion_player import HOLD_S, LONGEST_S, SETTLE_S
from posewright.errors import InputError
from posewright.formats import robot_of_motion
from posewright.gaits import Gait, VelocityCommand, robot_of_gait
from posewright.motions import Motion
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.runs.perform import PerformOptions, perform_program


def play_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    pose: str | None = None,
    settle_s: float = SETTLE_S,
    hold_s: float = HOLD_S,
    longest_s: float = LONGEST_S,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Play a motion on any body, through the safety filter.

    A real body first moves slowly to the motion's first pose; a simulated one starts in it. A motion that
    repeats for ever is played three times.

    Args:
        motion: the motion.
        robot: the robot or its name; by default the motion's own.
        pose: name of the pose of joints that the motion does not move; by default `stand`.
        settle_s: time in the first pose before the motion starts [s].
        hold_s: time in the last pose after the motion [s].
        longest_s: the motion is cut after this time [s].
        options: see `PerformOptions`.

    Raises:
        InputError: the motion is for another robot, or a duration is out of range.
        UnknownNameError: no robot, body or pose has this name.
        UnsafeMotionError: the body may be a real robot, `motion check` reports errors, and the option
            `accept_faults` is false; nothing has moved.
        BodyError: the body failed.
    """
    for name, seconds in (("settle_s", settle_s), ("hold_s", hold_s)):
        if not 0.0 <= seconds <= LONGEST_S:
            raise InputError(f"{name} is {seconds:g} s", hint=f"0 to {LONGEST_S:g} s")
    program = MotionProgram(motion, robot_of_motion(motion, robot), pose, settle_s, hold_s, longest_s)
    return perform_program(program, until_s=program.duration_s, **options)


def play_gait(
    gait: Gait,
    robot: Robot | str | None = None,
    *,
    command: VelocityCommand,
    seconds: float,
    **options: Unpack[PerformOptions],
) -> Recording:
    """Walk a gait on any body, through the safety filter; `walk_gait` measures it on a simulated body.

    Args:
        gait: the gait.
        robot: the robot or its name; by default the gait's own.
        command: the commanded velocity.
        seconds: duration [s].
        options: see `PerformOptions`.

    Raises:
        InputError: the command is out of range, or the gait is for another robot.
        UnreachableError: a foot cannot reach its position in the gait.
        BodyError: the body failed.
    """
    card = robot_of_gait(gait, robot)
    gait.generator(card).require_in_range(command)
    return perform_program(GaitProgram(gait, card, ((0.0, command),)), until_s=seconds, **options)
