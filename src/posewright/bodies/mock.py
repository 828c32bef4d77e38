"""A body of nothing: joints that follow their commands and sensors that read a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.bodies.body import TorquePolicy
from posewright.bodies.joints import BodyState, JointCommands, JointStates, Reading
from posewright.errors import BodyError
from posewright.robots import FlashLidar, FootContact, RangeScan, RangeSensor, Robot, SensorSpec

Script = Callable[[float], Mapping[str, Reading]]
"""What the sensors read at a time [s]."""


def quiet_readings(sensors: Iterable[SensorSpec]) -> Mapping[str, Reading]:
    """Return what sensors read where nothing is near and nothing moves, by channel."""
    ranges = RangeSensor | RangeScan | FlashLidar
    readings: dict[str, Reading] = {}
    for sensor in sensors:
        farthest = sensor.max_range_m if isinstance(sensor, ranges) else 0.0
        for channel in sensor.channels:
            quiet = np.full(channel.shape, farthest) if channel.shape else farthest
            readings[channel.name] = isinstance(sensor, FootContact) or quiet
    return readings


def _no_sensors(_time_s: float) -> Mapping[str, Reading]:
    return {}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a person put the robot, and when [s, m, m, rad]."""

    time_s: float
    x_m: float
    y_m: float
    yaw_rad: float


@dataclass(slots=True, eq=False, repr=False)
class MockBody:
    """A `Body`, its own `Plant` and its `Supervisor`, without physics: for tests and dry runs.

    A driven joint approaches its command as a first-order lag, no faster than its servo's no-load speed
    where `limit_speed` is set; a free joint stays where it is. The time is counted in frames.

    Attributes:
        script: what the sensors read at a time.
        lag_s: the lag's time constant; 0 follows perfectly [s].
        limit_speed: whether a joint moves no faster than its servo can.
        positions: where the joints are, `(n_joints,)` [rad].
        keeps: whether it remembers what it was given; one that runs for hours should not.
        played: all commands it was given.
        placements: where it was put, one after the other.
        is_open: whether somebody has taken hold of it.
        stops: every `stop`, with what it was told to do with its torque.
    """

    robot: Robot
    script: Script = _no_sensors
    lag_s: float = 0.0
    limit_speed: bool = False
    keeps: bool = True
    positions: Floats = field(default_factory=lambda: np.empty(0))
    played: list[JointCommands] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    is_open: bool = False
    stops: list[TorquePolicy] = field(default_factory=list)
    _frames: int = 0
    _velocities: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        n = len(self.robot.joint_names)
        self.positions = self.positions.copy() if len(self.positions) else np.zeros(n)
        self._velocities = np.zeros(n)

    def __repr__(self) -> str:
        return f"<MockBody of {self.robot.name}, {self.time_s:.3f} s>"

    @property
    def bodies(self) -> Mapping[str, MockBody]:
        """Itself, under the robot's name."""
        return {self.robot.name: self}

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self.robot.frame_period_s

    @property
    def time_s(self) -> float:
        """The body's own time, 0 when it was made [s]."""
        return self._frames * self.robot.frame_period_s

    @property
    def commands(self) -> Floats:
        """Everything it was commanded, `(n_frames, n_joints)` [rad]."""
        if not self.played:
            return np.empty((0, len(self.robot.joint_names)))
        return np.concatenate([frames.angles for frames in self.played])

    def open(self) -> None:
        """Note that somebody has taken hold of it."""
        self.is_open = True

    def read(self) -> BodyState:
        """Return the state now, with the script's readings."""
        return BodyState(
            time_s=self.time_s,
            positions=self.positions.copy(),
            efforts=np.zeros_like(self.positions),
            velocities=self._velocities.copy(),
            sensors=self.script(self.time_s),
        )

    def observe(self) -> JointStates:
        """Return what the joints do now."""
        positions = self.positions[np.newaxis].copy()
        return JointStates(np.array([self.time_s]), positions, np.zeros_like(positions))

    def facts(self) -> Mapping[str, Any]:
        """Return nothing: it has neither mass nor servos."""
        return {}

    def stop(self, policy: TorquePolicy) -> None:
        """Note the stop."""
        self.stops.append(policy)

    def close(self) -> None:
        """Note that it was let go."""
        self.is_open = False

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Let it follow the commands for its robot."""
        if set(commands) != {self.robot.name}:
            raise BodyError(f"commands for {', '.join(commands) or 'nobody'}", hint=f"for {self.robot.name}")
        return {self.robot.name: self.play(commands[self.robot.name])}

    def play(self, frames: JointCommands) -> JointStates:
        """Follow some commands."""
        frames.check(len(self.robot.joint_names))
        if self.keeps:
            self.played.append(frames)
        positions = self._follow(frames)
        period_s = self.robot.frame_period_s
        times: Floats = np.arange(self._frames + 1.0, self._frames + len(frames) + 1.0) * period_s
        if len(frames):
            before = positions[-2] if len(frames) > 1 else self.positions
            self._velocities = (positions[-1] - before) / period_s
            self.positions = positions[-1].copy()
        self._frames += len(frames)
        return JointStates(times=times, positions=positions, efforts=np.zeros_like(positions))

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Note where a person puts the robot; its joints stand still."""
        self.placements.append(Placement(self.time_s, x_m, y_m, yaw_rad))
        self._velocities = np.zeros_like(self.positions)

    def _follow(self, frames: JointCommands) -> Floats:
        """Return where the joints are at the end of each frame, `(n, n_joints)` [rad]."""
        period_s = self.robot.frame_period_s
        share = 1.0 - np.exp(-period_s / self.lag_s) if self.lag_s > 0.0 else 1.0
        reach = self.robot.max_speeds * period_s if self.limit_speed else np.inf
        driven = 1.0 if frames.free is None else ~frames.free
        positions = np.empty_like(frames.angles)
        now = self.positions
        for i, command in enumerate(frames.angles):
            now = now + driven * np.clip(share * (command - now), -reach, reach)
            positions[i] = now
        return positions
