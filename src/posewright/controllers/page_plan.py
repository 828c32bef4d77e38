"""What pages do by the geometry of the legs: when feet lift, how far a cycle leads, and the mean pose."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.controllers.page_sequence import PageSequence, find_page_loop
from posewright.errors import InputError
from posewright.gaits import GaitCycle, VelocityCommand
from posewright.gaits.arc import chain
from posewright.kinematics import biped_legs_of, legs_of
from posewright.motions import Motion
from posewright.robots import Robot

MIN_LIFT_M = 0.0005
"""A foot is in the air where it is so much higher than the lowest foot: poses are rounded to ticks [m]."""

MAX_PLAN_S = 60.0
"""Pages that take longer until they recur are no walk [s]."""

MIN_SPEED_M_S = 0.005
MIN_TURN_RAD_S = 0.02
"""A slower walk by ROBOTIS' pages comes from its poses, which are a tick off the mirror image."""


@dataclass(frozen=True, eq=False)
class PagePlan:
    """The steady part of a walk by pages, without slipping and lagging.

    Attributes:
        cycle: its times, and when the feet lift.
        velocity: of the trunk over feet that stand still.
        mean_pose: mean of each joint over a cycle, `(n_joints,)` [rad].
    """

    cycle: GaitCycle
    velocity: VelocityCommand
    mean_pose: Floats


def plan_pages(pages: Mapping[str, Motion], first_page: str, robot: Robot) -> PagePlan:
    """Return the plan of pages from the first one on.

    Raises:
        InputError: no page repeats, or not for a minute; a page is for another robot or switches torque off;
            or the robot's card describes no legs.
    """
    page_loop = find_page_loop(pages, first_page)
    sequence = PageSequence(pages, first_page, robot)
    lead_in_frames = sequence.count_frames(page_loop.lead_in)
    cycle_frames = sequence.count_frames(page_loop.loop)
    seconds = (lead_in_frames + cycle_frames) * robot.frame_period_s
    if seconds > MAX_PLAN_S:
        raise InputError(
            f"{pages[first_page].name} takes {seconds:.0f} s until its pages recur",
            hint=f"a walk whose pages recur within {MAX_PLAN_S:g} s",
        )
    n_cycle_frames = round(cycle_frames)
    begin = round(lead_in_frames + cycle_frames)  # the first cycle begins in the pose of the lead-in
    sequence.start()
    rows = sequence.frames(begin + n_cycle_frames)[begin - 1 :]
    feet = LevelFeet.of(rows, robot)
    is_in_air = feet.is_in_air[1:]
    lifts = [
        (_longest_swing_begin(is_in_air[:, column]) + begin) % n_cycle_frames
        for column in range(len(robot.feet))
    ]
    cycle = GaitCycle(
        n_cycle_frames,
        period_s=float(cycle_frames) * robot.frame_period_s,
        air_share=float(is_in_air.mean()),
        lift_phases={foot: lift / n_cycle_frames for foot, lift in zip(robot.feet, lifts, strict=True)},
    )
    displacement = feet.trunk_displacement()
    velocity = _round_small_to_zero(
        VelocityCommand.covering(displacement, n_cycle_frames * robot.frame_period_s)
    )
    return PagePlan(cycle, velocity, mean_pose=rows[1:].mean(axis=0))


def _round_small_to_zero(velocity: VelocityCommand) -> VelocityCommand:
    """Return a velocity without components that come from the rounding of poses to ticks."""
    return VelocityCommand(
        velocity.forward_m_s if abs(velocity.forward_m_s) >= MIN_SPEED_M_S else 0.0,
        velocity.left_m_s if abs(velocity.left_m_s) >= MIN_SPEED_M_S else 0.0,
        velocity.turn_rad_s if abs(velocity.turn_rad_s) >= MIN_TURN_RAD_S else 0.0,
    )


def _longest_swing_begin(is_in_air: Flags) -> int:
    """Return the row in which the longest swing of a periodic cycle `(n,)` begins; 0 without one."""
    begins = np.flatnonzero(is_in_air & ~np.roll(is_in_air, 1))
    if not len(begins):
        return 0
    swings = [np.argmin(np.append(np.roll(is_in_air, -begin), False)) for begin in begins.tolist()]
    return int(begins[np.argmax(swings)])


