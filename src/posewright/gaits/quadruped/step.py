"""One step, in the order of the document, which `StepPlanner.plan` follows: from a command to all joints.

A step lasts from one lifting of feet to the next. At its beginning the command is taken; feet on the ground
then go with the ground as it passes under a body that moves so, and feet that lift are told where to land:
half a ground phase of that motion ahead of their equilibrium point. Whatever the commands before were, each
foot goes on from where it is, so a joint never jumps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.errors import InputError
from posewright.gaits.arc import left_behind, se2_exp
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.foot_timeline import FootTimeline, FootWindow, timelines
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.phases import walking_legs
from posewright.gaits.quadruped.timing import GaitTiming, timing_of
from posewright.kinematics import MountedLeg
from posewright.robots import Robot

ROUNDING = 1e-12
"""Places [m] and angles [rad] that differ by less are the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Feet:
    """Where the feet are at the beginning of a step, seen from the trunk.

    Attributes:
        points: `(n_feet, 3)` [m].
        before: the joints of each leg at its point before; the spline leads on from there, `(n_feet, 3)`
            [rad].
        lifted_at: where each left the ground last, `(n_feet, 3)` [m].
        land_at: where each is to land, `(n_feet, 3)` [m].
        have_lifted: false until a foot's first step, `(n_feet,)`.
    """

    points: Floats = field(repr=False)
    before: Floats = field(repr=False)
    lifted_at: Floats = field(repr=False)
    land_at: Floats = field(repr=False)
    have_lifted: tuple[bool, ...]

    def equals(self, other: Feet) -> bool:
        """Return whether all is the same but for rounding."""
        return self is other or (
            self.have_lifted == other.have_lifted
            and _same(self.points, other.points)
            and _same(self.before, other.before)
            and _same(self.lifted_at, other.lifted_at)
            and _same(self.land_at, other.land_at)
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStep:
    """A planned step.

    Attributes:
        rows: the joints in every frame, `(n_frames, n_joints)` [rad].
        points: of each foot, seen from the trunk; the last lies beyond the end, `(n, 3)` each [m].
    """

    rows: Floats = field(repr=False)
    points: tuple[Floats, ...] = field(repr=False)
    after: Feet = field(repr=False)


class StepPlanner:
    """Plans steps."""

    def __init__(self, gait: Gait, robot: Robot) -> None:
        if gait.robot != robot.name:
            raise InputError(f"gait {gait.name} is made for {gait.robot}", hint=f"the robot is {robot.name}")
        self.gait = gait
        self.timing: GaitTiming = timing_of(gait.parameters, robot.frame_period_s)
        legs = walking_legs(robot)
        self._legs: list[MountedLeg] = [legs[foot] for foot in gait.phases.offsets]
        self._timelines: list[FootTimeline] = timelines(gait, self.timing, robot.frame_period_s)
        self._equilibria = np.array([gait.parameters.equilibrium_m[foot] for foot in gait.phases.offsets])
        self._none: Flags = np.zeros(len(self._legs), dtype=np.bool_)
        # Sony's poses are in micro-radians, some half a one beyond a limit in whole degrees.
        self.standing_pose: Floats = np.clip(robot.pose(gait.pose), *robot.limits)
        for leg, point in zip(self._legs, self._equilibria, strict=True):
            self.standing_pose[list(leg.indices)] = leg.inverse(leg.over(point))
        self.standing_pose.setflags(write=False)

    @property
    def n_starts(self) -> int:
        """How many steps a cycle has."""
        return len(self._timelines[0].windows)

    @property
    def standing_feet(self) -> Feet:
        """Every foot on its equilibrium point, none of which has lifted yet."""
        angles = np.stack([self.standing_pose[list(leg.indices)] for leg in self._legs])
        points = self._equilibria
        return Feet(points, angles, points, points, (False,) * len(self._legs))

    def in_place(self, feet: Feet) -> Flags:
        """Return which feet are on their equilibrium points, `(n_feet,)`."""
        away: Floats = np.abs(feet.points - self._equilibria).max(axis=1)
        return away <= ROUNDING

    def plan(self, command: VelocityCommand | None, feet: Feet, start: int) -> PlannedStep:
        """Return the next step.

        Args:
            command: what the body is to do from now on; None to come to stand: feet land on their equilibrium
                points, and those that are there stay down.
            feet: where they are.
            start: which step of the cycle it is, from 0.
        """
        seconds = self.timing.ground_s
        # 1. What is wanted while a foot is down: velocities are separate already (arc.py), so is their way.
        wanted = (command or STILL).components(seconds)
        # 2. What the feet do for that; one that comes to stand makes up for nothing.
        components = wanted if command is None else self.gait.made_up_for(wanted, seconds)
        # 3. A stroke of each foot around its equilibrium point; feet that lift now will land for it.
        landings = self._landings(components)
        windows = [timeline.windows[start] for timeline in self._timelines]
        lifted = _lifted(feet, windows, landings, self.in_place(feet) if command is None else self._none)
        # 4. Its points.
        points = self._points(lifted, windows, components, landings, halts=command is None)
        # 5. The joints that put a paw's lowest point there, or as near as they can.
        angles = [
            leg.inverse(leg.over(way), nearest=True) for leg, way in zip(self._legs, points, strict=True)
        ]
        # 6. What lies between, frame by frame.
        rows = self._frames(lifted.before, windows, angles)
        return PlannedStep(rows, points, _handed_over(lifted, windows, points, angles))

    def _landings(self, components: Floats) -> Floats:
        """Return where each foot lands, `(n_feet, 3)` [m]: half its stroke ahead of the equilibrium point.

        Forward, left and turn make up one stroke for each foot, the way from here to where the same half of
        the motion takes it behind the point. The document adds up vectors; those are this for a small turn.
        """
        return left_behind(self._equilibria, se2_exp(-0.5 * components))

    def _points(
        self, feet: Feet, windows: list[FootWindow], components: Floats, landings: Floats, *, halts: bool
    ) -> tuple[Floats, ...]:
        """Return the points of every foot in this step, `(n, 3)` each [m]."""
        rate = components / self.timing.ground_s
        ways = []
        for foot, planned in enumerate(windows):
            window = planned if feet.have_lifted[foot] else planned.standing
            down = feet.land_at[foot] if len(window.air) else feet.points[foot]
            air = _through_air(feet.lifted_at[foot], down, window.air)
            ground = left_behind(down, se2_exp(rate * window.ground[:, np.newaxis]))
            leaves = window.next_air
            if halts and len(leaves) and _same(ground[-1], self._equilibria[foot]):
                leaves = np.zeros_like(leaves)  # it is in place, and will not be lifted
            next_air = _through_air(ground[-1:], landings[foot], leaves)
            ways.append(np.concatenate([air, ground, next_air]))
        return tuple(ways)

    def _frames(self, before: Floats, windows: list[FootWindow], angles: list[Floats]) -> Floats:
        """Return all joints in every frame, `(n_frames, n_joints)` [rad]."""
        rows = np.tile(self.standing_pose, (len(windows[0].weights), 1))
        for leg, led_on, window, knots in zip(self._legs, before, windows, angles, strict=True):
            rows[:, leg.indices] = window.weights @ np.concatenate([led_on[np.newaxis], knots])
        return rows


def _same(some: Floats, others: Floats) -> bool:
    return bool(np.abs(some - others).max() <= ROUNDING)


def _lifted(feet: Feet, windows: list[FootWindow], landings: Floats, stay: Flags) -> Feet:
    """Return the feet after those have left the ground whose time it is; those that stay stand anew."""
    lifts = np.array([window.lifts for window in windows]) & ~stay
    return Feet(
        points=feet.points,
        before=feet.before,
        lifted_at=np.where(lifts[:, np.newaxis], feet.points, feet.lifted_at),
        land_at=np.where(lifts[:, np.newaxis], landings, feet.land_at),
        have_lifted=tuple(((np.array(feet.have_lifted) | lifts) & ~stay).tolist()),
    )


def _handed_over(
    feet: Feet, windows: list[FootWindow], points: tuple[Floats, ...], angles: list[Floats]
) -> Feet:
    """Return the feet as the step leaves them."""
    return Feet(
        points=np.stack([way[window.end] for way, window in zip(points, windows, strict=True)]),
        before=np.stack([knots[window.end - 1] for knots, window in zip(angles, windows, strict=True)]),
        lifted_at=feet.lifted_at,
        land_at=feet.land_at,
        have_lifted=feet.have_lifted,
    )


def _through_air(lifted_at: Floats, lands_at: Floats, through_air: Floats) -> Floats:
    """Return points in the air, `(n, 3)` [m], at parts of the stroke and heights `(n, 2)` of a `FootWindow`.

    It is lifted at `(3,)` or `(1, 3)` [m]; `(0, 3)` where there are none.
    """
    points = lifted_at + through_air[:, :1] * (lands_at - lifted_at)
    points[:, 2] += through_air[:, 1]
    return points
