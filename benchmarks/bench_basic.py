"""A minute of RoboBASIC programs on the mock body, beside the mock body alone; the best run, by CPU time."""

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
    """Return what a minute of polling and one of racing take, beside a controller that does nothing."""
    robot = pw.robot("hitec_robonova1")
    still = JointCommands(np.tile(robot.pose("stand"), (1, 1)))

    def nothing() -> None:
        perform(Script([still]), robot, name="nothing", until_s=SECONDS, body="mock")

    raw_s = _best(nothing, rounds)
    found = []
    for program in ("hello", "race"):
        took_s = _best(lambda name=program: pw.run_basic(name, body="mock", seconds=SECONDS), rounds)  # type: ignore[misc]
        what = f"basic: a minute of {program}.bas on a mock"
        found.append(Figure(what, took_s, "s", below=AIM_S, note=f"{took_s / raw_s:.1f} x the body alone"))
    return found


def _best(run: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(max(1, rounds)):
        begun = time.process_time()
        run()
        times.append(time.process_time() - begun)
    return min(times)
