"""What a walk asks of the joints of the legs: speed, torque, work, and room to the limits.

A servo holds one command for a frame, so within a frame its drive is a spring: torque = stiffness * (command
- angle), cut off at the stall torque. The angle at both ends of the frame is known, the torque at both ends
with it. The work of a spring from one angle to another is the mean of both torques times the angle, whatever
happens in between. That is exact for a spring that is not cut off; for one that gives its stall torque in a
part of the frame only it is not.

What turns the joint, the *shaft* torque, is the drive's less damping * speed: the damping is the slope of the
torque-speed line, what the motor's own turning takes from its torque (stall torque / no-load speed). What it
takes in a frame is worked out from the mean speed: the least it can be, as the square of a speed that changes
is more on the mean. Over a walk the work done agrees with the sum over every step of the physics within 3 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.walking.walk import Correction, Walk, worse_of

LEAST_WAY_M = 0.05
"""A way shorter than this is no walk: what is for a metre is then not said."""


@dataclass(frozen=True, slots=True, eq=False)
class Drives:
    """What the drives of the legs' joints gave in each frame.

    Attributes:
        peaks: greatest torque at either end of the frame, `(n, n_leg_joints)` [N m].
        squares: mean of the squares at both ends, `(n, n_leg_joints)` [N^2 m^2].
        work: done at the shafts, negative where the joint is driven back, `(n, n_leg_joints)` [J].
    """

    peaks: Floats
    squares: Floats
    work: Floats


def drives_of(walk: Walk) -> Drives:
    """Return what the drives of the legs' joints gave in each frame.

    Torques at a frame's end are MuJoCo's own; those at its beginning follow from the command that takes
    effect then, with this body's stiffness and latency.
    """
    track, legs = walk.trajectory, walk.trajectory.legs
    angles, stall = track.positions[:, legs], track.stall_nm[legs]
    n_joints = len(track.robot.joint_names)
    stiffness, damping = (track.numbers(name, n_joints)[legs] for name in ("stiffness", "damping"))
    frames, latency = np.arange(1, len(walk.sent)), int(track.numbers("latency_frames"))
    effective = walk.sent[np.maximum(frames - latency, 0)]
    pulling = stiffness * (effective[:, legs] - angles[:-1])
    first, last = np.clip(pulling, -stall, stall), track.efforts[1:, legs]
    turned = np.diff(angles, axis=0)
    taken = damping * turned**2 / walk.frame_s
    return Drives(
        peaks=np.maximum(np.abs(first), np.abs(last)),
        squares=(first**2 + last**2) / 2.0,
        work=(first + last) / 2.0 * turned - taken,
    )


@dataclass(frozen=True)
class JointLoad:
    """What one joint of a leg bore: see `docs/measuring-a-gait.md`."""

    joint: str
    commanded_speed_ratio: float
    measured_speed_ratio: float
    max_torque_ratio: float
    rms_torque_ratio: float
    limit_margin_deg: float


@dataclass(frozen=True, kw_only=True)
class JointLoads:
    """What the joints of the legs bore, from the moment the robot was let go: `docs/measuring-a-gait.md`.

    Speeds are changes from frame to frame over the frame's length, of the command before safety saw it and
    of the angle as it was.
    """

    max_joint_speed_ratio: float
    commanded_speed_ratio: float
    measured_speed_ratio: float
    fastest_joint: str
    max_torque_ratio: float
    rms_torque_ratio: float
    hardest_joint: str
    limit_margin_deg: float
    limit_margin_joint: str
    coupled_margin_deg: float | None
    coupled_margin_joint: str | None
    interventions: int
    corrections: tuple[Correction, ...]
    joints: tuple[JointLoad, ...]


def joint_loads_of(walk: Walk, drives: Drives) -> JointLoads:
    """Return what the joints of the legs bore."""
    joints = _each(walk, drives)
    fastest = max(joints, key=lambda one: max(one.commanded_speed_ratio, one.measured_speed_ratio))
    hardest = max(joints, key=lambda one: one.rms_torque_ratio)
    nearest = min(joints, key=lambda one: one.limit_margin_deg)
    coupled_deg, coupled = _coupled_margin(walk)
    return JointLoads(
        max_joint_speed_ratio=max(fastest.commanded_speed_ratio, fastest.measured_speed_ratio),
        commanded_speed_ratio=max(one.commanded_speed_ratio for one in joints),
        measured_speed_ratio=max(one.measured_speed_ratio for one in joints),
        fastest_joint=fastest.joint,
        max_torque_ratio=max(one.max_torque_ratio for one in joints),
        rms_torque_ratio=hardest.rms_torque_ratio,
        hardest_joint=hardest.joint,
        limit_margin_deg=nearest.limit_margin_deg,
        limit_margin_joint=nearest.joint,
        coupled_margin_deg=coupled_deg,
        coupled_margin_joint=coupled,
        interventions=len(walk.corrections),
        corrections=_gathered(walk.corrections),
        joints=joints,
    )


def speed_ratios(walk: Walk, angles: Floats) -> Floats:
    """Return how fast angles `(n + 1, n_joints)` [rad] turn the legs' joints over the card's greatest speeds.

    The shares have the shape `(n, n_leg_joints)`.
    """
    legs = walk.trajectory.legs
    ratios: Floats = np.abs(np.diff(angles[:, legs], axis=0)) / (walk.frame_s * walk.robot.max_speeds[legs])
    return ratios


def _each(walk: Walk, drives: Drives) -> tuple[JointLoad, ...]:
    commanded, measured = speed_ratios(walk, walk.asked), speed_ratios(walk, walk.trajectory.positions)
    stall = walk.trajectory.stall_nm[walk.trajectory.legs]
    peaks = drives.peaks.max(axis=0, initial=0.0) / stall
    rms = np.sqrt(drives.squares.mean(axis=0)) / stall if len(drives.squares) else np.zeros_like(stall)
    lower, upper = (limit[walk.trajectory.legs] for limit in walk.robot.limits)
    asked = walk.asked[:, walk.trajectory.legs]
    margins = np.degrees(np.minimum(asked - lower, upper - asked).min(axis=0))
    columns = (commanded.max(axis=0, initial=0.0), measured.max(axis=0, initial=0.0), peaks, rms, margins)
    rows = zip(walk.trajectory.leg_joints, *(column.tolist() for column in columns), strict=True)
    return tuple(JointLoad(*row) for row in rows)


def _coupled_margin(walk: Walk) -> tuple[float | None, str | None]:
    """Return how near a leg's joint came to the limits that hang on others [deg], and which."""
    coupling, own = walk.robot.coupling, set(walk.trajectory.leg_joints)
    tables = [place for place, joint in enumerate(coupling.joints) if joint in own]
    if not tables:
        return None, None
    lower, upper = coupling.bounds(walk.asked)
    columns = [walk.robot.index(coupling.joints[table]) for table in tables]
    asked = walk.asked[:, columns]
    margins = np.minimum(asked - lower[:, tables], upper[:, tables] - asked).min(axis=0)
    nearest = int(margins.argmin())
    if not math.isfinite(margins[nearest]):
        return None, None
    return math.degrees(float(margins[nearest])), coupling.joints[tables[nearest]]


