"""The excess tilt of a walking trunk: what a push or a bump adds to its usual rocking."""

from __future__ import annotations

import math

import numpy as np

from posewright.bodies import BodyState
from posewright.errors import InputError
from posewright.gaits.feedback import UPRIGHT, Tilt
from posewright.robots import Imu, Robot

MEAN_TIME_S = 1.5
"""Time constant of the mean tilt [s]: some four cycles of a walk, and much longer than a fall takes."""


class ExcessTiltMeter:
    """Measures how far a trunk is tilted beyond the rocking of its walk.

    The mean tilt is the low-pass filtered reading of the IMU, so that slopes, a shifted centre of mass and an
    IMU that is not mounted level count as usual. While the IMU reads no number, the last excess stays; on a
    body without an IMU there is none.

    Args:
        robot: the robot, whose card has an IMU.
        rocking_rad: how far the trunk rocks about its mean tilt, to every side [rad].

    Attributes:
        channel: the channel of the robot's readings that has the IMU's orientation.

    Raises:
        InputError: the robot has no IMU.
    """

    def __init__(self, robot: Robot, rocking_rad: float) -> None:
        imu = next((sensor for sensor in robot.sensors if isinstance(sensor, Imu)), None)
        if imu is None:
            raise InputError(
                f"{robot.name} has no imu, so its feet cannot be levelled",
                hint="feedback: {foot_levelling: 0}",
            )
        self.channel = f"{imu.name}.orientation"
        self._rocking_rad = rocking_rad
        self.restart()

    def restart(self) -> None:
        """Take the next reading as the mean."""
        self._mean = UPRIGHT
        self._excess = UPRIGHT
        self._start_s = 0.0  # time of the first reading [s]
        self._time_s: float | None = None  # time of the last reading [s]; None before the first

    def measure(self, state: BodyState) -> Tilt:
        """Return the excess tilt [rad], and take the reading into the mean."""
        if self.channel not in state.sensors:
            return UPRIGHT
        roll, pitch, _ = np.asarray(state.sensors[self.channel]).tolist()
        if not (math.isfinite(roll) and math.isfinite(pitch)):
            return self._excess
        if self._time_s is None:
            self._start_s = state.time_s
            self._mean = Tilt(roll, pitch)
        else:
            # the mean of all readings at first, so that the rocking of the first steps counts as usual
            averaged_s = min(state.time_s - self._start_s, MEAN_TIME_S)
            weight = (state.time_s - self._time_s) / averaged_s if averaged_s > 0.0 else 0.0
            self._mean = Tilt(
                self._mean.roll + weight * (roll - self._mean.roll),
                self._mean.pitch + weight * (pitch - self._mean.pitch),
            )
        self._time_s = state.time_s
        self._excess = Tilt(
            self._beyond_rocking(roll - self._mean.roll), self._beyond_rocking(pitch - self._mean.pitch)
        )
        return self._excess

    def _beyond_rocking(self, deviation_rad: float) -> float:
        """Return the part of a deviation from the mean that rocking does not explain [rad]."""
        return math.copysign(max(abs(deviation_rad) - self._rocking_rad, 0.0), deviation_rad)
