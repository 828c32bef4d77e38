"""A quadruped's gait: robot, parameters, phases, and the compensation for servos and slipping paws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from posewright.arrays import Floats
from posewright.documents import FieldReader
from posewright.gaits.curves import Interpolation
from posewright.gaits.quadruped.parameters import EXPLANATIONS, GaitParameters
from posewright.gaits.quadruped.phases import PhaseTable, read_phases
from posewright.gaits.travel import compensate_travel
from posewright.gaits.values import GaitValues


@dataclass(frozen=True, eq=False)
class QuadrupedValues(GaitValues):
    """All values of a gait of four legs, from which `QuadrupedGenerator` generates joint angles.

    Attributes:
        phases: when each foot lifts.
        interpolation: of the feet's paths between waypoints.
    """

    explanations = EXPLANATIONS

    parameters: GaitParameters = field(repr=False)
    phases: Annotated[PhaseTable, FieldReader(read_phases)] = field(repr=False)
    interpolation: Interpolation = field(default=Interpolation.SPLINE, repr=False)

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