@dataclass(frozen=True, eq=False)
class LevelFeet:
    """Points of the feet in the trunk's frame, turned so that z is vertical, in every frame.

    A biped's soles are taken as level on average, a quadruped's trunk as level.

    Attributes:
        points: `(n, n_feet, n_points, 3)` [m].
        is_in_air: whether a foot is in the air, `(n, n_feet)`.
    """

    points: Floats
    is_in_air: Flags

    @classmethod
    def of(cls, rows: Floats, robot: Robot) -> LevelFeet:
        """Return the feet of a robot in frames `(n, n_joints)` [rad]."""
        points = quadruped_points(rows, robot) if robot.biped is None else biped_points(rows, robot)
        heights = points[..., 2].mean(axis=2)
        heights_above_lowest = heights - heights.min(axis=1, keepdims=True)
        return cls(points, heights_above_lowest > MIN_LIFT_M)

    def trunk_displacement(self) -> Floats:
        """Return where the trunk is in the last frame, in its first frame, `(3,)` [m, m, rad].

        From frame to frame the points of the feet on the ground stay in place as well as possible (least
        squares).
        """
        displacement: Floats = np.zeros(3)
        for frame in range(len(self.points) - 1):
            is_down = ~(self.is_in_air[frame] | self.is_in_air[frame + 1])
            if not is_down.any():
                continue
            before = self.points[frame, is_down, :, :2].reshape(-1, 2)
            after = self.points[frame + 1, is_down, :, :2].reshape(-1, 2)
            displacement = chain(displacement, _frame_motion(before, after))
        return displacement


def _frame_motion(before: Floats, after: Floats) -> Floats:
    """Return the motion `(3,)` [m, m, rad] of a frame in which resting points `(n, 2)` [m] are seen.

    Args:
        before: the points in the frame before its motion.
        after: the same points in the frame after it.
    """
    centre_before = before.mean(axis=0)
    centre_after = after.mean(axis=0)
    arms_before = before - centre_before
    arms_after = after - centre_after
    cross = (arms_after[:, 0] * arms_before[:, 1] - arms_after[:, 1] * arms_before[:, 0]).sum()
    turn = math.atan2(cross, (arms_after * arms_before).sum())
    cos = math.cos(turn)
    sin = math.sin(turn)
    x = centre_before[0] - (cos * centre_after[0] - sin * centre_after[1])
    y = centre_before[1] - (sin * centre_after[0] + cos * centre_after[1])
    return np.array([x, y, turn])


def biped_points(rows: Floats, robot: Robot) -> Floats:
    """Return the middles of the front and rear edge of each sole, level, `(n, n_feet, 2, 3)` [m]."""
    geometry = robot.require_biped()
    side_of_foot = {foot: side for side, foot in geometry.feet.items()}
    legs = biped_legs_of(robot)
    half_length = geometry.sole_size_m[0] / 2.0
    points = []
    normals = []
    for foot in robot.feet:
        leg = legs[side_of_foot[foot]]
        sole, turn = leg.forward(leg.pick_angles(rows))
        ahead = turn[..., 0] * half_length
        points.append(np.stack([sole + ahead, sole - ahead], axis=1))
        normals.append(turn[..., 2])
    up = np.mean(normals, axis=0)
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    ahead = np.array([1.0, 0.0, 0.0]) - up[:, :1] * up
    ahead /= np.linalg.norm(ahead, axis=-1, keepdims=True)
    to_level = np.stack([ahead, np.cross(up, ahead), up], axis=1)
    level_points: Floats = np.einsum("nij,nfpj->nfpi", to_level, np.stack(points, axis=1))
    return level_points


def quadruped_points(rows: Floats, robot: Robot) -> Floats:
    """Return the centre of each foot, its lowest place at height 0, `(n, n_feet, 1, 3)` [m]."""
    feet = np.stack([leg.forward(rows[:, list(leg.indices)]) for leg in legs_of(robot)], axis=1)
    feet[..., 2] -= feet[..., 2].min(axis=0)  # the trunk need not be level
    return feet[:, :, np.newaxis]
