"""Motion of the feet: slip, clearance, and contact with the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.evaluation.walking.joints import MIN_PATH_M
from posewright.evaluation.walking.walk import Walk
from posewright.kinematics import BipedLeg, MountedLeg, biped_legs_of, legs_of
from posewright.recordings.falls import longest_interval, true_intervals
from posewright.robots import SIDES, BipedGeometry

LOW_CORNER_M = 1e-3
"""Corners of a sole that are so much higher than the lowest touch the ground, too [m]."""


@dataclass(frozen=True, kw_only=True)
class FootFigures:
    """Figures of one foot, explained in `docs/measuring-a-gait.md`; None without a complete cycle."""

    foot: str
    slip_m: float
    highest_m: float
    lowest_swing_m: float | None
    mid_swing_m: float | None
    duty: float | None
    planned_duty: float


@dataclass(frozen=True, kw_only=True)
class FeetFigures:
    """Figures of all feet in the measured time, explained in `docs/measuring-a-gait.md`."""

    slip_m: float
    slip_per_m: float | None
    foot_clearance_m: float | None
    mid_swing_clearance_m: float | None
    lowest_knee_m: float
    duty: float | None
    planned_duty: float
    feet_down: tuple[float, ...]
    feet: tuple[FootFigures, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FootTrajectories:
    """Trajectories of the feet in the field's frame.

    A foot touches the ground with one of its points: the ball of a dog's foot has one, its centre, and the
    sole of a biped's foot its four corners.

    Attributes:
        points: centres of what may touch the ground, `(n + 1, n_feet, n_points, 3)` [m].
        rotations: rotation matrices of shanks or soles, `(n + 1, n_feet, 3, 3)`.
        radii: the radii of balls around the points, 0 for corners, `(n_feet,)` [m].
    """

    points: Floats
    rotations: Floats
    radii: Floats

    @property
    def point_heights(self) -> Floats:
        """Heights of the lowest point around each point above the ground, `(n + 1, n_feet, n_points)` [m]."""
        heights: Floats = self.points[..., 2] - self.radii[:, np.newaxis]
        return heights

    @property
    def heights(self) -> Floats:
        """Height of the lowest point of each foot above the ground, `(n + 1, n_feet)` [m]."""
        heights: Floats = self.point_heights.min(axis=-1)
        return heights


def foot_trajectories(walk: Walk) -> FootTrajectories:
    """Return the trajectories of the feet, computed from joint angles and the base's poses."""
    if walk.robot.biped is not None:
        return _sole_trajectories(walk, walk.robot.biped)
    legs = legs_of(walk.robot)
    ball_centres = []
    shank_rotations = []
    for leg in legs:
        angles = _leg_angles(walk, leg)
        ball_centres.append(_to_field_frame(walk, leg.forward(angles)))
        shank_rotations.append(walk.trajectory.base_rotations @ leg.shank_rotations(angles))
    return FootTrajectories(
        points=np.stack(ball_centres, axis=1)[:, :, np.newaxis],  # one point for each foot
        rotations=np.stack(shank_rotations, axis=1),
        radii=np.array([leg.foot_radius_m for leg in legs]),
    )


def _sole_trajectories(walk: Walk, geometry: BipedGeometry) -> FootTrajectories:
    """Return the trajectories of a biped's soles and of their four corners.

    Args:
        walk: the walk.
        geometry: the geometry of the robot's legs.
    """
    length, width = geometry.sole_size_m
    corners_on_sole = np.array(
        [(x, y, 0.0) for x in (-length / 2, length / 2) for y in (-width / 2, width / 2)]
    )
    corners_of_feet = []  # in the field's frame
    rotations_of_feet = []
    for leg in _biped_legs_in_foot_order(walk):
        leg_angles = leg.pick_angles(walk.trajectory.positions)
        sole_centres, sole_rotations = leg.forward(leg_angles)  # in the base's frame
        corners_of_foot = []
        for corner in corners_on_sole:
            corner_in_base = sole_centres + np.einsum("nij,j->ni", sole_rotations, corner)
            corners_of_foot.append(_to_field_frame(walk, corner_in_base))
        corners_of_feet.append(np.stack(corners_of_foot, axis=1))
        rotations_of_feet.append(walk.trajectory.base_rotations @ sole_rotations)
    return FootTrajectories(
        points=np.stack(corners_of_feet, axis=1),
        rotations=np.stack(rotations_of_feet, axis=1),
        radii=np.zeros(len(SIDES)),
    )


