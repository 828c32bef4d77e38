"""A fake AX-12 servo: registers that control a motor, and alarms that switch its torque off.

Source: ROBOTIS e-Manual, "AX-12A", and the manual of 2006. A write of a goal position switches the torque on,
and while it is on, the EEPROM is locked. Torque is full at the edge of the slope, zero within the margin, and
limited by the torque limit; the punch is left out, as is the friction that it overcomes. In wheel mode the
output is a share of the no-load speed.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from posewright.buses.dynamixel.control_table import CLOCKWISE, Area, StatusError, control_table, slope_step
from posewright.buses.dynamixel.fake.device import FIRMWARE, FakeDevice
from posewright.buses.dynamixel.packets import SPEED_RAD_S
from posewright.units import RAD_PER_DEG, RAD_S_PER_RPM

_VOLTAGE_ERROR = int(StatusError.INPUT_VOLTAGE)
_OVERHEATING_ERROR = int(StatusError.OVERHEATING)
_OVERLOAD_ERROR = int(StatusError.OVERLOAD)
_PRESENT = struct.Struct("<HHHBB")  # position, speed, load, voltage, temperature

TICKS = 1024
TICK_RAD = 300.0 / TICKS * RAD_PER_DEG
NO_LOAD_TICKS_S = 59.0 * RAD_S_PER_RPM / TICK_RAD
"""Speed without load at 12 V [ticks/s] (e-Manual: 59 rpm)."""

SPEED_TICKS_S = SPEED_RAD_S / TICK_RAD
"""The speed that a moving speed of 1 means [ticks/s]."""

FULL = 1023
"""Register value of the full torque, load or speed, and of the last tick."""

ROOM_TEMPERATURE_C = 32.0
SUPPLY_V = 11.1
DEFAULT_MARGIN = 1
"""Factory default of the margin, for which the stiffness on a robot's card holds [ticks]."""


@dataclass(frozen=True, slots=True)
class Drive:
    """The commands to the motor in a servo's registers.

    Attributes:
        is_free: whether its torque is off.
        goal_ticks: goal position [ticks]; None in wheel mode.
        speed_ticks_s: speed limit, infinite if there is none; in wheel mode the speed, negative for
            clockwise.
        torque_share: torque limit as a share of the full torque, 0..1.
        margins: compliance margins for clockwise and counter-clockwise torque [ticks].
        slopes: compliance slopes, likewise.
    """

    is_free: bool
    goal_ticks: int | None
    speed_ticks_s: float
    torque_share: float
    margins: tuple[int, int]
    slopes: tuple[int, int]


