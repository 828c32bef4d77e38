"""A full recorded race against `mujoco.rollout`: the same commands, the same start, the same model.

Counted of the race: everything from the first frame to the recording on the disk. That is the sensors, the
behaviour, the player, safety, every physics step, the referee, the recorder, the judge, and packing and
writing the MCAP. Not counted: reading documents, compiling the model, putting the robot on its feet.

Counted of the rollout: one call of `mujoco.rollout.rollout` on the race's own model with the race's own
commands, one thread, which returns all states. Its last state is compared with the race's: they are equal
to the last bit, so both did the same physics.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

from benchmarks.figure import Figure
from posewright.arrays import Floats
from posewright.control import Block
from posewright.simulation import World
from posewright.simulation.servo_model import TickGrid
from posewright.experiments import run_trial

TRIAL, LAYOUT, SEED = "obstacle-race", "example_1", 0
"""The race that `make demo` runs."""

FULL_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


class Witness:
    """Watches a race and keeps what a rollout needs to do the same: model, start and commands."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.start = np.empty(mujoco.mj_stateSize(world.model, FULL_STATE))
        mujoco.mj_getState(world.model, world.data, self.start, FULL_STATE)
        self._blocks: list[Floats] = []

    def watch(self, block: Block) -> bool:
        """Keep the commands of a block; never stops a race."""
        self._blocks.append(block.commands.angles.copy())
        return False

    def controls(self) -> Floats:
        """Return what the actuators were told at every physics step, `(1, n_steps, n_actuators)`."""
        angles = TickGrid(self.world.robot).rounded(np.concatenate(self._blocks))
        frames = np.empty_like(angles)
        frames[:, self.world.addresses.actuators] = angles
        return np.repeat(frames, self.world.n_substeps, axis=0)[np.newaxis]

    def end(self) -> Floats:
        """Return where the base was in the end, x y z qw qx qy qz, `(7,)`."""
        return self.world.base


class Stopwatch:
    """A clock for `run_trial`, which looks at it first when the first frame is about to begin."""

    def __init__(self) -> None:
        self.began: float | None = None

    def __call__(self) -> float:
        """Return the time [s], and note the first time it was asked for."""
        now = time.perf_counter()
        self.began = now if self.began is None else self.began
        return now

    def since(self) -> float:
        """Return the time since it was first asked for [s]."""
        now = time.perf_counter()
        return now - (now if self.began is None else self.began)


@dataclass(frozen=True)
class Rounds:
    """Wall times of the rounds, race and rollout in turn [s]."""

    races: list[float]
    rollouts: list[float]
    n_steps: int
    same_physics: bool


def timed_race(record: Path) -> float:
    """Return how long a race takes from its first frame to the recording on the disk [s]."""
    watch = Stopwatch()
    run_trial(TRIAL, layout=LAYOUT, seed=SEED, record=record, clock=watch)
    return watch.since()


def timed_rollout(witness: Witness, data: Any, controls: Floats) -> tuple[float, Floats]:
    """Return how long the rollout takes [s] and where the base is in the end, `(7,)`."""
    begin = time.perf_counter()
    states, _ = mujoco.rollout.rollout(witness.world.model, data, witness.start[np.newaxis], controls)
    seconds = time.perf_counter() - begin
    after_time = 1  # a state begins with the time, then come the positions
    qpos = witness.world.addresses.base_qpos
    return seconds, states[0, -1, after_time + qpos.start : after_time + qpos.stop]


def measure(rounds: int) -> Rounds:
    """Run races and rollouts in turn."""
    witnesses: list[Witness] = []

    def witness(world: World) -> Witness:
        witnesses.append(Witness(world))
        return witnesses[-1]

    run_trial(TRIAL, layout=LAYOUT, seed=SEED, audience=witness)
    seen = witnesses[0]
    controls, data = seen.controls(), mujoco.MjData(seen.world.model)
    races, rollouts, same = [], [], True
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            seconds, end = timed_rollout(seen, data, controls)
            rollouts.append(seconds)
            same = same and np.array_equal(end, seen.end())
            races.append(timed_race(Path(folder) / "race.mcap"))
    return Rounds(races, rollouts, controls.shape[1], same)


def figures(rounds: int) -> list[Figure]:
    """Return the race's speed, the rollout's, and their ratio, each from its best round."""
    done = measure(rounds)
    race, rollout = min(done.races), min(done.rollouts)
    pairs = [one / other for one, other in zip(done.rollouts, done.races, strict=True)]
    note = f"median of the rounds {np.median(pairs):.3f}" if done.same_physics else "NOT THE SAME PHYSICS"
    return [
        Figure("full recorded race", done.n_steps / race, "steps/s"),
        Figure("mujoco.rollout of the same", done.n_steps / rollout, "steps/s"),
        Figure("race : rollout", rollout / race, at_least=0.8, note=note),
    ]
