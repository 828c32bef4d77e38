"""What gaits of any number of legs have besides their parameters, and all their numbers by dotted name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol, Self

from posewright.gaits.explanation import Explanation, find_explanation
from posewright.gaits.feedback import OPEN_LOOP, FeedbackGains
from posewright.gaits.travel import FITTED, TravelGain, Trim, travel_values, with_travel_values


class ParameterSet(Protocol):
    """The parameters of a kind of gait."""

    @property
    def flat(self) -> Mapping[str, float]:
        """All values by dotted name."""

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the parameters with other values for some dotted names.

        Raises:
            UnknownNameError: there is no such name.
            InputError: a value is out of its range.
        """


@dataclass(frozen=True, eq=False)
class GaitValues:
    """All values of a gait; each kind of gait adds its own.

    Attributes:
        explanations: explanations of the kind's parameters by name.
        name: of the gait.
        robot: name of the robot it is for.
        parameters: of the walk.
        travel_gain: factors by which the feet move farther than the body should.
        trim: offsets of the feet's motion.
        feedback: how the walk reacts to sensors.
        pose: name of the pose in which the joints outside the legs are held.
        description: what the gait is for.
        source: where its values come from.
        path: its document, if it was read from one.
    """

    explanations: ClassVar[Mapping[str, Explanation]]

    name: str
    robot: str
    parameters: ParameterSet = field(repr=False)
    travel_gain: TravelGain = field(default_factory=TravelGain, repr=False, kw_only=True)
    trim: Trim = field(default_factory=Trim, repr=False, kw_only=True)
    feedback: FeedbackGains = field(default=OPEN_LOOP, repr=False, kw_only=True)
    pose: str = field(default="stand", repr=False, kw_only=True)
    description: str = field(default="", repr=False, kw_only=True)
    source: str = field(default="", repr=False, kw_only=True)
    path: Path | None = field(default=None, repr=False, kw_only=True)

    @property
    def flat(self) -> dict[str, float]:
        """All numbers by dotted name: of the parameters, and `travel_gain.forward`, `trim.left_m_rad`, ..."""
        return {**self.parameters.flat, **travel_values(self.travel_gain, self.trim)}

    @classmethod
    def explanation(cls, name: str) -> Explanation:
        """Return the explanation of a number by its name in `flat`, or raise UnknownNameError."""
        return FITTED[name] if name in FITTED else find_explanation(name, cls.explanations)

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the gait with other values for some numbers, by dotted name.

        Names are those of `flat`, and names that set several numbers, where the kind of gait has such.

        Raises:
            UnknownNameError: there is no such number.
            InputError: a value is out of its range.
        """
        travel_gain, trim, parameter_values = with_travel_values(self.travel_gain, self.trim, values)
        parameters = self.parameters.with_values(parameter_values)
        return replace(self, travel_gain=travel_gain, trim=trim, parameters=parameters)

    def with_origin(self, *, name: str, description: str, source: str) -> Self:
        """Return the gait with another name, description and source, which no document states yet."""
        return replace(self, name=name, description=description, source=source, path=None)
