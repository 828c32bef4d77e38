"""Two races at once, in two processes on two cores, against one.

Counted: whole calls of `run_trial`, with reading the documents, compiling the model and writing the
recording, as in a tournament. The workers are warm: each has run a race before. One worker runs some races
alone; then both run as many each, at the same time. The gain is how many times more races that is in the same
time of a core; 2 would be perfect, and less is what the two cost each other. By the wall clock it is so only
where no other program shares the machine: how many cores the two had is told. What a worker's threads cost
is told as CPU time a wall second of its lone run: 1 means that no library keeps threads of its own busy.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, cores

CORES = 2


def _work(line: Connection) -> None:
    """Run the requested numbers of races until 0, and send the CPU time of each batch."""
    from benchmarks.bench_race import LAYOUT, SEED, TRIAL
    from posewright.runs import run_trial

    with tempfile.TemporaryDirectory() as folder:
        while n_races := line.recv():
            start_s = time.process_time()
            for _ in range(n_races):
                run_trial(TRIAL, layout=LAYOUT, seed=SEED, record=Path(folder) / "race.mcap")
            line.send(time.process_time() - start_s)


class Worker:
    """A process that runs races on request."""

    def __init__(self, context: Any) -> None:
        self._line, worker_end = context.Pipe()
        self._process = context.Process(target=_work, args=(worker_end,), daemon=True)
        self._process.start()

    def start(self, n_races: int) -> None:
        """Start a number of races; 0 ends the process."""
        self._line.send(n_races)

    def wait(self) -> float:
        """Wait for the races, and return their CPU time [s]."""
        return float(self._line.recv())

    def stop(self) -> None:
        """End the process."""
        self.start(0)
        self._process.join()


def timed(workers: list[Worker], n_races: int) -> tuple[float, float]:
    """Return wall and total CPU time of the workers for a number of races each [s]."""
    start_s = time.perf_counter()
    for worker in workers:
        worker.start(n_races)
    cpu = sum(worker.wait() for worker in workers)
    return time.perf_counter() - start_s, cpu


def figures(rounds: int, n_races: int = 2) -> list[Figure]:
    """Return the gain of two workers over one, and the CPU load of one."""
    name = "two races at once : one"
    if cores() < CORES:
        return [Figure(name, None, at_least=1.9, note="needs two cores")]
    context = multiprocessing.get_context("spawn")
    workers = [Worker(context) for _ in range(CORES)]
    timed(workers, 1)  # warm
    alone = []
    pairs = []
    for _ in range(rounds):
        alone.append(timed(workers[:1], n_races))
        pairs.append(timed(workers, n_races))
    for worker in workers:
        worker.stop()
    (wall, cpu), (both_wall, both_cpu) = min(alone), min(pairs)
    by_cpu = CORES * CORES * min(cpu for _, cpu in alone) / min(cpu for _, cpu in pairs)
    by_wall = CORES * wall / both_wall
    note = f"by the wall clock {by_wall:.2f}; the two had {both_cpu / both_wall:.2f} cores"
    return [
        Figure(name, by_cpu, at_least=1.9, note=note),
        Figure("one race's CPU time a wall second", cpu / wall, below=1.1),
    ]
