"""What goes wrong on a bus: bytes by chance, devices and the cable by a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from posewright.buses.dynamixel.fake.device import FakeDevice
from posewright.buses.dynamixel.fake.servo import ROOM_TEMPERATURE_C, SUPPLY_V, FakeServo
from posewright.errors import InputError


class Fault(Enum):
    """What can be wrong for a while; each is of one device, the cable of all."""

    SILENT = "silent"
    """It neither hears nor answers, and its motor goes on as it was."""
    HOT = "hot"
    """It warms up to beyond what it bears, and cools down afterwards."""
    LOW_VOLTAGE = "low-voltage"
    """The supply is below what it works with."""
    WRONG_BAUD = "wrong-baud"
    """Its baud rate is another."""
    OVERLOAD = "overload"
    """Its load is more than its torque limit can hold."""
    CABLE = "cable"
    """Nothing gets through, both ways; the servos have their power."""


@dataclass(frozen=True, slots=True)
class Event:
    """A fault from when to when, in the bus's time [s]; `id` is the device's, None for all."""

    fault: Fault
    begin_s: float = 0.0
    end_s: float = math.inf
    id: int | None = None

    @classmethod
    def parse(cls, text: str) -> Event:
        """Read `FAULT[:ID][@BEGIN[-END]]`: `silent:7@2-3.5`, `cable@10-12`, `hot:3`.

        Raises:
            InputError: it is none.
        """
        what, _, when = text.partition("@")
        word, _, whose = what.partition(":")
        begin, _, end = when.partition("-")
        try:
            times = (float(begin or 0.0), float(end or math.inf))
            event = cls(Fault(word), *times, int(whose) if whose else None)
        except ValueError:
            event = None
        if event is None or not 0.0 <= event.begin_s < event.end_s:
            words = ", ".join(fault.value for fault in Fault)
            hint = f"FAULT[:ID][@BEGIN[-END]] in seconds, such as silent:7@2-3.5; FAULT is {words}"
            raise InputError(f"no fault of a bus: {text!r}", hint=hint)
        return event

    def holds(self, time_s: float) -> bool:
        """Tell whether it is so now."""
        return self.begin_s <= time_s < self.end_s


@dataclass(frozen=True, slots=True)
class BusDamage:
    """How bad a bus is; what is by chance is the same of the same seed.

    Attributes:
        dropped: share of bytes that get lost, on the way there and on the way back; `doubled` that come
            twice, `flipped` with one wrong bit.
    """

    dropped: float = 0.0
    doubled: float = 0.0
    flipped: float = 0.0
    events: tuple[Event, ...] = ()
    seed: int = 0


WARMING_C_S = 10.0
HOT_C = 85.0
LOW_V = 5.0
OTHER_BAUD = 34
"""The register's value of 57600: the fault's baud rate; of a device that has it already, that of 1 Mbps."""


class Script:
    """Lets the events of a damage begin and end.

    Args:
        events: what happens when.
        devices: to whom.
    """

    def __init__(self, events: Sequence[Event], devices: Sequence[FakeDevice]) -> None:
        by_id = {device.id: device for device in devices}
        unknown = [event.id for event in events if event.id is not None and event.id not in by_id]
        if unknown:
            there = ", ".join(map(str, sorted(by_id)))
            raise InputError(f"a fault of device {unknown[0]}", hint=f"the bus has the IDs {there}")
        self._cable = [event for event in events if event.fault is Fault.CABLE]
        self._own: dict[tuple[FakeDevice, Fault], list[Event]] = {}
        for event in events:
            whose = devices if event.id is None else [by_id[event.id]]
            for device in whose if event.fault is not Fault.CABLE else ():
                self._own.setdefault((device, event.fault), []).append(event)
        self._silent: set[FakeDevice] = set()
        self._bauds: dict[FakeDevice, int] = {}
        self._time_s = 0.0
        self.is_cut = False

    def go_on(self, time_s: float) -> None:
        """Let everything be as it is at a time, which only runs forward."""
        self.is_cut = any(event.holds(time_s) for event in self._cable)
        passed_s = time_s - self._time_s
        self._time_s = time_s
        self._silent.clear()
        for (device, fault), events in self._own.items():
            self._put(device, fault, passed_s, holds=any(event.holds(time_s) for event in events))

    def hears(self, device: FakeDevice) -> bool:
        """Tell whether a device is alive."""
        return device not in self._silent

    def _put(self, device: FakeDevice, fault: Fault, passed_s: float, *, holds: bool) -> None:
        if fault is Fault.SILENT and holds:
            self._silent.add(device)
        elif fault is Fault.WRONG_BAUD:
            self._set_baud(device, wrong=holds)
        elif isinstance(device, FakeServo) and fault is Fault.HOT:
            way = WARMING_C_S * passed_s * (1.0 if holds else -1.0)
            device.temperature_c = min(HOT_C, max(ROOM_TEMPERATURE_C, device.temperature_c + way))
        elif isinstance(device, FakeServo) and fault is Fault.LOW_VOLTAGE:
            device.voltage_v = LOW_V if holds else SUPPLY_V
        elif isinstance(device, FakeServo) and fault is Fault.OVERLOAD:
            device.is_overloaded = holds

    def _set_baud(self, device: FakeDevice, *, wrong: bool) -> None:
        if wrong and device not in self._bauds:
            own = self._bauds[device] = device.peek("baud_rate")
            device.poke("baud_rate", 1 if own == OTHER_BAUD else OTHER_BAUD)
        elif not wrong and device in self._bauds:
            device.poke("baud_rate", self._bauds.pop(device))
