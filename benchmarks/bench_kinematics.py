"""Inverse kinematics of a leg in closed form, compared with mink.

mink iterates, the closed form does not. Both bring the foot of the same leg (two links of 70 mm, as in the
lecture) to the same points, from a pose about 20 degrees away in each joint.
mink steps until the foot is within a micrometre; the closed form is exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from benchmarks.figure import Figure
from posewright.arrays import Floats
from posewright.kinematics import ThreeJointLeg

LENGTH_M = 0.07
LEG = ThreeJointLeg(LENGTH_M, LENGTH_M)
N_POINTS = 1_000_000
N_SINGLE = 20_000
N_PEER = 100
CLOSE_M = 1e-6
MAX_STEPS = 100
STEP_S = 0.008

MODEL = f"""
<mujoco><compiler angle="radian"/><worldbody><body>
  <inertial pos="0 0 0" mass="0.05" diaginertia="1e-5 1e-5 1e-5"/><joint axis="0 -1 0"/>
  <body>
    <inertial pos="0 0 0" mass="0.05" diaginertia="1e-5 1e-5 1e-5"/><joint axis="1 0 0"/>
    <body pos="0 0 -{LENGTH_M}">
      <inertial pos="0 0 0" mass="0.05" diaginertia="1e-5 1e-5 1e-5"/><joint axis="0 -1 0"/>
      <site name="foot" pos="0 0 -{LENGTH_M}"/>
    </body>
  </body>
</body></worldbody></mujoco>
"""


def legal_angles(n: int) -> Floats:
    """Return random angles in the range of a walk and beyond, `(n, 3)` [rad]."""
    return np.random.default_rng(1).uniform([-1.0, -0.1, 0.5], [1.0, 1.0, 2.0], (n, 3))


def best_time(rounds: int, work: Callable[[], object]) -> float:
    """Return the shortest time of several rounds [s]."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def vectorised(rounds: int) -> tuple[float, float]:
    """Return the times per point of inverse and forward kinematics for a million points [ns]."""
    angles = legal_angles(N_POINTS)
    points = LEG.forward(angles)
    solve = best_time(rounds, lambda: LEG.inverse(points))
    forward = best_time(rounds, lambda: LEG.forward(angles))
    return 1e9 * solve / N_POINTS, 1e9 * forward / N_POINTS


def single(rounds: int) -> tuple[float, float]:
    """Return the times of inverse and forward kinematics for single points in Python floats [us]."""
    angles = legal_angles(N_SINGLE)
    rows = angles.tolist()
    points = LEG.forward(angles).tolist()
    solve = best_time(rounds, lambda: [LEG.inverse_scalar(x, y, z) for x, y, z in points])
    forward = best_time(rounds, lambda: [LEG.forward_scalar(a, b, c) for a, b, c in rows])
    return 1e6 * solve / N_SINGLE, 1e6 * forward / N_SINGLE


def peer() -> tuple[float, float, int] | None:
    """Return mink's time [us] and steps per point, and the number of solved points; None without mink."""
    try:
        import mink
    except ImportError:
        return None
    model: Any = mujoco.MjModel.from_xml_string(MODEL)
    configuration = mink.Configuration(model)
    task = mink.FrameTask("foot", "site", position_cost=1.0, orientation_cost=0.0)
    angles = legal_angles(N_PEER)
    starts = angles + np.random.default_rng(2).choice([-0.35, 0.35], angles.shape)
    points = LEG.forward(angles)
    spent = 0.0
    steps = 0
    close = 0
    for start, point in zip(starts, points, strict=True):
        configuration.update(start)
        begin = time.perf_counter()
        task.set_target(mink.SE3.from_translation(point))
        for _ in range(MAX_STEPS):
            if np.linalg.norm(configuration.data.site("foot").xpos - point) < CLOSE_M:
                close += 1
                break
            configuration.integrate_inplace(
                mink.solve_ik(configuration, [task], STEP_S, "daqp", limits=[]), STEP_S
            )
            steps += 1
        spent += time.perf_counter() - begin
    return 1e6 * spent / N_PEER, steps / N_PEER, close


def figures(rounds: int) -> list[Figure]:
    """Return the times of the closed form, and of mink if it is installed."""
    solve, forward = vectorised(rounds)
    solve_scalar, forward_scalar = single(rounds)
    results = [
        Figure("leg, a million points: inverse", solve, "ns", below=200.0, note="a solve, one core"),
        Figure("leg, a million points: forward", forward, "ns", below=200.0),
        Figure("leg, one point: inverse", solve_scalar, "us"),
        Figure("leg, one point: forward", forward_scalar, "us"),
    ]
    by_steps = peer()
    if by_steps is None:
        return [*results, Figure("leg, one point: mink", None, "us", note="mink is not installed")]
    spent, steps, close = by_steps
    note = f"{steps:.1f} steps a solve, {close} of {N_PEER} within a micrometre"
    return [
        *results,
        Figure("leg, one point: mink", spent, "us", note=note),
        Figure("leg, one point: mink : closed form", spent / solve_scalar),
    ]