def _biped_legs_in_foot_order(walk: Walk) -> list[BipedLeg]:
    """Return the legs of a biped in the order of its feet."""
    side_of_foot = {foot: side for side, foot in walk.robot.require_biped().feet.items()}
    legs = biped_legs_of(walk.robot)
    return [legs[side_of_foot[foot]] for foot in walk.robot.feet]


def knee_positions(walk: Walk) -> Floats:
    """Return the positions of the knees' axes in the field's frame, `(n + 1, n_feet, 3)` [m]."""
    if walk.robot.biped is not None:
        knees_in_base = [
            leg.knee_positions(leg.pick_angles(walk.trajectory.positions))
            for leg in _biped_legs_in_foot_order(walk)
        ]
    else:
        knees_in_base = [leg.knee_positions(_leg_angles(walk, leg)) for leg in legs_of(walk.robot)]
    return np.stack([_to_field_frame(walk, positions) for positions in knees_in_base], axis=1)


def slips(walk: Walk, feet: FootTrajectories) -> Floats:
    """Return the distance that each foot slid over the ground in each frame, `(n, n_feet)` [m].

    The contact point is midway between the lowest point of the ball and the ground it is pressed into. It
    moves with the ball; its displacement over the frame is the slip. Rolling only turns it about itself. Of
    the corners of a sole, those count that are as low as the lowest; their mean displacement is the slip.

    A frame at one of whose ends the foot touches counts in full: a foot that lands or lifts drags, and the
    physics steps show that this is nearly all of its displacement in the frame. A contact between the two
    ends is not noticed.
    """
    # the contact points belong to the foot: they are carried along by its rotation over the frame
    to_contacts = np.zeros_like(
        feet.points[:-1]
    )  # from each point to its contact point, in the field's frame
    to_contacts[..., 2] = -(feet.points[:-1, ..., 2] + feet.radii[:, np.newaxis]) / 2.0
    to_contacts_in_foot = np.einsum("nfji,nfpj->nfpi", feet.rotations[:-1], to_contacts)
    to_contacts_after = np.einsum("nfij,nfpj->nfpi", feet.rotations[1:], to_contacts_in_foot)
    displacements = np.diff(feet.points, axis=0) + to_contacts_after - to_contacts
    heights = feet.point_heights[:-1]
    is_low = heights <= heights.min(axis=-1, keepdims=True) + LOW_CORNER_M
    mean_displacements = (displacements * is_low[..., np.newaxis]).sum(axis=2)
    mean_displacements /= is_low.sum(axis=2)[..., np.newaxis]
    is_touching = walk.trajectory.foot_contacts[:-1] | walk.trajectory.foot_contacts[1:]
    horizontal_distances = np.hypot(mean_displacements[..., 0], mean_displacements[..., 1])
    return np.where(is_touching, horizontal_distances, 0.0)


def measure_feet(walk: Walk, path_m: float) -> FeetFigures:
    """Return the figures of the feet in the measured time.

    Args:
        walk: the walk up to the first fall.
        path_m: length of the base's path in the measured time [m].
    """
    trajectories = foot_trajectories(walk)
    slips_m = slips(walk, trajectories)[walk.settled_row :].sum(axis=0)
    contacts = walk.trajectory.foot_contacts[walk.settled_row + 1 :]
    feet = tuple(
        _measure_foot(
            walk, trajectories, column, slip_m=float(slips_m[column]), duty=_duty(contacts[:, column])
        )
        for column in range(len(walk.robot.feet))
    )
    total_slip_m = float(slips_m.sum())
    rows_by_feet_down = np.bincount(contacts.sum(axis=1), minlength=len(feet) + 1)
    return FeetFigures(
        slip_m=total_slip_m,
        slip_per_m=total_slip_m / path_m if path_m >= MIN_PATH_M else None,
        foot_clearance_m=_min_of_all([foot.lowest_swing_m for foot in feet]),
        mid_swing_clearance_m=_min_of_all([foot.mid_swing_m for foot in feet]),
        lowest_knee_m=float(knee_positions(walk)[walk.first_measured_row :, :, 2].min()),
        duty=_duty(contacts.ravel()),
        planned_duty=1.0 - walk.cycle.air_share,
        feet_down=tuple((rows_by_feet_down / max(len(contacts), 1)).tolist()),
        feet=feet,
    )


