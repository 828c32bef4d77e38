"""A rule's case: README.md says which clause, scenario.yaml tells a story, expected.yaml has the score.

A story is what robots of two soles, two hands and a trunk do one after the other; `recording_of` makes the
recording that a judge reads. Lengths are in metres, times in seconds, angles in degrees.

```yaml
contest: sumo                # as `posewright contest list` has it
seed: 0                      # what the contest draws
layout: ""
robots:                      # by role; one that is not told stands where it begins
  red:
    story:
      - {stand: 5}
      - {walk: [0.9, 0.1], s: 3}            # x, y and perhaps how high the ground is there; legs swing
      - {turn: 90, s: 2}                    # to the left
      - {knees: 100, s: 12}                 # bends both knees to that angle at once, and stands so
      - {arm: 80, s: 0.3}                     # swings its right arm to that angle in so long
      - {fall: forward, s: 1}               # also back, left, right; in 0.2 s, and lies there
      - {rise: 1.5}                         # gets up within so long
      - {jump: 0.3}                         # is in the air for so long
      - {put: [0.5, 0.0, 180]}              # is put there, upright, at once; perhaps how high the ground is
    touches:                                # beside the feet that it stands on
      - {part: right_hand, thing: floor, from: 3.0, to: 3.3}   # or a shape of the arena, or a robot
boxes:                                      # pushed, and touched by the first robot
  - {box: 0, to: [1.2, 0.3], from: 4.0, to_s: 5.0}
  - {box: 0, from: 4.0, to_s: 5.0}
events:
  - {at: 8.0, kind: touch, reason: fall}
```
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from posewright.bodies import Contacts
from posewright.contests import contest
from posewright.recordings import Event, Header, Recording, RobotHeader, RobotRecord

RATE_HZ = 32.0
HIPS_M = 0.25
"""How high the base is above the ground while it stands."""

LYING_M = 0.05
JUMP_M = 0.05
SOLE = np.array([(0.05, 0.03), (0.05, -0.03), (-0.05, -0.03), (-0.05, 0.03)])
FEET = ("right_foot", "left_foot")
PARTS = ("trunk", "right_hand", "left_hand", *FEET)
JOINTS = ("swing", "right_knee", "left_knee", "right_arm")
LINKS = (
    {"name": "trunk", "parent": "", "position": (0, 0, 0), "rotation": (1, 0, 0, 0), "shapes": []},
    *(
        {"name": name, "parent": "trunk", "position": (0, 0, 0), "rotation": (1, 0, 0, 0), "shapes": []}
        | ({"joint": "right_arm", "axis": (0, 1, 0)} if name == "right_hand" else {})
        for name in PARTS[1:]
    ),
)
TILTS = {"forward": (0.0, 90.0), "back": (0.0, -90.0), "left": (-90.0, 0.0), "right": (90.0, 0.0)}


class Story:
    """What one robot does, row by row: x, y, ground, roll, pitch, yaw, height, swing, knees, arm."""

    def __init__(self, start: tuple[float, float, float]) -> None:
        x, y, yaw = start
        self.now = np.array([x, y, 0.0, 0.0, 0.0, math.degrees(yaw), HIPS_M, 0.0, 0.0, 0.0])
        self.rows: list[np.ndarray] = []

    def go(self, seconds: float, *, swings: bool = False, **to: float) -> None:
        """Go there in so long."""
        names = ("x", "y", "ground", "roll", "pitch", "yaw", "height", "swing", "knees", "arm")
        aim = self.now.copy()
        for name, value in to.items():
            aim[names.index(name)] = value
        n = round(seconds * RATE_HZ)
        part = self.now + np.linspace(0.0, 1.0, n + 1)[1:, None] * (aim - self.now)
        if swings:
            part[:, 7] = 0.3 * np.sin(np.arange(1, n + 1) / RATE_HZ * 4.0)
        self.rows.append(part)
        self.now = aim

    def tell(self, entry: Mapping[str, Any]) -> None:
        """Do one thing."""
        (kind, value), *options = entry.items()
        seconds = float(dict(options).get("s", 0.0))
        if kind in {"stand", "fidget"}:
            self.go(float(value), swings=kind == "fidget")
        elif kind == "walk":
            x, y, *ground = value
            self.go(seconds, swings=True, x=x, y=y, ground=ground[0] if ground else float(self.now[2]))
        elif kind == "turn":
            self.go(seconds, swings=True, yaw=float(self.now[5]) + value)
        elif kind == "knees":
            self.now[8] = value
            self.go(seconds)
        elif kind == "arm":
            self.go(seconds, arm=float(value))
        elif kind == "fall":
            roll, pitch = TILTS[value]
            self.go(0.2, roll=roll, pitch=pitch, height=LYING_M)
            self.go(seconds - 0.2)
        elif kind == "rise":
            self.go(float(value), roll=0.0, pitch=0.0, height=HIPS_M)
        elif kind == "jump":
            self.now[6] = HIPS_M + JUMP_M
            self.go(float(value))
            self.now[6] = HIPS_M
        elif kind == "put":
            x, y, yaw, *ground = value
            self.now = np.array([x, y, ground[0] if ground else 0.0, 0.0, 0.0, yaw, HIPS_M, 0.0, 0.0, 0.0])
        else:
            raise ValueError(f"a story does not know {kind!r}")

    def pose_rows(self, n: int) -> np.ndarray:
        """Return n rows; it stands at the end."""
        rows = np.concatenate([np.empty((0, 10)), *self.rows])
        return np.concatenate([rows, np.tile(self.now, (max(n - len(rows), 0), 1))])[:n]


def recording_of(folder: Path) -> Recording:
    """Return the recording of a case's scenario."""
    scenario = yaml.load((folder / "scenario.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    played_contest = contest(scenario["contest"])
    arena = played_contest.field(str(scenario.get("layout", "")), int(scenario.get("seed", 0)))
    stories = {}
    for role in played_contest.entries:
        stories[role] = Story(played_contest.start(role, arena))
        for entry in scenario.get("robots", {}).get(role, {}).get("story", ()):
            stories[role].tell(entry)
    n = max(sum(map(len, story.rows)) for story in stories.values())
    times = np.arange(1, n + 1) / RATE_HZ
    boxes, touched = _boxes(arena.boxes, arena.box_sizes, scenario.get("boxes", ()), times)
    solid = tuple(shape.name for shape in arena.shapes if shape.is_solid)
    robots = {}
    for number, (role, story) in enumerate(stories.items()):
        other_roles = tuple(name for name in stories if name != role)
        touches = scenario.get("robots", {}).get(role, {}).get("touches", ())
        names = ("floor", *solid, *other_roles)
        pushed = np.zeros_like(touched) if number else touched
        robots[role] = _record(story.pose_rows(n), times, touches, names, pushed)
    header = Header(
        robots={role: record.header for role, record in robots.items()},
        contest=played_contest.name,
        arena=arena.to_dict(),
        boxes=tuple((box.x, box.y, box.yaw_rad) for box in arena.boxes),
        seed=int(scenario.get("seed", 0)),
        documents={f"{played_contest.name.split('/')[-1]}.rules.yaml": played_contest.rules_text},
        extras={"contest": scenario["contest"]},
    )
    events = [Event(0.0, "start", {})]
    for entry in scenario.get("events", ()):
        data = {key: value for key, value in entry.items() if key not in {"at", "kind"}}
        events.append(Event(float(entry["at"]), entry["kind"], data))
    return Recording(header, times, robots, boxes, tuple(sorted(events, key=lambda event: event.time_s)))


def _record(
    rows: np.ndarray, times: np.ndarray, touches: Any, surfaces: tuple[str, ...], boxes: np.ndarray
) -> RobotRecord:
    x, y, ground, roll, pitch, yaw, height, swing, knees, arm = rows.T
    joints = np.column_stack([swing, np.radians(knees), np.radians(knees), np.radians(arm)])
    base = np.column_stack([x, y, ground + height, quaternions(*np.radians([roll, pitch, yaw]))])
    stands = np.abs(height - HIPS_M) < 0.01
    return RobotRecord(
        header=RobotHeader("soles", "", JOINTS, FEET, links=LINKS),
        positions=joints,
        commands=joints,
        efforts=np.zeros_like(joints),
        base=base,
        footprints=soles(x, y, ground + np.maximum(height - HIPS_M, 0.0), np.radians(yaw)),
        foot_contacts=np.column_stack([stands, stands]),
        box_contacts=boxes,
        contacts=_contacts(stands, height < HIPS_M - 0.01, times, touches, surfaces),
        start_positions=joints[0],
        start_base=base[0],
    )


def _contacts(
    stands: np.ndarray, lies: np.ndarray, times: np.ndarray, touches: Any, surfaces: tuple[str, ...]
) -> Contacts:
    """Return the feet on the floor while it stands, the trunk while it lies, and what is told besides."""
    names = (*PARTS, *surfaces)
    contacts = {
        (row, names.index(foot), names.index("floor")) for row in np.flatnonzero(stands) for foot in FEET
    }
    contacts |= {(row, names.index("trunk"), names.index("floor")) for row in np.flatnonzero(lies)}
    for touch in touches:
        rows = np.flatnonzero((times >= touch["from"]) & (times <= touch["to"]))
        contacts |= {(row, names.index(touch["part"]), names.index(touch["thing"])) for row in rows}
    table = np.array(sorted(contacts), dtype=np.intp).reshape(-1, 3)
    unknown = np.full(len(table), np.nan)
    return Contacts(names, table[:, 0], table[:, 1:], np.zeros(len(table)), unknown, unknown)


def _boxes(boxes: Any, sizes: np.ndarray, moves: Any, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = len(times)
    poses = np.zeros((n, len(boxes), 7))
    touched = np.zeros((n, len(boxes)), dtype=np.bool_)
    for number, box in enumerate(boxes):
        poses[:, number, :3] = (box.x, box.y, sizes[number, 2] / 2.0)
        poses[:, number, 3], poses[:, number, 6] = math.cos(box.yaw_rad / 2.0), math.sin(box.yaw_rad / 2.0)
    for entry in moves:
        number = entry["box"]
        begin = entry["from"]
        end = entry["to_s"]
        if "to" in entry:
            share = np.clip((times - begin) / max(end - begin, 1e-9), 0.0, 1.0)[:, None]
            poses[:, number, :2] += share * (np.array(entry["to"]) - poses[:, number, :2])
        else:
            touched[:, number] |= (times >= begin) & (times <= end)
    return poses, touched


def soles(x: np.ndarray, y: np.ndarray, z: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """Return the corners of both soles below places `(n,)` [m, rad]."""
    feet = np.zeros((len(x), 2, 4, 3))
    for foot, side in enumerate((-0.04, 0.04)):
        ahead, left = (SOLE + np.array([0.0, side])).T
        feet[:, foot, :, 0] = x[:, None] + np.outer(np.cos(yaw), ahead) - np.outer(np.sin(yaw), left)
        feet[:, foot, :, 1] = y[:, None] + np.outer(np.sin(yaw), ahead) + np.outer(np.cos(yaw), left)
        feet[:, foot, :, 2] = z[:, None]
    return feet


def quaternions(roll: np.ndarray, pitch: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """Return bases turned so, `(n, 4)`; angles in radians."""
    (cr, cp, cy), (sr, sp, sy) = ([fn(a / 2.0) for a in (roll, pitch, yaw)] for fn in (np.cos, np.sin))
    parts = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
    return np.stack(parts, axis=-1)


def drifting(recording: Recording, by_m: tuple[float, float] = (0.01, -0.01)) -> Recording:
    """Return a recording whose base and feet wander off evenly, as a tracker's do."""
    share = np.linspace(0.0, 1.0, len(recording.times))[:, None]
    robots = {}
    for name, record in recording.robots.items():
        base = record.base.copy()
        feet = record.footprints.copy()
        base[:, :2] += share * by_m
        feet[..., :2] += (share * by_m)[:, None, None, :]
        robots[name] = replace(record, base=base, footprints=feet)
    return replace(recording, robots=robots)


def dropping(recording: Recording, every_s: float = 7.0, for_s: float = 0.1) -> Recording:
    """Return a recording in which nobody knew where the robots were, again and again for so long."""
    lost = (recording.times % every_s) < for_s
    robots = {}
    for name, record in recording.robots.items():
        base = record.base.copy()
        feet = record.footprints.copy()
        base[lost], feet[lost] = np.nan, np.nan
        robots[name] = replace(record, base=base, footprints=feet)
    return replace(recording, robots=robots)


def differences(actual: Any, expected: Any, trail: str = "") -> list[str]:
    """Return where a score is not as expected; keys that are not expected may be anything."""
    if isinstance(expected, Mapping):
        return [
            difference
            for key in expected
            for difference in differences(actual[key], expected[key], f"{trail}.{key}")
        ]
    if isinstance(expected, list):
        if len(actual) != len(expected):
            return [f"{trail}: {len(actual)} entries, not {len(expected)}"]
        pairs = enumerate(zip(actual, expected, strict=True))
        return [difference for k, (a, b) in pairs for difference in differences(a, b, f"{trail}[{k}]")]
    if isinstance(expected, float) and isinstance(actual, int | float):
        return [] if math.isclose(actual, expected, rel_tol=2e-3, abs_tol=0.05) else [f"{trail}: {actual}"]
    return [] if actual == expected else [f"{trail}: {actual!r}, not {expected!r}"]
