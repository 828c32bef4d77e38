"""Failures of a fake bus: random damage of bytes, and faults of devices and the cable by a schedule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from posewright.buses.dynamixel.fake.device import FakeDevice
from posewright.buses.dynamixel.fake.servo import ROOM_TEMPERATURE_C, SUPPLY_V, FakeServo
from posewright.errors import InputError


class BusFault(Enum):
    """Faults that last for a while; CABLE concerns the whole bus, the others one device each."""

    SILENT = "silent"
    """The device neither receives nor answers; its motor goes on."""
    HOT = "hot"
    """The servo warms up beyond its limit, and cools down afterwards."""
    LOW_VOLTAGE = "low-voltage"
    """The supply is below the servo's limit."""
    WRONG_BAUD = "wrong-baud"
    """The device has another baud rate."""
    OVERLOAD = "overload"
    """The load exceeds the servo's torque limit."""
    CABLE = "cable"
    """No byte passes in either direction; the servos keep their power."""


@dataclass(frozen=True, slots=True)
class ScheduledFault:
    """A fault with its start and end.

    Attributes:
        fault: the kind.
        begin_s: start by the bus's time [s].
        end_s: end by the bus's time [s].
        id: the ID of the device; None for all devices.
    """

    fault: BusFault
    begin_s: float = 0.0
    end_s: float = math.inf
    id: int | None = None

    @classmethod
    def parse(cls, text: str) -> ScheduledFault:
        """Parse `FAULT[:ID][@BEGIN[-END]]`: `silent:7@2-3.5`, `cable@10-12`, `hot:3`.

        Raises:
            InputError: the text has another form, or the fault ends before it begins.
        """
        fault_and_id, _, times = text.partition("@")
        fault_name, _, device_id = fault_and_id.partition(":")
        begin, _, end = times.partition("-")
        try:
            scheduled = cls(
                BusFault(fault_name),
                float(begin or 0.0),
                float(end or math.inf),
                int(device_id) if device_id else None,
            )
        except ValueError:
            scheduled = None  # the error below tells the form for this case and the next
        if scheduled is None or not 0.0 <= scheduled.begin_s < scheduled.end_s:
            names = ", ".join(fault.value for fault in BusFault)
            hint = f"FAULT[:ID][@BEGIN[-END]] in seconds, such as silent:7@2-3.5; FAULT is {names}"
            raise InputError(f"{text!r} is not a fault of a bus", hint=hint)
        return scheduled

    def is_active(self, time_s: float) -> bool:
        """Return whether the fault is present at a time [s]."""
        return self.begin_s <= time_s < self.end_s


@dataclass(frozen=True, slots=True)
class BusDamage:
    """All failures of a bus; the same seed gives the same random damage.

    Attributes:
        dropped: share of bytes that are lost, in either direction, 0..1.
        doubled: share of bytes that arrive twice.
        flipped: share of bytes that arrive with one wrong bit.
        events: scheduled faults.
        seed: the seed of the random damage.
    """

    dropped: float = 0.0
    doubled: float = 0.0
    flipped: float = 0.0
    events: tuple[ScheduledFault, ...] = ()
    seed: int = 0


WARMING_C_S = 10.0
"""Rate of warming and cooling of a hot servo [degrees Celsius per s]."""

HOT_C = 85.0
LOW_V = 5.0
OTHER_BAUD = 34
BAUD_1_MBPS = 1
"""Register values of 57600, the baud rate of the fault, and of 1 Mbps, for a device that has 57600."""


class FaultSchedule:
    """Applies scheduled faults to the devices of a bus.

    Args:
        events: the faults.
        devices: the devices of the bus.

    Attributes:
        is_cable_cut: whether no byte passes now.

    Raises:
        InputError: a fault concerns a device that is not on the bus.
    """

    def __init__(self, events: Sequence[ScheduledFault], devices: Sequence[FakeDevice]) -> None:
        """Group the faults by device and kind."""
        by_id = {device.id: device for device in devices}
        unknown = [event.id for event in events if event.id is not None and event.id not in by_id]
        if unknown:
            ids = ", ".join(map(str, sorted(by_id)))
            raise InputError(
                f"no device has the ID {unknown[0]} of a fault", hint=f"the bus has the IDs {ids}"
            )
        self._cable_faults = [event for event in events if event.fault is BusFault.CABLE]
        # events that concern one device with one fault, of which one at a time needs to be active
        self._device_faults: dict[tuple[FakeDevice, BusFault], list[ScheduledFault]] = {}
        for event in events:
            if event.fault is BusFault.CABLE:
                continue
            affected_devices = devices if event.id is None else [by_id[event.id]]
            for device in affected_devices:
                self._device_faults.setdefault((device, event.fault), []).append(event)
        self._silent_devices: set[FakeDevice] = set()
        self._original_bauds: dict[FakeDevice, int] = {}
        self._time_s = 0.0
        self.is_cable_cut = False

    def advance(self, time_s: float) -> None:
        """Apply the faults of a time [s], which must not decrease."""
        self.is_cable_cut = any(event.is_active(time_s) for event in self._cable_faults)
        elapsed_s = time_s - self._time_s
        self._time_s = time_s
        self._silent_devices.clear()
        for (device, fault), events in self._device_faults.items():
            is_active = any(event.is_active(time_s) for event in events)
            self._apply(device, fault, elapsed_s, is_active=is_active)

    def is_alive(self, device: FakeDevice) -> bool:
        """Return whether a device receives and answers."""
        return device not in self._silent_devices

    def _apply(self, device: FakeDevice, fault: BusFault, elapsed_s: float, *, is_active: bool) -> None:
        """Apply a fault to a device, or undo it.

        Args:
            device: the device.
            fault: the fault.
            elapsed_s: time since the previous call, in which a hot servo warms up or cools down [s].
            is_active: whether the fault is present now.
        """
        if fault is BusFault.SILENT and is_active:
            self._silent_devices.add(device)
        elif fault is BusFault.WRONG_BAUD:
            self._set_baud(device, is_wrong=is_active)
        elif isinstance(device, FakeServo) and fault is BusFault.HOT:
            change_c = WARMING_C_S * elapsed_s * (1.0 if is_active else -1.0)
            device.temperature_c = min(HOT_C, max(ROOM_TEMPERATURE_C, device.temperature_c + change_c))
        elif isinstance(device, FakeServo) and fault is BusFault.LOW_VOLTAGE:
            device.voltage_v = LOW_V if is_active else SUPPLY_V
        elif isinstance(device, FakeServo) and fault is BusFault.OVERLOAD:
            device.is_overloaded = is_active

    def _set_baud(self, device: FakeDevice, *, is_wrong: bool) -> None:
        """Set a device to another baud rate while the fault is present, and back to its own afterwards."""
        if is_wrong and device not in self._original_bauds:
            original = device.peek("baud_rate")
            self._original_bauds[device] = original
            device.poke("baud_rate", BAUD_1_MBPS if original == OTHER_BAUD else OTHER_BAUD)
        elif not is_wrong and device in self._original_bauds:
            device.poke("baud_rate", self._original_bauds.pop(device))
