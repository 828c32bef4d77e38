"""A full recorded race against `mujoco.rollout`: the same commands, the same start, the same model.

Measured of the race: everything from the first frame to the recording on the disk. That is the sensors, the
behaviour, the player, safety, every physics step, the referee, the recorder, the judge, and packing and
writing the MCAP. Not measured: reading documents, compiling the model, putting the robot on its feet.

Measured of the rollout: one call of `mujoco.rollout.rollout` on the race's own model with the race's own
commands, one thread, which returns all states. Its last state is compared with the race's: they are equal
to the last bit, so both did the same physics.

Both are measured by the CPU time of the process, which other programs on the machine hardly affect; the note
has the ratio by wall time.
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

TRIAL = "obstacle-race"
LAYOUT = "example_1"
SEED = 0
"""The race that `make demo` runs."""

FULL_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


class Witness:
    """A watcher that stores what a rollout needs to repeat a race: model, start and commands."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.start = np.empty(mujoco.mj_stateSize(world.model, FULL_STATE))
        mujoco.mj_getState(world.model, world.data, self.start, FULL_STATE)
        self._blocks: list[Floats] = []

    def watch(self, block: Block) -> bool:
        """Store the commands of a block; never end a race."""
        self._blocks.append(block.commands.angles.copy())
        return False

    def controls(self) -> Floats:
        """Return the controls of the actuators at every physics step, `(1, n_steps, n_actuators)`."""
        angles = TickGrid(self.world.robot).round(np.concatenate(self._blocks))
        frames = np.empty_like(angles)
        frames[:, self.world.addresses.actuators] = angles
        return np.repeat(frames, self.world.n_substeps, axis=0)[np.newaxis]

    def end(self) -> Floats:
        """Return the final pose of the base, x y z qw qx qy qz, `(7,)`."""
        return self.world.base


@dataclass(frozen=True, order=True)
class Elapsed:
    """Elapsed CPU time of all threads, and wall time [s]."""

    cpu_s: float
    wall_s: float

    @classmethod
    def now(cls) -> Elapsed:
        """Return the readings of both clocks."""
        return cls(time.process_time(), time.perf_counter())

    def since(self) -> Elapsed:
        """Return the time since these readings."""
        now = Elapsed.now()
        return Elapsed(now.cpu_s - self.cpu_s, now.wall_s - self.wall_s)


class Stopwatch:
    """A clock for `run_trial`, which reads it for the first time just before the first frame."""

    def __init__(self) -> None:
        self.began: Elapsed | None = None

    def __call__(self) -> float:
        """Return the time [s], and store the first reading."""
        self.began = self.began or Elapsed.now()
        return time.perf_counter()


@dataclass(frozen=True)
class Rounds:
    """The times of all rounds, in which race and rollout alternate."""

    races: list[Elapsed]
    rollouts: list[Elapsed]
    n_steps: int
    same_physics: bool

    def ratio(self) -> Figure:
        """Return the ratio of the best time of the rollout to that of the race."""
        ratios = [rollout.cpu_s / race.cpu_s for rollout, race in zip(self.rollouts, self.races, strict=True)]
        rollout_wall_s = min(rollout.wall_s for rollout in self.rollouts)
        wall = rollout_wall_s / min(race.wall_s for race in self.races)
        note = f"median of the rounds {np.median(ratios):.3f}, by the wall clock {wall:.3f}"
        ratio = min(self.rollouts).cpu_s / min(self.races).cpu_s
        remark = note if self.same_physics else "NOT THE SAME PHYSICS"
        return Figure("race : rollout", ratio, at_least=0.9, note=remark)


def timed_race(record: Path) -> Elapsed:
    """Return the time of a race from its first frame to the written recording."""
    watch = Stopwatch()
    run_trial(TRIAL, layout=LAYOUT, seed=SEED, record=record, clock=watch)
    assert watch.began is not None, "the trial has a first frame"
    return watch.began.since()


def timed_rollout(witness: Witness, data: Any, controls: Floats) -> tuple[Elapsed, Floats]:
    """Return the time of the rollout and the final pose of the base, `(7,)`."""
    begin = Elapsed.now()
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
    first_witness = witnesses[0]
    controls = first_witness.controls()
    data = mujoco.MjData(first_witness.world.model)
    races = []
    rollouts = []
    same = True
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            took, end = timed_rollout(first_witness, data, controls)
            rollouts.append(took)
            same = same and np.array_equal(end, first_witness.end())
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
