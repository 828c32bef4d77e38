"""Motion of the feet: slip, clearance, and contact with the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.evaluation.walking.joints import MIN_PATH_M
from posewright.evaluation.walking.walk import Walk
from posewright.kinematics import MountedLeg, legs_by_foot, legs_of
from posewright.recordings.falls import longest_interval, true_intervals


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

    Attributes:
        ball_centres: of the balls of the feet, `(n + 1, n_feet, 3)` [m].
        shank_rotations: rotation matrices, `(n + 1, n_feet, 3, 3)`.
        ball_radii: of the balls, `(n_feet,)` [m].
    """

    ball_centres: Floats
    shank_rotations: Floats
    ball_radii: Floats

    @property
    def heights(self) -> Floats:
        """Height of the lowest point of each foot above the ground, `(n + 1, n_feet)` [m]."""
        heights: Floats = self.ball_centres[..., 2] - self.ball_radii
        return heights


def foot_trajectories(walk: Walk) -> FootTrajectories:
    """Return the trajectories of the feet, computed from joint angles and the base's poses."""
    centres = []
    shank_rotations = []
    for leg in legs_of(walk.robot):
        angles = _leg_angles(walk, leg)
        centres.append(_to_field_frame(walk, leg.forward(angles)))
        shank_rotations.append(walk.trajectory.base_rotations @ leg.shank_rotations(angles))
    radii = np.array([leg.foot_radius_m for leg in legs_of(walk.robot)])
    return FootTrajectories(np.stack(centres, axis=1), np.stack(shank_rotations, axis=1), radii)


def knee_positions(walk: Walk) -> Floats:
    """Return the positions of the knees' axes in the field's frame, `(n + 1, n_feet, 3)` [m]."""
    positions = [
        _to_field_frame(walk, leg.knee_positions(_leg_angles(walk, leg))) for leg in legs_of(walk.robot)
    ]
    return np.stack(positions, axis=1)


def slips(walk: Walk, feet: FootTrajectories) -> Floats:
    """Return the distance that each foot slid over the ground in each frame, `(n, n_feet)` [m].

    The contact point is midway between the lowest point of the ball and the ground it is pressed into. It
    moves with the ball; its displacement over the frame is the slip. Rolling only turns it about itself.

    A frame at one of whose ends the foot touches counts in full: a foot that lands or lifts drags, and the
    physics steps show that this is nearly all of its displacement in the frame. A contact between the two
    ends is not noticed.
    """
    arms = np.zeros_like(feet.ball_centres[:-1])  # from the ball's centre to the contact point, field's frame
    arms[..., 2] = -(feet.ball_centres[:-1, :, 2] + feet.ball_radii) / 2.0
    arms_in_shank = np.einsum("nfji,nfj->nfi", feet.shank_rotations[:-1], arms)
    later_arms = np.einsum("nfij,nfj->nfi", feet.shank_rotations[1:], arms_in_shank)
    displacements = np.diff(feet.ball_centres, axis=0) + later_arms - arms
    is_touching = walk.trajectory.foot_contacts[:-1] | walk.trajectory.foot_contacts[1:]
    return np.where(is_touching, np.hypot(displacements[..., 0], displacements[..., 1]), 0.0)


def measure_feet(walk: Walk, path_m: float) -> FeetFigures:
    """Return the figures of the feet in the measured time.

    Args:
        walk: up to the first fall.
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
        planned_duty=1.0 - walk.timing.air_share,
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
    """Return the figures of one foot.

    Args:
        walk: up to the first fall.
        trajectories: of all feet.
        column: the index of the foot.
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
        planned_duty=1.0 - walk.timing.air_share,
    )


def lifting_phase(walk: Walk, column: int) -> float:
    """Return the phase at which a foot should lift for the first time, in `[0, 1)`."""
    foot = list(legs_by_foot(walk.robot))[column]
    return (walk.phases.offsets[foot] - walk.phases.starts[0]) % 1.0


def cycles_of(walk: Walk, column: int) -> Indices:
    """Return first row and end row of each complete measured cycle of a foot, `(n_cycles, 2)`.

    A foot's cycle begins where it should lift.
    """
    cycle_frames = walk.timing.n_frames
    first_lift = lifting_phase(walk, column) * cycle_frames
    first_number = int(np.ceil(max(walk.settled_row - first_lift, 0.0) / cycle_frames))
    numbers = np.arange(first_number, (walk.last_row - first_lift) / cycle_frames + 1.0)
    # the tolerance keeps a lift at a row from being rounded to the row before
    begins = np.floor(first_lift + numbers * cycle_frames + 1e-6).astype(np.intp)
    begins = begins[begins + cycle_frames <= walk.last_row]
    return np.stack([begins, begins + cycle_frames], axis=-1)


def _mid_swing_height(heights: Floats, contacts: Flags) -> float:
    """Return the height in the middle of the longest time off the ground; 0 without any [m]."""
    swings = true_intervals(~contacts)
    if not swings:
        return 0.0
    begin, end = longest_interval(swings)
    return float(heights[(begin + end - 1) // 2])
