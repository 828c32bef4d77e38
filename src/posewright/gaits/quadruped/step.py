"""Planning of one step, from a command to all joints, in the order of the lecture.

A step lasts from one lifting of feet to the next. At its beginning the command takes effect; feet on the
ground then move with the ground relative to the body, and feet that lift get their landing points: half a
ground phase of that motion in front of their equilibrium points. Each foot goes on from where it is, whatever
the commands before, so joint angles are continuous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.errors import InputError
from posewright.gaits.arc import se2_exp, to_moved_frame
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.foot_timeline import FootTimeline, FootWindow, build_timelines
from posewright.gaits.quadruped.phases import walking_legs
from posewright.gaits.quadruped.timing import GaitTiming, timing_of
from posewright.gaits.quadruped.values import QuadrupedValues
from posewright.kinematics import MountedLeg
from posewright.robots import Robot

ROUNDING = 1e-12
"""Positions [m] and angles [rad] that differ by less are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class Feet:
    """State of the feet at the beginning of a step, in the trunk's frame.

    Attributes:
        positions: positions, `(n_feet, 3)` [m].
        previous_angles: joint angles of each leg at its previous point, where the spline continues,
            `(n_feet, 3)` [rad].
        lift_points: where each foot last left the ground, `(n_feet, 3)` [m].
        landing_points: where each foot will land, `(n_feet, 3)` [m].
        have_lifted: false until a foot's first step, `(n_feet,)`.
    """

    positions: Floats = field(repr=False)
    previous_angles: Floats = field(repr=False)
    lift_points: Floats = field(repr=False)
    landing_points: Floats = field(repr=False)
    have_lifted: tuple[bool, ...]

    def equals(self, feet: Feet) -> bool:
        """Return whether two states are equal up to rounding."""
        return self is feet or (
            self.have_lifted == feet.have_lifted
            and _is_close(self.positions, feet.positions)
            and _is_close(self.previous_angles, feet.previous_angles)
            and _is_close(self.lift_points, feet.lift_points)
            and _is_close(self.landing_points, feet.landing_points)
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStep:
    """A planned step; a `GaitStep`.

    Attributes:
        joint_angles: the joints in every frame, `(n_frames, n_joints)` [rad].
        foot_points: each foot's positions in the trunk's frame, `(n, 3)` each [m]; the last lies beyond the
            end of the step.
        feet_after: state of the feet at its end.
        legs: the leg of each foot in the order of `foot_points`, by foot.
    """

    joint_angles: Floats = field(repr=False)
    foot_points: tuple[Floats, ...] = field(repr=False)
    feet_after: Feet = field(repr=False)
    legs: Mapping[str, MountedLeg] = field(repr=False)

    @property
    def foot_errors_m(self) -> Mapping[str, float]:
        """How far each foot stays at most from its planned points, by foot [m]."""
        return {
            foot: float(leg.distances_to_ground(points).max())
            for (foot, leg), points in zip(self.legs.items(), self.foot_points, strict=True)
        }

    def ends_like(self, step: Self) -> bool:
        """Return whether the feet end as after another step, so that the walk goes on in the same way."""
        return self.feet_after.equals(step.feet_after)


class StepPlanner:
    """Plans the steps of a gait for a robot.

    Feet are in the order of the gait's phase table.

    Args:
        gait: the gait.
        robot: the robot that walks.

    Attributes:
        gait: the gait.
        timing: how long its steps and phases take.
        standing_pose: the pose with all feet on their equilibrium points, `(n_joints,)` [rad]; read-only.

    Raises:
        InputError: the gait is for another robot.
    """

    def __init__(self, gait: QuadrupedValues, robot: Robot) -> None:
        """Find the timelines and equilibrium points of the feet, and compute the standing pose."""
        if gait.robot != robot.name:
            raise InputError(f"gait {gait.name} is made for {gait.robot}", hint=f"the robot is {robot.name}")
        self.gait = gait
        self.timing: GaitTiming = timing_of(gait.parameters, robot.frame_period_s)
        legs = walking_legs(robot)
        self._legs_by_foot: dict[str, MountedLeg] = {foot: legs[foot] for foot in gait.phases.offsets}
        self._legs = list(self._legs_by_foot.values())
        self._timelines: list[FootTimeline] = build_timelines(gait, self.timing, robot.frame_period_s)
        self._equilibria = np.array([gait.parameters.equilibrium_m[foot] for foot in gait.phases.offsets])
        self._no_feet: Flags = np.zeros(len(self._legs), dtype=np.bool_)
        # Sony's poses are rounded to micro-radians, so some exceed a limit in whole degrees by half of one.
        self.standing_pose: Floats = np.clip(robot.pose(gait.pose), *robot.limits)
        for leg, point in zip(self._legs, self._equilibria, strict=True):
            self.standing_pose[list(leg.indices)] = leg.inverse(leg.foot_centres(point))
        self.standing_pose.setflags(write=False)

    @property
    def n_steps_per_cycle(self) -> int:
        """Number of steps in a cycle."""
        return len(self._timelines[0].windows)

    @property
    def standing_feet(self) -> Feet:
        """All feet on their equilibrium points, before the first step."""
        angles = np.stack([self.standing_pose[list(leg.indices)] for leg in self._legs])
        points = self._equilibria
        return Feet(points, angles, points, points, have_lifted=(False,) * len(self._legs))

    def are_in_place(self, feet: Feet) -> Flags:
        """Return which feet are on their equilibrium points, `(n_feet,)`."""
        distances: Floats = np.abs(feet.positions - self._equilibria).max(axis=1)
        return distances <= ROUNDING

    def plan_step(self, command: VelocityCommand | None, feet: Feet, step_index: int) -> PlannedStep:
        """Return the next step.

        Args:
            command: velocity of the body from now on; None to come to stand: feet land on their equilibrium
                points, and those that are there stay down.
            feet: state of the feet.
            step_index: index of the step in the cycle, from 0.
        """
        ground_s = self.timing.ground_s
        # 1. The motion of the body while a foot is down, as components (arc.py).
        body_components = (command or STILL).components(ground_s)
        # 2. The motion of the feet for that; coming to stand needs no compensation.
        foot_components = body_components
        if command is not None:
            foot_components = self.gait.compensate(body_components, ground_s)
        # 3. The stroke of each foot around its equilibrium point; feet that lift now land in front of it.
        next_landing_points = self._landing_points(foot_components)
        windows = [timeline.windows[step_index] for timeline in self._timelines]
        stays_down = self.are_in_place(feet) if command is None else self._no_feet
        lifted = _lift_feet(feet, windows, next_landing_points, stays_down)
        # 4. The points of each foot.
        points = self._compute_foot_points(
            lifted, windows, foot_components, next_landing_points, halts=command is None
        )
        # 5. The joint angles that put a foot's lowest point there, or as near as possible.
        angles = [
            leg.inverse(leg.foot_centres(foot_points), nearest=True)
            for leg, foot_points in zip(self._legs, points, strict=True)
        ]
        # 6. Interpolation frame by frame.
        rows = self._interpolate_frames(lifted.previous_angles, windows, angles)
        feet_after = _feet_after(lifted, windows, points, angles)
        return PlannedStep(rows, points, feet_after, self._legs_by_foot)

    def _landing_points(self, components: Floats) -> Floats:
        """Return the landing point of each foot, half a stroke before its equilibrium, `(n_feet, 3)` [m].

        Half of the body's motion over the ground phase moves a foot from there to its equilibrium point. The
        lecture adds up vectors instead, which is equal for a small turn.
        """
        return to_moved_frame(self._equilibria, se2_exp(-0.5 * components))

    def _compute_foot_points(
        self,
        feet: Feet,
        windows: list[FootWindow],
        components: Floats,
        next_landing_points: Floats,
        *,
        halts: bool,
    ) -> tuple[Floats, ...]:
        """Return the points of every foot in this step, `(n, 3)` each [m].

        Args:
            feet: state of the feet, with those lifted that lift in this step.
            windows: each foot's times in this step.
            components: motion of the body while a foot is down, `(3,)` [m, m, rad].
            next_landing_points: where each foot lands if it lifts now, `(n_feet, 3)` [m].
            halts: whether the robot comes to stand.
        """
        velocity = components / self.timing.ground_s
        points_of_feet = []
        for foot, foot_window in enumerate(windows):
            window = foot_window if feet.have_lifted[foot] else foot_window.standing
            begins_in_air = len(window.air_points) > 0
            touchdown_point = feet.landing_points[foot] if begins_in_air else feet.positions[foot]
            air_points = _air_points(feet.lift_points[foot], touchdown_point, window.air_points)
            body_moves = se2_exp(velocity * window.ground_times[:, np.newaxis])
            ground_points = to_moved_frame(touchdown_point, body_moves)
            lifts_again = len(window.next_air_points) > 0
            is_in_place = halts and lifts_again and _is_close(ground_points[-1], self._equilibria[foot])
            next_air_points = _air_points(
                lift_points=ground_points[-1:],
                landing_point=next_landing_points[foot],
                # a foot in place is not lifted any more
                stroke_shares_and_heights=(
                    np.zeros_like(window.next_air_points) if is_in_place else window.next_air_points
                ),
            )
            points_of_feet.append(np.concatenate([air_points, ground_points, next_air_points]))
        return tuple(points_of_feet)

    def _interpolate_frames(
        self, previous_angles: Floats, windows: list[FootWindow], angles: list[Floats]
    ) -> Floats:
        """Return the angles of all joints in every frame, `(n_frames, n_joints)` [rad].

        Args:
            previous_angles: angles of each leg at its last point before this step, `(n_feet, 3)` [rad].
            windows: each foot's interpolation weights.
            angles: angles of each leg at its points in this step, `(n_points, 3)` each [rad].
        """
        n_frames = len(windows[0].interpolation_weights)  # the same for all feet
        joint_angles = np.tile(self.standing_pose, (n_frames, 1))
        for leg, previous, window, angles_of_leg in zip(
            self._legs, previous_angles, windows, angles, strict=True
        ):
            knots = np.concatenate([previous[np.newaxis], angles_of_leg])
            joint_angles[:, leg.indices] = window.interpolation_weights @ knots
        return joint_angles


def _is_close(a: Floats, b: Floats) -> bool:
    """Return whether two arrays are equal up to rounding."""
    return bool(np.abs(a - b).max() <= ROUNDING)


def _lift_feet(feet: Feet, windows: list[FootWindow], next_landing_points: Floats, stays_down: Flags) -> Feet:
    """Return the state of the feet after those have left the ground that lift in this step.

    A foot that lifts leaves the ground where it is, and gets a new landing point.

    Args:
        feet: the state of the feet before.
        windows: when each foot is in the air in this step.
        next_landing_points: where each foot lands if it lifts now, `(n_feet, 3)` [m].
        stays_down: feet that do not lift although it is their turn, `(n_feet,)`; their next lift counts as
            their first again.
    """
    is_its_turn = np.array([window.lifts_at_start for window in windows])
    lifts_now = is_its_turn & ~stays_down
    has_lifted = (np.array(feet.have_lifted) | lifts_now) & ~stays_down
    lifts_now_column = lifts_now[:, np.newaxis]
    return Feet(
        positions=feet.positions,
        previous_angles=feet.previous_angles,
        lift_points=np.where(lifts_now_column, feet.positions, feet.lift_points),
        landing_points=np.where(lifts_now_column, next_landing_points, feet.landing_points),
        have_lifted=tuple(has_lifted.tolist()),
    )


def _feet_after(
    feet: Feet, windows: list[FootWindow], points: tuple[Floats, ...], angles: list[Floats]
) -> Feet:
    """Return the feet at the end of the step.

    Args:
        feet: the state of the feet in the step.
        windows: which of a foot's points is at the end of the step.
        points: the points of each foot, `(n, 3)` each [m].
        angles: the angles of each leg at these points, `(n, 3)` each [rad].
    """
    end_positions = []
    previous_angles = []
    for foot_points, leg_angles, window in zip(points, angles, windows, strict=True):
        end_positions.append(foot_points[window.end_point_index])
        # the next step's interpolation also needs the point before the one that ends this step
        previous_angles.append(leg_angles[window.end_point_index - 1])
    return Feet(
        positions=np.stack(end_positions),
        previous_angles=np.stack(previous_angles),
        lift_points=feet.lift_points,
        landing_points=feet.landing_points,
        have_lifted=feet.have_lifted,
    )


def _air_points(lift_points: Floats, landing_point: Floats, stroke_shares_and_heights: Floats) -> Floats:
    """Return points in the air, `(n, 3)` [m].

    Args:
        lift_points: where the foot leaves the ground, `(3,)` or `(1, 3)` [m].
        landing_point: where it lands, `(3,)` [m].
        stroke_shares_and_heights: shares of the stroke and heights of a `FootWindow`, `(n, 2)`.
    """
    points = lift_points + stroke_shares_and_heights[:, :1] * (landing_point - lift_points)
    points[:, 2] += stroke_shares_and_heights[:, 1]
    return points
