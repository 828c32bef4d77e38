"""The columns of a RoboPlus page that a robot has joints for: ticks to angles and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.formats.roboplus.page import IDS
from posewright.formats.roboplus.values import max_ticks
from posewright.robots import Robot, Servo

NUMBERING = "robotis"
"""Name of the numbering, on a robot's card, that says which ID moves which joint."""

MAX_SLOPE_POWER = 7
"""The widest slope a Dynamixel of the AX series knows is two to this power (robots.md 2.6)."""

_SPAN_DEG = {1023: 300.0, 4095: 360.0}


@dataclass(frozen=True)
class Columns:
    """The joints of a robot in a page, in the robot's order.

    Attributes:
        ids: the ID, which is the column, of each joint.
        servos: the servo of each joint.
        motor_types: what the file says of each joint's servo: 0 has 10 bits, anything else 12.
    """

    ids: tuple[int, ...]
    servos: tuple[Servo, ...]
    motor_types: tuple[int, ...]

    @classmethod
    def of(cls, robot: Robot, enabled: tuple[bool, ...], motor_types: tuple[int, ...]) -> Columns:
        """Return the enabled columns that move a joint of `robot`.

        Raises:
            UnknownNameError: nobody knows how ROBOTIS would number this robot's servos.
        """
        numbers = robot.ids(NUMBERING)
        ids = [numbers[joint] for joint in robot.joint_names if joint in numbers]
        used = tuple(number for number in ids if number < IDS and enabled[number])
        joints = robot.numbering(NUMBERING)
        servos = tuple(robot.servo(joints[number]) for number in used)
        return cls(used, servos, tuple(motor_types[number] for number in used))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(servo.joint for servo in self.servos)

    def angles(self, ticks: tuple[int, ...]) -> NDArray[np.float64]:
        """Return (n_joints,) [rad] for the 26 positions of a step."""
        return np.array([self._angle(i, float(ticks[number])) for i, number in enumerate(self.ids)])

    def ticks(self, angles: NDArray[np.float64]) -> list[float]:
        """Return the position, not rounded, of each joint for angles (n_joints,) [rad]."""
        return [self._ticks(i, angle) for i, angle in enumerate(angles.tolist())]

    def last_tick(self, column: int) -> int:
        """Return the last position of a joint's servo, as the file counts."""
        return max_ticks(self.motor_types[column])

    def is_foreign(self, column: int) -> bool:
        """Tell whether the file means a servo of other resolution there than the robot has.

        Positions are then counted from the middle of both, the horn being mounted there.
        """
        return self.servos[column].ticks != self.last_tick(column) + 1

    def _angle(self, column: int, ticks: float) -> float:
        servo = self.servos[column]
        if not self.is_foreign(column):
            return servo.from_ticks(ticks)
        middle, tick_deg = self._foreign_scale(column)
        return servo.from_servo_deg(servo.range_deg / 2.0 + (ticks - middle) * tick_deg)

    def _ticks(self, column: int, angle: float) -> float:
        servo = self.servos[column]
        if not self.is_foreign(column):
            return servo.to_ticks(angle)
        middle, tick_deg = self._foreign_scale(column)
        return (servo.to_servo_deg(angle) - servo.range_deg / 2.0) / tick_deg + middle

    def _foreign_scale(self, column: int) -> tuple[float, float]:
        last = self.last_tick(column)
        return (last + 1) / 2.0, _SPAN_DEG[last] / (last + 1)

    def stiffness(self, compliance: tuple[int, ...]) -> dict[str, float] | None:
        """Return the stiffness [N m/rad] of the joints whose compliance is not the servo's own.

        The slope is two to the power of the compliance, in ticks of error at which the torque is full.
        """
        soft = {}
        for number, servo in zip(self.ids, self.servos, strict=True):
            slope = 2.0 ** min(compliance[number], MAX_SLOPE_POWER)
            if slope != servo.compliance_slope:
                soft[servo.joint] = servo.stall_torque_nm / (slope * servo.tick_rad)
        return soft or None


def compliance_of(servo: Servo, stiffness: float | None) -> tuple[int, bool]:
    """Return the compliance nearest to a stiffness [N m/rad], and whether it says the same.

    Args:
        servo: the servo.
        stiffness: None for the servo's own.
    """
    wanted = servo.stiffness if stiffness is None else stiffness
    if wanted <= 0.0:
        return MAX_SLOPE_POWER, False
    slope = servo.stall_torque_nm / (wanted * servo.tick_rad)
    power = min(max(round(math.log2(slope)), 0), MAX_SLOPE_POWER)
    return power, abs(2.0**power - slope) <= 0.01 * slope
