"""The walking AIBO and Bioloid against `mujoco.rollout` on the same models with the same commands.

The same walk runs for ten seconds in three ways: by `walk_gait`, which computes the gait step by step,
filters the commands and records everything; by the body alone, with frames computed before; and by the raw
engine. They run in turn, in one process and on one core; the best CPU time of the rounds counts. The trot is
repeated as in a search: with mouth, ears, tail and head welded, and a time step of 4 ms. The Bioloid walks
online with its feedback, which reads the IMU every four frames; the other two ways play its frames without.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.bench_simulation import time_rollout
from benchmarks.figure import Figure
from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.gaits import Gait, VelocityCommand, read_gait
from posewright.robots import Robot, robot
from posewright.runs import walk_gait
from posewright.runs.walking.walk import make_walking_world
from posewright.simulation import SimulatedBody, World

COMMAND = VelocityCommand(forward_m_s=0.2)
SECONDS = 10.0
STILL = ("mouth", "left_ear", "right_ear", "tail_tilt", "tail_pan", "neck_tilt", "head_pan", "head_tilt")


@dataclass(frozen=True)
class Best:
    """The best times of the three ways, and of computing the gait alone [s]."""

    online: float
    precomputed: float
    rollout: float
    making: float


def making(gait: Gait, card: Robot) -> tuple[float, Floats, Floats]:
    """Return the time to compute ten seconds of gait [s], the frames, and the pose before them."""
    walker = gait.generator(card)
    walker.request(COMMAND)
    begin = time.process_time()
    frames = walker.frames(round(SECONDS / card.frame_period_s))
    return time.process_time() - begin, frames, walker.standing_pose


def measure(gait: Gait, card: Robot, world: World, rounds: int) -> Best:
    """Return the best times of several rounds in a world."""
    _, frames, standing = making(gait, card)
    times: list[tuple[float, float, float, float]] = []
    for _ in range(rounds):
        online = walk_gait(
            gait, card, command=COMMAND, seconds=SECONDS, settle_s=0.0, world=world, clock=time.process_time
        )
        body = SimulatedBody(world, start_pose=standing)
        begin = time.process_time()
        world.advance({body.instance.name: JointCommands(frames)})
        precomputed = time.process_time() - begin
        times.append((online.wall_s, precomputed, _rollout(body, frames), making(gait, card)[0]))
    return Best(*(min(column) for column in zip(*times, strict=True)))


def _rollout(body: SimulatedBody, frames: Floats) -> float:
    return time_rollout(body, frames)[0]


def figures(rounds: int) -> list[Figure]:
    """Return the speeds as multiples of real time, and the ratios to the raw engine."""
    card = robot("sony_ers7")
    stand = card.pose("stand")
    welded_angles = {joint: float(stand[card.index(joint)]) for joint in STILL}
    trot = read_gait("trot", robot=card)
    full_body = measure(trot, card, make_walking_world(trot, card), rounds)
    light = measure(trot, card, World(card, visuals=False, welded=welded_angles, timestep_s=0.004), rounds)
    bioloid = robot("robotis_bioloid")
    biped_gait = read_gait("biped", robot=bioloid)
    biped = measure(biped_gait, bioloid, make_walking_world(biped_gait, bioloid), rounds)
    n_biped_frames = SECONDS / bioloid.frame_period_s
    return [
        Figure("trot, online gait", SECONDS / full_body.online, "x real", at_least=40.0),
        Figure("trot, precomputed frames", SECONDS / full_body.precomputed, "x real", note="2 ms steps"),
        Figure("trot, mujoco.rollout", SECONDS / full_body.rollout, "x real", note="the raw engine"),
        Figure("trot, online gait : rollout", full_body.rollout / full_body.online, at_least=0.9),
        Figure("trot, precomputed : rollout", full_body.rollout / full_body.precomputed),
        Figure("trot for a search, precomputed", SECONDS / light.precomputed, "x real", at_least=100.0,
               note="head, mouth, ears and tail welded, 4 ms"),
        Figure("trot for a search, precomputed : rollout", light.rollout / light.precomputed),
        Figure("making ten seconds of gait", 1000.0 * full_body.making, "ms"),
        Figure("biped, online gait", SECONDS / biped.online, "x real"),
        Figure("biped, online gait : rollout", biped.rollout / biped.online, at_least=0.85),
        Figure("biped, precomputed : rollout", biped.rollout / biped.precomputed),
        Figure("biped, a frame of the gait", 1e6 * biped.making / n_biped_frames, "us"),
    ]  # fmt: skip
