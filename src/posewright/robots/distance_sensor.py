"""Sensors of distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from posewright.robots.channel import Channel, Position


@dataclass(frozen=True)
class RangeSensor:
    """Measures the distance to the nearest thing inside a narrow fan of beams.

    Attributes:
        name: the sensor's name.
        mount: site or body of the model it is fixed to.
        max_range_m: farthest distance; also the reading where nothing is hit [m].
        min_range_m: nearest distance; also the reading of anything nearer [m].
        position_m: place in the mount's frame [m].
        yaw_deg: direction of the fan's middle, positive to the left [deg].
        pitch_deg: the same, positive downwards [deg].
        fan_deg: opening of the fan [deg].
        beams: number of beams, spread evenly over the fan.
    """

    kind: ClassVar[str] = "range"
    name: str
    mount: str
    max_range_m: float
    position_m: Position = (0.0, 0.0, 0.0)
    yaw_deg: float = 0.0
    pitch_deg: float = 0.0
    fan_deg: float = 0.0
    beams: int = 1
    min_range_m: float = 0.0

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The nearest distance."""
        return (Channel(self.name, "m"),)

    @property
    def bearings_rad(self) -> npt.NDArray[np.float64]:
        """Direction of every beam, `(beams,)` [rad], right to left."""
        half = self.fan_deg / 2.0 if self.beams > 1 else 0.0
        return np.radians(np.linspace(self.yaw_deg - half, self.yaw_deg + half, self.beams))


@dataclass(frozen=True)
class RangeScan:
    """Measures the distance along every one of many beams.

    Attributes:
        name: the sensor's name.
        mount: site or body of the model it is fixed to.
        max_range_m: farthest distance; also the reading where nothing is hit [m].
        start_deg: direction of the first beam, positive to the left [deg].
        step_deg: angle from one beam to the next, positive to the left [deg].
        beams: number of beams.
        position_m: place in the mount's frame [m].
        pitch_deg: tilt of all beams, positive downwards [deg].
    """

    kind: ClassVar[str] = "range_scan"
    name: str
    mount: str
    max_range_m: float
    start_deg: float
    step_deg: float
    beams: int
    position_m: Position = (0.0, 0.0, 0.0)
    pitch_deg: float = 0.0

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The distance of every beam."""
        return (Channel(self.name, "m", (self.beams,)),)

    @property
    def bearings_rad(self) -> npt.NDArray[np.float64]:
        """Direction of every beam, `(beams,)` [rad], in the order of the readings."""
        beams = np.arange(self.beams, dtype=np.float64)
        return np.radians(self.start_deg + self.step_deg * beams)
