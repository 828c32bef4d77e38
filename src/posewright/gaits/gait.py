"""The interface of all gaits, for any number of legs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Protocol, Self

from posewright.documents import Bounds
from posewright.documents.plain import PlainMapping
from posewright.gaits.command import GaitGenerator, SteppingGenerator
from posewright.gaits.entries import Tree
from posewright.gaits.explanation import Explanation
from posewright.gaits.feedback import FeedbackGains
from posewright.gaits.travel import TravelGain, Trim
from posewright.robots import Robot

DIGITS = 9
"""Numbers in descriptions are rounded to so many digits after the point."""


ParameterValue = float | Mapping[str, float] | Mapping[str, list[float]]
"""One number, one for each pair of feet, or a point for each foot."""


@dataclass(frozen=True)
class GaitCycle:
    """The times of a gait's cycle, in which each foot lifts once.

    Attributes:
        n_frames: number of frames of a cycle.
        period_s: its duration [s].
        air_share: share of a cycle that a foot is in the air.
        lift_phases: share of a cycle after which each foot lifts for the first time, by name of the foot.
    """

    n_frames: Annotated[int, Bounds(1, 1_000_000)]
    period_s: Annotated[float, Bounds(1e-3, 1e4)]
    air_share: Annotated[float, Bounds(0.0, 1.0)]
    lift_phases: Mapping[str, Annotated[float, Bounds(0.0, 1.0)]] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lift_phases", MappingProxyType(dict(self.lift_phases)))


class Gait(Protocol):
    """All values of a gait, from which a generator makes joint angles."""

    @property
    def name(self) -> str:
        """Name of the gait."""

    @property
    def robot(self) -> str:
        """Name of the robot it is for."""

    @property
    def pose(self) -> str:
        """Name of the pose in which the joints outside the legs are held."""

    @property
    def description(self) -> str:
        """What it is for, in a few words."""

    @property
    def path(self) -> Path | None:
        """Its document, if it was read from one."""

    @property
    def feedback(self) -> FeedbackGains:
        """How the walk reacts to sensors."""

    @property
    def flat(self) -> Mapping[str, float]:
        """All numbers by dotted name."""

    def explanation(self, name: str) -> Explanation:
        """Return the explanation of a number by its name in `flat`, or raise UnknownNameError."""

    def with_values(self, values: Mapping[str, float]) -> Self:
        """Return the gait with other values for some dotted names.

        Raises:
            UnknownNameError: there is no such name.
            InputError: a value is out of its range.
        """

    def with_origin(self, *, name: str, description: str, source: str) -> Self:
        """Return the gait with another name, description and source, which no document states yet."""

    def reconcile_values(self, values: Mapping[str, float], robot: Robot) -> dict[str, float]:
        """Return values near the given ones with which the gait can walk, as far as its kind knows a rule.

        Args:
            values: by dotted name, as for `with_values`; values that stay as they are may be left out.
            robot: the robot that walks.
        """

    @property
    def other_settings(self) -> tuple[object, ...]:
        """What decides the walk besides the numbers in `flat`; it has an exact `repr`, for digests."""

    def generator(self, robot: Robot) -> GaitGenerator:
        """Return a generator that stands.

        Raises:
            InputError: the gait is another robot's, or the robot's card does not describe its legs.
            UnreachableError: a foot cannot stand where the gait has it stand.
        """

    def cycle(self, robot: Robot) -> GaitCycle:
        """Return the times of its cycle on a robot."""

    def document(self, old_document: Tree, path: Path | None) -> Tree:
        """Return its document.

        Args:
            old_document: the document that is overwritten, whose notation is kept; empty if there is none.
            path: of that document; None if there is none.
        """


class ParametricGait(Gait, Protocol):
    """A gait whose steps are computed from parameters: the content of a `*.gait.yaml`."""

    @property
    def source(self) -> str:
        """Where its values come from."""

    @property
    def travel_gain(self) -> TravelGain:
        """Factors by which the feet move farther than the body should."""

    @property
    def trim(self) -> Trim:
        """Offsets of the feet's motion."""

    @property
    def parameter_values(self) -> Mapping[str, ParameterValue]:
        """Values of the parameters by name, as plain data."""

    def generator(self, robot: Robot) -> SteppingGenerator:
        """Return a generator that stands; see `Gait.generator`."""

    def describe_briefly(self, robot: Robot) -> PlainMapping:
        """Return what a list of gaits shows: name, robot, description, period and the greatest speeds."""

    def describe_walk(self, robot: Robot) -> PlainMapping:
        """Return what is its own kind's: times, phases, ranges of commands."""

    def summarise_walk(self, robot: Robot) -> Mapping[str, str]:
        """Return a line of text for each topic of its walk: when feet lift, its cycle, its commands."""
