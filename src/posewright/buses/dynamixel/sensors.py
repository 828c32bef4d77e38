"""The Bioloid's sensors by their counts: AX-S1 on the bus; GS-12 and DMS-80 on a controller's ports.

The ports are a CM-530's: whatever reads it gives its counts by port, 0..1023. What they mean, and who says
so, is in `GS12_OLD`, `GS12_NEW`, `DMS80` and `AXS1_CHANNELS`.
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
"""What a controller's ports say now, 0..1023 by port."""

MOST_COUNTS = 1023


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a sensor's counts mean.

    Attributes:
        unit: `m`, `rad/s`, `counts`, or empty for true and false.
        source: where the numbers are from.
        is_estimate: whether nobody documents the curve in figures.
    """

    unit: str
    of: Callable[[int], float | bool]
    source: str
    is_estimate: bool = False


@dataclass(frozen=True, slots=True)
class Gyro:
    """One axis of a GS-12.

    Attributes:
        low: counts at -300 deg/s, by the manual; `zero` at rest and `high` at 300 deg/s.
        accepted: the counts that can be a zero: beyond, the robot moved or it is the other version.
        shift: how much more it says at rest than `zero`.
    """

    low: int
    zero: int
    high: int
    accepted: tuple[int, int]
    shift: float = 0.0

    def rate(self, counts: int) -> float:
        """Return how fast it turns [rad/s]; to either side of rest it has a slope of its own."""
        turned = counts - self.zero - self.shift
        span = self.high - self.zero if turned > 0.0 else self.zero - self.low
        return turned * GYRO_RANGE_RAD_S / span

    def zeroed(self, samples: Sequence[int]) -> Gyro:
        """Return this one with the zero that it showed at rest.

        ROBOTIS' own program takes ten samples, 0.128 s apart.

        Raises:
            InputError: there is none, or one is not accepted.
        """
        low, high = self.accepted
        if not samples or not all(low <= one <= high for one in samples):
            found = f"{min(samples)}..{max(samples)}" if samples else "nothing"
            hint = f"{low}..{high} at rest: keep the robot still, or take the other version of the GS-12"
            raise InputError(f"the gyro reads {found}", hint=hint)
        return replace(self, shift=fmean(samples) - self.zero)

    @property
    def conversion(self) -> Conversion:
        """It as a conversion."""
        return Conversion("rad/s", self.rate, "e-Manual, GS-12: sensor output")


GYRO_RANGE_RAD_S = math.radians(300.0)

GS12_OLD = Gyro(45, 250, 455, accepted=(230, 270))
"""The square chip; which zeros are accepted: the Premium kit's own program."""

GS12_NEW = Gyro(100, 300, 510, accepted=(280, 320))
"""The rectangular chip; which zeros are accepted: ours, as far to either side as of the old one."""

DMS_FAR = (82, 0.80)
DMS_NEAR = (500, 0.10)
"""Counts and distance [m] at the ends of the DMS-80's range."""

DMS_FOLD_M = 0.06
"""Nearer than this the counts fall again, so that a thing at 3 cm reads as one farther away [m]."""

_DMS_OFFSET = (DMS_FAR[0] * DMS_FAR[1] - DMS_NEAR[0] * DMS_NEAR[1]) / (DMS_FAR[1] - DMS_NEAR[1])


def dms_distance(counts: int) -> float:
    """Return how far the thing before a DMS-80 is, 0.06..0.8 m; 0.8 where it sees nothing.

    Triangulation: the counts fall with the inverse of the distance, here through both ends of its range. It
    cannot be told from the counts whether something is nearer than 6 cm.
    """
    if counts <= DMS_FAR[0]:
        return DMS_FAR[1]
    scale = (DMS_FAR[0] - _DMS_OFFSET) * DMS_FAR[1]
    return max(scale / (counts - _DMS_OFFSET), DMS_FOLD_M)


DMS80 = Conversion(
    "m",
    dms_distance,
    "range 10..80 cm: e-Manual, DMS-80, which has the curve as a graph only; counts at its ends and the fold "
    "below 5..6 cm: as measured by the CEABOT team of the IRI; inverse of the distance between them: ours",
    is_estimate=True,
)


@dataclass(frozen=True, slots=True)
class PortSensor:
    """A sensor on a port of the controller: its channel, such as `gyro_x`, and what its counts mean."""

    channel: str
    port: str
    conversion: Conversion


@dataclass(frozen=True, slots=True)
class AxS1:
    """An AX-S1; its channels are `NAME.REGISTER` for each of `AXS1_CHANNELS`, as counts."""

    id: int = 100
    name: str = "ax_s1"


AXS1_CHANNELS = (
    "left_distance", "center_distance", "right_distance", "left_light", "center_light", "right_light",
    "sound", "sound_detected_count",
)  # fmt: skip
"""Which registers are read: light that comes back, the more the nearer; light; loudness; claps heard."""


@dataclass(frozen=True, slots=True, eq=False)
class BusSensors:
    """The sensors of a robot on a bus: called, it returns their readings by channel.

    Attributes:
        bus: the AX-S1 hangs on.
        counts: of the controller's ports; None where nothing hangs there.
    """

    bus: Bus | None
    specs: tuple[PortSensor | AxS1, ...]
    counts: Counts | None = None

    def __post_init__(self) -> None:
        for spec in self.specs:
            if isinstance(spec, PortSensor) and self.counts is None:
                raise InputError(f"nothing reads the port of {spec.channel}", hint="hand in counts")
            if isinstance(spec, AxS1) and self.bus is None:
                raise InputError(f"{spec.name} has no bus to be read on", hint="hand in a bus")

    def __call__(self) -> Mapping[str, Reading]:
        """Return what they read now; one read of the ports, one of each AX-S1.

        Raises:
            BodyError: one does not answer, or a port says what no port can.
        """
        ports = {} if self.counts is None else self.counts()
        readings: dict[str, Reading] = {}
        for spec in self.specs:
            if isinstance(spec, PortSensor):
                readings[spec.channel] = spec.conversion.of(_told(spec, ports))
            elif self.bus is not None:
                readings.update(_read_axs1(self.bus, spec))
        return readings


def _told(spec: PortSensor, ports: Mapping[str, int]) -> int:
    if spec.port not in ports:
        raise UnknownNameError.among("port", spec.port, ports)
    counts = ports[spec.port]
    if not 0 <= counts <= MOST_COUNTS:
        raise BodyError(f"port {spec.port} of {spec.channel} says {counts}", hint=f"0..{MOST_COUNTS}")
    return counts


def _read_axs1(bus: Bus, spec: AxS1) -> dict[str, Reading]:
    table = control_table("AX-S1")
    registers = [table.register(name) for name in AXS1_CHANNELS]
    first = min(one.address for one in registers)
    size = max(one.address + one.size for one in registers) - first
    block = bus.read_block(spec.id, first, size)
    return {
        f"{spec.name}.{name}": float(block[one.address - first])
        for name, one in zip(AXS1_CHANNELS, registers, strict=True)
    }
