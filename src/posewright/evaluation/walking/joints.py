"""Loads of the legs' joints in a walk: speeds, torques, work, and margins to the joint limits.

A servo has one command for a frame. Within the frame its drive acts as a spring: torque = stiffness *
(command - angle), clipped at the stall torque. The angles at both ends of the frame are known, and so are the
torques. The work of a spring between two angles is the mean of the torques at both times the difference of
the angles, whatever happens in between. That is exact for a spring that is not clipped, and approximate for
one that is clipped in part of the frame.

The joint is turned by the *shaft* torque, the drive's torque less damping * speed. Damping is the slope of
the torque-speed line (stall torque / no-load speed). The work lost to it in a frame is computed from the mean
speed, which gives a lower bound, as the mean square of a varying speed is larger. Over a walk, the work
agrees with the sum over all physics steps within 3 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.evaluation.walking.walk import Correction, Walk, worse_correction

MIN_PATH_M = 0.05
"""Figures per metre are undefined for shorter paths [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Drives:
    """Torques and work of the legs' drives in each frame.

    Attributes:
        peak_torques: greatest torque at either end of the frame, `(n, n_leg_joints)` [N m].
        mean_squared_torques: mean of the squared torques at both ends, `(n, n_leg_joints)` [N^2 m^2].
        work_j: at the shafts, negative if the joint is driven back, `(n, n_leg_joints)` [J].
    """

    peak_torques: Floats
    mean_squared_torques: Floats
    work_j: Floats


def drives_of(walk: Walk) -> Drives:
    """Return torques and work of the legs' drives in each frame.

    Torques at a frame's end are recorded. Those at its beginning are computed from the command that takes
    effect then, with this body's stiffness and latency.
    """
    trajectory = walk.trajectory
    legs = trajectory.leg_columns
    angles = trajectory.positions[:, legs]
    begin_angles = angles[:-1]
    stall_torques = trajectory.stall_torques_nm[legs]
    n_joints = len(trajectory.robot.joint_names)
    stiffness = trajectory.read_body_array("stiffness", n_joints)[legs]
    damping = trajectory.read_body_array("damping", n_joints)[legs]
    latency_frames = int(trajectory.read_body_array("latency_frames"))
    frames = np.arange(1, len(walk.commanded_angles))
    effective_commands = walk.commanded_angles[np.maximum(frames - latency_frames, 0)][:, legs]
    begin_torques = np.clip(stiffness * (effective_commands - begin_angles), -stall_torques, stall_torques)
    end_torques = trajectory.efforts[1:, legs]
    angle_changes = np.diff(angles, axis=0)
    damping_work = damping * angle_changes**2 / walk.frame_s
    return Drives(
        peak_torques=np.maximum(np.abs(begin_torques), np.abs(end_torques)),
        mean_squared_torques=(begin_torques**2 + end_torques**2) / 2.0,
        work_j=(begin_torques + end_torques) / 2.0 * angle_changes - damping_work,
    )


@dataclass(frozen=True)
class JointLoad:
    """Figures of one joint of a leg, explained in `docs/measuring-a-gait.md`."""

    joint: str
    commanded_speed_ratio: float
    measured_speed_ratio: float
    max_torque_ratio: float
    rms_torque_ratio: float
    limit_margin_deg: float


@dataclass(frozen=True, kw_only=True)
class JointLoads:
    """Figures of all legs' joints since the robot was released, explained in `docs/measuring-a-gait.md`.

    Speeds are differences between frames, of the commands before safety and of the measured angles.
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


def measure_joint_loads(walk: Walk, drives: Drives) -> JointLoads:
    """Return how near the legs' joints come to their limits of speed, torque and angle.

    Args:
        walk: the walk.
        drives: the torques of its joints, as returned by `drives_of`.
    """
    loads = _measure_each_joint(walk, drives)
    fastest = max(loads, key=lambda load: max(load.commanded_speed_ratio, load.measured_speed_ratio))
    most_loaded = max(loads, key=lambda load: load.rms_torque_ratio)
    least_margin = min(loads, key=lambda load: load.limit_margin_deg)
    # coupled limits of a joint are those that depend on the angle of another
    coupled_margin_deg, coupled_joint = _coupled_margin(walk)
    return JointLoads(
        max_joint_speed_ratio=max(fastest.commanded_speed_ratio, fastest.measured_speed_ratio),
        commanded_speed_ratio=max(load.commanded_speed_ratio for load in loads),
        measured_speed_ratio=max(load.measured_speed_ratio for load in loads),
        fastest_joint=fastest.joint,
        max_torque_ratio=max(load.max_torque_ratio for load in loads),
        rms_torque_ratio=most_loaded.rms_torque_ratio,
        hardest_joint=most_loaded.joint,
        limit_margin_deg=least_margin.limit_margin_deg,
        limit_margin_joint=least_margin.joint,
        coupled_margin_deg=coupled_margin_deg,
        coupled_margin_joint=coupled_joint,
        interventions=len(walk.corrections),
        corrections=_worst_corrections(walk.corrections),
        joints=loads,
    )


def speed_ratios(walk: Walk, angles: Floats) -> Floats:
    """Return speeds of the legs' joints as shares of the card's greatest speeds, `(n, n_leg_joints)`.

    Args:
        walk: the walk with the robot.
        angles: the angles of all joints, `(n + 1, n_joints)` [rad].
    """
    legs = walk.trajectory.leg_columns
    ratios: Floats = np.abs(np.diff(angles[:, legs], axis=0)) / (walk.frame_s * walk.robot.max_speeds[legs])
    return ratios


def _measure_each_joint(walk: Walk, drives: Drives) -> tuple[JointLoad, ...]:
    """Return the figures of each of the legs' joints.

    Speeds are shares of the greatest speed on the robot's card, torques of the stall torque.
    """
    legs = walk.trajectory.leg_columns
    commanded_speeds = speed_ratios(walk, walk.requested_angles).max(axis=0, initial=0.0)
    measured_speeds = speed_ratios(walk, walk.trajectory.positions).max(axis=0, initial=0.0)
    stall_torques_nm = walk.trajectory.stall_torques_nm[legs]
    max_torques = drives.peak_torques.max(axis=0, initial=0.0) / stall_torques_nm
    rms_torques = np.zeros_like(stall_torques_nm)
    if len(drives.mean_squared_torques):
        rms_torques = np.sqrt(drives.mean_squared_torques.mean(axis=0)) / stall_torques_nm
    lower, upper = walk.robot.limits
    requests = walk.requested_angles[:, legs]
    margins_deg = np.degrees(np.minimum(requests - lower[legs], upper[legs] - requests).min(axis=0))
    return tuple(
        JointLoad(
            joint=joint,
            commanded_speed_ratio=float(commanded_speeds[i]),
            measured_speed_ratio=float(measured_speeds[i]),
            max_torque_ratio=float(max_torques[i]),
            rms_torque_ratio=float(rms_torques[i]),
            limit_margin_deg=float(margins_deg[i]),
        )
        for i, joint in enumerate(walk.trajectory.leg_joints)
    )


def _coupled_margin(walk: Walk) -> tuple[float | None, str | None]:
    """Return the least margin to a limit that depends on another joint [deg], and the joint it limits.

    Both are None if the legs' joints have no such limits, or none of them ever applies.
    """
    coupling = walk.robot.coupling
    leg_joints = set(walk.trajectory.leg_joints)
    # the coupling has a table of limits for each joint that it limits; these are of joints of the legs
    leg_tables = [table for table, joint in enumerate(coupling.joints) if joint in leg_joints]
    if not leg_tables:
        return None, None
    lower, upper = coupling.bounds(walk.requested_angles)
    limited_columns = [walk.robot.index(coupling.joints[table]) for table in leg_tables]
    requests = walk.requested_angles[:, limited_columns]
    margins = np.minimum(requests - lower[:, leg_tables], upper[:, leg_tables] - requests)
    least_margins = margins.min(axis=0)  # of each table over all rows
    nearest = int(least_margins.argmin())
    least_margin = float(least_margins[nearest])
    if not math.isfinite(least_margin):
        return None, None
    return math.degrees(least_margin), coupling.joints[leg_tables[nearest]]


def _worst_corrections(corrections: tuple[Correction, ...]) -> tuple[Correction, ...]:
    """Return the worst correction for each joint and guard, with the time of the first."""
    worst: dict[tuple[str, str], Correction] = {}
    for correction in corrections:
        key = correction.joint, correction.guard
        worst[key] = worse_correction(worst.get(key, correction), correction)
    return tuple(worst.values())


@dataclass(frozen=True, kw_only=True)
class Energy:
    """Figures of energy, from the work at the shafts, explained in `docs/measuring-a-gait.md`.

    They include no current and no heat of a motor at rest. Each frame and joint counts by itself: negative
    work of one does not offset positive work of another.
    """

    cost_of_transport: float | None
    mean_power_w: float | None
    positive_work_j: float
    negative_work_j: float


def measure_energy(walk: Walk, drives: Drives, path_m: float) -> Energy:
    """Return the figures of energy in the measured time.

    Args:
        walk: the walk up to the first fall.
        drives: the drives of the same walk.
        path_m: length of the base's path in the measured time [m].
    """
    work = drives.work_j[walk.settled_row :]
    positive_j = float(np.maximum(work, 0.0).sum())
    seconds = len(work) * walk.frame_s
    weight_n = float(walk.trajectory.read_body_array("mass_kg")) * float(
        np.linalg.norm(walk.trajectory.gravity)
    )
    return Energy(
        cost_of_transport=positive_j / (weight_n * path_m) if path_m >= MIN_PATH_M else None,
        mean_power_w=positive_j / seconds if seconds else None,
        positive_work_j=positive_j,
        negative_work_j=float(np.minimum(work, 0.0).sum()),
    )
