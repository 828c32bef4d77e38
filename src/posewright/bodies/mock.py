"""A mock body: joints follow their commands, sensors read from a function of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.bodies.body import Supervisor, TorquePolicy
from posewright.bodies.joints import BodyState, JointCommands, JointStates, Reading
from posewright.bodies.single import SingleBodyPlant
from posewright.robots import FlashLidar, FootContact, RangeScan, RangeSensor, Robot, SensorSpec

ReadingsAt = Callable[[float], Mapping[str, Reading]]
"""Returns the readings of the sensors at a time [s], by channel."""


def quiet_readings(sensors: Iterable[SensorSpec]) -> Mapping[str, Reading]:
    """Return the readings, by channel, of a standing robot with nothing in range."""
    range_sensors = RangeSensor | RangeScan | FlashLidar
    readings: dict[str, Reading] = {}
    for sensor in sensors:
        value = sensor.max_range_m if isinstance(sensor, range_sensors) else 0.0
        for channel in sensor.channels:
            if isinstance(sensor, FootContact):
                readings[channel.name] = True
            else:
                readings[channel.name] = np.full(channel.shape, value) if channel.shape else value
    return readings


def _no_sensors(_time_s: float) -> Mapping[str, Reading]:
    return {}


@dataclass(frozen=True, slots=True)
class Placement:
    """A call of `place_robot`: time and pose in the field [s, m, m, rad]."""

    time_s: float
    x_m: float
    y_m: float
    yaw_rad: float


class MockBody(SingleBodyPlant):
    """A `Body`, its own `Plant` and its `Supervisor`, without physics: for tests and dry runs.

    A driven joint approaches its command as a first-order lag, no faster than its servo's no-load speed
    where `limit_speed` is set; a free joint stays where it is. Time is counted in frames.

    Args:
        robot: its card.
        readings_at: returns the sensors' readings at a time.
        lag_s: time constant of the lag; 0 follows perfectly [s].
        limit_speed: whether a joint moves no faster than its servo can.
        store_commands: whether commands are stored in `played_commands`; turn it off for runs of hours.
        positions: joint angles at the start, `(n_joints,)` [rad]; all 0 by default.

    Attributes:
        positions: joint angles, `(n_joints,)` [rad].
        played_commands: all blocks of commands, in order; empty unless `store_commands`.
        placements: all calls of `place_robot`, in order.
        is_open: whether it is open.
        stops: the torque policy of every call of `stop`.
    """

    is_real = False

    def __init__(
        self,
        robot: Robot,
        readings_at: ReadingsAt = _no_sensors,
        *,
        lag_s: float = 0.0,
        limit_speed: bool = False,
        store_commands: bool = True,
        positions: Floats | None = None,
    ) -> None:
        """Stand still at the given positions, closed."""
        super().__init__(robot)
        self.readings_at = readings_at
        self.lag_s = lag_s
        self.limit_speed = limit_speed
        self.store_commands = store_commands
        n_joints = len(robot.joint_names)
        self.positions: Floats = np.zeros(n_joints) if positions is None else positions.copy()
        self.played_commands: list[JointCommands] = []
        self.placements: list[Placement] = []
        self.is_open = False
        self.stops: list[TorquePolicy] = []
        self._velocities: Floats = np.zeros(n_joints)

    @property
    def commands(self) -> Floats:
        """The angles of all commands, `(n_frames, n_joints)` [rad]."""
        if not self.played_commands:
            return np.empty((0, len(self.robot.joint_names)))
        return np.concatenate([frames.angles for frames in self.played_commands])

    def supervisor(self, name: str) -> Supervisor | None:  # noqa: ARG002 -- there is only this robot
        """Return this body, which records where it is placed."""
        return self

    def open(self) -> None:
        """Mark the body as open."""
        self.is_open = True

    def read(self) -> BodyState:
        """Return the present state."""
        return BodyState(
            time_s=self.time_s,
            positions=self.positions.copy(),
            efforts=np.zeros_like(self.positions),
            velocities=self._velocities.copy(),
            sensors=self.readings_at(self.time_s),
        )

    def observe(self) -> JointStates:
        """Return the present joint states, one row."""
        positions = self.positions[np.newaxis].copy()
        return JointStates(np.array([self.time_s]), positions, np.zeros_like(positions))

    def stop(self, policy: TorquePolicy) -> None:
        """Record the torque policy."""
        self.stops.append(policy)

    def close(self) -> None:
        """Mark the body as closed."""
        self.is_open = False

    def play(self, rows: JointCommands) -> JointStates:
        """Move the joints along the commands, one row a frame, and return their states after each frame."""
        if self.store_commands:
            self.played_commands.append(rows)
        positions = self._follow_commands(rows)
        n_frames = len(rows)
        times: Floats = (
            np.arange(self.n_frames_played + 1.0, self.n_frames_played + n_frames + 1.0) * self.frame_period_s
        )
        if n_frames:
            previous_positions = positions[-2] if n_frames > 1 else self.positions
            self._velocities = (positions[-1] - previous_positions) / self.frame_period_s
            self.positions = positions[-1].copy()
        self.n_frames_played += n_frames
        return JointStates(times=times, positions=positions, efforts=np.zeros_like(positions))

    def place_robot(self, x_m: float, y_m: float, yaw_rad: float) -> None:
        """Record the placement; the joints come to rest."""
        self.placements.append(Placement(self.time_s, x_m, y_m, yaw_rad))
        self._velocities = np.zeros_like(self.positions)

    def _follow_commands(self, rows: JointCommands) -> Floats:
        """Return the joint angles at the end of each frame, `(n, n_joints)` [rad]; changes nothing."""
        period_s = self.frame_period_s
        # the share of the distance that a first-order lag covers in a frame
        gain = 1.0 - np.exp(-period_s / self.lag_s) if self.lag_s > 0.0 else 1.0
        max_step = self.robot.max_speeds * period_s if self.limit_speed else np.inf
        is_driven = 1.0 if rows.free is None else ~rows.free
        positions = np.empty_like(rows.angles)
        position = self.positions
        for i, command in enumerate(rows.angles):
            position = position + is_driven * np.clip(gain * (command - position), -max_step, max_step)
            positions[i] = position
        return positions
