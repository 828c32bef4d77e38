"""What the tests of the playing room may ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.controllers import Player
from posewright.controllers.behaviours import Behaviour, read_behaviour
from posewright.motions import Easing, Keyframe, Motion, Pose
from posewright.robots import Robot, robot


class Workshop:
    """Makes small motions of a Bioloid, and plays them without a body."""

    def __init__(self) -> None:
        self.robot: Robot = robot("robotis_bioloid")
        self.stand = self.robot.pose("stand")
        self.frame_s = self.robot.frame_period_s
        self.step = self.robot.max_speeds * self.frame_s

    def pose(self, joints: Sequence[str] = (), free: Sequence[str] = (), **offsets: float) -> Pose:
        """Return the stand of all or some joints, with some moved by so many radians."""
        joints = tuple(joints) or self.robot.joint_names
        angles = {joint: self.stand[self.robot.index(joint)] + offsets.get(joint, 0.0) for joint in joints}
        return Pose.of(joints, {joint: angles[joint] for joint in joints if joint not in free}, free)

    def motion(
        self,
        name: str,
        *offsets: Mapping[str, float],
        reach_s: float = 0.25,
        easing: Easing = Easing.LINEAR,
        **options: Any,
    ) -> Motion:
        """Return a motion through the stand with some joints moved."""
        keyframes = tuple(Keyframe(self.pose(**moved), reach_s, easing=easing) for moved in offsets)
        return Motion(name, self.robot.name, self.robot.joint_names, keyframes, **options)

    def nod(self, name: str, joint: str, angle: float = 0.3, **options: Any) -> Motion:
        """Return a motion that moves one joint away and back, in half a second unless `reach_s` is given."""
        return self.motion(name, {joint: angle}, {joint: 0.0}, **options)

    def player(self, *motions: Motion) -> Player:
        """Return a player of these motions that stands."""
        return Player(self.robot, {motion.name: motion for motion in motions}, self.stand)

    def play(self, player: Player, n: int) -> Floats:
        """Return exactly n frames, `(n, n_joints)` [rad]."""
        parts = []
        while n:
            parts.append(player.frames(n).angles)
            n -= len(parts[-1])
        return np.concatenate(parts)

    def way(self, angles: Floats, joint: str) -> Floats:
        """Return one joint's way from the stand, `(n,)` [rad]."""
        index = self.robot.index(joint)
        return angles[:, index] - self.stand[index]


@pytest.fixture(scope="session")
def shop() -> Workshop:
    """Give the workshop."""
    return Workshop()


CHART = """\
chart: tiny
kind: mealy
period_s: 0.1
priority: ordered
otherwise: stay
inputs: INPUTS
outputs: {go_on: bool, goal_deg: {int: [0, 180]}}
initial: standing
states:
  standing:
    - {when: GUARD, do: {go_on: 1}, go: going}
  going:
    - {when: not (GUARD), do: {go_on: 0}, go: standing}
"""

BEHAVIOUR = """\
behaviour: tiny
robot: robotis_bioloid
chart: tiny.chart.yaml
start_pose: walk_ready
motions:
  walk: {motion: walk_forward}
SENSORS
inputs:
  INPUT
outputs:
  - {when: go_on, play: walk}
  - {otherwise: true, play: null}
"""


@dataclass(frozen=True)
class Desk:
    """Writes small behaviours with one input, `x`, and reads them."""

    folder: Path

    def write(self, **changes: str) -> Path:
        """Write a behaviour in which some words stand for others; return its path."""
        parts = {
            "INPUTS": "{x: bool}",
            "GUARD": "x",
            "INPUT": "x: {sensor: laser_front, below_m: 0.35, hysteresis_m: 0.05}",
            "SENSORS": "sensors: {floor_left: {kind: floor_sensor, mount: left_foot_sole},\n"
            "  compass: {kind: compass, mount: imu},\n"
            "  ring: {kind: range_scan, mount: head, max_range_m: 5, "
            "beams: 72, start_deg: -180, step_deg: 5}}",
        }
        for file_name, text in (("tiny.chart.yaml", CHART), ("tiny.behaviour.yaml", BEHAVIOUR)):
            written = text
            for name, replacement in {**parts, **changes}.items():
                written = written.replace(name, replacement)
            (self.folder / file_name).write_text(written)
        return self.folder / "tiny.behaviour.yaml"

    def read(self, **changes: str) -> Behaviour:
        """Return the behaviour that `write` would write."""
        return read_behaviour(self.write(**changes))

    def wired(self, entry: str, kind: str = "float", guard: str = "x > 0") -> Behaviour:
        """Return a behaviour whose only input is wired as the entry says."""
        return self.read(INPUTS=f"{{x: {kind}}}", GUARD=guard, INPUT=f"x: {entry}")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Give a desk to write behaviours at."""
    return Desk(tmp_path)
