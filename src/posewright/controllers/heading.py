"""Holding a heading: a turn added to a walk's commands, so that the robot goes where they lead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from posewright.bodies import BodyState, Reading
from posewright.errors import InputError
from posewright.gaits import FeedbackGains, VelocityCommand
from posewright.robots import Compass, Imu, Robot, SensorSpec


class HeadingHold:
    """Corrects velocity commands by the difference between the commanded heading and the measured one.

    The commanded heading is that at the start plus all commanded turns since; it is never farther from the
    measured one than the greatest correction answers. While the sensor reads no number, the last correction
    stays; on a body without the sensor there is none.

    Args:
        robot: the robot, whose card has a compass or an IMU.
        gains: of the feedback.

    Attributes:
        channel: the channel of the robot's readings that has its heading.

    Raises:
        InputError: the robot has neither a compass nor an IMU.
    """

    def __init__(self, robot: Robot, gains: FeedbackGains) -> None:
        self.channel = _heading_channel(robot)
        self._gains = gains
        self._commanded_heading: float | None = None
        self._time_s = 0.0
        self._turn_rad_s = 0.0
        self._correction_rad_s = 0.0  # added to the turn last

    def restart(self) -> None:
        """Take the next measured heading as the commanded one."""
        self._commanded_heading = None
        self._correction_rad_s = 0.0

    def correct(self, command: VelocityCommand, state: BodyState) -> VelocityCommand:
        """Return the command with the turn that leads back to the commanded heading.

        Args:
            command: velocity from now on.
            state: of the body, with its heading.
        """
        heading = _read_heading(state.sensors, self.channel)
        if not math.isfinite(heading):
            return replace(command, turn_rad_s=command.turn_rad_s + self._correction_rad_s)
        if self._commanded_heading is None:
            self._commanded_heading = heading
        else:
            self._commanded_heading += self._turn_rad_s * (state.time_s - self._time_s)
        self._time_s = state.time_s
        self._turn_rad_s = command.turn_rad_s
        error = math.remainder(self._commanded_heading - heading, 2.0 * math.pi)
        max_error = self._gains.max_heading_turn_rad_s / self._gains.heading_1_s
        error = min(max(error, -max_error), max_error)
        # a robot that turns less than commanded would else make up for it long after the command has changed
        self._commanded_heading = heading + error
        self._correction_rad_s = self._gains.heading_1_s * error
        return replace(command, turn_rad_s=command.turn_rad_s + self._correction_rad_s)


def heading_sensors(robot: Robot) -> tuple[SensorSpec, ...]:
    """Return the sensor of a robot that measures its heading, a compass or else an IMU, if it has one."""
    for kind in (Compass, Imu):
        for sensor in robot.sensors:
            if isinstance(sensor, kind):
                return (sensor,)
    return ()


def _heading_channel(robot: Robot) -> str:
    """Return the channel of a robot's readings that has its heading, or raise InputError."""
    for sensor in heading_sensors(robot):
        return sensor.name if isinstance(sensor, Compass) else f"{sensor.name}.orientation"
    raise InputError(
        f"{robot.name} has neither a compass nor an imu, so its heading cannot be held",
        hint="feedback: {heading_1_s: 0}",
    )


def _read_heading(readings: Mapping[str, Reading], channel: str) -> float:
    """Return the heading of a compass, or the yaw of an orientation (roll, pitch, yaw) [rad]; NaN without."""
    return float(np.ravel(readings.get(channel, math.nan))[-1])
