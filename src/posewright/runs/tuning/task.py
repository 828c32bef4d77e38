"""The task of a tuning: which numbers of a gait are searched, and how a candidate is evaluated."""

from __future__ import annotations

import hashlib
import importlib.metadata
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Protocol

from posewright.bodies import NOMINAL, DomainParameters
from posewright.controllers import PageGait
from posewright.documents import Bounds
from posewright.evaluation import GaitReport
from posewright.gaits import ParametricGait, VelocityCommand, VelocityLimits
from posewright.robots import Robot
from posewright.runs.walking.many import SeededDomain
from posewright.runs.walking.walk import MAX_SETTLE_S, MAX_WALK_S, angles_in_pose
from posewright.search import MAX_POPULATION, MAX_SPREAD, MIN_POPULATION, Dimension
from posewright.version import __version__

STEPS_PER_RANGE = 1000.0
"""Values are rounded to decimal steps of at most a thousandth of their range.

A gait document then has numbers that people can read, and they are exactly the numbers that were evaluated.
"""

GENERATIONS = 60
SPREAD = 0.2

MAX_GENERATIONS = 1_000_000

MAX_WEIGHT = 1e6
"""The largest weight of a term or a walk; a larger one is taken for a typing error."""


@dataclass(frozen=True, slots=True, repr=False)
class VelocityTarget:
    """One component of the velocity that a walk commands.

    Attributes:
        value: a velocity [m/s, rad/s], or a share of the greatest velocity of the candidate.
        is_share: whether `value` is such a share.
    """

    value: float = 0.0
    is_share: bool = False

    def __repr__(self) -> str:
        # A task's digest covers this text, and journals store the digest: it keeps the former class name.
        return f"Asked(value={self.value!r}, is_share={self.is_share!r})"

    def resolve(self, greatest: float, greatest_reverse: float) -> float:
        """Return the velocity for a candidate.

        Args:
            greatest: its greatest velocity.
            greatest_reverse: its greatest velocity in the opposite direction, as a positive number.
        """
        if not self.is_share:
            return self.value
        return self.value * (greatest_reverse if self.value < 0.0 else greatest)


@dataclass(frozen=True, slots=True)
class TunedWalk:
    """A walk by which every candidate is evaluated.

    Attributes:
        forward: commanded velocity ahead [m/s].
        left: commanded velocity to the left [m/s].
        turn: commanded turn to the left [rad/s].
        seconds: time that is measured [s].
        settle_s: time that it walks before the measurement [s].
        weight: the weight of this walk's score in the candidate's mean.
    """

    forward: VelocityTarget = VelocityTarget()
    left: VelocityTarget = VelocityTarget()
    turn: VelocityTarget = VelocityTarget()
    seconds: Annotated[float, Bounds(0.1, MAX_WALK_S)] = 3.0
    settle_s: Annotated[float, Bounds(0.0, MAX_SETTLE_S)] = 1.0
    weight: Annotated[float, Bounds(0.0, MAX_WEIGHT)] = 1.0

    @property
    def has_direction(self) -> bool:
        """Whether it commands more than a turn on the spot."""
        return self.forward.value != 0.0 or self.left.value != 0.0

    def command(self, limits: VelocityLimits) -> VelocityCommand:
        """Return the command for a candidate with these limits; it may be beyond the candidate's range."""
        return VelocityCommand(
            self.forward.resolve(limits.forward_m_s, limits.backward_m_s),
            self.left.resolve(limits.left_m_s, limits.left_m_s),
            self.turn.resolve(limits.turn_rad_s, limits.turn_rad_s),
        )


NOMINAL_SEED = 0
"""The seed of the sensors' noise on the nominal body."""


