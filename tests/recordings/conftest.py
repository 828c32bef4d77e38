"""Traces made up at random, of any shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from posewright.recordings import Event, Header, Recording

ARENA = {
    "size_m": [2.5, 2.0],
    "wall_height_m": 0.5,
    "lines": [{"x": 0.5, "width_m": 0.02}, {"x": 2.0, "width_m": 0.02}],
    "box_size_m": [0.2, 0.2, 0.5],
    "colours": {"floor": [0.1, 0.8, 0.0], "wall": [1.0, 1.0, 1.0]},
}
SENSORS = {
    "laser": {
        "kind": "range",
        "mount": "base",
        "max_range_m": 5.0,
        "fan_deg": 1.0,
        "yaw_deg": 45.0,
        "base_pose": [0.1, 0.02, -0.03, 0.8, 0.0, 0.0, 0.6],
    },
    "ring": {
        "kind": "range_scan",
        "mount": "head",
        "max_range_m": 5.0,
        "start_deg": -90.0,
        "step_deg": 5.0,
        "base_pose": [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0],
    },
    "imu": {"kind": "imu", "mount": "base"},
}


def _header(joints: int, feet: int, boxes: int) -> Header:
    return Header(
        robot="robotis_bioloid",
        behaviour="obstacle_race",
        contest="ceabot_2013/obstacle_race",
        layout="example_1",
        boxes=tuple((0.7 + 0.2 * i, -0.3, 0.1 * i) for i in range(boxes)),
        seed=7,
        version="0.1.0",
        joints=tuple(f"joint_{i}" for i in range(joints)),
        feet=tuple(f"foot_{i}" for i in range(feet)),
        arena=ARENA,
        sensors=SENSORS,
        documents={"race.behaviour.yaml": "behaviour: race\n# wörds\n", "race.chart.yaml": "chart: race\n"},
        extras={"note": "made up", "legs": 2},
    )


def _trace(
    seed: int = 0, *, rows: int = 12, ticks: int = 4, joints: int = 18, feet: int = 2, boxes: int = 6
) -> Recording:
    rng = np.random.default_rng(seed)
    inputs = [{"front": bool(i % 2), "heading_deg": float(rng.normal()), "beams": i} for i in range(ticks)]
    return Recording(
        header=_header(joints, feet, boxes),
        times=np.arange(1, rows + 1) / 32.0,
        joint_positions=rng.normal(size=(rows, joints)),
        joint_commands=rng.normal(size=(rows, joints)),
        joint_efforts=rng.normal(size=(rows, joints)),
        base=rng.normal(size=(rows, 7)),
        footprints=rng.normal(size=(rows, feet, 4, 3)),
        foot_contacts=rng.random((rows, feet)) > 0.5,
        boxes=rng.normal(size=(rows, boxes, 7)),
        box_contacts=rng.random((rows, boxes)) > 0.5,
        tick_times=np.arange(ticks) / 10.0,
        chart_states=tuple(f"state_{i % 3}" for i in range(ticks)),
        chart_inputs=tuple(inputs),
        chart_outputs=tuple({"s1": True, "speed": 0.1 * i, "word": "on"} for i in range(ticks)),
        playing=tuple(None if i % 2 else "walk_forward" for i in range(ticks)),
        sensors={
            "laser": rng.random((ticks, 1)),
            "ring": rng.random((ticks, 37)),
            "imu.orientation": rng.normal(size=(ticks, 3)),
            "imu.angular_velocity": rng.normal(size=(ticks, 3)),
            "imu.acceleration": rng.normal(size=(ticks, 3)),
        },
        events=(Event(0.0, "start"), Event(0.2, "touch", {"reason": "fall", "x_m": 1.25, "yaw_deg": -3.0})),
    )


@pytest.fixture(scope="session")
def make_trace() -> Callable[..., Recording]:
    """Give a function that makes a trace up: `make_trace(seed, rows=..., ticks=..., ...)`."""
    return _trace


@pytest.fixture(scope="session")
def altered() -> Callable[..., Recording]:
    """Give a function that returns a trace with one number of one array changed a little."""

    def alter(trace: Recording, name: str, place: int) -> Recording:
        array: Any = getattr(trace, name).copy()
        flat = array.reshape(-1)
        old = flat[place % flat.size]
        flat[place % flat.size] = not old if array.dtype == np.bool_ else np.nextafter(old, np.inf)
        return replace(trace, **{name: array})

    return alter
