"""A biped's gait: robot, parameters, and the compensation for servos that lag and feet that slip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from posewright.gaits.biped.parameters import BipedParameters, explanation
from posewright.gaits.explanation import Explanation
from posewright.gaits.feedback import OPEN_LOOP, FeedbackGains
from posewright.gaits.travel import FITTED, TravelGain, Trim, travel_values, with_travel_values


@dataclass(frozen=True)
class BipedValues:
    """All values of a biped's gait, from which `BipedGenerator` generates joint angles.

    Attributes:
        name: the name of the gait.
        robot: name of the robot it is for.
        parameters: the parameters of the walk.
        travel_gain: factors by which the feet move farther than the body should.
        trim: offsets of the feet's motion.
        feedback: how the walk reacts to sensors.
        pose: name of the pose in which the joints outside the legs are held.
        description: what the gait is for.
        source: where its values come from.
        path: its document, if it was read from one.
    """

    name: str
    robot: str
    parameters: BipedParameters = field(repr=False)
    travel_gain: TravelGain = field(default_factory=TravelGain, repr=False)
    trim: Trim = field(default_factory=Trim, repr=False)
    feedback: FeedbackGains = field(default=OPEN_LOOP, repr=False)
    pose: str = field(default="walk_ready", repr=False)
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

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the gait with other values for some numbers, by their names in `flat`.

        Raises:
            UnknownNameError: there is no such number.
            InputError: a value is out of its range.
        """
        travel_gain, trim, others = with_travel_values(self.travel_gain, self.trim, values)
        for name in others:
            explanation(name)
        return replace(
            self, travel_gain=travel_gain, trim=trim, parameters=replace(self.parameters, **others)
        )
