"""Whether a robot can do what a gait may be asked for: reach, limits and speeds, before anybody walks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.phases import walking_legs
from posewright.gaits.quadruped.reading import robot_of
from posewright.gaits.quadruped.step import PlannedStep
from posewright.gaits.quadruped.timing import greatest_speed_m_s, greatest_turn_rad_s, timing_of
from posewright.gaits.quadruped.walker import Walker
from posewright.robots import Robot

DIRECTIONS = 8

TURNS = (0.0, -1.0, 1.0)
"""Parts of the greatest turn that are tried at full speed; at half speed none is."""

SLACK = 1e-9

_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Cycles:
    """Some cycles of a walk.

    Attributes:
        rows: the frame before them and their own, `(n + 1, n_joints)` [rad].
        points: by foot, where its lowest point is told to be, seen from the trunk, `(n, 3)` [m].
    """

    rows: Floats = field(repr=False)
    points: Mapping[str, Floats] = field(repr=False)


class Tour:
    """A robot that walks on from command to command."""

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self._walker = Walker(gait, robot)
        self._feet = tuple(gait.phases.offsets)
        self._row = self._walker.planner.standing_pose

    def go(self, command: VelocityCommand) -> tuple[Cycles, Cycles]:
        """Walk at a command; return the cycles that come to it, and one of the steady walk."""
        coming, cycle = self._walker.until_steady(command)
        return self._cycles(coming), self._cycles(cycle)

    def _cycles(self, steps: list[PlannedStep]) -> Cycles:
        rows = np.concatenate([self._row[np.newaxis], *[step.rows for step in steps]])
        self._row = rows[-1]
        points = {
            foot: np.concatenate([step.points[place] for step in steps])
            for place, foot in enumerate(self._feet)
        }
        return Cycles(rows, points)


class Concern(Enum):
    """What may go wrong with a gait on a robot."""

    REACH = "reach"
    LIMIT = "joint limit"
    COUPLED = "coupled limit"
    SPEED = "joint speed"

    @property
    def allowed(self) -> float:
        """The largest value that is as it should be."""
        return 1.0 if self is Concern.SPEED else 0.0

    @property
    def unit(self) -> str:
        """Of the value."""
        return {Concern.REACH: "m", Concern.SPEED: ""}.get(self, "rad")


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst of one concern over everything that was tried.

    Attributes:
        value: how far a foot stays away from where it is told to be [m]; how far a joint is beyond its
            limit [rad], negative inside; how fast a joint is told to turn, as a part of its largest speed.
        part: the foot, the joint, or the table of coupled limits.
        is_changing: whether it was still coming to that command from another.
    """

    concern: Concern
    value: float
    part: str
    command: VelocityCommand = field(repr=False)
    is_changing: bool

    @property
    def is_kept(self) -> bool:
        """Whether it is as it should be."""
        return self.value <= self.concern.allowed + SLACK


@dataclass(frozen=True, slots=True)
class Tried:
    """What was found at one command.

    Attributes:
        steady: the worst of each concern in the steady walk.
    """

    command: VelocityCommand
    steady: tuple[Worst, ...] = field(repr=False)
    changing: tuple[Worst, ...] = field(repr=False)

    @property
    def is_kept(self) -> bool:
        """Whether all is as it should be in the steady walk."""
        return all(entry.is_kept for entry in self.steady)


