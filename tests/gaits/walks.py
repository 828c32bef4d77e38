"""Walks for tests: one whose numbers nobody tunes, any other by chance, and what can be seen of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from posewright.gaits import (
    FEET,
    PHASE_TABLES,
    Interpolation,
    QuadrupedGait,
    QuadrupedGenerator,
    Trim,
    VelocityCommand,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    read_gait,
    timing_of,
)
from posewright.gaits.quadruped.foot_timeline import build_timelines
from posewright.gaits.quadruped.step import StepPlanner
from posewright.kinematics import legs_of
from posewright.robots import robot

ERS7 = robot("sony_ers7")
FRAME_S = ERS7.frame_period_s
SETTLED = 3
"""Cycles after which a walk at one command repeats itself."""

EXAMPLE = replace(read_gait("trot"), interpolation=Interpolation.SPLINE, trim=Trim()).with_values(
    {
        "air_ground_factor": 1.0,
        "shape_factor": 0.5,
        "ascent_factor": 0.3,
        "ground_speed_m_s": 0.3,
        "ascent_pairs": 2,
        "ground_points": 5,
        "front_height_m": 0.012,
        "central_height_m": 0.015,
        "rear_height_m": 0.01,
        "turn_multiplier_rad_m": 0.0,
        "maximum_displacement_m": 0.05,
        "maximum_turn_rad": 0.4,
        "equilibrium_m.fore.x": 0.06,
        "equilibrium_m.hind.x": -0.075,
        "equilibrium_m.fore.y": 0.067,
        "equilibrium_m.hind.y": 0.067,
        "equilibrium_m.fore.z": -0.115,
        "equilibrium_m.hind.z": -0.115,
        "travel_gain.forward": 1.0,
        "travel_gain.left": 1.0,
        "travel_gain.turn": 1.0,
    }
)
"""A walk whose numbers no tuner changes."""

TABLES = st.sampled_from(sorted(PHASE_TABLES)).map(PHASE_TABLES.__getitem__)
PARTS = st.floats(-0.7, 0.7)
VELOCITIES = st.tuples(PARTS, PARTS, PARTS)
"""Parts of the greatest speed and turn: any of them is in range, forward and left together too."""


@st.composite
def gaits(draw: st.DrawFn) -> QuadrupedGait:
    """Draw a walk that differs in everything but its equilibrium points."""
    changed = EXAMPLE.with_values(
        {
            "shape_factor": draw(st.floats(0.0, 1.0)),
            "ascent_factor": draw(st.floats(0.0, 1.0)),
            "ground_points": draw(st.integers(2, 12)),
            "ascent_pairs": draw(st.integers(1, 2)),
            "air_ground_factor": draw(st.sampled_from([1.0 / 3.0, 0.7, 1.0, 1.3])),
            "turn_multiplier_rad_m": draw(st.floats(-2.0, 2.0)),
            "maximum_displacement_m": draw(st.floats(0.06, 0.08)),
            "front_height_m.hind": draw(st.floats(0.005, 0.02)),
        }
    )
    return replace(
        changed, phases=draw(TABLES), interpolation=draw(st.sampled_from(Interpolation)), name="drawn"
    )


def velocity(gait: QuadrupedGait, parts: tuple[float, float, float]) -> VelocityCommand:
    """Return the command of so large parts of the greatest speed and turn."""
    timing = timing_of(gait.parameters, FRAME_S)
    speed = greatest_speed_m_s(gait.parameters, timing)
    turn = greatest_turn_rad_s(gait.parameters, timing)
    return VelocityCommand(parts[0] * speed, parts[1] * speed, parts[2] * turn)


def mirrored(gait: QuadrupedGait) -> QuadrupedGait:
    """Return the gait as a mirror shows it."""
    points = {
        f"equilibrium_m.{foot}.{axis}": (-at if axis == "y" else at)
        for foot, point in zip(
            FEET, (gait.parameters.equilibrium_m[other_side(foot)] for foot in FEET), strict=True
        )
        for axis, at in zip("xyz", point, strict=True)
    }
    multiplier = -gait.parameters.turn_multiplier_rad_m
    changed = gait.with_values({**points, "turn_multiplier_rad_m": multiplier})
    return replace(changed, phases=gait.phases.mirrored)


def other_side(foot: str) -> str:
    return foot.replace("left", "right") if "left" in foot else foot.replace("right", "left")


def walked(gait: QuadrupedGait, command: VelocityCommand, frames: int) -> np.ndarray:
    """Return the first frames of a walk at one command."""
    walk = QuadrupedGenerator(gait, ERS7)
    walk.request(command)
    return walk.frames(frames)


def steady_points(gait: QuadrupedGait, command: VelocityCommand) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return, by foot, the times since it lifted [s] and the points it is told in a steady cycle [m]."""
    planner = StepPlanner(gait, ERS7)
    lines = build_timelines(gait, planner.timing, FRAME_S)
    starts, period_s = gait.phases.starts, planner.timing.period_s
    feet = planner.standing_feet
    told: dict[str, dict[float, np.ndarray]] = {foot: {} for foot in FEET}
    for cycle in range(SETTLED + 1):
        for start in range(planner.n_steps_per_cycle):
            step = planner.plan_step(command, feet, start)
            feet = step.feet_after
            for foot, line, points in zip(FEET, lines, step.foot_points, strict=True):
                begins = (starts[start] - gait.phases.offsets[foot]) % 1.0 * period_s
                since = line.windows[start].times + begins
                if cycle == SETTLED:
                    told[foot] |= dict(zip(np.round(since, 9).tolist(), points, strict=True))
    return {foot: (np.array(sorted(by)), np.array([by[t] for t in sorted(by)])) for foot, by in told.items()}


def ground_points(gait: QuadrupedGait, command: VelocityCommand) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the points of each foot on the ground, `(n, 3)` [m], and the times since it came down [s]."""
    timing = timing_of(gait.parameters, FRAME_S)
    found = {}
    for foot, (times, points) in steady_points(gait, command).items():
        down = (times > timing.air_s - 1e-8) & (times < timing.period_s + 1e-8)
        found[foot] = (times[down] - timing.air_s, points[down])
    return found


def paws(rows: np.ndarray) -> np.ndarray:
    """Return where the lowest points of the paws are, seen from the base, `(n, 4, 3)` [m]."""
    return np.stack(
        [leg.forward(rows[:, leg.indices]) - (0.0, 0.0, leg.foot_radius_m) for leg in legs_of(ERS7)], axis=1
    )


def down(gait: QuadrupedGait, frames: int, *, margin: float = 0.0) -> np.ndarray:
    """Return which feet are to be down in the first frames of a walk, `(frames, 4)`.

    Args:
        gait: what is walked.
        frames: of the walk, the first of them sent a frame after it began.
        margin: part of a cycle to leave out after touching down and before lifting.
    """
    timing = timing_of(gait.parameters, FRAME_S)
    first = gait.phases.starts[0]
    places = np.arange(1, frames + 1)[:, np.newaxis] / timing.n_frames
    since_lift = (places - [gait.phases.offsets[foot] - first for foot in FEET]) % 1.0
    return (since_lift > timing.air_share + margin) & (since_lift < 1.0 - margin)
