"""A quadruped's gait: robot, parameters, phases, and the compensation for servos and slipping paws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Self

import numpy as np

from posewright.arrays import Floats
from posewright.documents import FieldReader
from posewright.gaits.curves import Interpolation
from posewright.gaits.explanation import Explanation
from posewright.gaits.feedback import OPEN_LOOP, FeedbackGains
from posewright.gaits.quadruped.parameters import GaitParameters, explanation
from posewright.gaits.quadruped.phases import PhaseTable, read_phases
from posewright.gaits.travel import (
    FITTED,
    TravelGain,
    Trim,
    compensate_travel,
    travel_values,
    with_travel_values,
)


@dataclass(frozen=True, eq=False)
class QuadrupedValues:
    """All values of a gait, from which `QuadrupedGenerator` generates joint angles.

    Attributes:
        feedback: how the walk reacts to sensors.
        pose: name of the pose in which the joints outside the legs are held.
        path: its document, if it was read from one.
    """

    name: str
    robot: str
    parameters: GaitParameters = field(repr=False)
    phases: Annotated[PhaseTable, FieldReader(read_phases)] = field(repr=False)
    interpolation: Interpolation = field(default=Interpolation.SPLINE, repr=False)
    travel_gain: TravelGain = field(default_factory=TravelGain, repr=False)
    trim: Trim = field(default_factory=Trim, repr=False)
    feedback: FeedbackGains = field(default=OPEN_LOOP, repr=False)
    pose: str = field(default="stand", repr=False)
    description: str = field(default="", repr=False)
    source: str = field(default="", repr=False)
    path: Path | None = field(default=None, repr=False)

    @property
    def flat(self) -> dict[str, float]:
        """All numbers by dotted name: of the parameters, and `travel_gain.forward`, `trim.left_m_rad`, ..."""
        return {**self.parameters.flat, **travel_values(self.travel_gain, self.trim)}

    @staticmethod
    def explanation(name: str) -> Explanation:
        """Return the explanation of a number by its name in `flat`, or raise UnknownNameError."""
        return FITTED[name] if name in FITTED else explanation(name)

    def compensate(self, components: Floats, seconds: float) -> Floats:
        """Return the components `(3,)` [m, m, rad] of the feet that move the body by the given ones.

        The turn multiplier adds a turn; gain and trim compensate for servos that lag and paws that slip.

        Args:
            components: the components of the body.
            seconds: duration of the motion [s].
        """
        forward, left, turn = components.tolist()
        turn += self.parameters.turn_multiplier_rad_m * forward
        return compensate_travel(np.array([forward, left, turn]), seconds, self.travel_gain, self.trim)

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the gait with other values for some numbers, by dotted name.

        Names are those of `flat`, and names that set several, as in `GaitParameters.with_values`.

        Raises:
            UnknownNameError: there is no such number.
            InputError: a value is out of its range.
        """
        travel_gain, trim, parameter_values = with_travel_values(self.travel_gain, self.trim, values)
        return replace(
            self,
            travel_gain=travel_gain,
            trim=trim,
            parameters=self.parameters.with_values(parameter_values),
        )
