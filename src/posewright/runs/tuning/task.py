"""The task of a tuning: which numbers of a gait are searched, and what a candidate is tried with."""

from __future__ import annotations

import hashlib
import importlib.metadata
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Protocol

from posewright.bodies import NOMINAL, DomainParameters
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.evaluation import GaitReport
from posewright.gaits import (
    FRAMES_PER_PAIR,
    Gait,
    GaitParameters,
    GaitTiming,
    VelocityCommand,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    timing_of,
)
from posewright.robots import Robot
from posewright.runs.walking.walk import MOST_S, MOST_SETTLE_S, angles_in_pose
from posewright.search import MAX_POPULATION, MAX_SPREAD, MIN_POPULATION, Dimension
from posewright.version import __version__

FINENESS = 1000.0
"""Values are tried in decimal steps of a thousandth of their range or less: a gait's file then has numbers
that people can read, and they are the very numbers that were tried."""

ASCENT = "ascent_pairs"

GENERATIONS = 60
SPREAD = 0.2


MOST_GENERATIONS = 1_000_000

LARGEST_WEIGHT = 1e6  # of a term, and of a walk beside the others: more is a slip of the pen


@dataclass(frozen=True, slots=True)
class Asked:
    """One component of what a candidate is asked for."""

    value: float = 0.0  # a velocity [m/s, rad/s], or a share of the greatest the candidate can be asked for
    is_share: bool = False  # which of the two it is

    def of(self, greatest: float) -> float:
        """Return the component for a candidate with this greatest velocity."""
        return self.value * greatest if self.is_share else self.value


@dataclass(frozen=True, slots=True)
class TunedWalk:
    """A walk that every candidate is tried with."""

    forward: Asked = Asked()  # ahead [m/s]
    left: Asked = Asked()  # to the left [m/s]
    turn: Asked = Asked()  # to the left [rad/s]
    seconds: Annotated[float, Bounds(0.1, MOST_S)] = 3.0  # for so long it is measured [s]
    settle_s: Annotated[float, Bounds(0.0, MOST_SETTLE_S)] = 1.0  # for so long it walks before [s]
    weight: Annotated[float, Bounds(0.0, LARGEST_WEIGHT)] = 1.0  # of its score beside the others

    @property
    def goes_somewhere(self) -> bool:
        """Whether it is more than a turn on the spot."""
        return self.forward.value != 0.0 or self.left.value != 0.0

    def command(self, parameters: GaitParameters, timing: GaitTiming) -> VelocityCommand:
        """Return what a candidate is asked for; it may be more than it can be."""
        fastest, turns = greatest_speed_m_s(parameters, timing), greatest_turn_rad_s(parameters, timing)
        return VelocityCommand(self.forward.of(fastest), self.left.of(fastest), self.turn.of(turns))


@dataclass(frozen=True, slots=True)
class TunedBodies:
    """The bodies that walk."""

    variations: tuple[DomainParameters, ...] = (NOMINAL,)  # of each
    worst_share: float = 0.0  # weight of the worst body's score beside the mean of all


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """A walk that one body has done."""

    walk: TunedWalk  # what was asked for
    report: GaitReport  # what came of it

    @property
    def commanded(self) -> tuple[float, float, float]:
        """Forward [m/s], left [m/s] and turn [rad/s] as commanded."""
        travel = self.report.travel
        return travel.commanded_forward_m_s, travel.commanded_left_m_s, travel.commanded_turn_rad_s

    @property
    def measured(self) -> tuple[float, float, float]:
        """The same as the robot went; 0 where it fell before there was a whole cycle."""
        travel = self.report.travel
        return travel.speed_m_s or 0.0, travel.left_m_s or 0.0, travel.turn_rad_s or 0.0

    @property
    def errors(self) -> tuple[float, float, float]:
        """How far each component is from what was commanded, with its sign [m/s, m/s, rad/s]."""
        (forward, left, turn), (ahead, aside, turned) = self.commanded, self.measured
        return ahead - forward, aside - left, turned - turn


