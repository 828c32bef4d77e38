"""The stage of a motion's trial: the robot is put down, stands, plays, holds, and all is written down."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.bodies import Contacts, JointCommands, JointStates
from posewright.evaluation.motion.course import Course
from posewright.experiments.motion.commands import Commands
from posewright.robots import Robot

if TYPE_CHECKING:
    from posewright.simulation import SimulatedBody

Attitude = tuple[float, float]
"""Roll and pitch of the base [rad]."""


def put_down(
    robot: Robot, commands: Commands, attitude: Attitude | None, friction: float | None
) -> SimulatedBody:
    """Return the robot in its first pose, at rest on the floor.

    Args:
        robot: who is put down.
        commands: its first pose, and the attitude its author has in mind.
        attitude: roll and pitch of the base [rad]; None for the author's, else as it stands, kneels or lies.
        friction: of the floor; None for the model's.

    Raises:
        InputError: the robot has no model.
    """
    from posewright.simulation import SimulatedBody, World
    from posewright.simulation.domain import set_friction
    from posewright.simulation.placing import Lean

    world = World(robot, contacts=True)
    if friction is not None:
        set_friction(world.model, friction)
    body = SimulatedBody(world, start_pose=commands.first)
    if attitude is None and commands.wanted is not None:
        roll, pitch = commands.wanted[0].tolist()
        attitude = roll, pitch
    if attitude is not None:
        body.put_down(commands.first, Lean(*attitude))
    return body


def play(body: SimulatedBody, commands: Commands, *, settle: int, hold: int) -> Course:
    """Let the robot stand, play and hold; return what happened.

    Args:
        body: put down in the first pose.
        commands: what is played.
        settle: frames it stands before.
        hold: frames it stays in the last pose.

    Raises:
        BodyError: the simulation failed.
    """
    before, after = _held(JointCommands(commands.first[np.newaxis]), settle), _held(commands.last, hold)
    blocks = (before, *commands.blocks, after)
    tracks = [body.world.advance({body.instance.name: block})[body.instance.name] for block in blocks]
    world = [track.truth for track in tracks if track.truth is not None]
    period_s, wanted = body.robot.frame_period_s, commands.wanted
    times: Floats = (np.arange(1.0, sum(map(len, tracks)) + 1.0) - settle) * period_s
    return Course(
        robot=body.robot,
        times=times,
        ends_s=len(commands.keyframes) * period_s,
        keyframes=np.pad(np.pad(commands.keyframes, (settle, 0)), (0, hold), "edge").astype(np.intp),
        commands=np.concatenate([block.angles for block in blocks]),
        free=np.concatenate([_free(block) for block in blocks]),
        positions=np.concatenate([track.positions for track in tracks]),
        efforts=np.concatenate([track.efforts for track in tracks]),
        base=np.concatenate([rows.base for rows in world]),
        foot_contacts=np.concatenate([rows.foot_contacts for rows in world]),
        slips=np.concatenate([rows.slips for rows in world if rows.slips is not None]),
        contacts=_joined(tracks),
        wanted=None if wanted is None else np.pad(wanted, ((settle, hold), (0, 0)), "edge"),
    )


def _held(frame: JointCommands, n: int) -> JointCommands:
    return replace(frame, angles=np.repeat(frame.angles, n, axis=0))


def _free(block: JointCommands) -> Flags:
    off = np.zeros(block.angles.shape[1], dtype=np.bool_) if block.free is None else block.free
    return np.broadcast_to(off, block.angles.shape)


def _joined(tracks: list[JointStates]) -> Contacts:
    """Return the contacts of all blocks as of one."""
    parts, begin = {}, 0
    for track in tracks:
        if track.truth is not None and track.truth.contacts is not None:
            parts[begin] = track.truth.contacts
        begin += len(track)
    return Contacts.joined(parts)