@dataclass(frozen=True, slots=True)
class GaitCheck:
    """What trying a gait found."""

    tried: tuple[Tried, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"GaitCheck(kept at {self.kept} of {len(self.tried)} commands)"

    @property
    def kept(self) -> int:
        """At how many commands all is as it should be in the steady walk."""
        return sum(entry.is_kept for entry in self.tried)

    @property
    def worst(self) -> tuple[Worst, ...]:
        """The worst of each concern in the steady walk, then of each on the way from command to command."""
        steady = [entry for tried in self.tried for entry in tried.steady]
        changing = [entry for tried in self.tried for entry in tried.changing]
        return (*_worst(steady), *_worst(changing))

    @property
    def findings(self) -> tuple[Worst, ...]:
        """Those of the worst that are not as they should be."""
        return tuple(entry for entry in self.worst if not entry.is_kept)


def check_gait(gait: Gait, robot: Robot | str | None = None) -> GaitCheck:
    """Walk all over what a gait may be asked for, and note the worst of each concern.

    The commands go in eight directions at full speed, with no turn and with the greatest to either side, and
    at half speed with none; they turn on the spot; and step there. Each is followed by its opposite, the
    greatest change there is. It is about what joints are commanded to do: no physics.

    Args:
        gait: what is checked.
        robot: who walks, or the name; default the gait's own.

    Raises:
        InputError: the gait is another robot's, or a leg of the robot is not known.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    robot = robot_of(gait, robot)
    tour, judge = Tour(gait, robot), _Judge(robot)
    tried = []
    for command in _commands(gait, robot):
        way, cycle = tour.go(command)
        steady = tuple(judge.judged(cycle, command, is_changing=False))
        tried.append(Tried(command, steady, tuple(judge.judged(way, command, is_changing=True))))
    return GaitCheck(tuple(tried))


def _worst(entries: list[Worst]) -> Iterator[Worst]:
    for concern in Concern:
        of_it = [entry for entry in entries if entry.concern is concern]
        if of_it:
            yield max(of_it, key=lambda entry: entry.value)


def _commands(gait: Gait, robot: Robot) -> Iterator[VelocityCommand]:
    """Yield what is tried, every command followed by its opposite."""
    timing = timing_of(gait.parameters, robot.frame_period_s)
    fastest = greatest_speed_m_s(gait.parameters, timing)
    most = greatest_turn_rad_s(gait.parameters, timing)
    yield STILL
    yield from _and_back(0.0, 0.0, most)
    for part in range(DIRECTIONS // 2):  # the other half are the opposites
        angle = part * 2.0 * math.pi / DIRECTIONS
        forward, left = (round(fastest * share, _DIGITS) for share in (math.cos(angle), math.sin(angle)))
        for turns in TURNS:
            yield from _and_back(forward, left, turns * most)
        yield from _and_back(forward / 2.0, left / 2.0, 0.0)


def _and_back(forward: float, left: float, turn: float) -> Iterator[VelocityCommand]:
    yield VelocityCommand(forward, left, turn)
    yield VelocityCommand(-forward, -left, -turn)


class _Judge:
    """Looks for the worst of each concern in some cycles of a walk."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._legs = walking_legs(robot)
        self._joints = [index for leg in self._legs.values() for index in leg.indices]
        names = [robot.joint_names[index] for index in self._joints]
        self._names = tuple(names)
        self._tables = [place for place, joint in enumerate(robot.coupling.joints) if joint in names]

    def judged(self, cycles: Cycles, command: VelocityCommand, *, is_changing: bool) -> Iterator[Worst]:
        """Yield the worst of each concern."""
        found = {
            Concern.REACH: self._away(cycles),
            Concern.LIMIT: self._beyond(cycles.rows),
            Concern.COUPLED: self._beyond_coupled(cycles.rows),
            Concern.SPEED: self._speed(cycles.rows),
        }
        for concern, (values, parts) in found.items():
            if len(parts):
                place = int(np.argmax(values))
                yield Worst(concern, float(values[place]), parts[place], command, is_changing)

    def _away(self, cycles: Cycles) -> tuple[Floats, tuple[str, ...]]:
        """Return how far each foot stays away from its points at most [m]."""
        away = [self._legs[foot].misses(points).max() for foot, points in cycles.points.items()]
        return np.array(away), tuple(cycles.points)

    def _beyond(self, rows: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return how far each joint is beyond its limits at most [rad]."""
        lower, upper = self._robot.limits
        beyond = np.maximum(lower - rows, rows - upper).max(axis=0)
        return beyond[self._joints], self._names

    def _beyond_coupled(self, rows: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return how far the joint of each table is beyond its limits at most [rad]."""
        coupling = self._robot.coupling
        if not self._tables:
            return np.empty(0), ()
        return coupling.beyond(rows).max(axis=0)[self._tables], tuple(coupling.names[t] for t in self._tables)

    def _speed(self, rows: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return how fast each joint turns at most, as a part of its largest speed."""
        fastest = np.abs(np.diff(rows, axis=0)).max(axis=0) / self._robot.frame_period_s
        return (fastest / self._robot.max_speeds)[self._joints], self._names
