"""A world of two robots against `mujoco.rollout` on the same model, as `bench_simulation` does with one.

Both march on the spot, each in front of the other on the ring. The world keeps what a recorder needs of
both, with what touches what, as a sumo judge must know, and without.
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np

import posewright
from benchmarks.bench_simulation import blocks, stepping
from benchmarks.figure import Figure
from posewright.arenas import read_arena
from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.robots import Robot, robot
from posewright.simulation import SimulatedBody, World

AIM = 0.85
_RING = Path(posewright.__file__).parent / "contests" / "sumo" / "sumo.arena.yaml"
_PLACES = {"red": (0.95, 0.0, 0.0), "blue": (1.55, 0.0, math.pi)}


def bout_world(card: Robot, *, touches: bool) -> World:
    """Return the ring with two robots that face each other and do not touch."""
    world = World(dict.fromkeys(_PLACES, card), read_arena(_RING), touches=touches)
    for name, place in _PLACES.items():
        SimulatedBody(world, name, start=place)
    return world


def time_world(world: World, parts: list[JointCommands]) -> float:
    """Return the time to play blocks of commands on both robots [s]."""
    world.reset()
    begin = time.process_time()
    for part in parts:
        world.advance(dict.fromkeys(_PLACES, part))
    return time.process_time() - begin


def time_rollout(world: World, angles: Floats) -> float:
    """Return the time of `mujoco.rollout` for the same frames [s]."""
    world.reset()
    model = world.model
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, world.data, state, full)
    commands = np.empty((len(angles), model.nu))
    for instance in world.instances.values():
        commands[:, instance.addresses.actuators] = angles[:, instance.addresses.moving_joints]
    control = np.repeat(commands, world.n_substeps, axis=0)
    begin = time.process_time()
    mujoco.rollout.rollout(model, world.data, state[None], control[None])
    return time.process_time() - begin


def figures(rounds: int, seconds: float = 10.0) -> list[Figure]:
    """Return the speed of a world of two robots, and its ratio to the rollout."""
    card = robot("robotis_bioloid")
    plain = bout_world(card, touches=False)
    with_touches = bout_world(card, touches=True)
    angles = stepping(card, round(seconds / card.frame_period_s))
    parts = blocks(angles)
    times = {"rollout": math.inf, "play": math.inf, "touches": math.inf}
    for _ in range(rounds):
        times["rollout"] = min(times["rollout"], time_rollout(plain, angles))
        times["play"] = min(times["play"], time_world(plain, parts))
        times["touches"] = min(times["touches"], time_world(with_touches, parts))
    n_steps = len(angles) * plain.n_substeps
    return [
        *(Figure(f"two robots, {name}", n_steps / time_s, "steps/s") for name, time_s in times.items()),
        Figure("two robots, play : rollout", times["rollout"] / times["play"], at_least=AIM),
        Figure("two robots, with touches : rollout", times["rollout"] / times["touches"]),
    ]
