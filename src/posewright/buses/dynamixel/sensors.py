"""Sensors of a Bioloid: the AX-S1 on the bus; GS-12 and DMS-80 on the ports of a controller.

The ports are a CM-530's, with counts of 0..1023. Conversions of the counts and their sources are in
`GS12_OLD`, `GS12_NEW`, `DMS80` and `AXS1_CHANNELS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from posewright.buses.dynamixel.control_table import control_table
from posewright.errors import BodyError, InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.bodies import Reading
    from posewright.buses.dynamixel.bus import Bus

Counts = Callable[[], Mapping[str, int]]
"""Reads the ports of a controller: counts of 0..1023 by port."""

MAX_COUNTS = 1023


@dataclass(frozen=True, slots=True)
class CountsConversion:
    """How a sensor's counts are converted.

    Attributes:
        unit: `m`, `rad/s`, `counts`, or empty for true and false.
        convert: returns the reading for a number of counts.
        source: the source of the numbers.
        is_estimate: whether the curve is not documented in figures.
    """

    unit: str
    convert: Callable[[int], float | bool]
    source: str
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class GyroAxis:
    """One axis of a GS-12.

    Attributes:
        low: counts at -300 deg/s, by the manual.
        zero: counts at rest.
        high: counts at 300 deg/s.
        range_at_rest: lowest and highest plausible counts at rest: beyond, the robot moved, or the sensor is
            of the other version.
        zero_shift: by how much this sensor's counts at rest exceed `zero`.
    """

    low: int
    zero: int
    high: int
    range_at_rest: tuple[int, int]
    zero_shift: float = 0.0

    def rate(self, counts: int) -> float:
        """Return the angular rate [rad/s]; each side of rest has its own slope."""
        offset = counts - self.zero - self.zero_shift
        span = self.high - self.zero if offset > 0.0 else self.zero - self.low
        return offset * GYRO_RANGE_RAD_S / span

    def calibrated(self, samples: Sequence[int]) -> GyroAxis:
        """Return this axis with its zero at the mean of samples taken at rest.

        ROBOTIS' own program takes ten samples, 0.128 s apart.

        Raises:
            InputError: there is no sample, or one is not plausible at rest.
        """
        low, high = self.range_at_rest
        if not samples or not all(low <= counts <= high for counts in samples):
            counts_range = f"{min(samples)}..{max(samples)}" if samples else "nothing"
            hint = f"{low}..{high} at rest: keep the robot still, or choose the other version of the GS-12"
            raise InputError(f"the gyro reads {counts_range}", hint=hint)
        return replace(self, zero_shift=fmean(samples) - self.zero)

    @property
    def conversion(self) -> CountsConversion:
        """The conversion of counts to an angular rate."""
        return CountsConversion("rad/s", self.rate, "e-Manual, GS-12: sensor output")


GYRO_RANGE_RAD_S = math.radians(300.0)

GS12_OLD = GyroAxis(low=45, zero=250, high=455, range_at_rest=(230, 270))
"""The version with a square chip; accepted zeros: by the Premium kit's own program."""

GS12_NEW = GyroAxis(low=100, zero=300, high=510, range_at_rest=(280, 320))
"""The version with a rectangular chip; accepted zeros: ours, with the same width as of the old one."""

DMS_FAR_COUNTS = 82
DMS_FAR_M = 0.80
DMS_NEAR_COUNTS = 500
DMS_NEAR_M = 0.10
"""Counts and distance [m] at the ends of the DMS-80's range."""

DMS_FOLD_M = 0.06
"""Closer than this the counts fall again, so that an object at 3 cm reads as one farther away [m]."""

_DMS_OFFSET = (DMS_FAR_COUNTS * DMS_FAR_M - DMS_NEAR_COUNTS * DMS_NEAR_M) / (DMS_FAR_M - DMS_NEAR_M)
"""Counts at an infinite distance, so that `(counts - offset) * distance` is the same at both ends."""


