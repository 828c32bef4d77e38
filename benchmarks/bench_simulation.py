"""The simulated body alone against `mujoco.rollout` on the same model.

Both play the same commands from the same start, in the same process, in turn; the best of the rounds
counts, by CPU time. The body plays in blocks of 12 or 13 frames, keeps everything a recorder needs of every
frame, and reads all its sensors between the blocks, as a behaviour does. A ratio of 1 means no overhead.
"""

from __future__ import annotations

import math
import time

import mujoco
import mujoco.rollout
import numpy as np

from benchmarks.figure import Figure
from posewright.arenas import arena, layout
from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.robots import Robot, robot
from posewright.simulation import SimulatedBody, World

BLOCKS = (13, 13, 13, 13, 12)
"""JointCommands between chart ticks of 0.1 s at 128 Hz."""


def stepping(card: Robot, n_frames: int) -> Floats:
    """Return commands that march on the spot, two steps a second, `(n_frames, n_joints)` [rad]."""
    angles = np.tile(card.pose("walk_ready"), (n_frames, 1))
    phase = 4.0 * math.pi * np.arange(n_frames) * card.frame_period_s
    lift = 0.12 * np.maximum(0.0, np.sin(phase)), 0.12 * np.maximum(0.0, -np.sin(phase))
    for side, up in zip(("right", "left"), lift, strict=True):
        for joint, share in (("hip_pitch", -1.0), ("knee", 2.0), ("ankle_pitch", -1.0)):
            angles[:, card.index(f"{side}_{joint}")] += share * up
    return angles


def blocks(angles: Floats) -> list[JointCommands]:
    """Return the commands in blocks between the ticks of a chart."""
    cuts = np.cumsum(np.tile(BLOCKS, len(angles) // len(BLOCKS)))
    return [JointCommands(part) for part in np.split(angles, cuts[cuts < len(angles)])]


def time_body(body: SimulatedBody, parts: list[JointCommands], *, read: bool) -> float:
    """Return the time to play blocks of commands on the body [s]."""
    body.reset()
    begin = time.process_time()
    for part in parts:
        if read:
            body.read()
        body.world.advance({body.instance.name: part})
    return time.process_time() - begin


def time_rollout(body: SimulatedBody, angles: Floats) -> tuple[float, Floats]:
    """Return the time of `mujoco.rollout` for the same frames [s], and the base's final position, `(3,)`."""
    body.reset()
    world = body.world
    model = world.model
    data = world.data
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    commands = np.empty((len(angles), model.nu))
    commands[:, world.addresses.actuators] = angles[:, world.addresses.moving_joints]
    control = np.repeat(commands, world.n_substeps, axis=0)
    begin = time.process_time()
    states, _ = mujoco.rollout.rollout(model, data, state[None], control[None])
    return time.process_time() - begin, states[0, -1, 1:4]


def measure(rounds: int, seconds: float = 10.0) -> tuple[dict[str, float], int]:
    """Return the best times of rollout, play, and play with reading [s], and the number of physics steps."""
    card = robot("robotis_bioloid")
    # clear of the walls, as contacts with them would slow the simulation down
    body = SimulatedBody(World(card, arena().with_boxes(layout("example_1"))), start=(0.25, 0.0, 0.0))
    angles = stepping(card, round(seconds / card.frame_period_s))
    parts = blocks(angles)
    times: dict[str, list[float]] = {"rollout": [], "play": [], "play and read": []}
    for _ in range(rounds):
        times["rollout"].append(time_rollout(body, angles)[0])
        times["play"].append(time_body(body, parts, read=False))
        times["play and read"].append(time_body(body, parts, read=True))
    return {name: min(round_times) for name, round_times in times.items()}, len(
        angles
    ) * body.world.n_substeps


def figures(rounds: int) -> list[Figure]:
    """Return the speed of the body alone, and its ratios to the rollout."""
    best, n_steps = measure(rounds)
    speeds = [Figure(f"body alone, {name}", n_steps / best[name], "steps/s") for name in best]
    ratios = [
        Figure(f"body alone, {name} : rollout", best["rollout"] / best[name])
        for name in best
        if name != "rollout"
    ]
    return speeds + ratios
