"""What the feet do: slip, clearance, and when they are on the ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.evaluation.walking.joints import LEAST_WAY_M
from posewright.evaluation.walking.walk import Walk
from posewright.kinematics import MountedLeg, legs_by_foot, legs_of
from posewright.recordings.falls import runs


@dataclass(frozen=True, kw_only=True)
class FootWork:
    """What one foot did; each figure as `docs/measuring-a-gait.md` explains it, None where it has none."""

    foot: str
    slip_m: float
    highest_m: float
    lowest_swing_m: float | None
    mid_swing_m: float | None
    duty: float | None
    planned_duty: float


@dataclass(frozen=True, kw_only=True)
class FeetWork:
    """What the feet did in the measured time: see `docs/measuring-a-gait.md`."""

    slip_m: float
    slip_per_m: float | None
    foot_clearance_m: float | None
    mid_swing_clearance_m: float | None
    lowest_knee_m: float
    duty: float | None
    planned_duty: float
    feet_down: tuple[float, ...]
    feet: tuple[FootWork, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FootTracks:
    """Where the feet were, in the field's frame.

    Attributes:
        centres: of their balls, `(n + 1, n_feet, 3)` [m].
        turned: how the shanks were turned, `(n + 1, n_feet, 3, 3)`.
        radii: of the balls, `(n_feet,)` [m].
    """

    centres: Floats
    turned: Floats
    radii: Floats

    @property
    def heights(self) -> Floats:
        """How high the lowest points were above the ground, `(n + 1, n_feet)` [m]."""
        heights: Floats = self.centres[..., 2] - self.radii
        return heights


def foot_tracks(walk: Walk) -> FootTracks:
    """Return where the feet were, by the legs' closed form from the joints and the base."""
    centres, turned = [], []
    for leg in legs_of(walk.robot):
        angles = _angles(walk, leg)
        centres.append(_in_the_field(walk, leg.forward(angles)))
        turned.append(walk.trajectory.turned @ leg.shank_rotations(angles))
    radii = np.array([leg.foot_radius_m for leg in legs_of(walk.robot)])
    return FootTracks(np.stack(centres, axis=1), np.stack(turned, axis=1), radii)


def knees(walk: Walk) -> Floats:
    """Return where the axes of the knees were, in the field's frame, `(n + 1, n_feet, 3)` [m]."""
    places = [_in_the_field(walk, leg.knee_positions(_angles(walk, leg))) for leg in legs_of(walk.robot)]
    return np.stack(places, axis=1)


def slips(walk: Walk, feet: FootTracks) -> Floats:
    """Return how far each foot slid over the ground in each frame, `(n, n_feet)` [m].

    What touches is the point midway between the lowest of the ball and the ground it is pressed into. It
    moves with the ball, and where it is at the end of the frame is how far it slid; rolling only turns it
    about itself. A frame at one of whose ends the foot touches counts whole: a paw that lands or lifts drags,
    and measured step by step of the physics that is nearly all of its way in the frame. A touch between two
    ends is not seen.
    """
    arms = np.zeros_like(feet.centres[:-1])
    arms[..., 2] = -(feet.centres[:-1, :, 2] + feet.radii) / 2.0
    inside = np.einsum("nfji,nfj->nfi", feet.turned[:-1], arms)
    ways = np.diff(feet.centres, axis=0) + np.einsum("nfij,nfj->nfi", feet.turned[1:], inside) - arms
    touching = walk.trajectory.foot_contacts[:-1] | walk.trajectory.foot_contacts[1:]
    return np.where(touching, np.hypot(ways[..., 0], ways[..., 1]), 0.0)


def feet_work_of(walk: Walk, path_m: float) -> FeetWork:
    """Return what the feet did in the measured time, in which the way of `path_m` was gone."""
    places = foot_tracks(walk)
    slid = slips(walk, places)[walk.begin :].sum(axis=0)
    contacts = walk.trajectory.foot_contacts[walk.begin + 1 :]
    feet = tuple(
        _foot(walk, places, column, float(slid[column]), _duty(contacts[:, column]))
        for column in range(len(walk.robot.feet))
    )
    total = float(slid.sum())
    counts = np.bincount(contacts.sum(axis=1), minlength=len(feet) + 1)
    return FeetWork(
        slip_m=total,
        slip_per_m=total / path_m if path_m >= LEAST_WAY_M else None,
        foot_clearance_m=_least([one.lowest_swing_m for one in feet]),
        mid_swing_clearance_m=_least([one.mid_swing_m for one in feet]),
        lowest_knee_m=float(knees(walk)[walk.first_measured :, :, 2].min()),
        duty=_duty(contacts.ravel()),
        planned_duty=1.0 - walk.timing.air_share,
        feet_down=tuple((counts / max(len(contacts), 1)).tolist()),
        feet=feet,
    )


def _angles(walk: Walk, leg: MountedLeg) -> Floats:
    return walk.trajectory.positions[:, list(leg.indices)]


def _in_the_field(walk: Walk, points: Floats) -> Floats:
    """Return where points of the base's frame were in the field's, `(n + 1, 3)` [m]."""
    places: Floats = walk.trajectory.base[:, :3] + np.einsum("nij,nj->ni", walk.trajectory.turned, points)
    return places


def _duty(contacts: Flags) -> float | None:
    return float(contacts.mean()) if contacts.size else None


def _least(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known) if len(known) == len(values) else None


def _foot(walk: Walk, places: FootTracks, column: int, slip_m: float, duty: float | None) -> FootWork:
    heights = places.heights[:, column]
    cycles = cycles_of(walk, column).tolist()
    peaks = [float(heights[begin:end].max()) for begin, end in cycles]
    middles = [_middle(heights[b:e], walk.trajectory.foot_contacts[b:e, column]) for b, e in cycles]
    return FootWork(
        foot=walk.robot.feet[column],
        slip_m=slip_m,
        highest_m=float(heights[min(walk.begin, len(heights) - 1) :].max()),
        lowest_swing_m=min(peaks, default=None),
        mid_swing_m=min(middles, default=None),
        duty=duty,
        planned_duty=1.0 - walk.timing.air_share,
    )


def lifting_phase(walk: Walk, column: int) -> float:
    """Return the part of a cycle after which a foot is to lift first, 0 to less than 1."""
    foot = list(legs_by_foot(walk.robot))[column]
    return (walk.phases.offsets[foot] - walk.phases.starts[0]) % 1.0


def cycles_of(walk: Walk, column: int) -> Indices:
    """Return the rows of each whole cycle of a foot that was measured, `(n_cycles, 2)`.

    A foot's cycle begins where it is told to lift; told are its first row, and the one after its last.
    """
    frames, last = walk.timing.frames, walk.last
    first = lifting_phase(walk, column) * frames
    numbers = np.arange(int(np.ceil(max(walk.begin - first, 0.0) / frames)), (last - first) / frames + 1.0)
    begins = np.floor(first + numbers * frames + 1e-6).astype(np.intp)
    begins = begins[begins + frames <= last]
    return np.stack([begins, begins + frames], axis=-1)


def _middle(heights: Floats, touching: Flags) -> float:
    """Return the height in the middle of the longest time without touching the ground, 0 without any."""
    free = max(runs(~touching), key=lambda run: run[1] - run[0], default=None)
    return 0.0 if free is None else float(heights[(free[0] + free[1] - 1) // 2])
