"""The stage of a gait's trial: the robot is put down and walks, its gait made step by step as it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import DomainParameters, JointStates
from posewright.evaluation.walking.falls import lain, lying
from posewright.evaluation.walking.track import GaitTrack, Timed
from posewright.experiments.walking.corrections import Corrections
from posewright.gaits import Gait, QuadrupedGait
from posewright.robots import Robot

if TYPE_CHECKING:
    from posewright.simulation import SimulatedBody, World

BLOCK_FRAMES = 64
"""So many frames are made, checked and sent at once, 0.512 s of an AIBO; fewer before a command changes."""

LIES_S = 0.5
"""A robot that has lain for so long does not get up again: the walk is over [s]."""


def walking_world(gait: Gait, robot: Robot) -> World:
    """Return a world to walk in: nothing for the looks, and joints that carry next to nothing welded.

    Args:
        gait: what is walked; its pose says at which angles they are welded.
        robot: who walks.

    Raises:
        InputError: the robot has no model.
    """
    from posewright.simulation import World, light_joints

    return World(robot, visuals=False, welded=angles_in_pose(gait, robot, light_joints(robot)))


def angles_in_pose(gait: Gait, robot: Robot, joints: Sequence[str]) -> dict[str, float]:
    """Return the angles of joints in the gait's pose, within their limits [rad]: where they may be welded."""
    pose = np.clip(robot.pose(gait.pose), *robot.limits)
    return {joint: float(pose[robot.index(joint)]) for joint in joints}


def put_on_stage(
    gait: Gait, robot: Robot, *, world: World | None, variation: DomainParameters | None, seed: int
) -> tuple[QuadrupedGait, SimulatedBody]:
    """Return the gait ready to walk, and the robot in its standing pose on the floor.

    Raises:
        InputError: the gait does not fit the robot, or the robot has no model.
        UnreachableError: a foot cannot stand where the gait wants it to.
    """
    from posewright.simulation import SimulatedBody

    walker = QuadrupedGait(gait, robot)
    stage = walking_world(gait, robot) if world is None else world
    body = SimulatedBody(stage, start_pose=walker.standing_pose, seed=seed, domain=variation)
    return walker, body


def walk(
    walker: QuadrupedGait,
    body: SimulatedBody,
    commands: Sequence[Timed],
    *,
    begin: int,
    frames: int,
    tell: Callable[[float], None] | None = None,
) -> GaitTrack:
    """Let the robot walk and return what happened; a robot that has fallen and stays down walks no further.

    Args:
        walker: makes the poses, online: a block at a time, while the robot walks.
        body: on its feet in the walker's standing pose.
        commands: what is asked for when; the first from the beginning.
        begin: so many frames are left to settle into the walk.
        frames: so many follow.
        tell: is told the body's time after each block [s].

    Raises:
        InputError: a command is out of the gait's range.
        BodyError: the simulation failed.
    """
    going = _Walk(walker, body, begin, tuple(commands))
    for start, end, command in _blocks(commands, begin + frames, body.robot.frame_period_s):
        if command is not None:
            walker.request(command.command)
        going.play(start, end)
        if tell is not None:
            tell(body.time_s)
        if going.lay_frames * body.robot.frame_period_s >= LIES_S:
            break
    return going.track()


def _blocks(commands: Sequence[Timed], frames: int, frame_s: float) -> list[tuple[int, int, Timed | None]]:
    """Return begin and end of each block in frames, and the command that is given before it."""
    given = {round(timed.time_s / frame_s): timed for timed in commands}
    cuts = sorted({*range(0, frames, BLOCK_FRAMES), *(at for at in given if at < frames), frames})
    return [(start, end, given.get(start)) for start, end in pairwise(cuts)]


class _Walk:
    """A walk under way: what was asked for, sent and done, block after block.

    Attributes:
        lay_frames: for so many frames the robot has lain at the end of every block.
    """

    def __init__(
        self, walker: QuadrupedGait, body: SimulatedBody, begin: int, commands: tuple[Timed, ...]
    ) -> None:
        self.lay_frames = 0
        self._walker, self._body, self._begin, self._commands = walker, body, begin, commands
        first = walker.standing_pose[np.newaxis]
        self._asked, self._sent = [first], [first]
        self._gravity: Floats = np.array(body.world.model.opt.gravity, dtype=np.float64)
        self._tracks: list[JointStates] = []
        self._corrections = Corrections(body.robot)
        self._bases = [body.world.base[np.newaxis]]
        self._positions = [body.world.joint_positions[np.newaxis]]

    def play(self, start: int, end: int) -> None:
        """Make the frames of a block, let safety look at them, and send them."""
        asked = self._walker.frames(end - start)
        safe = self._corrections.let_through(asked, start, self._sent[-1][-1])
        track = self._body.world.advance({self._body.instance.name: safe})[self._body.instance.name]
        self._asked.append(asked)
        self._sent.append(safe.angles)
        self._tracks.append(track)
        self._positions.append(track.positions)
        self._bases.append(_base(track))
        down = lying(self._bases[-1], self._gravity, float(self._bases[0][0, 2]))
        self.lay_frames = lain(down, self.lay_frames)

    def track(self) -> GaitTrack:
        """Return what happened."""
        robot, body = self._body.robot, self._body
        nothing, nobody = np.zeros((1, len(robot.joints))), np.zeros((1, len(robot.feet)), dtype=np.bool_)
        contacts = [track.truth.foot_contacts for track in self._tracks if track.truth is not None]
        return GaitTrack(
            robot=robot,
            timing=self._walker.timing,
            phases=self._walker.gait.phases,
            commands=self._commands,
            begin=self._begin,
            asked=np.concatenate(self._asked),
            sent=np.concatenate(self._sent),
            positions=np.concatenate(self._positions),
            efforts=np.concatenate([nothing, *(track.efforts for track in self._tracks)]),
            base=np.concatenate(self._bases),
            foot_contacts=np.concatenate([nobody, *contacts]),
            stiffness=body.stiffness,
            damping=body.damping,
            latency_frames=body.domain.latency_frames,
            held_joints=body.instance.welded_joints,
            mass_kg=body.instance.mass_kg,
            gravity=self._gravity,
            corrections=self._corrections.found,
        )


def _base(track: JointStates) -> Floats:
    assert track.truth is not None  # noqa: S101 -- a simulated body always knows its place
    return track.truth.base