class FakeServo(FakeDevice):
    """An AX-12A.

    Attributes:
        position_ticks: position of its horn; the physics writes it, and the three following ones.
        speed_ticks_s: speed, counter-clockwise positive.
        load: exerted share of its full torque, counter-clockwise positive.
        is_overloaded: whether the load exceeds its torque limit.
        setpoint_ticks: momentary setpoint on the way to the goal.
        temperature_c: temperature [degrees Celsius].
        voltage_v: supply voltage [V].
    """

    def __init__(
        self,
        id: int = 1,  # noqa: A002 -- the register's name
        *,
        position_ticks: float = 512.0,
        baud: int = 1_000_000,
    ) -> None:
        """Switch the servo on, with its torque off."""
        self.position_ticks = float(position_ticks)
        self.setpoint_ticks = float(position_ticks)
        self.speed_ticks_s = 0.0
        self.load = 0.0
        self.temperature_c = ROOM_TEMPERATURE_C
        self.voltage_v = SUPPLY_V
        self.is_overloaded = False
        self._drive: Drive | None = None
        self._last_error = 0
        table = control_table("AX-12A")
        self._present_address = table.register("present_position").address
        self._moving_address = table.register("moving").address
        super().__init__(table, id, baud)

    @property
    def drive(self) -> Drive:
        """The commands to the motor in its registers."""
        if self._drive is None:
            self._drive = self._read_drive()
        return self._drive

    @property
    def is_alarmed(self) -> bool:
        """Whether its alarm LED blinks."""
        return bool((self._last_error | self.error_bits_of_state()) & self._byte("alarm_led"))

    @property
    def is_locked(self) -> bool:
        """Whether the EEPROM is locked, by the lock or by torque that is on."""
        return super().is_locked or self._byte("torque_enable") != 0

    def error_bits_of_state(self) -> int:
        """Return the error bits that the present voltage, temperature and load set."""
        low = self._byte("min_voltage_limit")
        high = self._byte("max_voltage_limit")
        decivolts = round(self.voltage_v * 10.0)
        error = 0 if low <= decivolts <= high else _VOLTAGE_ERROR
        if self.temperature_c > self._byte("temperature_limit"):
            error |= _OVERHEATING_ERROR
        if self.is_overloaded:
            error |= _OVERLOAD_ERROR
        return error

    def protect(self, error: int) -> None:
        """Set the torque limit to 0 if the shutdown mask contains one of the error bits."""
        self._last_error = error
        self._shut_down(error)

    def _shut_down(self, error: int) -> None:
        if error & self._byte("shutdown"):
            self.poke("torque_limit", 0)

    def check_values(self, values: Mapping[str, int]) -> int:
        """Return the error bits of a goal outside the angle limits, or a speed that only wheel mode has."""
        low = values.get("cw_angle_limit", self._word("cw_angle_limit"))
        high = values.get("ccw_angle_limit", self._word("ccw_angle_limit"))
        if low == high == 0:
            return 0
        if values.get("moving_speed", 0) > FULL:
            return int(StatusError.RANGE)
        goal = values.get("goal_position")
        if goal is not None and not low <= goal <= high:
            return int(StatusError.ANGLE_LIMIT)
        return 0

    def on_written(self, values: Mapping[str, int]) -> None:
        """Switch the torque on if a goal was written."""
        if "goal_position" in values and "torque_enable" not in values:
            self.poke("torque_enable", 1)

    def advance(self, period_s: float) -> float:
        """Advance the setpoint by a frame; return the position to which the motor pulls [ticks]."""
        self._shut_down(self.error_bits_of_state())
        drive = self.drive
        if drive.is_free:
            self.setpoint_ticks = self.position_ticks
            return self.position_ticks
        max_step = drive.speed_ticks_s * period_s
        if drive.goal_ticks is None:
            self.setpoint_ticks = self.position_ticks + max_step
            return self.setpoint_ticks
        distance = drive.goal_ticks - self.setpoint_ticks
        self.setpoint_ticks += max(-max_step, min(max_step, distance))
        return self._effective_setpoint(drive)

    def _effective_setpoint(self, drive: Drive) -> float:
        """Return the position to which the motor pulls after compliance margin and torque limit [ticks].

        Within the margin it does not pull, and beyond the slope it pulls with no more than the torque limit.
        """
        error = self.setpoint_ticks - self.position_ticks
        side = int(error > 0.0)  # 0 for clockwise torque, 1 for counter-clockwise
        margin = max(0, drive.margins[side] - DEFAULT_MARGIN)
        if not margin and drive.torque_share >= 1.0:
            return self.setpoint_ticks
        max_error = drive.torque_share * drive.slopes[side]
        effective_error = min(max_error, max(0.0, abs(error) - margin))
        return self.position_ticks + math.copysign(effective_error, error)

    def _read_drive(self) -> Drive:
        """Return how the motor is driven, decoded from the registers."""
        is_wheel = self._word("cw_angle_limit") == self._word("ccw_angle_limit") == 0
        moving_speed = self._word("moving_speed")
        limit = self._word("torque_limit")
        magnitude = moving_speed % CLOCKWISE  # in joint mode the direction bit may be left over
        if is_wheel:
            sign = -1.0 if moving_speed >= CLOCKWISE else 1.0
            speed_ticks_s = magnitude / FULL * sign * NO_LOAD_TICKS_S
        else:
            speed_ticks_s = magnitude * SPEED_TICKS_S or math.inf  # 0 means no limit
        return Drive(
            is_free=not self._byte("torque_enable") or not limit,
            goal_ticks=None if is_wheel else self._word("goal_position"),
            speed_ticks_s=speed_ticks_s,
            torque_share=limit / FULL,
            margins=(self._byte("cw_compliance_margin"), self._byte("ccw_compliance_margin")),
            slopes=(
                slope_step(self._byte("cw_compliance_slope")),
                slope_step(self._byte("ccw_compliance_slope")),
            ),
        )

    def _reset(self, area: Area | None = None) -> None:
        super()._reset(area)
        self.poke("firmware_version", FIRMWARE)
        self.poke("goal_position", self._position)
        self.poke("torque_limit", self._word("max_torque"))

    def _set(self, address: int, data: bytes) -> None:
        super()._set(address, data)
        self._drive = None

    @property
    def _position(self) -> int:
        return min(FULL, max(0, round(self.position_ticks)))

    def _refresh(self) -> None:
        """Write the present position, speed, load, voltage and temperature to the registers."""
        goal = self.drive.goal_ticks
        speed_unit = NO_LOAD_TICKS_S / FULL if goal is None else SPEED_TICKS_S
        speed = round(self.speed_ticks_s / speed_unit)
        load = round(self.load * FULL)
        self._bytes[self._moving_address] = self._is_moving(speed)
        _PRESENT.pack_into(
            self._bytes,
            self._present_address,
            self._position,
            _encode_signed(speed),
            _encode_signed(load),
            round(self.voltage_v * 10.0),
            round(self.temperature_c),
        )

    def _is_moving(self, speed: int) -> bool:
        """Return whether the servo is on its way to its goal, at a present speed in the register's unit."""
        goal = self.drive.goal_ticks
        if self.drive.is_free or goal is None:
            return False
        is_setpoint_moving = abs(goal - self.setpoint_ticks) >= 1.0
        is_off_goal = abs(goal - self.position_ticks) > 1.0 + max(self.drive.margins)
        return is_setpoint_moving or (is_off_goal and speed != 0)

    def _word(self, name: str) -> int:
        address = self.table.registers[name].address
        return self._bytes[address] | self._bytes[address + 1] << 8


def _encode_signed(value: int) -> int:
    """Return the register value of a signed speed or load."""
    return min(FULL, abs(value)) | (CLOCKWISE if value < 0 else 0)
