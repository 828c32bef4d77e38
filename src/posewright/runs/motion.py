"""Try a motion under gravity: what an editor without physics never showed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import Decision, JointCommands
from posewright.control import Safety, Script, Watcher
from posewright.controllers.passes import Passes
from posewright.errors import InputError
from posewright.evaluation.motion.played import EXTRAS, HOLD, KEYFRAME, SETTLE
from posewright.evaluation.motion.report import MotionResult, evaluate_motion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.formats import card_of
from posewright.formats.native import render
from posewright.motions import Motion
from posewright.recordings import Header, RobotHeader
from posewright.robots import Robot
from posewright.runs.driving import recorded
from posewright.version import __version__

if TYPE_CHECKING:
    from posewright.simulation import SimulatedBody

Attitude = tuple[float, float]
"""Roll and pitch of the base [rad]."""

SETTLE_S = 1.0
"""Time the robot is given to stand still before the motion begins [s]."""

HOLD_S = 1.0
"""Time the last pose is held, to see whether the robot stays up [s]."""

LONGEST_S = 60.0
"""A motion is played no longer than this [s]."""

MOST_S = 3600.0

LOOPS_SHOWN = 3
"""Passes of a motion that repeats for ever: the first, one in the middle, and one more."""

LONGEST_PASS_S = 600.0
"""One pass is sampled as a whole; none that anybody wrote lasts as long."""


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
    robot = card_of(motion, robot)
    _refuse_nonsense({"settle_s": settle_s, "hold_s": hold_s, "longest_s": longest_s}, friction)
    commands = commands_of(motion, robot, pose=pose, longest_s=longest_s)
    body = put_down(robot, commands, attitude, friction)
    settle, hold = (round(seconds / robot.frame_period_s) for seconds in (settle_s, hold_s))
    recording = recorded(
        body.world,
        {robot.name: Script(commands.script(settle, hold))},
        _header(motion, commands, body),
        until_s=(settle + len(commands.keyframes) + hold) * robot.frame_period_s,
        watchers=watchers,
        safety={robot.name: Safety(robot, hardware=True)},
    )
    return evaluate_motion(recording, robot=robot, rules=rules)


def _header(motion: Motion, commands: Commands, body: SimulatedBody) -> Header:
    attitudes = None if commands.wanted is None else commands.wanted.tolist()
    return Header(
        robots={body.robot.name: RobotHeader.of(body, f"motion {motion.name}")},
        version=__version__,
        documents={f"{motion.name}.motion.yaml": render(motion).decode()},
        extras={EXTRAS: {"name": motion.name, "is_whole": commands.is_whole, "attitudes": attitudes}},
    )


def put_down(
    robot: Robot, commands: Commands, attitude: Attitude | None, friction: float | None
) -> SimulatedBody:
    """Return the robot in its first pose, at rest on the floor, in a world that sees contacts.

    Without an attitude, roll and pitch of its base [rad], it is its author's, else it stands, kneels or lies.
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


def _refuse_nonsense(times: dict[str, float], friction: float | None) -> None:
    for what, seconds in times.items():
        if not 0.0 <= seconds <= MOST_S:
            raise InputError(f"{what} is {seconds}", hint=f"0 to {MOST_S:g} seconds")
    if friction is not None and not (math.isfinite(friction) and friction > 0.0):
        raise InputError(f"the friction is {friction}", hint="above 0: 0.2 is a polished floor, 1 a carpet")


