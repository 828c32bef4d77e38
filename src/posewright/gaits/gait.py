"""A gait as a document: which robot, which parameters, which feet when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from posewright.errors import UnknownNameError
from posewright.gaits.arc import Floats
from posewright.gaits.curves import Interpolation
from posewright.gaits.parameters import GaitParameters
from posewright.gaits.phases import PhaseTable
from posewright.gaits.travel import GAINS, TRIMS, TravelGain, Trim, feet_components


@dataclass(frozen=True, eq=False)
class Gait:
    """A periodic generator of poses from a velocity command: everything it is made of.

    Attributes:
        name: of the gait.
        robot: name of the robot it is made for.
        parameters: of its steps.
        phases: which foot is in the air when.
        interpolation: between the points of a step.
        travel_gain: how many times as far the feet are asked to go.
        trim: what they are asked to do besides.
        pose: name of the pose in which the joints are held that no leg has.
        description: one line for people.
        source: where its numbers come from.
        path: the file it was read from.
    """

    name: str
    robot: str
    parameters: GaitParameters
    phases: PhaseTable
    interpolation: Interpolation = Interpolation.SPLINE
    travel_gain: TravelGain = field(default_factory=TravelGain)
    trim: Trim = field(default_factory=Trim)
    pose: str = "stand"
    description: str = ""
    source: str = ""
    path: Path | None = None

    @property
    def flat(self) -> dict[str, float]:
        """All numbers by dotted name: of the parameters, and `travel_gain.forward`, `trim.left_m_rad`, ..."""
        gains = {f"travel_gain.{name}": getattr(self.travel_gain, name) for name in GAINS}
        trims = {f"trim.{name}": getattr(self.trim, name) for name in TRIMS}
        return {**self.parameters.flat, **gains, **trims}

    def made_up_for(self, components: Floats, seconds: float) -> Floats:
        """Return the components that the feet are moved by, so that the body moves by `components`.

        The turn multiplier adds its turn; gain and trim add what servos and paws take away.

        Args:
            components: way forward, way left and turn, `(3,)` [m, m, rad].
            seconds: in so long [s].
        """
        forward, left, turn = components.tolist()
        turn += self.parameters.turn_multiplier_rad_m * forward
        return feet_components(np.array([forward, left, turn]), seconds, self.travel_gain, self.trim)

    def changed(self, values: Mapping[str, float]) -> Gait:
        """Return the gait with other values for some numbers, by dotted name.

        Names are those of `flat`, and those that `GaitParameters.changed` takes for two at once.

        Raises:
            UnknownNameError: there is no such number.
            InputError: a value is out of its range.
        """
        gains, trims = _within("travel_gain", values, GAINS), _within("trim", values, TRIMS)
        others = {
            name: value for name, value in values.items() if not name.startswith(("travel_gain.", "trim."))
        }
        return replace(
            self,
            parameters=self.parameters.changed(others),
            travel_gain=replace(self.travel_gain, **gains),
            trim=replace(self.trim, **trims),
        )


def _within(group: str, values: Mapping[str, float], known: tuple[str, ...]) -> dict[str, float]:
    """Return the values of one group by their own names, or raise UnknownNameError."""
    prefix = f"{group}."
    found = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
    for name in found:
        if name not in known:
            raise UnknownNameError.among(group, name, known)
    return found
