"""What a body says about itself when asked, once a chart tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Reading = float | bool | NDArray[np.float64]
"""One sensor channel: a number, a contact, or several numbers `(k,)`."""


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """The state of a body at one instant.

    Attributes:
        time_s: the body's own time [s].
        positions: joint angles, `(n_joints,)` [rad].
        efforts: joint torques, `(n_joints,)` [N m].
        velocities: joint speeds, `(n_joints,)` [rad/s]; None where the body does not measure them.
        sensors: readings by channel: a range sensor `laser_front` [m] (its greatest range where nothing
            is hit), a scan `(beams,)` [m], `compass` [rad], `imu.orientation` (roll, pitch, yaw) [rad],
            `imu.angular_velocity` `(3,)` [rad/s], `imu.acceleration` `(3,)` [m/s^2], contacts as bool.
    """

    time_s: float
    positions: NDArray[np.float64]
    efforts: NDArray[np.float64]
    velocities: NDArray[np.float64] | None = None
    sensors: Mapping[str, Reading] = field(default_factory=dict)
