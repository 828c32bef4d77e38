"""CPU time of a minute of RoboBASIC programs on a mock body, compared with the mock body alone; best run."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import posewright as pw
from benchmarks.figure import Figure
from posewright.bodies import JointCommands
from posewright.control import Script
from posewright.runs import perform

SECONDS = 60.0
AIM_S = 1.0


def figures(rounds: int) -> list[Figure]:
    """Return the times of two programs, compared with a controller that does nothing."""
    robot = pw.robot("hitec_robonova1")
    still = JointCommands(np.tile(robot.pose("stand"), (1, 1)))

    def nothing() -> None:
        perform(Script([still]), robot, name="nothing", until_s=SECONDS, body="mock")

    raw_s = _best(nothing, rounds)
    results = []
    for program in ("hello", "race"):
        cpu_s = _best(lambda name=program: pw.run_basic(name, body="mock", seconds=SECONDS), rounds)  # type: ignore[misc]
        name = f"basic: a minute of {program}.bas on a mock"
        results.append(Figure(name, cpu_s, "s", below=AIM_S, note=f"{cpu_s / raw_s:.1f} x the body alone"))
    return results


def _best(run: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(max(1, rounds)):
        start_s = time.process_time()
        run()
        times.append(time.process_time() - start_s)
    return min(times)
