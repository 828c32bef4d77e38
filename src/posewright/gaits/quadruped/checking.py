"""Kinematic check of a gait over its range of commands: reach, joint limits and joint speeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.gait import QuadrupedGait
from posewright.gaits.quadruped.phases import walking_legs
from posewright.gaits.quadruped.step import PlannedStep
from posewright.gaits.quadruped.timing import greatest_speed_m_s, greatest_turn_rad_s, timing_of
from posewright.gaits.quadruped.walker import Walker
from posewright.gaits.reading import robot_of_gait
from posewright.robots import Robot

DIRECTIONS = 8

TURNS = (0.0, -1.0, 1.0)
"""Shares of the greatest turn that are tried at full speed; at half speed it does not turn."""

SLACK = 1e-9

_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Cycles:
    """Frames of some cycles of a walk.

    Attributes:
        rows: the frame before them and their own, `(n + 1, n_joints)` [rad].
        points: the planned positions of each foot's lowest point in the trunk's frame, `(n, 3)` [m].
    """

    rows: Floats = field(repr=False)
    points: Mapping[str, Floats] = field(repr=False)


class CommandTour:
    """A walk through a sequence of commands."""

    def __init__(self, gait: QuadrupedGait, robot: Robot) -> None:
        self._walker = Walker(gait, robot)
        self._feet = tuple(gait.phases.offsets)
        self._last_row = self._walker.planner.standing_pose

    def walk(self, command: VelocityCommand) -> tuple[Cycles, Cycles]:
        """Walk at a command and return the cycles until it is steady, and one steady cycle."""
        lead_in, cycle = self._walker.until_steady(command)
        return self._collect_cycles(lead_in), self._collect_cycles(cycle)

    def _collect_cycles(self, steps: list[PlannedStep]) -> Cycles:
        """Return the rows of steps and their foot points, starting at the last row of the steps before."""
        rows = np.concatenate([self._last_row[np.newaxis], *[step.joint_angles for step in steps]])
        self._last_row = rows[-1]
        points = {
            foot: np.concatenate([step.foot_points[index] for step in steps])
            for index, foot in enumerate(self._feet)
        }
        return Cycles(rows, points)


class GaitConcern(Enum):
    """A quantity of a gait that has a bound on a robot."""

    REACH = "reach"
    LIMIT = "joint limit"
    COUPLED = "coupled limit"
    SPEED = "joint speed"

    @property
    def allowed(self) -> float:
        """The largest allowed value."""
        return 1.0 if self is GaitConcern.SPEED else 0.0

    @property
    def unit(self) -> str:
        """Unit of the value."""
        return {GaitConcern.REACH: "m", GaitConcern.SPEED: ""}.get(self, "rad")


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The worst value of one concern.

    Attributes:
        value: distance of a foot from its planned position [m]; excess of a joint over its limit [rad],
            negative inside; or speed of a joint as a share of its greatest speed.
        part: the foot, the joint, or the table of coupled limits.
        command: the command at which it occurs.
        is_changing: it occurs on the transition from another command.
    """

    concern: GaitConcern
    value: float
    part: str
    command: VelocityCommand = field(repr=False)
    is_changing: bool

    @property
    def is_within_bound(self) -> bool:
        """Whether the value is allowed."""
        return self.value <= self.concern.allowed + SLACK


@dataclass(frozen=True, slots=True)
class CommandCheck:
    """Results for one command.

    Attributes:
        steady: the worst of each concern in the steady walk.
        changing: the worst of each concern on the transition from the command before.
    """

    command: VelocityCommand
    steady: tuple[WorstCase, ...] = field(repr=False)
    changing: tuple[WorstCase, ...] = field(repr=False)

    @property
    def is_within_bound(self) -> bool:
        """Whether all values of the steady walk are allowed."""
        return all(entry.is_within_bound for entry in self.steady)


@dataclass(frozen=True, slots=True)
class GaitCheck:
    """Results of `check_gait`.

    Attributes:
        command_checks: the results, by command.
    """

    command_checks: tuple[CommandCheck, ...] = field(repr=False)

    def __repr__(self) -> str:
        return f"GaitCheck(within bounds at {self.n_within_bounds} of {len(self.command_checks)} commands)"

    @property
    def n_within_bounds(self) -> int:
        """Number of commands with all values of the steady walk allowed."""
        return sum(entry.is_within_bound for entry in self.command_checks)

    @property
    def worst(self) -> tuple[WorstCase, ...]:
        """The worst of each concern in the steady walk, then of each on the transitions between commands."""
        steady = [entry for check in self.command_checks for entry in check.steady]
        changing = [entry for check in self.command_checks for entry in check.changing]
        return (*_worst_by_concern(steady), *_worst_by_concern(changing))

    @property
    def findings(self) -> tuple[WorstCase, ...]:
        """Those of `worst` that are beyond their bounds."""
        return tuple(entry for entry in self.worst if not entry.is_within_bound)


