"""One step, in the order of the document: what is wanted, strokes, points, inverse kinematics, interpolation.

A step lasts from one lifting of feet to the next. At its beginning the command is taken; feet on the ground
then go with the ground as it passes under a body that moves so, and feet that lift are told where to land:
half a ground phase of that motion ahead of their equilibrium point. Whatever the commands before were, each
foot goes on from where it is, so a joint never jumps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.errors import InputError
from posewright.gaits.arc import Floats, compose, left_behind, separate
from posewright.gaits.command import VelocityCommand
from posewright.gaits.foot_timeline import FootTimeline, FootWindow, timelines
from posewright.gaits.gait import Gait
from posewright.gaits.timing import GaitTiming, timing_of
from posewright.kinematics import MountedLeg, legs_of
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

    points: Floats
    before: Floats
    lifted_at: Floats
    land_at: Floats
    have_lifted: tuple[bool, ...]

    def equals(self, other: Feet) -> bool:
        """Return whether all is the same but for rounding."""
        return (
            self.have_lifted == other.have_lifted
            and _same(self.points, other.points)
            and _same(self.before, other.before)
            and _same(self.lifted_at, other.lifted_at)
            and _same(self.land_at, other.land_at)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A planned step.

    Attributes:
        rows: the joints in every frame, `(n_frames, n_joints)` [rad].
        points: of each foot, seen from the trunk; the last lies beyond the end, `(n, 3)` each [m].
        after: where the feet are at the end.
    """

    rows: Floats
    points: tuple[Floats, ...]
    after: Feet


class StepPlanner:
    """Plans steps.

    Args:
        gait: what is walked.
        robot: who walks.

    Raises:
        InputError: the gait is another robot's, the robot's legs are not known, or the times of the gait do
            not go together.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        if gait.robot != robot.name:
            raise InputError(f"gait {gait.name} is made for {gait.robot}", hint=f"the robot is {robot.name}")
        self.gait = gait
        self.timing: GaitTiming = timing_of(gait.parameters, robot.frame_period_s)
        legs = {leg.name.removesuffix("_leg"): leg for leg in legs_of(robot)}
        self._legs: list[MountedLeg] = [legs[foot] for foot in gait.phases.lift]
        self._timelines: list[FootTimeline] = timelines(gait, self.timing, robot.frame_period_s)
        self._equilibria = np.array([gait.parameters.equilibrium_m[foot] for foot in gait.phases.lift])
        # Sony's poses are in micro-radians, some half a one beyond a limit in whole degrees.
        self.standing_pose: Floats = np.clip(robot.pose(gait.pose), *robot.limits)
        for leg, point in zip(self._legs, self._equilibria, strict=True):
            self.standing_pose[list(leg.indices)] = leg.inverse(_middle(leg, point))

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

    def plan(self, command: VelocityCommand, feet: Feet, start: int) -> Step:
        """Return the next step.

        Args:
            command: what the body is to do from now on.
            feet: where they are.
            start: which step of the cycle it is, from 0.
        """
        windows = [timeline.windows[start] for timeline in self._timelines]
        wanted = compose(command.components(self.timing.ground_s))
        components = self.gait.made_up_for(separate(wanted), self.timing.ground_s)
        landings = self._superposed(components)
        feet = _lifted(feet, windows, landings)
        points = tuple(self._ways(feet, windows, components, landings))
        angles = [self._solve(leg, way) for leg, way in zip(self._legs, points, strict=True)]
        rows = self._frames(feet, windows, angles)
        return Step(rows, points, _handed_over(feet, windows, points, angles))

    def _superposed(self, components: Floats) -> Floats:
        """Return where each foot lands, `(n_feet, 3)` [m]: half its stroke ahead of the equilibrium point.

        Forward, left and turn make up one stroke for each foot, the way from here to where the same half of
        the motion takes it behind the point. The document adds up vectors; those are this for a small turn.
        """
        return left_behind(self._equilibria, compose(-0.5 * components))

    def _ways(
        self, feet: Feet, windows: list[FootWindow], components: Floats, landings: Floats
    ) -> list[Floats]:
        """Return the points of every foot in this step, `(n, 3)` each [m]."""
        rate = components / self.timing.ground_s
        ways = []
        for foot, window in enumerate(windows):
            n_air = window.n_air if feet.have_lifted[foot] else 0
            down, since = (feet.land_at[foot], window.touched) if n_air else (feet.points[foot], 0.0)
            air, after = window.through_air[:n_air], window.through_air[window.n_air :]
            way = window.times[n_air : len(window.times) - len(after)] - since
            ground = left_behind(down, compose(rate * way[:, np.newaxis]))
            parts = [_through_air(feet.lifted_at[foot], down, air), ground]
            if len(after):
                leaving = left_behind(down, compose(rate * (window.leaves - since)))
                parts.append(_through_air(leaving, landings[foot], after))
            ways.append(np.concatenate(parts))
        return ways

    def _solve(self, leg: MountedLeg, points: Floats) -> Floats:
        """Return the joints that put a paw's lowest point there, or as near as they can, `(n, 3)` [rad]."""
        return leg.inverse(_middle(leg, points), nearest=True)

    def _frames(self, feet: Feet, windows: list[FootWindow], angles: list[Floats]) -> Floats:
        """Return what lies between the points, frame by frame."""
        rows = np.tile(self.standing_pose, (len(windows[0].weights), 1))
        for leg, before, window, knots in zip(self._legs, feet.before, windows, angles, strict=True):
            rows[:, leg.indices] = window.weights @ np.concatenate([before[np.newaxis], knots])
        return rows


def _middle(leg: MountedLeg, points: Floats) -> Floats:
    """Return the middle of a paw's ball where its lowest point is given, `(..., 3)` [m]."""
    return np.add(points, (0.0, 0.0, leg.foot_radius_m))


def _same(some: Floats, others: Floats) -> bool:
    return bool(np.abs(some - others).max() <= ROUNDING)


def _lifted(feet: Feet, windows: list[FootWindow], landings: Floats) -> Feet:
    """Return the feet after those have left the ground whose time it is."""
    lifts = np.array([window.lifts for window in windows])[:, np.newaxis]
    return Feet(
        points=feet.points,
        before=feet.before,
        lifted_at=np.where(lifts, feet.points, feet.lifted_at),
        land_at=np.where(lifts, landings, feet.land_at),
        have_lifted=tuple(had or window.lifts for had, window in zip(feet.have_lifted, windows, strict=True)),
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
    points = lifted_at + through_air[:, :1] * (lands_at - lifted_at)
    points[:, 2] += through_air[:, 1]
    return points
