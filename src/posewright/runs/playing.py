"""Play a motion, or walk a gait, on any body: simulated, on its bus, or across a network."""

from __future__ import annotations

from typing import Any

from posewright.control import Script
from posewright.controllers import GaitController
from posewright.errors import InputError
from posewright.formats import card_of
from posewright.formats.native import render
from posewright.gaits import Gait, QuadrupedGait, VelocityCommand, gait_text, refuse_out_of_range, robot_of
from posewright.gaits.quadruped.reading import SUFFIX
from posewright.motions import Motion
from posewright.recordings import Recording
from posewright.robots import Robot
from posewright.runs.motion import HOLD_S, LONGEST_S, SETTLE_S, commands_of
from posewright.runs.performing import perform
from posewright.runs.plants import SIMULATION


def play_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    body: str = SIMULATION,
    pose: str | None = None,
    settle_s: float = SETTLE_S,
    hold_s: float = HOLD_S,
    longest_s: float = LONGEST_S,
    **how: Any,
) -> Recording:
    """Play a motion on any body, with safety between the two.

    A body that is real goes gently to the motion's first pose first; a simulated one is put down in it. A
    motion that repeats for ever is played three times.

    Args:
        motion: what is played.
        robot: on what, or its name; default the motion's own.
        body: as for `run_trial`.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        settle_s: how long it stands in the first pose before [s].
        hold_s: how long it holds the last one [s].
        longest_s: what lies later in the motion is not played [s].
        how: whatever else `perform` takes: `clock`, `record`, `on_end`, ...

    Raises:
        InputError: the motion is another robot's, or a number makes no sense.
        UnknownNameError: there is no such robot, body or pose.
        BodyError: the body failed.
    """
    card = card_of(motion, robot)
    for what, seconds in (("settle_s", settle_s), ("hold_s", hold_s)):
        if not 0.0 <= seconds <= LONGEST_S:
            raise InputError(f"{what} is {seconds:g} s", hint=f"0 to {LONGEST_S:g} s")
    commands = commands_of(motion, card, pose=pose, longest_s=longest_s)
    settle, hold = (round(seconds / card.frame_period_s) for seconds in (settle_s, hold_s))
    frames = settle + len(commands.keyframes) + hold
    return perform(
        Script(commands.script(settle, hold)),
        card,
        name=f"motion {motion.name}",
        until_s=frames * card.frame_period_s,
        body=body,
        pose=commands.first,
        documents={f"{motion.name}.motion.yaml": render(motion).decode()},
        **how,
    )


def play_gait(
    gait: Gait,
    robot: Robot | str | None = None,
    *,
    command: VelocityCommand,
    seconds: float,
    body: str = SIMULATION,
    **how: Any,
) -> Recording:
    """Walk a gait on any body, with safety between the two; `walk_gait` measures one on a simulated body.

    Args:
        gait: what is walked.
        robot: who walks, or the name; default the gait's own.
        command: what is asked for, all the time.
        seconds: for how long [s].
        body: as for `run_trial`.
        how: whatever else `perform` takes.

    Raises:
        InputError: the command is out of its range, or gait and robot do not go together.
        UnreachableError: a foot cannot stand where the gait wants it to.
        BodyError: the body failed.
    """
    card = robot_of(gait, robot)
    walker = QuadrupedGait(gait, card)
    refuse_out_of_range(command, gait.parameters, walker.timing)
    return perform(
        GaitController(walker, [(0.0, command)], card.frame_period_s),
        card,
        name=f"gait {gait.name}",
        until_s=seconds,
        body=body,
        pose=walker.standing_pose,
        documents={f"{gait.name}{SUFFIX}": gait_text(gait)},
        **how,
    )