def check_gait(gait: QuadrupedGait, robot: Robot | str | None = None) -> GaitCheck:
    """Walk at commands over the whole range of a gait, and return the worst of each concern.

    The commands go in eight directions at full speed, with no turn and with the greatest to either side, and
    at half speed with no turn; they turn on the spot; and step on the spot. Each is followed by its opposite,
    the greatest change possible. Only the commanded joint angles are checked, without physics.

    Args:
        gait: the gait to be checked.
        robot: the robot that walks, or its name; default the gait's own.

    Raises:
        InputError: the gait is another robot's, or the robot's card lacks a leg.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    robot = robot_of_gait(gait, robot)
    tour = CommandTour(gait, robot)
    finder = _WorstFinder(robot)
    command_checks = []
    for command in _commands(gait, robot):
        lead_in, cycle = tour.walk(command)
        steady = tuple(finder.find_worst(cycle, command, is_changing=False))
        changing = tuple(finder.find_worst(lead_in, command, is_changing=True))
        command_checks.append(CommandCheck(command, steady, changing))
    return GaitCheck(tuple(command_checks))


def _worst_by_concern(entries: list[WorstCase]) -> Iterator[WorstCase]:
    """Yield the worst case of each concern that occurs."""
    for concern in GaitConcern:
        candidates = [entry for entry in entries if entry.concern is concern]
        if candidates:
            yield max(candidates, key=lambda entry: entry.value)


def _commands(gait: QuadrupedGait, robot: Robot) -> Iterator[VelocityCommand]:
    """Yield the commands to check, each followed by its opposite."""
    timing = timing_of(gait.parameters, robot.frame_period_s)
    max_speed = greatest_speed_m_s(gait.parameters, timing)
    max_turn = greatest_turn_rad_s(gait.parameters, timing)
    yield STILL
    yield from _with_opposite(0.0, left=0.0, turn=max_turn)
    for index in range(DIRECTIONS // 2):  # the other half are the opposites
        angle = index * 2.0 * math.pi / DIRECTIONS
        forward, left = (round(max_speed * share, _DIGITS) for share in (math.cos(angle), math.sin(angle)))
        for turn_share in TURNS:
            yield from _with_opposite(forward, left, turn_share * max_turn)
        yield from _with_opposite(forward / 2.0, left / 2.0, turn=0.0)


def _with_opposite(forward: float, left: float, turn: float) -> Iterator[VelocityCommand]:
    """Yield a command [m/s, m/s, rad/s] and its opposite."""
    yield VelocityCommand(forward, left, turn)
    yield VelocityCommand(-forward, -left, -turn)


class _WorstFinder:
    """Finds the worst case of each concern, such as joint speed, in some cycles of a walk.

    Args:
        robot: the robot that walks.
    """

    def __init__(self, robot: Robot) -> None:
        """Find the joints of the legs, and the couplings between joints that concern them."""
        self._robot = robot
        self._legs = walking_legs(robot)
        self._joint_indices = [index for leg in self._legs.values() for index in leg.indices]
        self._joint_names = tuple(robot.joint_names[index] for index in self._joint_indices)
        # indices of the coupling tables that limit a joint of a leg
        self._leg_table_indices = [
            index for index, joint in enumerate(robot.coupling.joints) if joint in self._joint_names
        ]

    def find_worst(
        self, cycles: Cycles, command: VelocityCommand, *, is_changing: bool
    ) -> Iterator[WorstCase]:
        """Yield the worst case of each concern; none of a concern that the robot has no parts for.

        Args:
            cycles: the frames that are checked.
            command: the command at which the robot walks.
            is_changing: whether the frames are the transition from another command.
        """
        results = {
            GaitConcern.REACH: self._foot_errors(cycles),
            GaitConcern.LIMIT: self._limit_excess(cycles.rows),
            GaitConcern.COUPLED: self._coupled_excess(cycles.rows),
            GaitConcern.SPEED: self._speed_shares(cycles.rows),
        }
        for concern, (values, parts) in results.items():
            if len(parts):
                worst = int(np.argmax(values))
                yield WorstCase(
                    concern,
                    value=float(values[worst]),
                    part=parts[worst],
                    command=command,
                    is_changing=is_changing,
                )

    def _foot_errors(self, cycles: Cycles) -> tuple[Floats, tuple[str, ...]]:
        """Return the greatest distance of each foot from its planned points [m], and the feet."""
        errors = [
            self._legs[foot].distances_to_ground(points).max() for foot, points in cycles.points.items()
        ]
        return np.array(errors), tuple(cycles.points)

    def _limit_excess(self, rows: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return the greatest excess of each joint over its limits [rad], and the joints."""
        lower, upper = self._robot.limits
        beyond = np.maximum(lower - rows, rows - upper).max(axis=0)
        return beyond[self._joint_indices], self._joint_names

    def _coupled_excess(self, rows: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return the greatest excess over the legs' coupled limits [rad], and the names of their tables."""
        coupling = self._robot.coupling
        if not self._leg_table_indices:
            return np.empty(0), ()
        greatest_excess = coupling.excess(rows).max(axis=0)
        table_names = tuple(coupling.names[index] for index in self._leg_table_indices)
        return greatest_excess[self._leg_table_indices], table_names

    def _speed_shares(self, rows: Floats) -> tuple[Floats, tuple[str, ...]]:
        """Return the greatest speed of each joint as a share of its limit, and the joints."""
        fastest = np.abs(np.diff(rows, axis=0)).max(axis=0) / self._robot.frame_period_s
        return (fastest / self._robot.max_speeds)[self._joint_indices], self._joint_names