def dms_distance(counts: int) -> float:
    """Return the distance of the object before a DMS-80, 0.06..0.8 m; 0.8 if there is none in range.

    Triangulation: the counts fall with the inverse of the distance, here through both ends of its range.
    Counts do not reveal whether an object is closer than 6 cm.
    """
    if counts <= DMS_FAR_COUNTS:
        return DMS_FAR_M
    scale = (DMS_FAR_COUNTS - _DMS_OFFSET) * DMS_FAR_M
    return max(scale / (counts - _DMS_OFFSET), DMS_FOLD_M)


DMS80 = CountsConversion(
    "m",
    dms_distance,
    "range 10..80 cm: e-Manual, DMS-80, which has the curve as a graph only; counts at its ends and the fold "
    "below 5..6 cm: measured by the CEABOT team of the IRI; inverse of the distance between them: ours",
    is_estimate=True,
)


@dataclass(frozen=True, slots=True)
class ControllerSensor:
    """A sensor on a port of the controller: channel, such as `gyro_x`, and conversion of its counts."""

    channel: str
    port: str
    conversion: CountsConversion


@dataclass(frozen=True, slots=True)
class AxS1:
    """An AX-S1; its channels are `NAME.REGISTER` for each of `AXS1_CHANNELS`, as counts."""

    id: int = 100
    name: str = "ax_s1"


AXS1_CHANNELS = (
    "left_distance", "center_distance", "right_distance", "left_light", "center_light", "right_light",
    "sound", "sound_detected_count",
)  # fmt: skip
"""Registers that are read: reflected light, which grows as objects come closer; light; loudness; claps."""


@dataclass(frozen=True, slots=True, eq=False)
class BusSensors:
    """The sensors of a robot on a bus; calling it returns their readings by channel.

    Attributes:
        bus: the bus to which an AX-S1 is connected; None if there is none.
        specs: the sensors.
        read_port_counts: reads the controller's ports; None if no sensor is connected to them.

    Raises:
        InputError: a sensor has no bus, or no reader of the ports.
    """

    bus: Bus | None
    specs: tuple[ControllerSensor | AxS1, ...]
    read_port_counts: Counts | None = None

    def __post_init__(self) -> None:
        for spec in self.specs:
            if isinstance(spec, ControllerSensor) and self.read_port_counts is None:
                raise InputError(f"the port of {spec.channel} cannot be read", hint="pass `read_port_counts`")
            if isinstance(spec, AxS1) and self.bus is None:
                raise InputError(f"{spec.name} cannot be read without a bus", hint="pass `bus`")

    def __call__(self) -> Mapping[str, Reading]:
        """Read all sensors: the ports once, and each AX-S1 once.

        Raises:
            BodyError: a sensor does not answer, or a port has counts out of range.
            UnknownNameError: the controller has no such port.
        """
        ports = {} if self.read_port_counts is None else self.read_port_counts()
        readings: dict[str, Reading] = {}
        for spec in self.specs:
            if isinstance(spec, ControllerSensor):
                readings[spec.channel] = spec.conversion.convert(_select_port_counts(spec, ports))
            elif self.bus is not None:
                readings.update(_read_axs1(self.bus, spec))
        return readings


def _select_port_counts(spec: ControllerSensor, ports: Mapping[str, int]) -> int:
    """Return the counts of a sensor's port; raise a BodyError if they are out of range."""
    if spec.port not in ports:
        raise UnknownNameError.among("port", spec.port, ports)
    counts = ports[spec.port]
    if not 0 <= counts <= MAX_COUNTS:
        message = f"port {spec.port} of {spec.channel} reads {counts} counts"
        raise BodyError(message, hint=f"0..{MAX_COUNTS}")
    return counts


def _read_axs1(bus: Bus, spec: AxS1) -> dict[str, Reading]:
    """Return the readings of an AX-S1 by channel."""
    table = control_table("AX-S1")
    registers = [table.register(name) for name in AXS1_CHANNELS]
    begin = min(register.address for register in registers)
    end = max(register.address + register.size for register in registers)
    block = bus.read_block(spec.id, begin, end - begin)
    return {f"{spec.name}.{register.name}": float(block[register.address - begin]) for register in registers}
