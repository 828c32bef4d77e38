"""Play a motion, or walk a gait, on any body: simulated, on its bus, or across a network."""

from __future__ import annotations

from typing import Unpack

from posewright.controllers import GaitProgram, MotionProgram
from posewright.controllers.motion_player import HOLD_S, LONGEST_S, SETTLE_S
from posewright.errors import InputError
from posewright.formats import robot_of_motion
from posewright.gaits import Gait, QuadrupedGait, VelocityCommand, require_command_in_range, robot_of_gait
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
    """Play a motion on any body, with safety between the two.

    A body that is real goes gently to the motion's first pose first; a simulated one is put down in it. A
    motion that repeats for ever is played three times.

    Args:
        motion: what is played.
        robot: on what, or its name; default the motion's own.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        settle_s: how long it stands in the first pose before [s].
        hold_s: how long it holds the last one [s].
        longest_s: what lies later in the motion is not played [s].
        options: see `PerformOptions`.

    Raises:
        InputError: the motion is another robot's, or a number makes no sense.
        UnknownNameError: there is no such robot, body or pose.
        BodyError: the body failed.
    """
    for what, seconds in (("settle_s", settle_s), ("hold_s", hold_s)):
        if not 0.0 <= seconds <= LONGEST_S:
            raise InputError(f"{what} is {seconds:g} s", hint=f"0 to {LONGEST_S:g} s")
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
    """Walk a gait on any body, with safety between the two; `walk_gait` measures one on a simulated body.

    Args:
        gait: what is walked.
        robot: who walks, or the name; default the gait's own.
        command: what is asked for, all the time.
        seconds: for how long [s].
        options: see `PerformOptions`.

    Raises:
        InputError: the command is out of its range, or gait and robot do not go together.
        UnreachableError: a foot cannot stand where the gait wants it to.
        BodyError: the body failed.
    """
    card = robot_of_gait(gait, robot)
    require_command_in_range(command, gait.parameters, QuadrupedGait(gait, card).timing)
    return perform_program(GaitProgram(gait, card, ((0.0, command),)), until_s=seconds, **options)
