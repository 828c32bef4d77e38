"""A gait as a document: which robot, which parameters, which feet when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.errors import InputError
from posewright.gaits.curves import Interpolation
from posewright.gaits.parameters import GaitParameters
from posewright.gaits.phases import PhaseTable

LEAST_GAIN, GREATEST_GAIN = 0.2, 3.0


@dataclass(frozen=True, slots=True)
class TravelGain:
    """How many times as far as the body is to go the feet are asked to go.

    Servos lag behind their commands and cut strokes short; the ball of a paw rolls, paws slip. What that
    takes away differs with the direction and is made up for here.

    Attributes:
        forward: of the way forward.
        left: of the way to the side.
        turn: of the turn.
    """

    forward: float = 1.0
    left: float = 1.0
    turn: float = 1.0

    def __post_init__(self) -> None:
        for name in ("forward", "left", "turn"):
            value = getattr(self, name)
            if not LEAST_GAIN <= value <= GREATEST_GAIN:
                raise InputError(
                    f"travel_gain.{name} is {value:g}",
                    hint=f"the range is {LEAST_GAIN:g} to {GREATEST_GAIN:g}",
                )


@dataclass(frozen=True, eq=False)
class Gait:
    """A periodic generator of poses from a velocity command: everything it is made of.

    Attributes:
        name: of the gait.
        robot: name of the robot it is made for.
        parameters: of its steps.
        phases: which foot is in the air when.
        interpolation: between the points of a step.
        travel_gain: of the feet over the body.
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
    travel_gain: TravelGain = TravelGain()
    pose: str = "stand"
    description: str = ""
    source: str = ""
    path: Path | None = None

    def changed(self, values: Mapping[str, float]) -> Gait:
        """Return the gait with other values for some parameters, by dotted name.

        Names are those of `GaitParameters.changed`, and `travel_gain.forward`, `.left`, `.turn`.

        Raises:
            UnknownNameError: there is no such parameter.
            InputError: a value is out of its range.
        """
        prefix = "travel_gain."
        gains = {
            name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)
        }
        _refuse_unknown(gains)
        others = {name: value for name, value in values.items() if not name.startswith(prefix)}
        return replace(
            self,
            parameters=self.parameters.changed(others),
            travel_gain=replace(self.travel_gain, **gains),
        )


def _refuse_unknown(gains: Mapping[str, float]) -> None:
    from posewright.errors import UnknownNameError

    known = ("forward", "left", "turn")
    for name in gains:
        if name not in known:
            raise UnknownNameError.among("travel_gain", name, known)