@dataclass(frozen=True, slots=True)
class TunedBodies:
    """The bodies that every candidate walks on, and others on which the result is tested.

    Attributes:
        variations: how each body differs from the robot's model.
        worst_share: weight of the worst body's score against the mean of all bodies, from 0 to 1.
        seeds: the seed of each body's sensors, by which it was drawn.
        held_out: bodies that no candidate walks on, to test the result.
    """

    variations: tuple[DomainParameters, ...] = (NOMINAL,)
    worst_share: float = 0.0
    seeds: tuple[int, ...] = field(default=(NOMINAL_SEED,), repr=False)
    held_out: tuple[SeededDomain, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class WalkMeasurement:
    """A walk of a candidate on one body, with what was measured."""

    walk: TunedWalk
    report: GaitReport

    @property
    def commanded(self) -> tuple[float, float, float]:
        """The commanded velocity: forward [m/s], left [m/s] and turn [rad/s]."""
        travel = self.report.travel
        return travel.commanded_forward_m_s, travel.commanded_left_m_s, travel.commanded_turn_rad_s

    @property
    def measured(self) -> tuple[float, float, float]:
        """The measured velocity in the same components; 0 if the robot fell before a cycle was complete."""
        travel = self.report.travel
        forward = travel.speed_m_s or 0.0
        left = travel.left_m_s or 0.0
        turn = travel.turn_rad_s or 0.0
        return forward, left, turn

    @property
    def errors(self) -> tuple[float, float, float]:
        """Measured minus commanded velocity, by component [m/s, m/s, rad/s]."""
        commanded_forward, commanded_left, commanded_turn = self.commanded
        forward, left, turn = self.measured
        return forward - commanded_forward, left - commanded_left, turn - commanded_turn


class Term(Protocol):
    """One property of a walk that a score weighs."""

    name: ClassVar[str]

    @property
    def weight(self) -> float:
        """The factor of its value in the score."""
        ...

    def value(self, measurement: WalkMeasurement) -> float:
        """Return how bad a walk is in this respect; smaller is better."""
        ...


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a task is searched by default.

    Attributes:
        generations: their number.
        population: number of candidates in a generation; None chooses it by the number of dimensions.
        spread: standard deviation of the first candidates, as a fraction of each range.
    """

    generations: Annotated[int, Bounds(1, MAX_GENERATIONS)] = GENERATIONS
    population: Annotated[int, Bounds(MIN_POPULATION, MAX_POPULATION)] | None = None
    spread: Annotated[float, Bounds(0.001, MAX_SPREAD)] = SPREAD


TunableGait = ParametricGait | PageGait
"""A gait whose numbers a tuning searches."""


@dataclass(frozen=True, eq=False)
class GaitTask:
    """A tuning of a gait: the content of a `*.tune.yaml`. It can be pickled for another process.

    Attributes:
        name: the name of the tuning, and of the gait that it produces.
        robot: the robot that walks.
        gait: the gait that the search starts at; it gives the values that are not searched.
        dimensions: what is searched, by the dotted names that `Gait.with_values` takes.
        walks: the walks by which every candidate is evaluated.
        bodies: the bodies that walk.
        terms: the terms of the score.
        locked_joints: joints that are welded in the gait's pose during the search, which makes it faster.
        search: how it is searched by default.
        description: one line for people, also of the resulting gait.
        source: where the numbers of this document come from.
        path: the file it was read from.
    """

    name: str
    robot: Robot
    gait: TunableGait
    dimensions: tuple[Dimension, ...]
    walks: tuple[TunedWalk, ...]
    bodies: TunedBodies
    terms: tuple[Term, ...]
    locked_joints: tuple[str, ...] = ()
    search: SearchPlan = SearchPlan()
    description: str = ""
    source: str = ""
    path: Path | None = None

    @property
    def locked_angles(self) -> dict[str, float]:
        """The angles of the locked joints, by name [rad]."""
        return angles_in_pose(self.gait, self.robot, self.locked_joints)

    def without_locked_joints(self) -> GaitTask:
        """Return the same task with no joint locked."""
        return replace(self, locked_joints=())

    def round_values(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the values as they are evaluated and stored: in decimal steps that people can read.

        Values that contradict each other are changed as the gait can tell, within the searched ranges.
        """
        rounded = {
            dimension.name: round_value(dimension, values[dimension.name]) for dimension in self.dimensions
        }
        reconciled = self.gait.reconcile_values(rounded, self.robot)
        return {
            dimension.name: min(max(reconciled[dimension.name], dimension.low), dimension.high)
            for dimension in self.dimensions
        }

    def candidate(self, values: Mapping[str, float]) -> TunableGait:
        """Return the gait with these values, rounded, for what is searched.

        Raises:
            InputError: the values contradict each other.
        """
        return self.gait.with_values(self.round_values(values))

    @property
    def fingerprint(self) -> str:
        """A text that differs if the same values would get another score.

        It covers everything in the document that affects the score, the gait, the robot's card and model, and
        the versions of the packages that simulate and measure.
        """
        return (
            f"{self.name} of {self.robot.name} from gait {self.gait.name}: {self.digest}, "
            f"posewright {__version__}, mujoco {importlib.metadata.version('mujoco')}"
        )

    @property
    def digest(self) -> str:
        """The first 16 hex digits of a SHA-256 over everything that affects the score."""
        gait = self.gait
        model = self.robot.model_path
        score_inputs = (
            self.dimensions,
            self.walks,
            self.bodies,
            tuple((term.name, term) for term in self.terms),
            self.locked_angles,
            gait.flat,
            *gait.other_settings,
            self.robot.text,
            "" if model is None else model.read_bytes(),
            *(() if gait.feedback.is_open_loop else (self.bodies.seeds,)),
        )
        return hashlib.sha256(repr(score_inputs).encode()).hexdigest()[:16]


def round_value(dimension: Dimension, value: float) -> float:
    """Return a value as it is evaluated, in decimal steps; integers and the start stay as they are."""
    if dimension.is_whole or value == dimension.start:
        return value
    decimals = math.ceil(math.log10(STEPS_PER_RANGE / dimension.width))
    return min(max(round(value, decimals), dimension.low), dimension.high)