def _leg_angles(walk: Walk, leg: MountedLeg) -> Floats:
    """Return the angles of a leg's joints in all rows, `(n + 1, n_leg_joints)` [rad]."""
    return walk.trajectory.positions[:, list(leg.indices)]


def _to_field_frame(walk: Walk, points: Floats) -> Floats:
    """Return points `(n + 1, 3)` of the base's frame in the field's frame, `(n + 1, 3)` [m]."""
    trajectory = walk.trajectory
    positions: Floats = trajectory.base[:, :3] + np.einsum("nij,nj->ni", trajectory.base_rotations, points)
    return positions


def _duty(contacts: Flags) -> float | None:
    """Return the share of rows with contact; None without rows."""
    return float(contacts.mean()) if contacts.size else None


def _min_of_all(values: list[float | None]) -> float | None:
    """Return the least of the values, or None if one of them is None."""
    numbers = [value for value in values if value is not None]
    return min(numbers) if len(numbers) == len(values) else None


def _measure_foot(
    walk: Walk, trajectories: FootTrajectories, column: int, slip_m: float, duty: float | None
) -> FootFigures:
    """Return the figures of one foot: its slip, the heights of its swings, its time on the ground.

    A cycle of the foot has one swing. `peaks_m` are the greatest heights in each cycle, `mid_swings_m` the
    heights in the middle of each swing.

    Args:
        walk: the walk up to the first fall.
        trajectories: the trajectories of all feet.
        column: the index of the foot, and its column in the trajectories.
        slip_m: its slip in the measured time, as measured before [m].
        duty: the share of this time in which it was on the ground; None without rows.
    """
    heights = trajectories.heights[:, column]
    contacts = walk.trajectory.foot_contacts[:, column]
    peaks_m = []
    mid_swings_m = []
    for begin, end in cycles_of(walk, column).tolist():
        peaks_m.append(float(heights[begin:end].max()))
        mid_swings_m.append(_mid_swing_height(heights[begin:end], contacts[begin:end]))
    return FootFigures(
        foot=walk.robot.feet[column],
        slip_m=slip_m,
        highest_m=float(heights[min(walk.settled_row, len(heights) - 1) :].max()),  # at least the last row
        lowest_swing_m=min(peaks_m, default=None),
        mid_swing_m=min(mid_swings_m, default=None),
        duty=duty,
        planned_duty=1.0 - walk.cycle.air_share,
    )


def lifting_phase(walk: Walk, column: int) -> float:
    """Return the phase at which a foot should lift for the first time, in `[0, 1)`."""
    return walk.cycle.lift_phases[walk.robot.feet[column]]


def cycles_of(walk: Walk, column: int) -> Indices:
    """Return first row and end row of each complete measured cycle of a foot, `(n_cycles, 2)`.

    A foot's cycle begins where it should lift.
    """
    cycle_frames = walk.cycle.n_frames
    first_lift = lifting_phase(walk, column) * cycle_frames  # in frames from the begin of the walk
    first_cycle = int(np.ceil(max(walk.settled_row - first_lift, 0.0) / cycle_frames))
    cycle_numbers = np.arange(first_cycle, (walk.last_row - first_lift) / cycle_frames + 1.0)
    # the tolerance keeps a lift at a row from being rounded to the row before
    begins = np.floor(first_lift + cycle_numbers * cycle_frames + 1e-6).astype(np.intp)
    begins = begins[begins + cycle_frames <= walk.last_row]
    return np.stack([begins, begins + cycle_frames], axis=-1)


def _mid_swing_height(heights: Floats, contacts: Flags) -> float:
    """Return the height in the middle of the longest time off the ground; 0 without any [m]."""
    swings = true_intervals(~contacts)
    if not swings:
        return 0.0
    begin, end = longest_interval(swings)
    return float(heights[(begin + end - 1) // 2])
