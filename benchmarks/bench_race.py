"""A full recorded race against `mujoco.rollout`: the same commands, the same start, the same model.

Counted of the race: everything from the first frame to the recording on the disk. That is the sensors, the
behaviour, the player, safety, every physics step, the referee, the recorder, the judge, and packing and
writing the MCAP. Not counted: reading documents, compiling the model, putting the robot on its feet.

Counted of the rollout: one call of `mujoco.rollout.rollout` on the race's own model with the race's own
commands, one thread, which returns all states. Its last state is compared with the race's: they are equal
to the last bit, so both did the same physics.

Both are measured by the CPU time of the whole process, which other programs on the machine hardly change; the
ratio by the clock on the wall stands beside it.
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
from posewright.runs import run_trial
from posewright.simulation import World
from posewright.simulation.servo_model import TickGrid

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
        angles = TickGrid(self.world.robot).round(np.concatenate(self._blocks))
        frames = np.empty_like(angles)
        frames[:, self.world.addresses.actuators] = angles
        return np.repeat(frames, self.world.n_substeps, axis=0)[np.newaxis]

    def end(self) -> Floats:
        """Return where the base was in the end, x y z qw qx qy qz, `(7,)`."""
        return self.world.base


@dataclass(frozen=True, order=True)
class Took:
    """How long something took: CPU time of all threads, and time on the wall [s]."""

    cpu_s: float
    wall_s: float

    @classmethod
    def now(cls) -> Took:
        """Return what both clocks show."""
        return cls(time.process_time(), time.perf_counter())

    def since(self) -> Took:
        """Return what has passed since then."""
        now = Took.now()
        return Took(now.cpu_s - self.cpu_s, now.wall_s - self.wall_s)


class Stopwatch:
    """A clock for `run_trial`, which looks at it first when the first frame is about to begin."""

    def __init__(self) -> None:
        self.began: Took | None = None

    def __call__(self) -> float:
        """Return the time [s], and note the first time it was asked for."""
        self.began = self.began or Took.now()
        return time.perf_counter()


@dataclass(frozen=True)
class Rounds:
    """How long the rounds took, race and rollout in turn."""

    races: list[Took]
    rollouts: list[Took]
    n_steps: int
    same_physics: bool

    def ratio(self) -> Figure:
        """Return how many races go into the time of a rollout, each at its best."""
        pairs = [one.cpu_s / other.cpu_s for one, other in zip(self.rollouts, self.races, strict=True)]
        wall = min(one.wall_s for one in self.rollouts) / min(one.wall_s for one in self.races)
        note = f"median of the rounds {np.median(pairs):.3f}, by the wall clock {wall:.3f}"
        ratio = min(self.rollouts).cpu_s / min(self.races).cpu_s
        told = note if self.same_physics else "NOT THE SAME PHYSICS"
        return Figure("race : rollout", ratio, at_least=0.9, note=told)


def timed_race(record: Path) -> Took:
    """Return how long a race takes from its first frame to the recording on the disk."""
    watch = Stopwatch()
    run_trial(TRIAL, layout=LAYOUT, seed=SEED, record=record, clock=watch)
    assert watch.began is not None, "the trial has a first frame"
    return watch.began.since()


def timed_rollout(witness: Witness, data: Any, controls: Floats) -> tuple[Took, Floats]:
    """Return how long the rollout takes and where the base is in the end, `(7,)`."""
    begin = Took.now()
    states, _ = mujoco.rollout.rollout(witness.world.model, data, witness.start[np.newaxis], controls)
    took = begin.since()
    after_time = 1  # a state begins with the time, then come the positions
    qpos = witness.world.addresses.base_qpos
    return took, states[0, -1, after_time + qpos.start : after_time + qpos.stop]


def measure(rounds: int) -> Rounds:
    """Run races and rollouts in turn."""
    witnesses: list[Witness] = []

    def witness(world: World) -> Witness:
        witnesses.append(Witness(world))
        return witnesses[-1]

    run_trial(TRIAL, layout=LAYOUT, seed=SEED, make_watcher=witness)
    seen = witnesses[0]
    controls, data = seen.controls(), mujoco.MjData(seen.world.model)
    races, rollouts, same = [], [], True
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            took, end = timed_rollout(seen, data, controls)
            rollouts.append(took)
            same = same and np.array_equal(end, seen.end())
            races.append(timed_race(Path(folder) / "race.mcap"))
    return Rounds(races, rollouts, controls.shape[1], same)


def figures(rounds: int) -> list[Figure]:
    """Return the race's speed, the rollout's, and their ratio, each from its best round."""
    done = measure(rounds)
    return [
        Figure("full recorded race", done.n_steps / min(done.races).cpu_s, "steps/s"),
        Figure("mujoco.rollout of the same", done.n_steps / min(done.rollouts).cpu_s, "steps/s"),
        done.ratio(),
    ]