class Term(Protocol):
    """One thing that a score looks at."""

    name: ClassVar[str]

    @property
    def weight(self) -> float:
        """What its value is multiplied by."""
        ...

    def value(self, walked: Walked) -> float:
        """Return how bad a walk is in this respect."""
        ...


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a task is searched unless one says otherwise."""

    generations: Annotated[int, Bounds(1, MOST_GENERATIONS)] = GENERATIONS  # how many
    population: Annotated[int, Bounds(MIN_POPULATION, MAX_POPULATION)] | None = (
        None  # None: by the dimensions
    )
    spread: Annotated[float, Bounds(0.001, MAX_SPREAD)] = SPREAD  # of the first ones, in ranges


@dataclass(frozen=True, eq=False)
class GaitTask:
    """A tuning of a gait: what a `*.tune.yaml` says. It can be handed to another process.

    Attributes:
        name: of the tuning, and of the gait it finds.
        robot: who walks.
        gait: where the search begins, and what gives the values that are not searched.
        dimensions: what is searched, by the dotted names that `Gait.changed` takes.
        walks: what every candidate is asked for.
        bodies: that walk.
        terms: of the score.
        held: joints that are held still in the search, as in the gait's pose; that makes it faster.
        search: how it is searched.
        description: one line for people, also of the gait that is found.
        source: where the numbers of this document come from.
        path: the file it was read from.
    """

    name: str
    robot: Robot
    gait: Gait
    dimensions: tuple[Dimension, ...]
    walks: tuple[TunedWalk, ...]
    bodies: TunedBodies
    terms: tuple[Term, ...]
    held: tuple[str, ...] = ()
    search: SearchPlan = SearchPlan()
    description: str = ""
    source: str = ""
    path: Path | None = None

    @property
    def held_angles(self) -> dict[str, float]:
        """The joints that are held still, each with its angle [rad]."""
        return angles_in_pose(self.gait, self.robot, self.held)

    @property
    def unheld(self) -> GaitTask:
        """The same with no joint held still."""
        return replace(self, held=())

    def tried(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the values as they are tried and written down: in steps that people can read.

        Where the ascent time is searched and a candidate is not in the air for long enough, it takes the
        longest there is room for: else most of what lies beside a fast gait could not walk at all.
        """
        told = {one.name: rounded(one, values[one.name]) for one in self.dimensions}
        if ASCENT in told:
            least = next(one.low for one in self.dimensions if one.name == ASCENT)
            told[ASCENT] = min(told[ASCENT], max(self._most_pairs(told), least))
        return told

    def _most_pairs(self, told: Mapping[str, float]) -> int:
        """Return for how many pairs of frames there is room, up and down."""
        frame_s = self.robot.frame_period_s
        try:
            timing = timing_of(self.gait.with_values({**told, ASCENT: 1}).parameters, frame_s)
        except InputError:  # not for a single one
            return 0
        return int(timing.air_s / (2.0 * FRAMES_PER_PAIR * frame_s))

    def candidate(self, values: Mapping[str, float]) -> Gait:
        """Return the gait with other values for what is searched.

        Raises:
            InputError: the values do not go together.
        """
        return self.gait.with_values(self.tried(values))

    @property
    def fingerprint(self) -> str:
        """A text that differs when the same values would get another score.

        It covers everything the document says that counts, the gait, the robot's card and model, and the
        versions of what walks and measures.
        """
        return (
            f"{self.name} of {self.robot.name} from gait {self.gait.name}: {self.digest}, "
            f"posewright {__version__}, mujoco {importlib.metadata.version('mujoco')}"
        )

    @property
    def digest(self) -> str:
        """The first 16 hex digits of a SHA-256 over all that counts for the score."""
        gait = self.gait
        model = self.robot.model_path
        told = (
            self.dimensions,
            self.walks,
            self.bodies,
            tuple((term.name, term) for term in self.terms),
            self.held_angles,
            gait.flat,
            dict(gait.phases.offsets),
            (gait.interpolation.value, gait.pose),
            self.robot.text,
            "" if model is None else model.read_bytes(),
        )
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def rounded(dimension: Dimension, value: float) -> float:
    """Return a value as it is tried: a whole number, or one in decimal steps; the start stays as it is."""
    if dimension.is_whole or value == dimension.start:
        return value
    decimals = math.ceil(math.log10(FINENESS / dimension.width))
    return min(max(round(value, decimals), dimension.low), dimension.high)