@dataclass(frozen=True, eq=False)
class Commands:
    """What is commanded from the motion's beginning on.

    Attributes:
        first: the pose the robot is put down in, `(n_joints,)` [rad].
        blocks: the frames, in pieces within which torque and stiffness do not change.
        keyframes: the number of the keyframe each frame leads to or stays in, from 1, `(n,)`.
        wanted: roll and pitch the author wants the base to have, `(n, 2)` [rad]; None where nobody says.
        is_whole: whether the motion was not cut short.
    """

    motion: str
    first: Floats
    blocks: tuple[JointCommands, ...]
    keyframes: Indices
    wanted: Floats | None
    is_whole: bool

    def script(self, settle: int, hold: int) -> list[JointCommands]:
        """Return the commands of a robot that stands for some frames, plays, and holds its last pose.

        Whatever a keyframe's frames begin with says so in its decision.
        """
        last = int(self.keyframes[-1])
        return [
            _held(JointCommands(self.first[np.newaxis]), settle, Decision(SETTLE, playing=self.motion)),
            *self._by_keyframe(),
            _held(self.blocks[-1], hold, Decision(HOLD, outputs={KEYFRAME: last}, playing=self.motion)),
        ]

    def _by_keyframe(self) -> Iterator[JointCommands]:
        begin = 0
        for block in self.blocks:
            numbers = self.keyframes[begin : begin + len(block)]
            cuts = np.flatnonzero(np.diff(numbers)) + 1
            for one, other in pairwise((0, *cuts.tolist(), len(block))):
                number = int(numbers[one])
                decision = Decision(f"keyframe {number}", outputs={KEYFRAME: number}, playing=self.motion)
                yield replace(block[one:other], decision=decision)
            begin += len(block)


def _held(block: JointCommands, n: int, decision: Decision) -> JointCommands:
    return replace(block, angles=np.repeat(block.angles[-1:], n, axis=0), decision=decision)


def commands_of(motion: Motion, robot: Robot, *, pose: str | None, longest_s: float) -> Commands:
    """Return what a player would command, within the limits of the hardware and not slowed down.

    The joints that the motion does not move are in that pose, else in the robot's `stand`, else the nearest.
    What lies later than `longest_s` is not played.

    Raises:
        InputError: the motion is another robot's, or a pass of it lasts longer than ten minutes.
        UnknownNameError: the robot has no such pose.
    """
    if motion.duration > LONGEST_PASS_S:
        length = f"a pass of {motion.name!r} lasts {motion.duration:.0f} s"
        raise InputError(length, hint=f"at most {LONGEST_PASS_S:.0f} s are played")
    first = motion.first_pose(robot, pose)
    n = max(1, int(longest_s / robot.frame_period_s))
    blocks = tuple(_within(_played(motion, robot, first), n))
    played = sum(map(len, blocks))
    asked = (motion.repeat or LOOPS_SHOWN) * motion.duration
    times: Floats = np.arange(1.0, played + 1.0) * robot.frame_period_s
    return Commands(
        motion=motion.name,
        first=first,
        blocks=tuple(
            replace(block, angles=np.clip(block.angles, *robot.hardware_limits)) for block in blocks
        ),
        keyframes=motion.sample_at(times).keyframes + 1,
        wanted=_wanted(motion, times),
        is_whole=played + 1 >= asked / robot.frame_period_s,
    )


def _played(motion: Motion, robot: Robot, first: Floats) -> Iterator[JointCommands]:
    """Yield all frames of all passes, one after the other, on the motion's own clock."""
    passes = Passes(motion, robot)
    phase = Fraction(0)
    for lap in range(motion.repeat or LOOPS_SHOWN):
        done = passes.get(first, lap, phase)
        phase = done.phase
        for stretch in done.stretches:
            if len(stretch):
                yield JointCommands(stretch.rows, stretch.free, stretch.stiffness, lights=stretch.lights)


def _within(blocks: Iterator[JointCommands], n: int) -> Iterator[JointCommands]:
    for block in blocks:
        yield replace(block, angles=block.angles[:n])
        n -= len(block)
        if n <= 0:
            return


def _wanted(motion: Motion, times: Floats) -> Floats | None:
    """Return roll and pitch over time, `(n, 2)` [rad]; None where all are 0 or unsaid."""
    if not any(any(frame.attitude[:2]) for frame in motion.keyframes if frame.attitude is not None):
        return None
    attitudes = motion.attitude_at(times)
    return None if attitudes is None else attitudes[:, :2]
