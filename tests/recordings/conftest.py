"""Random recordings of any shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from posewright.bodies import Contacts
from posewright.recordings import Decisions, Event, Header, Recording, RobotHeader, RobotRecord

ARENA = {
    "name": "ceabot_obstacles",
    "size_m": [2.5, 2.0],
    "shapes": [
        {"name": "wall_start", "role": "wall", "x": -0.01, "y": 0.0, "size_m": [0.02, 2.0, 0.5]},
        {"name": "line_1", "role": "line", "x": 0.5, "y": 0.0, "size_m": [0.02, 2.0, 0.0]},
        {"name": "ring", "role": "ring", "x": 1.0, "y": 0.0, "size_m": [0.5, 0.5, 0.1], "is_round": True},
    ],
    "box_kinds": {"box": {"size_m": [0.2, 0.2, 0.5], "mass_kg": 1.0, "friction": 0.5}},
    "boxes": [],
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
BALL = {
    "kind": "capsule",
    "size": [0.1, 0.1, 0.3],
    "position": [0.0, 0.0, 0.1],
    "rotation": [1.0, 0.0, 0.0, 0.0],
    "colour": [0.2, 0.2, 0.2, 1.0],
}


def _link(name: str, parent: str, **entries: Any) -> dict[str, Any]:
    pose = {"position": [0.1, 0.0, -0.2], "rotation": [0.8, 0.0, 0.6, 0.0]}
    return {"name": name, "parent": parent, **pose, "shapes": [BALL], **entries}


def _robot(joints: int, feet: int) -> RobotHeader:
    links = [_link("trunk", ""), _link("shell", "trunk")]
    links += [_link(f"link_{i}", "trunk", joint=f"joint_{i}", axis=[0.0, 1.0, 0.0]) for i in range(joints)]
    return RobotHeader(
        robot="robotis_bioloid",
        controller="behaviour obstacle_race",
        joints=tuple(f"joint_{i}" for i in range(joints)),
        feet=tuple(f"foot_{i}" for i in range(feet)),
        sensors=SENSORS,
        facts={"mass_kg": 1.7, "stiffness": [1.0, 2.0]},
        links=tuple(links),
    )


def _decisions(rng: np.random.Generator, m: int) -> Decisions:
    inputs = [{"front": bool(i % 2), "heading_deg": float(rng.normal()), "beams": i} for i in range(m)]
    return Decisions(
        times=np.arange(m) / 10.0,
        states=tuple(f"state_{i % 3}" for i in range(m)),
        inputs=tuple(inputs),
        outputs=tuple({"s1": True, "speed": 0.1 * i, "word": "on"} for i in range(m)),
        playing=tuple(None if i % 2 else "walk_forward" for i in range(m)),
        sensors={
            "laser": rng.random((m, 1)),
            "ring": rng.random((m, 37)),
            "imu.orientation": rng.normal(size=(m, 3)),
            "imu.angular_velocity": rng.normal(size=(m, 3)),
            "imu.acceleration": rng.normal(size=(m, 3)),
        },
    )


def _contacts(rng: np.random.Generator, n: int) -> Contacts:
    count = 3 * n
    return Contacts(
        names=("floor", "foot", "hand"),
        frames=np.sort(rng.integers(0, max(n, 1), count)),
        pairs=rng.integers(0, 3, (count, 2)),
        depths=rng.random(count),
        forces=np.where(rng.random(count) > 0.5, rng.random(count), np.nan),
        speeds=np.full(count, np.nan),
    )


def _record(
    rng: np.random.Generator, header: RobotHeader, n_rows: int, n_decisions: int, boxes: int, *, full: bool
) -> RobotRecord:
    joints = len(header.joints)
    feet = len(header.feet)
    optional: dict[str, Any] = {
        "requests": rng.normal(size=(n_rows, joints)),
        "free": rng.random((n_rows, joints)) > 0.5,
        "slips": rng.random((n_rows, feet)),
        "contacts": _contacts(rng, n_rows),
        "start_positions": rng.normal(size=joints),
        "start_base": rng.normal(size=7),
    }
    return RobotRecord(
        header=header,
        positions=rng.normal(size=(n_rows, joints)),
        commands=rng.normal(size=(n_rows, joints)),
        efforts=rng.normal(size=(n_rows, joints)),
        base=rng.normal(size=(n_rows, 7)),
        footprints=rng.normal(size=(n_rows, feet, 4, 3)),
        foot_contacts=rng.random((n_rows, feet)) > 0.5,
        box_contacts=rng.random((n_rows, boxes)) > 0.5,
        decisions=_decisions(rng, n_decisions),
        **(optional if full else {}),
    )


def _recording(
    seed: int = 0,
    *,
    rows: int = 12,
    decisions: int = 4,
    joints: int = 18,
    feet: int = 2,
    boxes: int = 6,
    robots: int = 1,
    full: bool = True,
) -> Recording:
    rng = np.random.default_rng(seed)
    header = Header(
        robots={f"robot_{i}": _robot(joints, feet) for i in range(robots)},
        contest="ceabot_2013/obstacle_race",
        layout="example_1",
        boxes=tuple((0.7 + 0.2 * i, -0.3, 0.1 * i) for i in range(boxes)),
        seed=7,
        version="0.1.0",
        arena=ARENA,
        documents={"race.behaviour.yaml": "behaviour: race\n# wörds\n", "race.rules.yaml": "rules: race\n"},
        extras={"note": "made up", "legs": 2},
    )
    records = {
        name: _record(rng, robot, rows, decisions, boxes, full=full) for name, robot in header.robots.items()
    }
    return Recording(
        header=header,
        times=np.arange(1, rows + 1) / 32.0,
        robots=records,
        boxes=rng.normal(size=(rows, boxes, 7)),
        events=(Event(0.0, "start"), Event(0.2, "touch", {"reason": "fall", "x_m": 1.25, "yaw_deg": -3.0})),
    )


def _changed(recording: Recording, **changes: Any) -> Recording:
    """Return a recording with changed fields, of its first robot's record or its own."""
    recording_changes = {
        name: changes.pop(name) for name in ("header", "times", "boxes", "events") if name in changes
    }
    name, record = next(iter(recording.robots.items()))
    robots = {**recording.robots, name: replace(record, **changes)}
    return replace(recording, robots=robots, **recording_changes)


@pytest.fixture(scope="session")
def make_recording() -> Callable[..., Recording]:
    """Give a function that makes a random recording: `make_recording(seed, rows=..., decisions=..., ...)`."""
    return _recording


@pytest.fixture(scope="session")
def changed() -> Callable[..., Recording]:
    """Give a function that returns a recording with changed fields: `changed(recording, base=...)`."""
    return _changed


@pytest.fixture(scope="session")
def altered() -> Callable[..., Recording]:
    """Give a function that returns a recording with one number of one array changed a little."""

    def alter(recording: Recording, name: str, place: int) -> Recording:
        owner = recording if name in {"times", "boxes"} else recording.robot()
        array: Any = getattr(owner, name).copy()
        flat = array.reshape(-1)
        old = flat[place % flat.size]
        flat[place % flat.size] = not old if array.dtype == np.bool_ else np.nextafter(old, np.inf)
        return _changed(recording, **{name: array})

    return alter
