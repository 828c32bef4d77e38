"""The walking AIBO against `mujoco.rollout` on the same model with the same commands.

Three roads take the same trot over the same ten seconds: `walk_gait`, which makes the gait step by step while
the robot walks, looks at every command and writes everything down; the body alone, playing frames that were
made before; and the raw engine. They run in turn, in one process and on one core; the best of the rounds
counts, by CPU time. Then the same again as a search does it: mouth, ears, tail and head welded, and a step
of 4 ms.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.bench_simulation import time_rollout
from benchmarks.figure import Figure
from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.gaits import QuadrupedGait, VelocityCommand, read_gait
from posewright.robots import Robot, robot
from posewright.runs import walk_gait
from posewright.runs.walking.walk import make_walking_world
from posewright.simulation import SimulatedBody, World

COMMAND = VelocityCommand(forward_m_s=0.2)
SECONDS = 10.0
STILL = ("mouth", "left_ear", "right_ear", "tail_tilt", "tail_pan", "neck_tilt", "head_pan", "head_tilt")


@dataclass(frozen=True)
class Best:
    """The best times of the three roads, and of making the gait alone [s]."""

    online: float
    precomputed: float
    rollout: float
    making: float


def making(card: Robot) -> tuple[float, Floats, Floats]:
    """Return how long ten seconds of gait take to make [s], the frames, and the pose before them."""
    walker = QuadrupedGait(read_gait("trot", robot=card), card)
    walker.request(COMMAND)
    begin = time.process_time()
    frames = walker.frames(round(SECONDS / card.frame_period_s))
    return time.process_time() - begin, frames, walker.standing_pose


def measure(card: Robot, world: World, rounds: int) -> Best:
    """Return the best of the rounds on one world."""
    gait = read_gait("trot", robot=card)
    _, frames, standing = making(card)
    times: list[tuple[float, float, float, float]] = []
    for _ in range(rounds):
        online = walk_gait(
            gait, card, command=COMMAND, seconds=SECONDS, settle_s=0.0, world=world, clock=time.process_time
        )
        body = SimulatedBody(world, start_pose=standing)
        begin = time.process_time()
        world.advance({body.instance.name: JointCommands(frames)})
        precomputed = time.process_time() - begin
        times.append((online.wall_s, precomputed, _rollout(body, frames), making(card)[0]))
    return Best(*(min(column) for column in zip(*times, strict=True)))


def _rollout(body: SimulatedBody, frames: Floats) -> float:
    return time_rollout(body, frames)[0]


def figures(rounds: int) -> list[Figure]:
    """Return how much faster than the clock each road is, and the ratios to the raw engine."""
    card = robot("sony_ers7")
    stand = card.pose("stand")
    held = {joint: float(stand[card.index(joint)]) for joint in STILL}
    whole = measure(card, make_walking_world(read_gait("trot", robot=card), card), rounds)
    light = measure(card, World(card, visuals=False, welded=held, timestep_s=0.004), rounds)
    return [
        Figure("trot, online gait", SECONDS / whole.online, "x real", at_least=40.0),
        Figure("trot, precomputed frames", SECONDS / whole.precomputed, "x real", note="2 ms steps"),
        Figure("trot, mujoco.rollout", SECONDS / whole.rollout, "x real", note="the raw engine"),
        Figure("trot, online gait : rollout", whole.rollout / whole.online, at_least=0.9),
        Figure("trot, precomputed : rollout", whole.rollout / whole.precomputed),
        Figure("trot for a search, precomputed", SECONDS / light.precomputed, "x real", at_least=100.0,
               note="head, mouth, ears and tail welded, 4 ms"),
        Figure("trot for a search, precomputed : rollout", light.rollout / light.precomputed),
        Figure("making ten seconds of gait", 1000.0 * whole.making, "ms"),
    ]  # fmt: skip
