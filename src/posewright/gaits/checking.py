"""Kinematic check of a gait over its range of commands: reach, joint limits and joint speeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnreachableError
from posewright.gaits.command import STILL, GaitGenerator, GaitStep, VelocityCommand, velocity_limits
from posewright.gaits.gait import ParametricGait
from posewright.gaits.reading import robot_of_gait
from posewright.gaits.steady import joint_angles_of, walk_until_steady
from posewright.kinematics import BipedLeg, MountedLeg, biped_legs_of, legs_of
from posewright.robots import Robot

DIRECTIONS = 8

TURNS = (0.0, -1.0, 1.0)
"""Shares of the greatest turn that are tried at full speed; at half speed it does not turn."""

SLACK = 1e-9

_DIGITS = 12


@dataclass(frozen=True, slots=True, eq=False)
class WalkPart:
    """Some cycles of a walk.

    Attributes:
        rows: the frame before them and their own, `(n + 1, n_joints)` [rad].
        foot_errors_m: how far each foot stays at most from where it is planned to be, by foot [m].
    """

    rows: Floats = field(repr=False)
    foot_errors_m: Mapping[str, float] = field(repr=False)


class CommandTour:
    """A walk through a sequence of commands."""

    def __init__(self, gait: ParametricGait, robot: Robot) -> None:
        self._generator = gait.generator(robot)
        self._n_frames = gait.cycle(robot).n_frames
        self._last_row = self._generator.standing_pose

    def walk(self, command: VelocityCommand) -> tuple[WalkPart, WalkPart]:
        """Walk at a command and return the cycles until it is steady, and one steady cycle.

        Raises:
            InputError: the cycles do not repeat.
            UnreachableError: a leg is too short for the command; the next walk begins standing.
        """
        try:
            lead_in, cycle = walk_until_steady(self._generator, command, self._n_frames)
        except UnreachableError:
            self._generator.reset()
            self._last_row = self._generator.standing_pose
            raise
        return self._collect(lead_in), self._collect(cycle)

    def _collect(self, steps: list[GaitStep]) -> WalkPart:
        """Return the rows of steps and their foot errors, starting at the last row of the steps before."""
        rows = np.concatenate([self._last_row[np.newaxis], joint_angles_of(steps)])
        self._last_row = rows[-1]
        foot_errors_m: dict[str, float] = {}
        for step in steps:
            for foot, error_m in step.foot_errors_m.items():
                foot_errors_m[foot] = max(error_m, foot_errors_m.get(foot, 0.0))
        return WalkPart(rows, foot_errors_m)


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


def check_gait(gait: ParametricGait, robot: Robot | str | None = None) -> GaitCheck:
    """Walk at commands over the whole range of a gait, and return the worst of each concern.

    The commands go in eight directions at full speed, with no turn and with the greatest to either side, and
    at half speed with no turn; they turn on the spot; and step on the spot. Each is followed by its opposite,
    the greatest change possible. Commands out of the gait's range are clipped to it. Only the commanded joint
    angles are checked, without physics.

    Args:
        gait: the gait to be checked.
        robot: the robot that walks, or its name; default the gait's own.

    Raises:
        InputError: the gait is another robot's, or the robot's card lacks a leg.
        UnreachableError: a foot cannot stand where the gait has it stand.
    """
    robot = robot_of_gait(gait, robot)
    tour = CommandTour(gait, robot)
    finder = _WorstFinder(robot)
    command_checks = []
    for command in _commands_to_check(gait.generator(robot)):
        try:
            lead_in, cycle = tour.walk(command)
        except UnreachableError as error:
            worst_case = WorstCase(GaitConcern.REACH, error.excess_m, error.part, command, is_changing=False)
            command_checks.append(CommandCheck(command, steady=(worst_case,), changing=()))
            continue
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


def _commands_to_check(generator: GaitGenerator) -> Iterator[VelocityCommand]:
    """Yield the commands to check, each followed by its opposite."""
    limits = velocity_limits(generator)
    yield STILL
    yield from _with_opposite(VelocityCommand(turn_rad_s=limits.turn_rad_s), generator)
    for index in range(DIRECTIONS // 2):  # the other half are the opposites
        angle = index * 2.0 * math.pi / DIRECTIONS
        forward = limits.forward_m_s * math.cos(angle)
        left = limits.left_m_s * math.sin(angle)
        for turn_share in TURNS:
            turn = turn_share * limits.turn_rad_s
            yield from _with_opposite(VelocityCommand(forward, left, turn), generator)
        yield from _with_opposite(VelocityCommand(forward / 2.0, left / 2.0), generator)


def _with_opposite(command: VelocityCommand, generator: GaitGenerator) -> Iterator[VelocityCommand]:
    """Yield a command and its opposite, both clipped to the range of a gait."""
    opposite = VelocityCommand(-command.forward_m_s, -command.left_m_s, -command.turn_rad_s)
    for wanted in (command, opposite):
        clipped = generator.clip_command(wanted)
        yield VelocityCommand(*(round(value, _DIGITS) for value in clipped.by_name.values()))


class _WorstFinder:
    """Finds the worst case of each concern, such as joint speed, in a part of a walk.

    Args:
        robot: the robot that walks.
    """

    def __init__(self, robot: Robot) -> None:
        """Find the joints of the legs, and the couplings between joints that concern them."""
        self._robot = robot
        self._joint_indices = leg_joint_indices(robot)
        self._joint_names = tuple(robot.joint_names[index] for index in self._joint_indices)
        # indices of the coupling tables that limit a joint of a leg
        self._leg_table_indices = [
            index for index, joint in enumerate(robot.coupling.joints) if joint in self._joint_names
        ]

    def find_worst(
        self, walk_part: WalkPart, command: VelocityCommand, *, is_changing: bool
    ) -> Iterator[WorstCase]:
        """Yield the worst case of each concern; none of a concern that the robot has no parts for.

        Args:
            walk_part: the frames that are checked.
            command: the command at which the robot walks.
            is_changing: whether the frames are the transition from another command.
        """
        results = {
            GaitConcern.REACH: self._foot_errors(walk_part),
            GaitConcern.LIMIT: self._limit_excess(walk_part.rows),
            GaitConcern.COUPLED: self._coupled_excess(walk_part.rows),
            GaitConcern.SPEED: self._speed_shares(walk_part.rows),
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

    def _foot_errors(self, walk_part: WalkPart) -> tuple[Floats, tuple[str, ...]]:
        """Return the greatest distance of each foot from its planned points [m], and the feet."""
        return np.array(list(walk_part.foot_errors_m.values())), tuple(walk_part.foot_errors_m)

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


def leg_joint_indices(robot: Robot) -> list[int]:
    """Return the indices of the joints of all legs in `robot.joint_names`.

    Raises:
        InputError: the robot's card does not describe its legs.
    """
    if robot.biped is None:
        legs: Iterable[MountedLeg | BipedLeg] = legs_of(robot)
    else:
        legs = biped_legs_of(robot).values()
    return [index for leg in legs for index in leg.indices]
