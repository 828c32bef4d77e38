"""A body of nothing: joints that follow their commands and sensors that read a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.bodies.body import Supervisor, TorquePolicy
from posewright.bodies.joints import BodyState, JointCommands, JointStates, Reading
from posewright.bodies.single import SingleBodyPlant
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


class MockBody(SingleBodyPlant):
    """A `Body`, its own `Plant` and its `Supervisor`, without physics: for tests and dry runs.

    A driven joint approaches its command as a first-order lag, no faster than its servo's no-load speed
    where `limit_speed` is set; a free joint stays where it is. The time is counted in frames.

    Args:
        robot: its card.
        script: what the sensors read at a time.
        lag_s: the lag's time constant; 0 follows perfectly [s].
        limit_speed: whether a joint moves no faster than its servo can.
        keeps: whether it remembers what it was given; one that runs for hours should not.
        positions: where the joints are at first, `(n_joints,)` [rad]; all at 0 by default.

    Attributes:
        positions: where the joints are, `(n_joints,)` [rad].
        played: all commands it was given.
        placements: where it was put, one after the other.
        is_open: whether somebody has taken hold of it.
        stops: every `stop`, with what it was told to do with its torque.
    """

    is_real = False

    def __init__(
        self,
        robot: Robot,
        script: Script = _no_sensors,
        *,
        lag_s: float = 0.0,
        limit_speed: bool = False,
        keeps: bool = True,
        positions: Floats | None = None,
    ) -> None:
        super().__init__(robot)
        self.script = script
        self.lag_s = lag_s
        self.limit_speed = limit_speed
        self.keeps = keeps
        n_joints = len(robot.joint_names)
        self.positions: Floats = np.zeros(n_joints) if positions is None else positions.copy()
        self.played: list[JointCommands] = []
        self.placements: list[Placement] = []
        self.is_open = False
        self.stops: list[TorquePolicy] = []
        self._velocities: Floats = np.zeros(n_joints)

    @property
    def commands(self) -> Floats:
        """Everything it was commanded, `(n_frames, n_joints)` [rad]."""
        if not self.played:
            return np.empty((0, len(self.robot.joint_names)))
        return np.concatenate([frames.angles for frames in self.played])

    def supervisor(self, name: str) -> Supervisor | None:  # noqa: ARG002 -- there is only this robot
        """Return itself: it notes where it is put."""
        return self

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

    def stop(self, policy: TorquePolicy) -> None:
        """Note the stop."""
        self.stops.append(policy)

    def close(self) -> None:
        """Note that it was let go."""
        self.is_open = False

    def play(self, rows: JointCommands) -> JointStates:
        """Follow some commands."""
        if self.keeps:
            self.played.append(rows)
        positions = self._follow(rows)
        n = len(rows)
        times: Floats = np.arange(self.frames + 1.0, self.frames + n + 1.0) * self.frame_period_s
        if n:
            before = positions[-2] if n > 1 else self.positions
            self._velocities = (positions[-1] - before) / self.frame_period_s
            self.positions = positions[-1].copy()
        self.frames += n
        return JointStates(times=times, positions=positions, efforts=np.zeros_like(positions))

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Note where a person puts the robot; its joints stand still."""
        self.placements.append(Placement(self.time_s, x_m, y_m, yaw_rad))
        self._velocities = np.zeros_like(self.positions)

    def _follow(self, rows: JointCommands) -> Floats:
        """Return where the joints are at the end of each frame, `(n, n_joints)` [rad]."""
        period_s = self.frame_period_s
        share = 1.0 - np.exp(-period_s / self.lag_s) if self.lag_s > 0.0 else 1.0
        reach = self.robot.max_speeds * period_s if self.limit_speed else np.inf
        driven = 1.0 if rows.free is None else ~rows.free
        positions = np.empty_like(rows.angles)
        position = self.positions
        for i, command in enumerate(rows.angles):
            position = position + driven * np.clip(share * (command - position), -reach, reach)
            positions[i] = position
        return positions