def _gathered(corrections: tuple[Correction, ...]) -> tuple[Correction, ...]:
    """Return the worst of each joint and guard, at the time of its first."""
    worst: dict[tuple[str, str], Correction] = {}
    for one in corrections:
        key = one.joint, one.guard
        worst[key] = worse_of(worst.get(key, one), one)
    return tuple(worst.values())


@dataclass(frozen=True, kw_only=True)
class Energy:
    """What the walk cost, by work at the shafts: no current, no heat of a motor that holds still.

    Each frame and joint counts by itself: what one gets back helps no other. `docs/measuring-a-gait.md`.
    """

    cost_of_transport: float | None
    mean_power_w: float | None
    positive_work_j: float
    negative_work_j: float


def energy_of(walk: Walk, drives: Drives, path_m: float) -> Energy:
    """Return what the measured part of the walk cost, in which the way of `path_m` was gone."""
    work = drives.work[walk.begin :]
    given = float(np.maximum(work, 0.0).sum())
    seconds = len(work) * walk.frame_s
    weight_n = float(walk.trajectory.numbers("mass_kg")) * float(np.linalg.norm(walk.trajectory.gravity))
    return Energy(
        cost_of_transport=given / (weight_n * path_m) if path_m >= LEAST_WAY_M else None,
        mean_power_w=given / seconds if seconds else None,
        positive_work_j=given,
        negative_work_j=float(np.minimum(work, 0.0).sum()),
    )
