"""An AX-12 servo: registers that move a joint, alarms that let go of it.

Source: ROBOTIS e-Manual, "AX-12A", and the manual of 2006. A write of a goal position turns the torque on,
and torque that is on locks the EEPROM. Torque is full at the edge of the slope, none within the margin, and
at most what the torque limit says; the punch is left out, as the friction that it overcomes is. In wheel
mode the output is a share of the no-load speed.
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

_VOLTAGE, _HOT, _OVERLOAD = map(
    int, (StatusError.INPUT_VOLTAGE, StatusError.OVERHEATING, StatusError.OVERLOAD)
)
_PRESENT = struct.Struct("<HHHBB")  # position, speed, load, voltage, temperature, one after the other

TICKS = 1024
TICK_RAD = 300.0 / TICKS * RAD_PER_DEG
NO_LOAD_TICKS_S = 59.0 * RAD_S_PER_RPM / TICK_RAD
"""Speed without load at 12 V (e-Manual: 59 turns a minute)."""

SPEED_TICKS_S = SPEED_RAD_S / TICK_RAD
"""What a moving speed of 1 means."""

FULL = 1023

ROOM_TEMPERATURE_C = 32.0
SUPPLY_V = 11.1
USUAL_MARGIN = 1
"""The margin of a servo that nobody has changed: what the card says of its stiffness holds with it."""


@dataclass(frozen=True, slots=True)
class Drive:
    """What the registers ask of the motor.

    Attributes:
        free: whether its torque is off.
        goal: where it shall go [ticks]; None in wheel mode.
        speed_ticks_s: how fast at most, infinite where nothing limits it; in wheel mode how fast, negative
            for clockwise.
        limit: share of its torque, 0..1.
        margins: for torque clockwise and counter-clockwise [ticks].
        slopes: the same.
    """

    free: bool
    goal: int | None
    speed_ticks_s: float
    limit: float
    margins: tuple[int, int]
    slopes: tuple[int, int]


class FakeServo(FakeDevice):
    """An AX-12A.

    Attributes:
        position_ticks: where its horn is; whoever does the physics writes it, and the three below.
        speed_ticks_s: how fast it turns, counter-clockwise positive.
        load: share of its greatest torque that it gives, counter-clockwise positive.
        is_overloaded: whether the load is more than it can hold.
        setpoint_ticks: where it wants to be now, on its way to the goal.
    """

    def __init__(
        self,
        id: int = 1,  # noqa: A002 -- the register's name
        *,
        position_ticks: float = 512.0,
        baud: int = 1_000_000,
    ) -> None:
        self.position_ticks = self.setpoint_ticks = float(position_ticks)
        self.speed_ticks_s = self.load = 0.0
        self.temperature_c = ROOM_TEMPERATURE_C
        self.voltage_v = SUPPLY_V
        self.is_overloaded = False
        self._drive: Drive | None = None
        self._last_error = 0
        table = control_table("AX-12A")
        self._present = table.register("present_position").address
        self._moving = table.register("moving").address
        super().__init__(table, id, baud)

    @property
    def drive(self) -> Drive:
        """What its registers ask of the motor."""
        if self._drive is None:
            self._drive = self._read_drive()
        return self._drive

    @property
    def is_alarmed(self) -> bool:
        """Whether its LED blinks."""
        return bool((self._last_error | self.conditions()) & self._byte("alarm_led"))

    @property
    def is_locked(self) -> bool:
        """Whether the EEPROM cannot be written."""
        return super().is_locked or self._byte("torque_enable") != 0

    def conditions(self) -> int:
        """Return the error bits of what is wrong with it, for as long as it is."""
        low = self._byte("min_voltage_limit")
        high = self._byte("max_voltage_limit")
        error = 0 if low <= round(self.voltage_v * 10.0) <= high else _VOLTAGE
        if self.temperature_c > self._byte("temperature_limit"):
            error |= _HOT
        return error | _OVERLOAD if self.is_overloaded else error

    def protect(self, error: int) -> None:
        """Blink, and let go where the shutdown mask says so: the torque limit is 0 until it is written."""
        self._last_error = error
        self._shut_down(error)

    def _shut_down(self, error: int) -> None:
        if error & self._byte("shutdown"):
            self.poke("torque_limit", 0)

    def refused(self, values: Mapping[str, int]) -> int:
        """Return what is wrong with a goal outside the angle limits, and with a speed no joint mode knows."""
        low, high = (values.get(name, self._word(name)) for name in ("cw_angle_limit", "ccw_angle_limit"))
        if low == high == 0:
            return 0
        if values.get("moving_speed", 0) > FULL:
            return int(StatusError.RANGE)
        goal = values.get("goal_position")
        return 0 if goal is None or low <= goal <= high else int(StatusError.ANGLE_LIMIT)

    def written(self, values: Mapping[str, int]) -> None:
        """Turn the torque on where a goal was written."""
        if "goal_position" in values and "torque_enable" not in values:
            self.poke("torque_enable", 1)

    def advance(self, period_s: float) -> float:
        """Let a frame pass and return where the motor pulls to at its end [ticks]."""
        self._shut_down(self.conditions())
        drive = self.drive
        if drive.free:
            self.setpoint_ticks = self.position_ticks
            return self.position_ticks
        reach = drive.speed_ticks_s * period_s
        if drive.goal is None:
            self.setpoint_ticks = self.position_ticks + reach
            return self.setpoint_ticks
        way = drive.goal - self.setpoint_ticks
        self.setpoint_ticks += max(-reach, min(reach, way))
        return self._pulled(drive)

    def _pulled(self, drive: Drive) -> float:
        """Return the setpoint as margin and torque limit let it act."""
        error = self.setpoint_ticks - self.position_ticks
        side = error > 0.0
        margin = max(0, drive.margins[side] - USUAL_MARGIN)
        if not margin and drive.limit >= 1.0:
            return self.setpoint_ticks
        most = drive.limit * drive.slopes[side]
        return self.position_ticks + math.copysign(min(most, max(0.0, abs(error) - margin)), error)

    def _read_drive(self) -> Drive:
        wheel = self._word("cw_angle_limit") == self._word("ccw_angle_limit") == 0
        speed = self._word("moving_speed")
        limit = self._word("torque_limit")
        share = (speed % CLOCKWISE) / FULL * (-1.0 if speed >= CLOCKWISE else 1.0)
        in_joint_mode = speed % CLOCKWISE * SPEED_TICKS_S or math.inf  # of wheel mode the bit may be left
        return Drive(
            free=not self._byte("torque_enable") or not limit,
            goal=None if wheel else self._word("goal_position"),
            speed_ticks_s=share * NO_LOAD_TICKS_S if wheel else in_joint_mode,
            limit=limit / FULL,
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
        goal = self.drive.goal
        speed = round(self.speed_ticks_s / (NO_LOAD_TICKS_S / FULL if goal is None else SPEED_TICKS_S))
        load = round(self.load * FULL)
        under_way = goal is not None and abs(goal - self.setpoint_ticks) >= 1.0
        off = goal is not None and abs(goal - self.position_ticks) > 1.0 + max(self.drive.margins)
        moves = not self.drive.free and (under_way or (off and speed != 0))
        self._bytes[self._moving] = moves
        present = self._position, _signed(speed), _signed(load)
        volts = round(self.voltage_v * 10.0)
        warmth = round(self.temperature_c)
        _PRESENT.pack_into(self._bytes, self._present, *present, volts, warmth)

    def _word(self, name: str) -> int:
        address = self.table.registers[name].address
        return self._bytes[address] | self._bytes[address + 1] << 8


def _signed(value: int) -> int:
    """Return a speed or a load as the registers have them."""
    return min(FULL, abs(value)) | (CLOCKWISE if value < 0 else 0)
